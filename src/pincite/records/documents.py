"""Documents and their parts: sections, blocks, chunks, windows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from pincite.vectors import Vector

DocumentId = NewType("DocumentId", str)
ChunkId = NewType("ChunkId", str)


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

    @property
    def about(self) -> str:
        """What the words search knows of a document beside its text."""
        return "\n".join((self.title, self.name, self.metadata.author or "", *self.metadata.tags))


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
    sections: tuple[Section, ...]  # of the document, that the chunk holds some of
    locator: Locator
    tokens: int  # by the embedder's own tokenizer

    @property
    def id(self) -> ChunkId:
        """Stable as long as the document's bytes are."""
        return chunk_id(self.document_id, self.modality, self.start)

    @property
    def heading_path(self) -> tuple[str, ...]:
        """The headings above all of the chunk; of its first section where none are shared."""
        paths = [section.heading_path for section in self.sections]
        shared = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
        return tuple(level[0] for level in shared) or (paths[0] if paths else ())

    @property
    def headings(self) -> tuple[str, ...]:
        """Every heading above any part of the chunk, each once."""
        return tuple(dict.fromkeys(one for part in self.sections for one in part.heading_path))


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
class FoundChunk:
    """A chunk found by its id, in this version of its document or in an earlier one."""

    document: Document
    chunk: Chunk
    superseded: bool  # the library now holds another version of the document, or none


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """Cited lines of a document version with the lines around them."""

    document: Document
    heading_path: tuple[str, ...]
    locator: Locator
    first_line: int
    lines: tuple[str, ...]
    superseded: bool = False  # the library now holds another version, or none, of this file
    changed: bool = False  # the file itself is not any more what was indexed
