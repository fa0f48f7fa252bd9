"""One document's rows as records, both ways."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from pincite.records import (
    Analysis,
    Chunk,
    Document,
    DocumentEntry,
    DocumentId,
    EmbeddedChunk,
    EmbeddedDocument,
    Locator,
    Metadata,
    Modality,
    Omission,
    StoredWindow,
    level_of,
    recipe_lacking,
)
from pincite.records.places import each_once
from pincite.stores.codec import (
    analysis_from_json,
    metadata_from_json,
    metadata_to_json,
    omissions_from_json,
    omissions_to_json,
    places_from_bytes,
    places_to_bytes,
    sections_from_json,
    sections_to_json,
)
from pincite.text.dates import day_span
from pincite.text.naming import abbreviations_in, document_names, name_key
from pincite.text.words import fold, indexed_codes, indexed_words
from pincite.vectors import from_bytes, to_bytes

Row = tuple[Any, ...]


@dataclass(frozen=True)
class ChunkRows:
    """A chunk's own row, its words, and its windows each with the bytes of its vector."""

    chunk: Row
    words: Row
    windows: tuple[Row, ...]


@dataclass(frozen=True)
class DocumentRows:
    """All rows of one document, without the numbers a database gives them."""

    document: Row
    words: Row  # what the catalog finds it by
    definitions: tuple[Row, ...]
    names: tuple[str, ...]  # what it is called, in order
    chunks: tuple[ChunkRows, ...]

    @property
    def text(self) -> str:
        """The document's text."""
        return str(self.document[7])


def rows_of(embedded: EmbeddedDocument, *, time: str, recipe: str) -> DocumentRows:
    """The rows that stand for a document."""
    document = embedded.document
    row = (
        document.id,
        document.path,
        fold(document.name),
        document.checksum,
        document.type,
        document.title,
        int(document.own_title),
        document.text,
        _json(sections_to_json(document.sections)),
        _json(metadata_to_json(document.metadata)),
        _folded(document.metadata.tags),
        document.size,
        document.modality.value,
        document.summary,
        *_filtered_by(document.metadata),
        len(embedded.chunks),
        time,
        recipe_lacking(recipe, embedded.lacking),
    )
    words = tuple(indexed_words(text) for text in (document.about, document.path, document.summary))
    seen = (one.chunk.seen(one.chunk.start, one.chunk.end) for one in embedded.chunks)
    return DocumentRows(
        row,
        words,
        definition_rows(seen),
        tuple(sorted(document_names(document.title, document.name))),
        tuple(_chunk_rows(document, one) for one in embedded.chunks),
    )


def definition_rows(texts: Iterable[str]) -> tuple[Row, ...]:
    """What the texts of one document say its abbreviations stand for, each once."""
    rows: dict[Row, Row] = {}
    for text in texts:
        for one in abbreviations_in(text):
            keys = (name_key(one.short), name_key(one.long))
            rows.setdefault((one.short, keys[1]), (one.short, one.long, *keys))
    return tuple(row for _, row in sorted(rows.items()))


def _filtered_by(metadata: Metadata) -> Row:
    """Language, project, author, agents, level of confidentiality, first and last day."""
    return (
        *(fold(one or "") for one in (metadata.language, metadata.project, metadata.author)),
        _folded(metadata.agents),
        level_of(metadata.confidentiality),
        *(day_span(metadata.date or metadata.modified or "") or ("", "")),
    )


def _chunk_rows(document: Document, embedded: EmbeddedChunk) -> ChunkRows:
    chunk = embedded.chunk
    headings = "\n".join(chunk.headings)
    return ChunkRows(
        chunk=(
            chunk.id,
            chunk.modality.value,
            chunk.position,
            chunk.start,
            chunk.end,
            chunk.locator.line_start,
            chunk.locator.line_end,
            _json(sections_to_json(chunk.sections)),
            _folded(chunk.headings),
            chunk.tokens,
            *_beyond_lines(chunk.locator),
            places_to_bytes(chunk.places),
            _json(omissions_to_json(chunk.omissions)),
            _json(asdict(chunk.analysis)),
            fold(chunk.analysis.layer or ""),
            _folded(chunk.analysis.symbols),
            _folded(chunk.analysis.imports),
        ),
        words=(
            indexed_words(chunk.searched),
            indexed_words(document.about),
            indexed_words(headings),
            indexed_codes(f"{document.about}\n{headings}\n{chunk.searched}"),
        ),
        windows=tuple(
            (window.start, window.end, window.fingerprint, to_bytes(window.vector))
            for window in embedded.windows
        ),
    )


