"""Documents and their parts: what a reader takes out of a file, and the file at one version."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from pincite.records.header import split_recipe
from pincite.records.places import Omission, Place, overlapping, shown

DocumentId = NewType("DocumentId", str)
# Characters. The embedder is told the title with every window; each chunk's row has what is about.
_LONGEST_TITLE, _LONGEST_ABOUT = 500, 5_000


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
    date: str | None = None  # ISO 8601, as much of it as is known: when it was made
    language: str | None = None  # BCP 47 (en, pt-BR) or, of source code, the language's name
    modified: str | None = None  # ISO 8601
    pages: int | None = None  # or slides, sheets, cells
    duration: float | None = None  # seconds, of a recording
    recording: str | None = None  # shared by a transcript and the frames of one recording
    source: str | None = None  # path of the file this text was recognised from
    notes: tuple[str, ...] = ()  # what could not be read of it, for the report
    project: str | None = None
    confidentiality: str | None = None  # as the file says it; see LEVELS
    agents: tuple[str, ...] = ()  # for which agents it says it is
    name: str | None = None  # what it is called by now, where the path says another name


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of the code in a document or chunk, or of the code it is about."""

    layer: str | None = None
    symbols: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a reader takes out of a file. All offsets are into `text`."""

    type: str  # "md", "pdf": what `--type` takes
    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...] = ()
    places: tuple[Place, ...] = ()
    omissions: tuple[Omission, ...] = ()  # in order, without overlap
    title: str | None = None  # the file's own
    metadata: Metadata = field(default_factory=Metadata)
    modality: Modality = Modality.TEXT
    analysis: Analysis = field(default_factory=Analysis)


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
    size: int = 0  # bytes of the file
    places: tuple[Place, ...] = ()
    omissions: tuple[Omission, ...] = ()  # of a stored document those in its chunks
    modality: Modality = Modality.TEXT
    analysis: Analysis = field(default_factory=Analysis)
    summary: str = ""

    @property
    def id(self) -> DocumentId:
        """The library's name, not its folder: moving a library keeps every citation."""
        return document_id(self.library, self.path, self.checksum)

    @property
    def name(self) -> str:
        """What the file is called."""
        return self.metadata.name or self.path.rpartition("/")[2]

    def shown(self, start: int, end: int) -> str:
        """A slice of the text without what a reader of the file would not have seen."""
        return shown(self.text[start:end], start, overlapping(self.omissions, start, end))

    @property
    def about(self) -> str:
        """What the words search knows of a document beside its text."""
        said = (self.title, self.name, self.metadata.author or "", *self.metadata.tags)
        return "\n".join(said)[:_LONGEST_ABOUT]


def document_from(content: Content, *, library: str, path: str, data: bytes) -> Document:
    """What was read, as the document of one library."""
    name = content.metadata.name or path.rpartition("/")[2]
    return Document(
        library=library,
        path=path,
        checksum=hashlib.sha256(data).hexdigest(),
        type=content.type,
        title=(content.title or name.rpartition(".")[0] or name)[:_LONGEST_TITLE],
        text=content.text,
        sections=content.sections,
        blocks=content.blocks,
        metadata=content.metadata,
        own_title=content.title is not None,
        size=len(data),
        places=content.places,
        omissions=content.omissions,
        modality=content.modality,
        analysis=content.analysis,
    )


def document_id(library: str, path: str, checksum: str) -> DocumentId:
    """The same file at the same place with the same bytes keeps its id."""
    return DocumentId(sha1(f"{library}:{path}:{checksum}"))


def sha1(identity: str) -> str:
    """The name of an identity, in hexadecimal."""
    return hashlib.sha1(identity.encode(), usedforsecurity=False).hexdigest()


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
    size: int = 0  # bytes of the file
    summary: str = ""

    @property
    def name(self) -> str:
        """What the file is called."""
        return self.metadata.name or self.path.rpartition("/")[2]

    @property
    def lacking(self) -> int:
        """How many of its chunks have no vector yet, and are found by words only."""
        return split_recipe(self.recipe)[1]
