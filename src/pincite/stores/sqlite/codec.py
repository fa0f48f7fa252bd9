"""Records ↔ the JSON of the chunk log."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

from pincite.records import (
    Chunk,
    Document,
    EmbeddedChunk,
    EmbeddedDocument,
    LibraryHeader,
    Locator,
    Metadata,
    Modality,
    ModelCard,
    Section,
    StoredWindow,
)
from pincite.vectors import from_bytes, to_bytes

Json = dict[str, Any]


def header_to_json(header: LibraryHeader) -> Json:
    """The header as plain values."""
    return asdict(header)


def header_from_json(value: Json) -> LibraryHeader:
    """The inverse of `header_to_json`."""
    return LibraryHeader(**{**value, "model": ModelCard(**value["model"])})


def sections_to_json(sections: tuple[Section, ...]) -> list[list[Any]]:
    """Sections as short lists: a long document has thousands."""
    return [[list(part.heading_path), part.level, part.start, part.end] for part in sections]


def sections_from_json(value: list[list[Any]]) -> tuple[Section, ...]:
    """The inverse of `sections_to_json`."""
    return tuple(Section(tuple(path), level, start, end) for path, level, start, end in value)


def metadata_to_json(metadata: Metadata) -> Json:
    """The metadata as plain values."""
    return asdict(metadata)


def metadata_from_json(value: Json) -> Metadata:
    """The inverse of `metadata_to_json`."""
    return Metadata(**{**value, "tags": tuple(value["tags"])})


def embedded_to_json(embedded: EmbeddedDocument) -> Json:
    """A document with its chunks and vectors. The text stands once; chunks are slices of it."""
    document = embedded.document
    return {
        "id": document.id,
        "library": document.library,
        "path": document.path,
        "checksum": document.checksum,
        "type": document.type,
        "title": document.title,
        "own_title": document.own_title,
        "metadata": metadata_to_json(document.metadata),
        "sections": sections_to_json(document.sections),
        "text": document.text,
        "chunks": [_chunk_to_json(chunk) for chunk in embedded.chunks],
    }


def document_from_json(value: Json) -> Document:
    """The document alone, without its chunks."""
    return Document(
        library=value["library"],
        path=value["path"],
        checksum=value["checksum"],
        type=value["type"],
        title=value["title"],
        own_title=value["own_title"],
        text=value["text"],
        sections=sections_from_json(value["sections"]),
        metadata=metadata_from_json(value["metadata"]),
    )


def embedded_from_json(value: Json) -> EmbeddedDocument:
    """The inverse of `embedded_to_json`."""
    document = document_from_json(value)
    chunks = tuple(
        _chunk_from_json(document, position, chunk)
        for position, chunk in enumerate(value["chunks"])
    )
    return EmbeddedDocument(document, chunks)


def _chunk_to_json(embedded: EmbeddedChunk) -> Json:
    chunk = embedded.chunk
    return {
        "id": chunk.id,
        "modality": chunk.modality.value,
        "start": chunk.start,
        "end": chunk.end,
        "locator": asdict(chunk.locator),
        "sections": sections_to_json(chunk.sections),
        "tokens": chunk.tokens,
        "windows": [
            [window.start, window.end, window.fingerprint, _vector_to_text(window)]
            for window in embedded.windows
        ],
    }


def _vector_to_text(window: StoredWindow) -> str:
    return base64.b64encode(to_bytes(window.vector)).decode("ascii")


def _chunk_from_json(document: Document, position: int, value: Json) -> EmbeddedChunk:
    chunk = Chunk(
        document_id=document.id,
        modality=Modality(value["modality"]),
        position=position,
        start=value["start"],
        end=value["end"],
        text=document.text[value["start"] : value["end"]],
        sections=sections_from_json(value["sections"]),
        locator=Locator(**value["locator"]),
        tokens=value["tokens"],
    )
    windows = tuple(
        StoredWindow(start, end, fingerprint, from_bytes(base64.b64decode(vector)))
        for start, end, fingerprint, vector in value["windows"]
    )
    return EmbeddedChunk(chunk, windows)
