"""pincite: your own documents, cited to the page, the line, the second. The public names only."""

from importlib import import_module
from typing import TYPE_CHECKING

from pincite.engine import EvalWishes, Gate, Library, ModelAccess, Profile, open_library, trust
from pincite.errors import PinciteError
from pincite.settings import AskSettings, SearchSettings

if TYPE_CHECKING:
    from pincite.engine.project import Project, open_project
    from pincite.records import (
        Abstention,
        Answer,
        Box,
        Case,
        CatalogEntry,
        CheckedCitation,
        Citation,
        Claim,
        Context,
        DocumentPage,
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
        Uploaded,
        parse_filter,
    )

__version__ = "0.1.0"

__all__ = [
    "Abstention",
    "Answer",
    "AskSettings",
    "Box",
    "Case",
    "CatalogEntry",
    "CheckedCitation",
    "Citation",
    "Claim",
    "Context",
    "DocumentPage",
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
    "Profile",
    "Project",
    "ReindexReport",
    "Result",
    "Retrieved",
    "SearchResults",
    "SearchSettings",
    "Uploaded",
    "open_library",
    "open_project",
    "parse_filter",
    "trust",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    # A single search does without most of the records, and without a team's projects.
    if name in ("Project", "open_project"):
        return getattr(import_module("pincite.engine.project"), name)
    if name in __all__:
        return getattr(import_module("pincite.records"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
