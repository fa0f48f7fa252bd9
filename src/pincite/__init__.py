"""pincite: answers from your own documents, cited to the line. The public names, nothing else."""

from pincite.engine import Library, ModelAccess, open_library
from pincite.errors import PinciteError
from pincite.records import Filters, IndexReport, Result, SearchResults
from pincite.settings import SearchSettings

__version__ = "0.1.0"

__all__ = [
    "Filters",
    "IndexReport",
    "Library",
    "ModelAccess",
    "PinciteError",
    "Result",
    "SearchResults",
    "SearchSettings",
    "open_library",
]
