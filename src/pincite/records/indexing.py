"""An index: how it is made, what a run did to it, what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pincite.records.chunks import ChunkId
from pincite.records.documents import DocumentEntry

SkipKind = Literal["too_large", "link", "empty", "special", "unreadable", "converted"]
Part = Literal["log", "database", "words", "vectors", "segments"]  # of an index


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Which embedding space vectors belong to. Vectors of different fingerprints never meet."""

    name: str  # what the user writes after --model
    fingerprint: str
    dimensions: int
    token_limit: int  # of one window, with the model's own special tokens


@dataclass(frozen=True, slots=True)
class LibraryHeader:
    """How an index is made; kept inside it, so that an update works like the build did."""

    name: str
    policy: str
    model: ModelCard
    ingestion_version: int
    max_file_bytes: int  # larger files are left out
    edition: int = 1  # one more for each time that everything was to be done again
    options: tuple[str, ...] = ()  # what else is read: "comments", "tracked-changes"
    analysis: str = ""  # checksum of the analysis file that chunks were described by
    summaries: str = ""  # the language model that writes them; taken from the text otherwise
    labels: str = ""  # checksum of the labels file that documents were labelled by

    @property
    def recipe(self) -> str:
        """How documents are made: where it changes, each of them has to be made again."""
        limit = self.model.token_limit  # windows are cut by it
        parts = [self.policy, self.ingestion_version, limit, self.edition]
        labels = f"labels {self.labels[:12]}" if self.labels else ""
        more = ("+".join(self.options), self.analysis[:12], self.summaries, labels)
        parts.extend(part for part in more if part)
        return "/".join(map(str, parts))


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read. `path` is relative, with forward slashes, spelled as the disk spells it."""

    path: str
    size: int  # bytes
    checksum: str  # SHA-256 of its bytes, in hexadecimal


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index run has come."""

    documents_done: int
    documents_total: int
    bytes_done: int
    bytes_total: int
    path: str  # the file just finished


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be made searchable; an earlier version of it stays as it was."""

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
    deleted: int = 0
    unchanged: int = 0
    chunks: int = 0  # written
    embedded: int = 0  # windows that went through the model
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    partly: tuple[Failure, ...] = ()  # stored, but something in them could not be read
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by what happened to them
    unsupported: Mapping[str, int] = field(default_factory=dict)  # files of other kinds, by suffix

    @property
    def written(self) -> int:
        """Documents that were stored."""
        return self.added + self.changed + self.moved + self.recut


CatalogState = Literal["indexed", "partly read", "changed", "missing", "not read"]


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


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not agree inside an index."""

    part: Part
    problem: str
