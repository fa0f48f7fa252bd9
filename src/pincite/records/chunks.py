"""Chunks and windows: the parts of a document that are ranked, cited and embedded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, NewType

from pincite.records.documents import (
    Analysis,
    Document,
    DocumentId,
    Metadata,
    Modality,
    Section,
    sha1,
)
from pincite.records.places import (
    Box,
    Locator,
    Omission,
    Place,
    flags,
    line_boxes,
    overlapping,
    shown,
    without,
)
from pincite.text.words import words_in_names

if TYPE_CHECKING:
    from pincite.vectors import Vector

ChunkId = NewType("ChunkId", str)


def chunk_id(document: DocumentId, modality: Modality, start: int) -> ChunkId:
    """The same offset in the same document keeps its id, so citations outlive a re-index."""
    return ChunkId(sha1(f"{document}:{modality}:{start}"))


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
    places: tuple[Place, ...] = ()  # of the document, that the chunk holds some of
    omissions: tuple[Omission, ...] = ()  # of the document, inside the chunk
    analysis: Analysis = field(default_factory=Analysis)

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

    @property
    def searched(self) -> str:
        """What the words search finds the chunk by."""
        return self.searched_in(self.start, self.end)

    def searched_in(self, start: int, end: int) -> str:
        """A slice as it is searched: seen, and in source code with the words in its names."""
        seen = self.seen(start, end)
        return f"{seen}\n{words_in_names(seen)}" if self.modality is Modality.CODE else seen

    def seen(self, start: int, end: int) -> str:
        """A slice of the chunk without what nobody would see; offsets are the document's."""
        text = self.text[start - self.start : end - self.start]
        inside = overlapping(self.omissions, start, end)
        left_out = [one for one in inside if not one.reason.is_searched]
        return without(text, start, left_out) if left_out else text

    @property
    def shown(self) -> str:
        """The text without what a reader of the file would not have seen."""
        return shown(self.text, self.start, self.omissions)

    @property
    def flags(self) -> tuple[str, ...]:
        """What in the chunk a reader of the file would not have seen, each kind once."""
        return flags(self.omissions)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Where the chunk stands on its pages, line by line."""
        return line_boxes(self.places)


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
    """A chunk with its embedded windows; without any it is found by words only."""

    chunk: Chunk
    windows: tuple[StoredWindow, ...]


@dataclass(frozen=True, slots=True)
class EmbeddedDocument:
    """Everything the store needs to make one document searchable, all or nothing."""

    document: Document
    chunks: tuple[EmbeddedChunk, ...]

    @property
    def lacking(self) -> int:
        """How many of its chunks have no vector."""
        return sum(not part.windows for part in self.chunks)

    def labelled(self, about: Metadata) -> EmbeddedDocument:
        """The same with other things said of it, and the vectors it has."""
        document = replace(self.document, metadata=about)
        if not document.own_title:
            title = document.name.rpartition(".")[0] or document.name
            document = replace(document, title=title)
        return replace(self, document=document)


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk found by its id, in this version of its document or in an earlier one."""

    document: Document
    chunk: Chunk
    superseded: bool  # the library now holds another version of the document, or none


@dataclass(frozen=True, slots=True)
class Said:
    """Something said, or seen on the screen, at a time of a recording; seconds from its start."""

    kind: Literal["Audio", "Screen"]
    start: float
    end: float
    text: str
    path: str
    is_anchor: bool  # what was found; the others stand around it


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """Cited lines of a document version with the lines around them."""

    document: Document
    heading_path: tuple[str, ...]
    locator: Locator
    first_line: int
    lines: tuple[str, ...]  # without what a reader of the file would not have seen
    captions: tuple[Said, ...] = ()  # of a recording whose file is not made of lines
    superseded: bool = False  # the library now holds another version, or none, of this file
    changed: bool = False  # the file itself is not any more what was indexed
    flags: tuple[str, ...] = ()  # what was left out of the lines, each kind once
    start: int = 0  # of the cited words, in the document's text
    end: int = 0
    chunk_id: str = ""  # that is cited, or in which the words begin
