"""An index: what a run did to it, what it holds; what is handed in to it, and moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pincite.records.chunks import ChunkId
from pincite.records.documents import DocumentEntry
from pincite.records.header import LibraryHeader
from pincite.records.journal import RecheckedAnswer

SkipKind = Literal["too_large", "link", "empty", "special", "unreadable", "converted", "orphaned"]
Part = Literal["log", "database", "words", "vectors", "segments"]  # of an index
UploadStatus = Literal["indexed", "deduplicated", "reindexed"]
DeleteStatus = Literal["deleted", "not_found"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index run has come."""

    documents_done: int
    documents_total: int
    bytes_done: int
    bytes_total: int
    path: str  # the file just finished, or being embedded
    doing: str = ""  # what takes long without being counted, such as fetching the model
    windows_done: int = 0  # of those that have to be embedded
    windows_total: int = 0  # those of files that are not read yet are reckoned by their size
    note: str = ""  # what a user should know before the run goes on


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be made searchable, or not all of it."""

    path: str
    reason: str
    chunk_ids: tuple[ChunkId, ...] = ()  # those that got no vector, where that was the reason


@dataclass(frozen=True, slots=True)
class Skipped:
    """What a user may expect to be read, and why it is not. The path of a folder ends with "/"."""

    path: str
    reason: str
    kind: SkipKind


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index run did."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    recut: int = 0  # same file, other chunk policy or newer pincite
    retried: int = 0  # same file, with vectors that its chunks lacked
    deleted: int = 0
    unchanged: int = 0
    chunks: int = 0  # written
    embedded: int = 0  # windows that went through the model
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    partly: tuple[Failure, ...] = ()  # stored, but something in them could not be read
    lacking: tuple[Failure, ...] = ()  # stored, but some of their chunks have no vector yet
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by what happened to them
    unsupported: Mapping[str, int] = field(default_factory=dict)  # files of other kinds, by suffix
    answers: tuple[RecheckedAnswer, ...] = ()  # saved ones that hold no longer, or hold again

    @property
    def written(self) -> int:
        """Documents that were stored."""
        return self.added + self.changed + self.moved + self.recut + self.retried


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was forgotten for good, or would be."""

    paths: tuple[str, ...]  # where the documents stood; empty where all was forgotten before
    versions: int
    runs: int = 0  # of evaluations, from which results were taken
    converted: tuple[str, ...] = ()  # recognised texts that were deleted
    queries: int = 0  # that found them, and are logged no more
    answers: int = 0  # that were saved, cited them, and are kept no more


CatalogState = Literal[
    "indexed", "partly read", "partly embedded", "changed", "missing", "not read"
]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A file of the library: what the index knows of it, and how that stands to the folder."""

    path: str
    state: CatalogState
    document: DocumentEntry | None = None  # None where the file could not be read
    reason: str = ""  # why it was not, or only partly read


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What an index holds, counted in the database itself."""

    documents: int
    chunks: int
    windows: int
    vectors: int
    lacking: int  # chunks without a vector, which are found by words only
    words: int  # chunks in the words index
    database_bytes: int
    segments_bytes: int  # what searches look at first
    log_bytes: int
    last_updated: str | None  # UTC, ISO 8601
    complete: bool  # the last run came to its end


@dataclass(frozen=True, slots=True)
class LibraryStats:
    """What a library's index is and holds."""

    folder: str
    header: LibraryHeader
    store: StoreStats
    place: str = ""  # where the index is, if not in the folder


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not agree inside an index."""

    part: Part
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveReport:
    """What an export wrote, or an import took over."""

    file: str
    file_bytes: int
    library: str  # its name
    documents: int = 0
    chunks: int = 0
    vectors: int = 0
    past: int = 0  # versions of documents that are gone
    originals: int = 0  # files that were handed in to a project, as they came
    runs: int = 0  # of evaluations
    files: tuple[str, ...] = ()  # of ours at the top: questions, glossary, labels, analysis
    kept: tuple[str, ...] = ()  # those of them that were there already and differ
    text_bytes: int = 0  # of the documents' text, as UTF-8
    left_out: int = 0  # such files, where a library keeps none: it is a folder's
    apart: bool = False  # the folder holds none of the documents' files
    seen_by: str = ""  # the member of a project as whom it was exported
    clearance: str = ""  # the strictest label whose documents that member sees


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was handed in, and what was said of it."""

    path: str  # where its document stands
    checksum: str
    labels: dict[str, Any]
    data: bytes
    owner: str = ""  # who handed it in, by name; empty where nobody here is called so


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A file that is searchable now: new, there before, or made anew."""

    status: UploadStatus
    document: DocumentEntry


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some documents by path; `after` asks for the next ones, None where there are none."""

    documents: tuple[DocumentEntry, ...]
    after: str | None
