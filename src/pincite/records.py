"""The nouns of pincite, frozen: what travels from step to step."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NewType

if TYPE_CHECKING:
    from pincite.vectors import Vector

DocumentId = NewType("DocumentId", str)
ChunkId = NewType("ChunkId", str)
Part = Literal["log", "database", "words", "vectors"]  # of an index


class Modality(StrEnum):
    """What kind of evidence a chunk is."""

    TEXT = "text"
    OCR = "ocr"
    VIDEO_TRANSCRIPT = "video_transcript"
    VIDEO_FRAME = "video_frame"
    IMAGE_CAPTION = "image_caption"
    AUDIO_TRANSCRIPT = "audio_transcript"
    CODE = "code"


class BlockKind(StrEnum):
    """What a stretch of a document is, as far as cutting it is concerned."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """The smallest stretch a reader tells apart; blocks are in order and do not overlap."""

    kind: BlockKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading path with its own stretch, up to the next heading of any level.

    Sections are in order and cover the document; level 0 is what stands before any heading.
    """

    heading_path: tuple[str, ...]
    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a file says about itself."""

    tags: tuple[str, ...] = ()
    author: str | None = None
    date: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One source file at one version. `path` is relative to the library, with forward slashes."""

    library: str
    path: str
    checksum: str
    type: str
    title: str
    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...] = ()  # for cutting; not kept in the store
    metadata: Metadata = field(default_factory=Metadata)
    own_title: bool = True  # False where the title is only the file's name

    @property
    def id(self) -> DocumentId:
        """The library's name, not its folder: moving a library keeps every citation."""
        return document_id(self.library, self.path, self.checksum)

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]


def document_id(library: str, path: str, checksum: str) -> DocumentId:
    """The same file at the same place with the same bytes keeps its id."""
    return DocumentId(_sha1(f"{library}:{path}:{checksum}"))


def chunk_id(document: DocumentId, modality: Modality, start: int) -> ChunkId:
    """The same offset in the same document keeps its id, so citations outlive a re-index."""
    return ChunkId(_sha1(f"{document}:{modality}:{start}"))


def _sha1(identity: str) -> str:
    return hashlib.sha1(identity.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Locator:
    """Where a chunk stands for a reader; lines count from 1 and include both ends."""

    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A verbatim slice of one document: `document.text[start:end] == text`, always."""

    document_id: DocumentId
    modality: Modality
    position: int  # 0 for the first chunk of the document
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...]
    locator: Locator
    tokens: int  # by the embedder's own tokenizer

    @property
    def id(self) -> ChunkId:
        """Stable as long as the document's bytes are."""
        return chunk_id(self.document_id, self.modality, self.start)


@dataclass(frozen=True, slots=True)
class Window:
    """A slice of a chunk that fits the embedder, and the very text that is embedded for it.

    `start` and `end` are offsets in the document, as the chunk's are.
    """

    start: int
    end: int
    embedded: str

    @property
    def fingerprint(self) -> str:
        """Names the embedded text: windows with the same fingerprint share one vector."""
        return hashlib.sha256(self.embedded.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class WindowedChunk:
    """A chunk with the windows that will be embedded for it."""

    chunk: Chunk
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class StoredWindow:
    """A window as the store keeps it: its place, what was embedded (by name), its unit vector."""

    start: int
    end: int
    fingerprint: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A chunk with one or more embedded windows."""

    chunk: Chunk
    windows: tuple[StoredWindow, ...]


@dataclass(frozen=True, slots=True)
class EmbeddedDocument:
    """Everything the store needs to make one document searchable, all or nothing."""

    document: Document
    chunks: tuple[EmbeddedChunk, ...]


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """What the store tells of a document without its text."""

    id: DocumentId
    path: str
    checksum: str
    type: str
    title: str
    metadata: Metadata
    chunks: int
    indexed_at: str  # UTC, ISO 8601
    recipe: str  # how it was cut; another recipe than the header's means it must be cut again

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]


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

    @property
    def recipe(self) -> str:
        """How documents are cut: changes whenever the same file would give other chunks."""
        return f"{self.policy}/{self.ingestion_version}"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that pincite could read: its place in the library and what it held when looked at."""

    path: str
    size: int  # bytes
    checksum: str


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
    """A file that was left out on purpose."""

    path: str
    reason: str


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
    unsupported: Mapping[str, int] = field(default_factory=dict)  # files of other kinds, by suffix

    @property
    def written(self) -> int:
        """Documents that were stored."""
        return self.added + self.changed + self.moved + self.recut


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What an index holds, counted in the database itself."""

    documents: int
    chunks: int
    windows: int
    vectors: int
    words: int  # chunks in the words index
    database_bytes: int
    log_bytes: int
    last_updated: str | None  # UTC, ISO 8601


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


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk found by its id, in this version of its document or in an earlier one."""

    document: Document
    chunk: Chunk
    superseded: bool  # the library now holds another version of the document, or none


@dataclass(frozen=True, slots=True)
class Filters:
    """Which chunks a search may see, decided before ranking.

    `None` is no restriction; an empty tuple lets nothing through. Within a field any value
    suffices, except tags, which must all be there; between fields all must agree.
    """

    document_ids: tuple[DocumentId, ...] | None = None
    types: tuple[str, ...] | None = None
    modalities: tuple[Modality, ...] | None = None
    tags: tuple[str, ...] | None = None
    name: str | None = None  # part of the file's name, case ignored
    path: str | None = None  # a folder or file, from the library's root
    heading: str | None = None  # part of one heading above the chunk, case ignored

    @property
    def none_given(self) -> bool:
        """Whether the whole library may be seen."""
        return self == Filters()


@dataclass(frozen=True, slots=True)
class Ranked:
    """One place in a ranking. `score` is the search's own; higher is better in both searches.

    `words` gives BM25 (from 0 up), `vector` cosine similarity (-1 to 1).
    """

    chunk_id: ChunkId
    document_id: DocumentId
    score: float
    window: tuple[int, int] | None = None  # the best window's place, from the vector search


Ranking = tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """What one search contributed to a hit: its rank (1 = best), its score, its part of the sum."""

    rank: int
    score: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with its fused score (higher is better) and what each search gave to it."""

    chunk_id: ChunkId
    document_id: DocumentId
    score: float
    shares: Mapping[str, Share]
    window: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """The sentence shown for a result: its place in the document and its matched words."""

    start: int
    end: int
    text: str
    locator: Locator
    matches: tuple[tuple[int, int], ...]  # offsets inside `text`


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a search's answer: what was found, where it stands, and why it is here."""

    document: DocumentEntry
    chunk: Chunk
    hit: Hit
    quote: Quote


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search gives back; `reason` says why `results` is empty."""

    question: str
    mode: str
    results: tuple[Result, ...]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """Cited lines of a document version with the lines around them."""

    document: Document
    heading_path: tuple[str, ...]
    locator: Locator
    first_line: int
    lines: tuple[str, ...]
    superseded: bool = False  # the library now holds another version, or none, of this file
