"""pincite: your own documents, cited to the page, the line, the second. The public names only."""

from pincite.engine import EvalWishes, Gate, Library, ModelAccess, open_library
from pincite.errors import PinciteError
from pincite.records import (
    Box,
    Case,
    CatalogEntry,
    Context,
    EvalRun,
    ExpectedPlace,
    Filters,
    FoundDocuments,
    IndexReport,
    Locator,
    Moment,
    Passage,
    ReindexReport,
    Result,
    Retrieved,
    SearchResults,
    parse_filter,
)
from pincite.settings import SearchSettings, WorkerSettings

__version__ = "0.1.0"

__all__ = [
    "Box",
    "Case",
    "CatalogEntry",
    "Context",
    "EvalRun",
    "EvalWishes",
    "ExpectedPlace",
    "Filters",
    "FoundDocuments",
    "Gate",
    "IndexReport",
    "Library",
    "Locator",
    "ModelAccess",
    "Moment",
    "Passage",
    "PinciteError",
    "ReindexReport",
    "Result",
    "Retrieved",
    "SearchResults",
    "SearchSettings",
    "WorkerSettings",
    "open_library",
    "parse_filter",
]
