"""Records ↔ the JSON that stores and exports keep them as."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, replace
from typing import Any

from pincite.errors import StoreDamaged
from pincite.records import (
    Analysis,
    Box,
    Chunk,
    Document,
    EmbeddedChunk,
    EmbeddedDocument,
    LibraryHeader,
    Locator,
    Metadata,
    Modality,
    ModelCard,
    Omission,
    OmissionReason,
    Place,
    Section,
    StoredWindow,
)
from pincite.records.places import each_once
from pincite.vectors import from_bytes, to_bytes

Json = dict[str, Any]

_PLACE_BYTES = 128  # of the row that says where one word stands


def header_to_json(header: LibraryHeader) -> Json:
    """The header as plain values."""
    return asdict(header)


def header_from_json(value: Json) -> LibraryHeader:
    """The inverse of `header_to_json`; StoreDamaged where no index can be made so."""
    try:
        options = tuple(value.get("options", ()))
        return LibraryHeader(**{**value, "model": ModelCard(**value["model"]), "options": options})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreDamaged(
            f"the index does not say how it is made ({error!r}); run `pincite index verify "
            "--repair`, or remove it and build it again"
        ) from error


def sections_to_json(sections: tuple[Section, ...]) -> list[list[Any]]:
    """Sections as short lists: a long document has thousands."""
    return [[list(part.heading_path), part.level, part.start, part.end] for part in sections]


def sections_from_json(value: list[list[Any]]) -> tuple[Section, ...]:
    """The inverse of `sections_to_json`."""
    return tuple(Section(tuple(path), level, start, end) for path, level, start, end in value)


_ALWAYS_TOLD = ("tags", "author", "date", "language")  # as in the first version of the log


def metadata_to_json(metadata: Metadata) -> Json:
    """The metadata as plain values; what a file does not say is left out."""
    return {
        key: value
        for key, value in asdict(metadata).items()
        if key in _ALWAYS_TOLD or value not in (None, ())
    }


def metadata_from_json(value: Json) -> Metadata:
    """The inverse of `metadata_to_json`."""
    known = {"notes": (), "agents": (), **value}
    lists = {name: tuple(known[name]) for name in ("tags", "notes", "agents")}
    return Metadata(**{**known, **lists})


def analysis_from_json(value: Json) -> Analysis:
    """The inverse of `asdict`."""
    lists = {key: tuple(value[key]) for key in ("symbols", "imports", "entry_points")}
    return Analysis(layer=value["layer"], **lists)


def omissions_to_json(omissions: tuple[Omission, ...]) -> list[list[Any]]:
    """Omissions as short lists."""
    return [[one.start, one.end, one.reason.value] for one in omissions]


def omissions_from_json(value: list[list[Any]]) -> tuple[Omission, ...]:
    """The inverse of `omissions_to_json`."""
    return tuple(Omission(start, end, OmissionReason(reason)) for start, end, reason in value)


def places_to_bytes(places: tuple[Place, ...]) -> bytes:
    """Places packed small: there is one for each word of a PDF."""
    if not places:
        return b""
    rows = []
    before = 0
    for place in places:
        row = [
            *(place.start - before, place.end - place.start, place.page, _edges(place.box)),
            *(place.time_start, place.time_end, place.row),
        ]
        while row[-1] is None:
            row.pop()
        rows.append(row)
        before = place.start
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode())


def _edges(box: Box | None) -> list[int] | None:
    """The page and the edges in tenths of a point, which is what readers give."""
    if box is None:
        return None
    return [box.page, *(round(10 * edge) for edge in (box.left, box.bottom, box.right, box.top))]


def places_from_bytes(data: bytes, length: int) -> tuple[Place, ...]:
    """The inverse of `places_to_bytes`; ValueError for more than so much text can have."""
    if not data:
        return ()
    unpacking = zlib.decompressobj()
    try:
        rows = unpacking.decompress(data, _PLACE_BYTES * (max(length, 0) + 8))
    except zlib.error as error:
        raise ValueError(f"places that cannot be unpacked: {error}") from error
    if not unpacking.eof:
        raise ValueError("more places than the text has room for")
    places = []
    start = 0
    for ahead, span, *more in json.loads(rows):
        start += ahead
        known: list[Any] = [*more, *[None] * (5 - len(more))]
        page, box, time_start, time_end, row = known
        where = box and Box(box[0], *(edge / 10 for edge in box[1:]))
        places.append(Place(start, start + span, page, where, time_start, time_end, row))
    return tuple(places)


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
        "size": document.size,
        "modality": document.modality.value,
        "summary": document.summary,
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
        size=value.get("size", 0),  # the first version of the log knew none of these
        modality=Modality(value.get("modality", "text")),
        summary=value.get("summary", ""),
    )


def embedded_from_json(value: Json) -> EmbeddedDocument:
    """The inverse of `embedded_to_json`."""
    document = document_from_json(value)
    chunks = tuple(
        _chunk_from_json(document, position, chunk)
        for position, chunk in enumerate(value["chunks"])
    )
    places = each_once(place for one in chunks for place in one.chunk.places)
    omissions = each_once(left for one in chunks for left in one.chunk.omissions)
    return EmbeddedDocument(replace(document, places=places, omissions=omissions), chunks)


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
        "places": base64.b64encode(places_to_bytes(chunk.places)).decode("ascii"),
        "omissions": omissions_to_json(chunk.omissions),
        "analysis": asdict(chunk.analysis),
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
        places=places_from_bytes(
            base64.b64decode(value.get("places", "")), value["end"] - value["start"]
        ),
        omissions=omissions_from_json(value.get("omissions", [])),
        analysis=analysis_from_json(value["analysis"]) if "analysis" in value else Analysis(),
    )
    windows = tuple(
        StoredWindow(start, end, fingerprint, from_bytes(base64.b64decode(vector)))
        for start, end, fingerprint, vector in value["windows"]
    )
    return EmbeddedChunk(chunk, windows)
