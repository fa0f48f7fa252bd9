"""The two outcomes of asking: an answer whose claims are proven, or an abstention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pincite.records.chunks import ChunkId
from pincite.records.citation import where
from pincite.records.documents import DocumentId
from pincite.records.indexing import Failure
from pincite.records.places import Box, Locator
from pincite.records.searching import Asides
from pincite.text.printable import one_line, printable
from pincite.text.times import clock

State = Literal["quoted", "supported", "unsupported"]
AbstentionReason = Literal[
    "not_understood",  # the question holds nothing to look for
    "nothing_found",  # the filters or the library leave nothing
    "out_of_domain",  # what it asks about stands nowhere in the library
    "too_far",  # nothing comes near enough
    "not_answered",  # something is near, and does not answer it
    "counting",  # it asks for all of something, which the best places cannot tell
    "not_supported",  # what the language model wrote could not be proven
]


@dataclass(frozen=True, slots=True)
class Citation:
    """The very words a claim rests on, and their proven place."""

    citation: str  # as people read it
    quote: str  # document.text[start:end], letter for letter
    path: str
    title: str
    document_id: DocumentId
    chunk_id: ChunkId
    start: int
    end: int
    locator: Locator
    heading_path: tuple[str, ...]
    matches: tuple[tuple[int, int], ...]  # the question's words inside the quote
    answers: tuple[tuple[int, int], ...] = ()  # the words in it that answer, where they are known
    boxes: tuple[Box, ...] = ()
    # Context, no part of the quote: what a reader needs to understand it, and what stands around.
    lead: str = ""
    before: str = ""
    after: str = ""
    hyphens: tuple[tuple[int, int], ...] = ()  # of words broken at a line's end; not shown
    cut_before: bool = False  # the unit is longer than what is quoted of it
    cut_after: bool = False
    flags: tuple[str, ...] = ()  # what around the quote a reader of the file would not have seen

    def __str__(self) -> str:
        return self.citation

    @property
    def words(self) -> str:
        """The quote as people read it: on one line, its broken words put together."""
        cut = {at for start, end in self.hyphens for at in range(start, end)}
        return one_line("".join(one for at, one in enumerate(self.quote) if at not in cut))

    @property
    def source(self) -> str:
        """Title and place in brackets: `[source: Lease, page 3]`, `[source: Talk, t=12:34]`."""
        seconds = self.locator.time_start
        at = where("", self.locator) if seconds is None else f"t={clock(seconds)}"
        return f"[source: {printable(self.title)}, {at.replace('t=00:', 't=')}]"


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer, with what it rests on."""

    text: str
    state: State
    judge: str  # who says so
    citations: tuple[Citation, ...]

    @property
    def words(self) -> str:
        """The claim as people read it."""
        return self.citations[0].words if self.state == "quoted" else one_line(self.text)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the documents say to the question."""

    question: str
    claims: tuple[Claim, ...]  # unsupported ones only where they were asked for
    probability: float | None  # that the best place found answers the question
    parts: Mapping[str, float] = field(default_factory=dict)  # the signals it is made of
    differences: tuple[str, ...] = ()  # where documents give different numbers or dates
    writer: str = ""  # the language model that wrote it; empty: the documents' own words
    asides: Asides = field(default_factory=Asides)
    seconds: Mapping[str, float] = field(default_factory=dict)
    query_id: str = field(default="", compare=False)  # in the log of queries

    @property
    def outcome(self) -> Literal["answer"]:
        """Which of the two it is."""
        return "answer"


@dataclass(frozen=True, slots=True)
class Abstention:
    """The documents do not answer the question, or nobody can tell; and what is near."""

    question: str
    reason: AbstentionReason
    message: str
    missing_terms: tuple[str, ...]  # words of the question that stand nowhere in the library
    nearest: tuple[Citation, ...]
    probability: float | None
    parts: Mapping[str, float] = field(default_factory=dict)
    asides: Asides = field(default_factory=Asides)
    seconds: Mapping[str, float] = field(default_factory=dict)
    query_id: str = field(default="", compare=False)  # in the log of queries

    @property
    def outcome(self) -> Literal["abstention"]:
        """Which of the two it is."""
        return "abstention"


Outcome = Answer | Abstention


@dataclass(frozen=True, slots=True)
class Counted:
    """What a look at everything found, and how much everything was."""

    question: str
    words: tuple[str, ...]  # and phrases that a passage must have, in whatever form, to be counted
    negated: bool  # it was asked for documents without such a passage
    looked_at: int  # documents: all that the filters let through
    documents: tuple[str, ...]  # paths of those that were asked for
    hits: tuple[Citation, ...]  # every passage; none where documents without are asked for
    unread: tuple[Failure, ...]  # files; not those that a filter leaves out by their path
    outdated: tuple[Failure, ...]  # looked at as they were, as their new version cannot be read
    partly: tuple[Failure, ...]  # looked at, but something in them could not be read
    complete: bool  # False: the index is not, so there may be more

    @property
    def statement(self) -> str:
        """`1,204 of 1,204 documents looked at, 47 hold it, 3 could not be read: …`."""
        verb = ("does not hold", "holds") if len(self.documents) == 1 else ("do not hold", "hold")
        told = f"{self.looked_at:,} of {self.looked_at:,} documents looked at, "
        told += f"{len(self.documents):,} {verb[not self.negated]} it"
        missed = []
        for what, files in (
            ("could not be read", self.unread),
            ("in an earlier version", self.outdated),
            ("read in part", self.partly),
        ):
            named = ", ".join(printable(one.path) for one in files[:10])
            more = ", …" if len(files) > 10 else ""
            missed += [f"{len(files):,} {what}: {named}{more}"] if files else []
        told += ", " * bool(missed) + "; ".join(missed)
        words = ", ".join(f"“{printable(word)}”" for word in self.words)
        unfinished = "" if self.complete else " The index is not complete: there may be more."
        return f"{told}. Counted are documents with a passage that has {words}.{unfinished}"


@dataclass(frozen=True, slots=True)
class ArtifactSection:
    """A section of an artifact; without claims it says what is open."""

    heading: str
    claims: tuple[Claim, ...]
    open: str


@dataclass(frozen=True, slots=True)
class Artifact:
    """A document made of others, such as a blueprint."""

    title: str
    about: str
    sections: tuple[ArtifactSection, ...]
    writer: str = ""  # the language model that wrote it; empty: the documents' own words
    notices: tuple[str, ...] = ()


CheckState = Literal[
    "valid",  # the words stand at their place in the document as it is now
    "moved",  # the same words stand elsewhere
    "changed",  # other words stand there now
    "gone",  # the document or the passage is not there any more
    "forgotten",  # the document was forgotten for good, with all that it ever said
    "not_allowed",  # the document is above the clearance of whoever checks
    "misquoted",  # the words never stood so at that place: quote or place was altered
]


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """What became of a citation since it was written down."""

    citation: str  # as it was written down
    quote: str
    state: CheckState
    message: str  # why, for people; empty where there is nothing to add
    now: str = ""  # where the words, or those that took their place, stand: a citation
    became: str = ""  # what stands there instead
    path: str = ""  # of the document in which they stand, or stood
    outdated: bool = False  # its file has changed since it was indexed
    chunk_id: str = ""  # in which the words stood when they were cited, and where
    start: int = 0
    end: int = 0
