"""pincite: your own documents, cited to the page, the line, the second. The public names only."""

from pincite.engine import EvalWishes, Library, ModelAccess, open_library
from pincite.errors import PinciteError
from pincite.records import (
    Box,
    Case,
    CatalogEntry,
    EvalRun,
    ExpectedPlace,
    Filters,
    IndexReport,
    Locator,
    Result,
    SearchResults,
    parse_filter,
)
from pincite.settings import SearchSettings

__version__ = "0.1.0"

__all__ = [
    "Box",
    "Case",
    "CatalogEntry",
    "EvalRun",
    "EvalWishes",
    "ExpectedPlace",
    "Filters",
    "IndexReport",
    "Library",
    "Locator",
    "ModelAccess",
    "PinciteError",
    "Result",
    "SearchResults",
    "SearchSettings",
    "open_library",
    "parse_filter",
]
