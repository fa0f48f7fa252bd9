"""An index: what a run did to it, what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pincite.records.chunks import ChunkId
from pincite.records.documents import DocumentEntry
from pincite.records.header import LibraryHeader

SkipKind = Literal["too_large", "link", "empty", "special", "unreadable", "converted", "orphaned"]
Part = Literal["log", "database", "words", "vectors", "segments"]  # of an index


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
