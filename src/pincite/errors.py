"""Every exception pincite raises. Each message says what to do.

PinciteError
├── SettingsError          a setting or an argument is wrong
│   ├── NothingToSay       the documents give nothing to make or to keep
│   └── FilterError        a filter names a field, an operator or a value that there is not
├── LibraryError
│   ├── FolderMissing      the folder is not there, or is not a folder
│   ├── IndexMissing       the folder has no index yet
│   ├── IndexOutdated      the index does not know yet what is asked of it
│   ├── IndexExists        the folder has an index already, which would be lost
│   ├── NothingToIndex     the folder holds nothing that can be read
│   ├── LibraryBusy        another process is writing to this library
│   ├── PathRefused        a link, a pipe or a device is where a file of ours should be
│   ├── DatabaseMissing    there is no database at an address, or none that was made for pincite
│   └── ProjectMissing     there is no such project, or not for whoever is asking
├── FileUnreadable         one file cannot be read: a line in the report, never the end of a run
│   └── FileEmpty          it holds nothing to read: left out, which is no failure
│       └── FileConverted  its text is read from what was recognised of it
├── StoreError
│   ├── StoreUnsupported   this SQLite or PostgreSQL is too old or lacks a part
│   ├── StoreTooNew        written by a newer pincite
│   ├── StoreDamaged       the files on disk do not agree
│   ├── ArchiveInvalid     a file to import is damaged, cut off or none of ours
│   ├── StoreReadOnly      no permission to write here
│   ├── StoreDenied        the database does not allow this to whoever is asking
│   ├── StoreUnreachable   the database server does not answer
│   ├── StoreBusy          others are in the way just now
│   ├── IndexBuildFailed   the index for vectors could not be made
│   └── StoreFull          no space left
├── ModelError
│   ├── ModelMissing       the model is not on this machine
│   ├── ModelInvalid       the model's files or its vectors are not usable
│   ├── ModelUnavailable   an embedding service does not answer
│   │   └── ModelRefused   the service answers, but not to this request
│   └── ModelMismatch      the index was filled by another model
├── ServerError            a pincite server fails, or what answers is none
│   ├── ServerUnreachable  nothing answers at its address
│   ├── ServerDenied       its key is missing, wrong, or not for this
│   └── JobUnfinished      a job of it is no longer waited for; the server goes on
├── ConsentNeeded          an index wants what its user has not allowed
├── LibraryClosed          the library was closed; open it again
├── SearchCancelled        whoever asked does not want the answer any more
├── CitationNotFound       nothing in the index stands at that place
├── ReceiptInvalid         a file to check is no receipt, or holds no citations of ours
└── RunNotFound            no eval run of that name is kept
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class PinciteError(Exception):
    """Base class of all errors that a caller of pincite is expected to handle."""


class SettingsError(PinciteError):
    """A setting or an argument has a value that cannot work."""


class NothingToSay(SettingsError):
    """There is nothing in the documents that could be made or kept."""


class FilterError(SettingsError):
    """A filter cannot be understood; the message says where and what is known."""


class LibraryError(PinciteError):
    """The library as a whole cannot be used."""


class FolderMissing(LibraryError):
    """The folder to index or to search is not there."""


class IndexMissing(LibraryError):
    """The folder exists but nothing was indexed in it yet."""


class IndexOutdated(LibraryError):
    """The index was made before pincite read what is asked for; an update reads it."""


class IndexExists(LibraryError):
    """The folder has an index, and nobody said that it may be replaced."""


class NothingToIndex(LibraryError):
    """The folder holds no file that pincite can read."""


class LibraryBusy(LibraryError):
    """Another process holds the library's write lock."""


