"""The nouns of pincite, frozen: what travels from step to step."""

from importlib import import_module
from typing import TYPE_CHECKING

from pincite.records.chunks import (
    Chunk as Chunk,
    ChunkId as ChunkId,
    CitedPlace as CitedPlace,
    EmbeddedChunk as EmbeddedChunk,
    EmbeddedDocument as EmbeddedDocument,
    FoundChunk as FoundChunk,
    Said as Said,
    StoredWindow as StoredWindow,
    Window as Window,
    WindowedChunk as WindowedChunk,
    chunk_id as chunk_id,
)
from pincite.records.citation import (
    cited_file as cited_file,
    page_name as page_name,
    place_cited as place_cited,
    where as where,
)
from pincite.records.conditions import (
    INSIDE as INSIDE,
    LEVELS as LEVELS,
    AllOf as AllOf,
    AnyOf as AnyOf,
    Clause as Clause,
    Condition as Condition,
    Field as Field,
    Not as Not,
    Operator as Operator,
    clauses_of as clauses_of,
    fields_of as fields_of,
    level_of as level_of,
)
from pincite.records.documents import (
    Analysis as Analysis,
    Block as Block,
    BlockKind as BlockKind,
    Content as Content,
    Document as Document,
    DocumentEntry as DocumentEntry,
    DocumentId as DocumentId,
    Metadata as Metadata,
    Modality as Modality,
    Section as Section,
    document_from as document_from,
    document_id as document_id,
)
from pincite.records.filters import (
    Filters as Filters,
    FiltersGiven as FiltersGiven,
    filters_of as filters_of,
)
from pincite.records.header import (
    LARGEST_FILE_BYTES as LARGEST_FILE_BYTES,
    FoundFile as FoundFile,
    Generations as Generations,
    LibraryHeader as LibraryHeader,
    ModelCard as ModelCard,
    differs_in_labels as differs_in_labels,
    recipe_labelled as recipe_labelled,
    recipe_lacking as recipe_lacking,
    split_recipe as split_recipe,
)
from pincite.records.places import (
    Box as Box,
    Locator as Locator,
    Omission as Omission,
    OmissionReason as OmissionReason,
    Place as Place,
    line_boxes as line_boxes,
    locate as locate,
    overlapping as overlapping,
    without as without,
)
from pincite.records.scope import (
    MEMBER_ROLES as MEMBER_ROLES,
    MemberRole as MemberRole,
    Scope as Scope,
    refuse_bad_name as refuse_bad_name,
)
from pincite.records.searching import (
    Asides as Asides,
    Confidence as Confidence,
    Definition as Definition,
    Dropped as Dropped,
    Hit as Hit,
    Mode as Mode,
    Quote as Quote,
    Ranked as Ranked,
    Ranking as Ranking,
    Reason as Reason,
    Result as Result,
    SearchResults as SearchResults,
    Share as Share,
    Understood as Understood,
    UnitKind as UnitKind,
)

if TYPE_CHECKING:
    from pincite.records.answers import (
        Abstention as Abstention,
        AbstentionReason as AbstentionReason,
        Answer as Answer,
        Artifact as Artifact,
        ArtifactSection as ArtifactSection,
        CheckedCitation as CheckedCitation,
        CheckState as CheckState,
        Citation as Citation,
        Claim as Claim,
        Counted as Counted,
        Outcome as Outcome,
        State as State,
    )
    from pincite.records.context import (
        Context as Context,
        FoundDocument as FoundDocument,
        FoundDocuments as FoundDocuments,
        Moment as Moment,
        Passage as Passage,
        Retrieved as Retrieved,
    )
    from pincite.records.evaluation import (
        KINDS as KINDS,
        Case as Case,
        CaseResult as CaseResult,
        Change as Change,
        Comparison as Comparison,
        EvalRun as EvalRun,
        EvalSetup as EvalSetup,
        ExpectedPlace as ExpectedPlace,
        FigureChange as FigureChange,
        FloorCheck as FloorCheck,
        Found as Found,
        OutcomeChange as OutcomeChange,
        Told as Told,
        ToldCitation as ToldCitation,
        ToldClaim as ToldClaim,
    )
    from pincite.records.filter_expression import (
        FIELDS as FIELDS,
        parse_filter as parse_filter,
    )
    from pincite.records.indexing import (
        CatalogEntry as CatalogEntry,
        CatalogState as CatalogState,
        DeleteStatus as DeleteStatus,
        DocumentPage as DocumentPage,
        Failure as Failure,
        Finding as Finding,
        ForgetReport as ForgetReport,
        IndexReport as IndexReport,
        LibraryStats as LibraryStats,
        MoveReport as MoveReport,
        Original as Original,
        Part as Part,
        Progress as Progress,
        SkipKind as SkipKind,
        Skipped as Skipped,
        StoreStats as StoreStats,
        Uploaded as Uploaded,
        UploadStatus as UploadStatus,
    )
    from pincite.records.reindexing import (
        GateReport as GateReport,
        GenerationStats as GenerationStats,
        ReindexOutcome as ReindexOutcome,
        ReindexReport as ReindexReport,
        Role as Role,
    )

# A search does without these, and making so many records takes longer than searching: they are
# loaded, those that are used most first, when a name is asked for that is not above.
_LATER = ("indexing", "answers", "context", "filter_expression", "evaluation", "reindexing")


def __getattr__(name: str) -> object:
    for module in _LATER:
        held = vars(import_module(f"{__name__}.{module}"))
        if name in held:
            return held[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
