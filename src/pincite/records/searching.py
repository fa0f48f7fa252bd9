"""Searching: what a question is taken to ask, what each search ranked, what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from pincite.records.chunks import Chunk, ChunkId
from pincite.records.citation import cited_file, place_cited
from pincite.records.documents import DocumentEntry, DocumentId
from pincite.records.places import Box, Locator

if TYPE_CHECKING:
    from pincite.vectors import Vector


@dataclass(frozen=True, slots=True)
class Definition:
    """An abbreviation, what it stands for, and how many documents say so."""

    short: str
    long: str
    documents: int


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as it is searched: what each search gets, and what results must obey."""

    words: str  # for the words search
    embedded: str  # for the vector search
    phrases: tuple[str, ...] = ()  # chunks that have them word for word come first
    since: str | None = None  # ISO dates, both included
    until: str | None = None
    notes: tuple[str, ...] = ()  # what was done, for whoever asked
    notices: tuple[str, ...] = ()  # what was asked for and could not be done, in sentences


@dataclass(frozen=True, slots=True)
class Ranked:
    """One place in a ranking. `score` is the search's own; higher is better in both searches.

    `words` gives BM25 (from 0 up), `vector` cosine similarity (-1 to 1).
    """

    chunk_id: ChunkId
    document_id: DocumentId
    score: float
    window: tuple[int, int] | None = None  # the best window's place, from the vector search
    vector: Vector | None = field(default=None, compare=False, repr=False)  # and its vector
    listed: bool = True  # False: another search found it, and it is not among this one's best


Ranking = tuple[Ranked, ...]
"""Best first; then those that are not listed."""


class Share(NamedTuple):
    """What one search contributed to a hit: its rank (1 = best), its score, its part of the sum."""

    rank: int | None  # None: it knows the chunk's score, but has better ones than it could list
    score: float
    contribution: float


class Hit(NamedTuple):
    """A chunk with its fused score (higher is better) and what each search gave to it."""

    chunk_id: ChunkId
    document_id: DocumentId
    score: float
    shares: Mapping[str, Share]
    window: tuple[int, int] | None = None
    # That it answers the question; None where the searches or the model do not allow to tell.
    probability: float | None = None

    @property
    def lift(self) -> float:
        """What a quoted phrase lifted it by, which says nothing of how near it is."""
        return self.shares["phrases"].contribution if "phrases" in self.shares else 0.0

    def rrf_score(self, k: int) -> float:
        """What Reciprocal Rank Fusion gives for its places in words and vector: 1 / (k + rank)."""
        ranks = [self.shares[one].rank for one in ("words", "vector") if one in self.shares]
        return sum(1 / (k + rank) for rank in ranks if rank is not None)


UnitKind = Literal["sentence", "item", "row", "caption", "definition", "code", "heading"]


@dataclass(frozen=True, slots=True)
class Quote:
    """The evidence unit shown for a result: its place in the document and its matched words."""

    start: int
    end: int
    text: str
    locator: Locator
    heading_path: tuple[str, ...]  # of the section it stands in
    section: Locator  # the lines of that section that the chunk holds: what is cited
    matches: tuple[tuple[int, int], ...]  # offsets inside `text`
    cut_before: bool = False  # the sentence is longer than what is shown of it
    cut_after: bool = False
    boxes: tuple[Box, ...] = ()  # where it stands on its pages
    hyphens: tuple[tuple[int, int], ...] = ()  # of words broken at a line's end; not shown
    kind: UnitKind = "sentence"
    merit: float = 0.0  # how much it says of what was asked; about 1 where it has all words of it
    # What a reader needs to understand the unit: a table's header, what introduces a list, who
    # speaks. Context, never part of the quote, as are the units before and after it.
    lead: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure we are that the best unit answers the question."""

    probability: float
    parts: Mapping[str, float]  # the signals it is made of, by name
    missing_terms: tuple[str, ...] = ()  # words of the question that stand nowhere in the library


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a search's answer: what was found, where it stands, and why it is here."""

    document: DocumentEntry
    chunk: Chunk
    hit: Hit
    quote: Quote
    same_text_in: tuple[str, ...] = ()  # paths of other documents that say the same
    rrf_score: float = 0.0  # by its ranks in words and vector, whatever ordered the list

    @property
    def score(self) -> float:
        """What ordered the list, higher is better; comparable among the results of one search."""
        return self.hit.score

    @property
    def vector_score(self) -> float | None:
        """The cosine of the question and the best window; None where meaning was not searched."""
        return self.hit.shares["vector"].score if "vector" in self.hit.shares else None

    @property
    def text_score(self) -> float | None:
        """BM25 of the question's words; None where it has none of them."""
        return self.hit.shares["words"].score if "words" in self.hit.shares else None

    @property
    def citation(self) -> str:
        """`notes/paper.md — Section 2 > Method (lines 120–170)`: the section that is quoted."""
        return place_cited(*cited_file(self.document), self.quote.heading_path, self.quote.section)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hit that was left out, and why."""

    chunk_id: ChunkId
    document_id: DocumentId
    reason: str


Mode = Literal["hybrid", "words", "vector"]
Reason = Literal[
    "empty_question",
    "no_hits",
    "filtered_out",
    "too_far",
    "budget_too_small",
    "model_mismatch",
    "error",
]
NOTHING_FOUND: Mapping[Reason, str] = {
    "empty_question": "The question has no words to search for.",
    "no_hits": "No results.",
    "filtered_out": "No results: the filters leave nothing to search.",
    "too_far": "No results: nothing comes near enough to the question.",
    "budget_too_small": "The budget is too small.",
    "model_mismatch": "The index was filled by another model.",
    "error": "The search could not be done.",
}


@dataclass(frozen=True, slots=True)
class Asides:
    """What a reader should know beside the results."""

    notes: tuple[str, ...] = ()  # what was done to understand the question
    notices: tuple[str, ...] = ()  # what was asked for and could not be done, in sentences
    changed: tuple[str, ...] = ()  # files among the results that are not what was indexed
    complete: bool = True  # False: a run was stopped or is still under way
    so_far: int | None = None  # documents that are searchable while a run is under way


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search gives back; `reason` says why `results` is empty."""

    question: str
    mode: Mode
    results: tuple[Result, ...]
    reason: Reason | None = None
    dropped: tuple[Dropped, ...] = ()  # what was better than the last result, and is not there
    notes: tuple[str, ...] = ()  # what was done to understand the question
    changed: tuple[str, ...] = ()  # files among the results that are not what was indexed
    complete: bool = True  # False: a run was stopped or is still under way
    so_far: int | None = None  # documents that are searchable while a run is under way
    seconds: Mapping[str, float] = field(default_factory=dict)  # by stage, in their order
    notices: tuple[str, ...] = ()  # what was asked for and could not be done, in sentences
    understood: str = ""  # the question with typos corrected and abbreviations explained
    confidence: Confidence | None = None  # None where the searches or the model do not allow it
    index_version: str = ""  # the library's recipe: policy, ingestion version, token limit, edition
    query_id: str = field(default="", compare=False)  # in the log of queries

    @property
    def asides(self) -> Asides:
        """What should be told in whatever shape the results are given."""
        return Asides(self.notes, self.notices, self.changed, self.complete, self.so_far)
