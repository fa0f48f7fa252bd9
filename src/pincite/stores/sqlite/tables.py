"""One document's rows: made from records, written, read back, forgotten."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from pincite.records import (
    Chunk,
    Document,
    DocumentEntry,
    DocumentId,
    EmbeddedChunk,
    EmbeddedDocument,
    Locator,
    Modality,
    StoredWindow,
)
from pincite.stores.sqlite.codec import (
    metadata_from_json,
    metadata_to_json,
    sections_from_json,
    sections_to_json,
)
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
    """All rows of one document, without the numbers SQLite gives them."""

    document: Row
    chunks: tuple[ChunkRows, ...]


INSERT_DOCUMENT = """
INSERT INTO document (
    id, path, folded_name, checksum, type, title, own_title, text, sections, metadata,
    folded_tags, chunks, indexed_at, recipe
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

INSERT_CHUNK = """
INSERT INTO chunk (
    document, id, modality, position, start, end, line_start, line_end, sections,
    folded_headings, tokens
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

INSERT_WORDS = (
    "INSERT INTO chunk_words (rowid, text, about, headings, codes) VALUES (?, ?, ?, ?, ?)"
)

INSERT_WINDOW = "INSERT INTO window (chunk, start, end, fingerprint) VALUES (?, ?, ?, ?)"

INSERT_VECTOR = "INSERT INTO window_vector (rowid, embedding) VALUES (?, ?)"

SELECT_DOCUMENT = """
SELECT id, path, folded_name, checksum, type, title, own_title, text, sections, metadata,
    folded_tags, chunks, indexed_at, recipe
FROM document WHERE id = ?
"""

SELECT_CHUNKS = """
SELECT chunk.rowid, chunk.id, chunk.modality, chunk.position, chunk.start, chunk.end,
    chunk.line_start, chunk.line_end, chunk.sections, chunk.folded_headings, chunk.tokens
FROM chunk JOIN document ON document.rowid = chunk.document
WHERE document.id = ? ORDER BY chunk.position
"""

SELECT_WORDS = "SELECT text, about, headings, codes FROM chunk_words WHERE rowid = ?"

SELECT_WINDOWS = """
SELECT window.start, window.end, window.fingerprint, window_vector.embedding
FROM window LEFT JOIN window_vector ON window_vector.rowid = window.rowid
WHERE window.chunk = ? ORDER BY window.start, window.end
"""

# vec0 and FTS5 tables know no cascade; children go first.
FORGET = (
    """
    DELETE FROM window_vector WHERE rowid IN (
        SELECT window.rowid FROM window JOIN chunk ON chunk.rowid = window.chunk
        WHERE chunk.document = :document
    )
    """,
    "DELETE FROM window WHERE chunk IN (SELECT rowid FROM chunk WHERE document = :document)",
    "DELETE FROM chunk_words WHERE rowid IN (SELECT rowid FROM chunk WHERE document = :document)",
    "DELETE FROM chunk WHERE document = :document",
    "DELETE FROM document WHERE rowid = :document",
)

FORGET_EVERYTHING = (
    "DELETE FROM window",
    "DELETE FROM chunk_words",
    "DELETE FROM chunk",
    "DELETE FROM document",
)

ENTRY_COLUMNS = (
    "document.id, document.path, document.checksum, document.type, document.title, "
    "document.metadata, document.chunks, document.indexed_at, document.recipe"
)

SELECT_ENTRY = f"SELECT {ENTRY_COLUMNS}, document.text FROM document WHERE rowid = ?"

SELECT_CHUNK = """
SELECT document, id, modality, position, start, end, line_start, line_end, sections,
    folded_headings, tokens
FROM chunk WHERE id = ?
"""


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
        _json([fold(tag) for tag in document.metadata.tags]),
        len(embedded.chunks),
        time,
        recipe,
    )
    return DocumentRows(row, tuple(_chunk_rows(document, chunk) for chunk in embedded.chunks))


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
            _json([fold(heading) for heading in chunk.headings]),
            chunk.tokens,
        ),
        words=(
            indexed_words(chunk.text),
            indexed_words(document.about),
            indexed_words(headings),
            indexed_codes(f"{document.about}\n{headings}\n{chunk.text}"),
        ),
        windows=tuple(
            (window.start, window.end, window.fingerprint, to_bytes(window.vector))
            for window in embedded.windows
        ),
    )


def write(connection: apsw.Connection, rows: DocumentRows) -> None:
    """Insert a document's rows; call inside a transaction."""
    connection.execute(INSERT_DOCUMENT, rows.document)
    document = connection.last_insert_rowid()
    for chunk_rows in rows.chunks:
        connection.execute(INSERT_CHUNK, (document, *chunk_rows.chunk))
        chunk = connection.last_insert_rowid()
        connection.execute(INSERT_WORDS, (chunk, *chunk_rows.words))
        for start, end, fingerprint, vector in chunk_rows.windows:
            connection.execute(INSERT_WINDOW, (chunk, start, end, fingerprint))
            connection.execute(INSERT_VECTOR, (connection.last_insert_rowid(), vector))


def read(connection: apsw.Connection, document_id: DocumentId) -> DocumentRows | None:
    """A document's rows as the database holds them, whatever their state."""
    row = connection.execute(SELECT_DOCUMENT, (document_id,)).fetchone()
    if row is None:
        return None
    chunks = tuple(
        ChunkRows(
            chunk=chunk,
            words=connection.execute(SELECT_WORDS, (rowid,)).fetchone() or (),
            windows=tuple(connection.execute(SELECT_WINDOWS, (rowid,))),
        )
        for rowid, *chunk_columns in connection.execute(SELECT_CHUNKS, (document_id,)).fetchall()
        for chunk in (tuple(chunk_columns),)
    )
    return DocumentRows(row, chunks)


def forget(connection: apsw.Connection, ids: Sequence[DocumentId], *, path: str | None) -> None:
    """Delete documents by id, and whichever stands at the path; call inside a transaction."""
    found = connection.execute(
        "SELECT rowid FROM document WHERE path = ? OR id IN (SELECT value FROM json_each(?))",
        (path, json.dumps(list(ids))),
    ).fetchall()
    for (document,) in found:
        for statement in FORGET:
            connection.execute(statement, {"document": document})


def entry_of(row: Row) -> DocumentEntry:
    """A row of ENTRY_COLUMNS as a record."""
    document_id, path, checksum, kind, title, metadata, chunks, indexed_at, recipe = row
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
    )


def document_of(library: str, rows: DocumentRows) -> Document:
    """The document a database row stands for."""
    _, path, _, checksum, kind, title, own_title, text, sections, metadata, *_ = rows.document
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


def chunk_of(document_id: DocumentId, text: str, row: Row) -> Chunk:
    """A chunk's row as a record, cut out of its document's text."""
    _, modality, position, start, end, line_start, line_end, sections, _, tokens = row
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"chunk {start}-{end} lies outside its document")
    return Chunk(
        document_id=document_id,
        modality=Modality(modality),
        position=position,
        start=start,
        end=end,
        text=text[start:end],
        sections=sections_from_json(json.loads(sections)),
        locator=Locator(line_start, line_end),
        tokens=tokens,
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
