"""Evaluation: questions with what should be found for them, and what a run of them found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from pincite.records.answers import Outcome, State
from pincite.records.chunks import ChunkId
from pincite.records.documents import sha1
from pincite.records.filters import Filters
from pincite.records.places import Locator
from pincite.records.searching import Mode

KINDS = ("metadata", "content", "exact_term", "video_time")
"""What questions are mostly about; a user may name kinds of their own."""


@dataclass(frozen=True, slots=True)
class ExpectedPlace:
    """Where an answer stands. One of the ranges is given; both ends are included."""

    document: str  # path in the library
    lines: tuple[int, int] | None = None
    pages: tuple[int, int] | None = None
    time: tuple[float, float] | None = None  # seconds
    rows: tuple[int, int] | None = None

    @classmethod
    def at(cls, document: str, where: Locator) -> ExpectedPlace:
        """A stretch of a document, as a reader would say where it stands."""
        if where.time_start is not None and where.time_end is not None:
            return cls(document, time=(where.time_start, where.time_end))
        if where.row_start is not None and where.row_end is not None:
            return cls(document, rows=(where.row_start, where.row_end))
        if where.page_start is not None and where.page_end is not None:
            return cls(document, pages=(where.page_start, where.page_end))
        return cls(document, lines=(where.line_start, where.line_end))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, and what a good search finds for it: any of what is expected is right."""

    question: str
    kind: str = "content"
    documents: Mapping[str, int] = field(default_factory=dict)  # path → how relevant, from 1
    chunks: tuple[ChunkId, ...] = ()
    places: tuple[ExpectedPlace, ...] = ()
    terms: tuple[str, ...] = ()  # words the evidence must hold
    unanswerable: bool = False
    filters: Filters = field(default_factory=Filters)
    draft: bool = False  # written by a machine, not yet confirmed by anyone
    note: str = ""

    @property
    def is_open(self) -> bool:
        """Nobody has said yet what should be found; only a draft may be so."""
        return not (self.documents or self.chunks or self.places or self.terms or self.unanswerable)

    @property
    def id(self) -> str:
        """The same question under the same filters keeps its id, so that runs can be compared.

        Only the filters that are given count: one that is added later must not change old ids.
        """
        given = {name: value for name, value in asdict(self.filters).items() if value is not None}
        return sha1(f"{self.question}\0{json.dumps(given, sort_keys=True)}")[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One result of a search, as a run remembers it."""

    document: str  # path in the library
    chunk: ChunkId
    score: float
    locator: Locator  # of the whole chunk
    cited: Locator  # of the quoted sentence
    quote: str
    tokens: int
    headings: tuple[str, ...] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)  # in each search
    similarity: float | None = None  # cosine, where the vector search saw it


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldCitation:
    """The words a claim rests on, as a run remembers them."""

    document: str  # path in the library
    chunk: ChunkId
    locator: Locator  # of the quote
    citation: str  # title and place, as people read them
    quote: str  # as people read it
    lead: str = ""  # shown before the quote


@dataclass(frozen=True, slots=True)
class ToldClaim:
    """One claim of an answer, as a run remembers it."""

    text: str  # as people read it
    state: State
    citations: tuple[ToldCitation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The answer to a case, or why there is none, as a run remembers it."""

    claims: tuple[ToldClaim, ...] = ()  # none: it was refused
    reason: str = ""  # of a refusal
    message: str = ""  # the same, for people
    probability: float | None = None  # that the best place found answers the question
    writer: str = ""  # the language model that wrote it; empty: the documents' own words
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, told: Outcome) -> Told:
        """What `ask` told, without what a run does not need."""
        told_of = cls(probability=told.probability, notices=told.asides.notices)
        if told.outcome == "abstention":
            return replace(told_of, reason=told.reason, message=told.message)
        claims = tuple(
            ToldClaim(
                claim.words,
                claim.state,
                tuple(
                    ToldCitation(
                        document=one.path,
                        chunk=one.chunk_id,
                        locator=one.locator,
                        citation=one.citation,
                        quote=one.words,
                        lead=one.lead,
                    )
                    for one in claim.citations
                ),
            )
            for claim in told.claims
        )
        return replace(told_of, claims=claims, writer=told.writer)

    @property
    def is_answer(self) -> bool:
        """Whether it was answered, rightly or not."""
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What a run found for one case, and how good that is."""

    case: Case
    found: tuple[Found, ...] = ()
    told: Told | None = None  # None: only searched for, or it failed
    confidence: float = 0.0  # that the answer is there; only their order has a meaning
    abstained: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)  # by stage, in their order
    figures: Mapping[str, float] = field(default_factory=dict)  # those that apply to this case
    error: str = ""  # why the search, or the answer, failed

    def outcome(self, *, asked: bool) -> str:
        """What came out: results, answer, error, or the reason why there is nothing."""
        if self.error:
            return "error"
        if asked and self.told:
            return self.told.reason or "answer"
        return "results" if self.found else "nothing_found"

    def first_document(self, *, asked: bool) -> str:
        """The document that is cited first, or found first; empty where nothing is."""
        if asked and self.told:
            cited = (one.document for claim in self.told.claims for one in claim.citations)
            return next(cited, "")
        return self.found[0].document if self.found else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSetup:
    """Everything that the figures of a run depend on."""

    mode: Mode
    settings: Mapping[str, float | int | str | bool | None]  # of the search
    policy: str  # how the documents were cut
    model: str
    fingerprint: str  # of the model
    index: str  # names the state of the index: its recipe and when it was last changed
    documents: int
    chunks: int
    version: str  # of pincite
    commit: str = ""  # of the folder the library lies in, where it is in a Git repository
    abstain_below: float | None = None
    # How answers were asked for, such as profile and caution; None: nothing but searched for.
    asking: Mapping[str, float | int | str | bool] | None = None

    @property
    def top_k(self) -> int | None:
        """How many results a search gave at most."""
        asked_for = self.settings.get("top_k")
        return asked_for if isinstance(asked_for, int) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    """All cases asked once with one setup, and the figures by kind of question."""

    id: str  # begins with the time, so that the order of names is the order of runs
    label: str
    made_at: str  # UTC, ISO 8601
    cases: str  # name of the file the cases came from
    setup: EvalSetup
    results: tuple[CaseResult, ...] = ()
    # By kind, and "all"; by stage, and "total": p50, p95 and p99 in seconds.
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    latency: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One question in two runs, by the figure they are compared by."""

    case: Case
    before: CaseResult
    after: CaseResult
    value_before: float
    value_after: float


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure over the questions that two runs share, with a paired test of the difference."""

    name: str
    before: float
    after: float
    p_value: float  # of the difference being chance
    questions: int


@dataclass(frozen=True, slots=True)
class OutcomeChange:
    """One question that came out in another way, or first from another document."""

    case: Case
    before: str  # answer, results, error, or why there is nothing
    after: str
    document_before: str  # the first one; empty where there is none
    document_after: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from one run to another."""

    before: EvalRun
    after: EvalRun
    figures: tuple[FigureChange, ...]
    figure: str  # by which the questions are compared
    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    same: int
    only_before: tuple[Case, ...]
    only_after: tuple[Case, ...]
    outcomes: tuple[OutcomeChange, ...] = ()  # of answers, and of questions without labels
    unlabelled: int = 0  # questions of both of which nobody said what should be found


@dataclass(frozen=True, slots=True)
class FloorCheck:
    """One stored floor against one run."""

    kind: str
    figure: str
    floor: float
    value: float | None  # None: the run has no such figure

    @property
    def holds(self) -> bool:
        """Whether the figure is there and not below its floor."""
        return self.value is not None and self.value >= self.floor
