"""pincite: your own documents, cited to the page, the line, the second. The public names only."""

TYPE_CHECKING = False  # as in `typing`, which takes longer to load than a short command
if TYPE_CHECKING:
    from pincite.engine import EvalWishes, Gate, Library, ModelAccess, Profile, open_library, trust
    from pincite.engine.project import Project, open_project
    from pincite.entrypoints.client import RemoteLibrary, connect
    from pincite.errors import PinciteError
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
    from pincite.settings import AskSettings, SearchSettings

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
    "RemoteLibrary",
    "Result",
    "Retrieved",
    "SearchResults",
    "SearchSettings",
    "Uploaded",
    "connect",
    "open_library",
    "open_project",
    "parse_filter",
    "trust",
]


# Where the names are that are no records. Each is loaded when it is asked for: a command that a
# running service answers needs none of them, and loading all takes a tenth of a second.
_MODULES = {
    "pincite.engine": ("EvalWishes", "Gate", "Library", "ModelAccess", "Profile"),
    "pincite.engine.opening": ("open_library", "trust"),
    "pincite.engine.project": ("Project", "open_project"),
    "pincite.entrypoints.client": ("RemoteLibrary", "connect"),
    "pincite.errors": ("PinciteError",),
    "pincite.settings": ("AskSettings", "SearchSettings"),
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module

        held = (module for module, names in _MODULES.items() if name in names)
        return getattr(import_module(next(held, "pincite.records")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
