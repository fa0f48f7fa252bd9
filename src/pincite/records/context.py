"""Evidence in larger shapes: passages, documents, moments of a recording, a model's context."""

from __future__ import annotations

from dataclasses import dataclass, field

from pincite.records.chunks import Chunk, ChunkId, Said
from pincite.records.citation import cited_file, place_cited
from pincite.records.documents import DocumentEntry
from pincite.records.places import Locator, each_once, shown
from pincite.records.searching import Asides, Reason, Result


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring chunks as one verbatim slice of their document: text[start:end], always."""

    document: DocumentEntry
    chunks: tuple[Chunk, ...]  # in their order
    start: int
    end: int
    text: str
    locator: Locator
    best: Result  # the result that brought it here: its score, its sentence, its window

    @property
    def chunk_ids(self) -> tuple[ChunkId, ...]:
        """Of what it is made, in order."""
        return tuple(chunk.id for chunk in self.chunks)

    @property
    def heading_paths(self) -> tuple[tuple[str, ...], ...]:
        """The headings above it, each path once."""
        paths = (part.heading_path for chunk in self.chunks for part in chunk.sections)
        return tuple(dict.fromkeys(paths))

    @property
    def flags(self) -> tuple[str, ...]:
        """What in it a reader of the file would not have seen, each kind once."""
        return tuple(dict.fromkeys(flag for chunk in self.chunks for flag in chunk.flags))

    @property
    def seen(self) -> str:
        """The text without what a reader of the file would not have seen."""
        held = each_once(one for chunk in self.chunks for one in chunk.omissions)
        return shown(self.text, self.start, held)

    @property
    def citation(self) -> str:
        """Its place as people read it."""
        return place_cited(*cited_file(self.document), self.chunks[0].heading_path, self.locator)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Passages, best first; `reason` says why there are none, `message` what to do about it."""

    question: str
    passages: tuple[Passage, ...]
    reason: Reason | None = None
    message: str = ""
    asides: Asides = field(default_factory=Asides)
    query_id: str = field(default="", compare=False)  # in the log of queries


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document with the best of its results, best first."""

    document: DocumentEntry
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """Documents, best first; `reason` says why there are none."""

    question: str
    documents: tuple[FoundDocument, ...]
    reason: Reason | None = None
    asides: Asides = field(default_factory=Asides)
    query_id: str = field(default="", compare=False)  # in the log of queries


@dataclass(frozen=True, slots=True)
class Context:
    """What a language model is given to read: labelled passages that fit a budget of tokens.

    `[1]` in the text is the first of `passages`, and so on.
    """

    question: str
    text: str
    passages: tuple[Passage, ...]
    tokens: int
    budget: int
    reason: Reason | None = None
    message: str = ""
    asides: Asides = field(default_factory=Asides)
    query_id: str = field(default="", compare=False)  # in the log of queries


@dataclass(frozen=True, slots=True)
class Moment:
    """What was said and seen around a result, in order of time."""

    start: float
    end: float
    lines: tuple[Said, ...]
