"""What is kept beside an index, and is no part of it: keys, jobs, and a log of the queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

LogMode = Literal["full", "facts", "off"]
"""How much of a query is logged: all, all but the asker's own words, or nothing."""
JobState = Literal["waiting", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Key:
    """An API key, without its secret."""

    id: str
    name: str
    user: str = ""  # of a team's database: who its holder is there
    projects: tuple[str, ...] = ()  # of that user; all where none is named
    clearance: str = ""  # the strictest label whose documents it shows; the user's own where empty
    may_write: bool = False
    made_at: float = 0.0  # seconds since 1970, as all times here
    expires_at: float | None = None
    revoked_at: float | None = None

    def is_valid(self, now: float) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class Job:
    """Long work that a service does for a caller."""

    id: str
    library: str
    kind: str
    user: str = ""  # of a team's project: who asked for it
    key: str = ""  # the id of the key that asked for it
    options: Mapping[str, Any] = field(default_factory=dict)
    state: JobState = "waiting"
    progress: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""  # what came of it, or why it failed
    made_at: float = 0.0
    changed_at: float = 0.0
    attempts: int = 0  # times that it was begun
    project: str = ""  # with its owner, where the index is in a team's database

    @property
    def is_over(self) -> bool:
        """Nothing more will happen to it."""
        return self.state in ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """One question, and what became of it. No text of a document is kept."""

    id: str
    at: float
    verb: str  # search, ask, count (`ask --all`) or make
    library: str  # its folder's name, or its project in a team's database
    door: str = "library"  # through which it came: library, cli, mcp, http
    user: str = ""
    key: str = ""  # the id of the key that was shown
    agent: str = ""  # the program that asked, as it calls itself
    question: str = ""
    filters: Mapping[str, Any] = field(default_factory=dict)  # those that were given
    chunk_ids: tuple[str, ...] = ()  # found, or cited in the answer, best first
    model: str = ""  # of the embeddings
    profile: str = ""  # of the language model that was asked for
    writer: str = ""  # the language model that wrote the answer
    retrieval_seconds: float = 0.0
    generation_seconds: float = 0.0
    tokens: int = 0  # of the chunks that were found
    outcome: str = ""  # results, answer, error, or the reason why there is nothing
    error: str = ""  # the name of its class; messages may hold more than may be kept

    @property
    def is_question(self) -> bool:
        """Whether it can be asked again: what is counted or made has no one place for an answer."""
        kept = self.verb in ("search", "ask") and self.question.strip()
        return bool(kept) and self.outcome != "cancelled"


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether the answer to a logged query was good."""

    query: str
    good: bool
    note: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """An answer, or a text with citations, that is kept to be told when it no longer holds."""

    id: str
    library: str
    question: str  # or what the text is called
    text: str  # a receipt, or Markdown with footnotes
    # What footnotes do not tell of their places: see `facts_of_place`.
    cited: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    user: str = ""
    saved_at: float = 0.0
    checked_at: float = 0.0
    # What it rests on: each path with the document that stood there when it was checked last.
    sources: Mapping[str, str] = field(default_factory=dict)
    # Where documents that are cited by another path stood then.
    moved: Mapping[str, str] = field(default_factory=dict)
    broken: tuple[str, ...] = ()  # what no longer holds, in sentences
    is_minor: bool = False  # all of that are claims after the first one, which answers the question
    told_broken: bool = False  # what people were told last: where it differs, there is news
    told_minor: bool = False


@dataclass(frozen=True, slots=True)
class RecheckedAnswer:
    """What became of a saved answer: told where that is news."""

    answer: SavedAnswer
    held_before: bool
    outdated: bool = False  # a file that it rests on has changed since it was indexed

    @property
    def holds(self) -> bool:
        """Whether every word it cites still stands in the library."""
        return not self.answer.broken

    @property
    def is_worse(self) -> bool:
        """Whether the first claim broke after people were told of others."""
        return not self.holds and self.answer.told_minor and not self.answer.is_minor