class PathRefused(LibraryError):
    """A link, a pipe or a device is where a file or folder of ours should be."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(
            f"{path} {what}; pincite opens nothing but plain files and folders: remove it"
        )
        self.path = path
        self.what = what


class DatabaseMissing(LibraryError):
    """There is no database at an address, or nobody made the tables of pincite in it."""


class ProjectMissing(LibraryError):
    """There is no such project, or whoever is asking may not know of it: both look the same."""


class FileUnreadable(PinciteError):
    """One file cannot be read; the run goes on and reports it."""


class FileEmpty(FileUnreadable):
    """One file holds nothing to read; it is left out."""


class FileConverted(FileEmpty):
    """One file holds no text itself, but what was recognised in it lies beside the library."""


class StoreError(PinciteError):
    """The index on disk cannot be used as it is."""


class StoreUnsupported(StoreError):
    """The database library is too old or was built without a part we need."""


class StoreTooNew(StoreError):
    """The index was written by a newer version of pincite."""


class StoreDamaged(StoreError):
    """The chunk log and the database do not agree, or one of them is broken."""


class ArchiveInvalid(StoreError):
    """A file that holds a library cannot be believed; nothing of it was taken."""


class StoreReadOnly(StoreError):
    """The index cannot be written where it is."""


class StoreDenied(StoreError):
    """The database does not allow this to whoever is asking."""


class StoreUnreachable(StoreError):
    """The database server does not answer, or went away in the middle."""


class StoreBusy(StoreError):
    """Others are in the way just now; the same again may work."""


class IndexBuildFailed(StoreError):
    """The index that makes vectors quick to search could not be made; searches would be slow."""


class StoreFull(StoreError):
    """The disk is full; what was stored before is kept."""


class ModelError(PinciteError):
    """An embedding model cannot do its work."""


class ModelMissing(ModelError):
    """The model's files are not on this machine."""


class ModelInvalid(ModelError):
    """The model's files, or the vectors it gave, cannot be used."""


class ModelUnavailable(ModelError):
    """The embedding service does not answer, or refuses."""


class ModelRefused(ModelUnavailable):
    """The service refuses this very request; another text may well be answered."""


class ModelMismatch(ModelError):
    """The index was filled by another embedding model; its vectors mean nothing to this one."""

    def __init__(self, stored: str, configured: str) -> None:
        super().__init__(
            f"model_mismatch: the index was filled with {stored}, but the model at hand is "
            f"{configured}; run `pincite reindex --model MODEL` to embed the library again"
        )


class ServerError(PinciteError):
    """A pincite server cannot do its work, or what answers at its address is none."""


class ServerUnreachable(ServerError):
    """Nothing answers at the address of a pincite server, or not in time."""


class ServerDenied(ServerError):
    """A pincite server wants a key, or another one."""


class JobUnfinished(ServerError):
    """A job of a pincite server is not waited for any longer; `job_id` asks how it stands."""

    def __init__(self, name: str, job_id: str, state: str, server: str) -> None:
        super().__init__(
            f"{name}: job {job_id} is {state} by now, and {server} goes on with it; "
            f"GET /rag/jobs/{job_id} says how far it is"
        )
        self.job_id = job_id


class ConsentNeeded(PinciteError):
    """An index wants to connect, send or load, or is another user's, and nobody allowed that."""

    def __init__(self, place: str, wants: str) -> None:
        super().__init__(
            f"the index in {place} {wants}; if you trust it, run `pincite trust {quote(place)}` "
            "once, with --yes where nobody can be asked. An index of your own that was copied or "
            "moved, or made by an earlier pincite, needs this, too"
        )


class LibraryClosed(PinciteError):
    """A library was used after its `close`, or after its `with` block."""


class SearchCancelled(PinciteError):
    """The search was stopped because its asker wanted no answer any more."""


class CitationNotFound(PinciteError):
    """The index holds nothing at the cited place."""


class ReceiptInvalid(PinciteError):
    """A file to check is neither a receipt nor Markdown with citations that can be read."""


class RunNotFound(PinciteError):
    """The library keeps no eval run of that name."""


def did_you_mean(name: str, known: list[str]) -> str:
    """` (did you mean type?)`, where something that is known looks like it."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def extra_needed(what: str, extra: str) -> str:
    """What to do about packages that not everyone has, however pincite was installed."""
    return (
        f"{what} needs packages that are not installed; install pincite again with its extra "
        f"`{extra}`, such as `uv tool install 'FILE.whl[{extra}]'` or `pip install '.[{extra}]'`"
    )