def entry_of(row: Row) -> DocumentEntry:
    """A row of ENTRY_COLUMNS as a record."""
    document_id, path, checksum, kind, title, metadata, *counts, recipe, summary = row
    size, chunks, indexed_at = counts
    return DocumentEntry(
        id=document_id,
        path=path,
        checksum=checksum,
        type=kind,
        title=title,
        metadata=metadata_from_json(json.loads(metadata)),
        chunks=chunks,
        indexed_at=indexed_at,
        recipe=recipe,
        size=size,
        summary=summary,
    )


def document_of(library: str, rows: DocumentRows) -> Document:
    """The document a database row stands for."""
    _, path, _, checksum, kind, title, own_title, text, sections, metadata, *more = rows.document
    _, size, modality, summary, *_ = more
    return Document(
        library=library,
        path=path,
        checksum=checksum,
        type=kind,
        title=title,
        own_title=bool(own_title),
        text=text,
        sections=sections_from_json(json.loads(sections)),
        metadata=metadata_from_json(json.loads(metadata)),
        size=size,
        modality=Modality(modality),
        summary=summary,
        places=each_once(
            one
            for part in rows.chunks
            for one in places_from_bytes(
                part.chunk[16], min(part.chunk[4] - part.chunk[3], len(text))
            )
        ),
        omissions=each_once(one for part in rows.chunks for one in _omissions_of(part.chunk[17])),
    )


def embedded_of(library: str, rows: DocumentRows) -> EmbeddedDocument:
    """The inverse of `rows_of`."""
    document = document_of(library, rows)
    return EmbeddedDocument(
        document,
        tuple(
            EmbeddedChunk(
                chunk_of(document.id, document.text, part.chunk),
                tuple(
                    StoredWindow(start, end, fingerprint, from_bytes(vector))
                    for start, end, fingerprint, vector in part.windows
                ),
            )
            for part in rows.chunks
        ),
    )


def stretches(rows: Iterable[Row]) -> dict[Any, tuple[int, int]]:
    """Where in each document all of its chunks lie; rows of the document and the chunk's columns.

    A document may be large, and of most only few chunks are asked for.
    """
    found: dict[Any, tuple[int, int]] = {}
    for document, _, _, _, start, end, *_ in rows:
        first, last = found.get(document, (start, end))
        found[document] = (min(first, start), max(last, end))
    return found


def chunk_of(document_id: DocumentId, text: str, row: Row, *, offset: int = 0) -> Chunk:
    """A chunk's row as a record, cut out of its document's text, or of a stretch of it."""
    _, modality, position, start, end, line_start, line_end, sections, _, tokens, *more = row
    *beyond_lines, places, omissions, analysis, _, _, _ = more
    if not 0 <= offset <= start <= end <= offset + len(text):
        raise ValueError(f"chunk {start}-{end} lies outside its document")
    return Chunk(
        document_id=document_id,
        modality=Modality(modality),
        position=position,
        start=start,
        end=end,
        text=text[start - offset : end - offset],
        sections=sections_from_json(json.loads(sections)),
        locator=Locator(line_start, line_end, *beyond_lines),
        tokens=tokens,
        places=places_from_bytes(places, end - start),
        omissions=_omissions_of(omissions),
        analysis=_analysis_of(analysis),
    )


def _omissions_of(written: str) -> tuple[Omission, ...]:
    """Most chunks have none."""
    return omissions_from_json(json.loads(written)) if written != "[]" else ()


@lru_cache(maxsize=64)
def _analysis_of(written: str) -> Analysis:
    """Nothing is known of most chunks, and that is written alike."""
    return analysis_from_json(json.loads(written))


def _beyond_lines(locator: Locator) -> Row:
    """Pages, seconds and rows, in the order of the columns."""
    return (
        *(locator.page_start, locator.page_end),
        *(locator.time_start, locator.time_end),
        *(locator.row_start, locator.row_end),
    )


def _folded(values: tuple[str, ...]) -> str:
    return _json([fold(value) for value in values])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
