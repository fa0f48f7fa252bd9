"""The statements that write, read and forget one document's rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import apsw

from pincite.records import DocumentId
from pincite.stores.rows import ChunkRows, DocumentRows, Row
from pincite.stores.sqlite.meta import next_chunk, set_meta
from pincite.text.words import spellings_in

_DOCUMENT_COLUMNS = """
    id, path, folded_name, checksum, type, title, own_title, text, sections, metadata,
    folded_tags, size, modality, summary, folded_language, folded_project, folded_author,
    folded_agents, level, date_first, date_last, chunks, indexed_at, recipe
"""
_CHUNK_COLUMNS = """
    chunk.id, chunk.modality, chunk.position, chunk.start, chunk.end, chunk.line_start,
    chunk.line_end, chunk.sections, chunk.folded_headings, chunk.tokens, chunk.page_start,
    chunk.page_end, chunk.time_start, chunk.time_end, chunk.row_start, chunk.row_end,
    chunk.places, chunk.omissions, chunk.analysis, chunk.folded_layer, chunk.folded_symbols,
    chunk.folded_imports
"""


def _insert(table: str, columns: str) -> str:
    names = [name.strip().rpartition(".")[2] for name in columns.split(",")]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


INSERT_DOCUMENT = _insert("document", f"{_DOCUMENT_COLUMNS}, checks")
INSERT_DOCUMENT_WORDS = _insert("document_words", "rowid, about, path, summary")
INSERT_CHUNK = _insert("chunk", f"rowid, document, {_CHUNK_COLUMNS}")
INSERT_WORDS = _insert("chunk_words", "rowid, text, about, headings, codes")
INSERT_SPELLING = _insert("document_spelling", "rowid, words")
INSERT_NAME = _insert("document_name", "name, document")
INSERT_DEFINITION = _insert("definition", "document, short, long, short_key, long_key")
INSERT_WINDOW = _insert("window", "chunk, start, end, fingerprint")
INSERT_VECTOR = _insert("window_vector", "rowid, embedding")

SELECT_DOCUMENT = f"SELECT rowid, checks, {_DOCUMENT_COLUMNS} FROM document WHERE id = ?"

SELECT_DOCUMENT_WORDS = "SELECT about, path, summary FROM document_words WHERE rowid = ?"

SELECT_DEFINITIONS = """
SELECT short, long, short_key, long_key FROM definition WHERE document = ? ORDER BY short, long_key
"""

SELECT_CHUNKS = f"""
SELECT chunk.rowid, {_CHUNK_COLUMNS}
FROM chunk JOIN document ON document.rowid = chunk.document
WHERE document.id = ? ORDER BY chunk.position
"""

SELECT_NAMES = "SELECT name FROM document_name WHERE document = ? ORDER BY name"

SELECT_WORDS = "SELECT text, about, headings, codes FROM chunk_words WHERE rowid = ?"

SELECT_WORDS_OF_DOCUMENT = """
SELECT text, about, headings FROM chunk JOIN chunk_words ON chunk_words.rowid = chunk.rowid
WHERE chunk.document = ?
"""

SELECT_WINDOWS = """
SELECT window.start, window.end, window.fingerprint, window_vector.embedding
FROM window LEFT JOIN window_vector ON window_vector.rowid = window.rowid
WHERE window.chunk = ? ORDER BY window.start, window.end
"""

# vec0 and FTS5 tables know no cascade; children go first.
FORGET = (
    "INSERT INTO forgotten SELECT rowid FROM chunk WHERE document = :document",
    """
    DELETE FROM window_vector WHERE rowid IN (
        SELECT window.rowid FROM window JOIN chunk ON chunk.rowid = window.chunk
        WHERE chunk.document = :document
    )
    """,
    "DELETE FROM window WHERE chunk IN (SELECT rowid FROM chunk WHERE document = :document)",
    "DELETE FROM chunk_words WHERE rowid IN (SELECT rowid FROM chunk WHERE document = :document)",
    "DELETE FROM chunk WHERE document = :document",
    "DELETE FROM document_words WHERE rowid = :document",
    "DELETE FROM document_spelling WHERE rowid = :document",
    "DELETE FROM definition WHERE document = :document",
    "DELETE FROM document_name WHERE document = :document",
    "DELETE FROM document WHERE rowid = :document",
)

FORGET_EVERYTHING = (
    "DELETE FROM meta WHERE key = 'segments'",
    "DELETE FROM forgotten",
    "DELETE FROM window",
    "DELETE FROM chunk_words",
    "DELETE FROM chunk",
    "DELETE FROM document_words",
    "INSERT INTO document_spelling (document_spelling) VALUES ('delete-all')",
    "DELETE FROM definition",
    "DELETE FROM document_name",
    "DELETE FROM document",
)

ENTRY_COLUMNS = (
    "document.id, document.path, document.checksum, document.type, document.title, "
    "document.metadata, document.size, document.chunks, document.indexed_at, document.recipe, "
    "document.summary"
)

_CHECKED_TOGETHER = 4_096  # characters
_CHECK_BYTES = 8
_TEXT = f"""
    substr(document.text, :first * {_CHECKED_TOGETHER} + 1, :count * {_CHECKED_TOGETHER}),
    substr(document.checks, :first * {_CHECK_BYTES} + 1, :count * {_CHECK_BYTES})
"""
SELECT_TEXT = f"SELECT {_TEXT} FROM document WHERE id = :document"
SELECT_ENTRY = f"SELECT {_TEXT}, {ENTRY_COLUMNS} FROM document WHERE rowid = :document"

SELECT_CHUNK = f"SELECT chunk.document, {_CHUNK_COLUMNS} FROM chunk WHERE id = ?"

SELECT_CHUNK_IDS = """
SELECT chunk.id FROM chunk JOIN document ON document.rowid = chunk.document
WHERE document.id = ? ORDER BY chunk.position
"""


def write(connection: apsw.Connection, rows: DocumentRows) -> None:
    """Insert a document's rows; call inside a transaction."""
    connection.execute(INSERT_DOCUMENT, (*rows.document, checks_of(rows.text)))
    document = connection.last_insert_rowid()
    connection.execute(INSERT_DOCUMENT_WORDS, (document, *rows.words))
    connection.execute(INSERT_SPELLING, (document, spelling_of(one.words for one in rows.chunks)))
    for definition in rows.definitions:
        connection.execute(INSERT_DEFINITION, (document, *definition))
    for name in rows.names:
        connection.execute(INSERT_NAME, (name, document))
    first = next_chunk(connection)
    for chunk, chunk_rows in enumerate(rows.chunks, start=first):
        connection.execute(INSERT_CHUNK, (chunk, document, *chunk_rows.chunk))
        connection.execute(INSERT_WORDS, (chunk, *chunk_rows.words))
        for start, end, fingerprint, vector in chunk_rows.windows:
            connection.execute(INSERT_WINDOW, (chunk, start, end, fingerprint))
            connection.execute(INSERT_VECTOR, (connection.last_insert_rowid(), vector))
    set_meta(connection, "next_chunk", str(first + len(rows.chunks)))


def spelling_of(words: Iterable[Row]) -> str:
    """The words of a document as they are spelled, from the indexed words of its chunks."""
    texts = {text for row in words for text in row[:3]}  # codes are no words
    return " ".join(sorted(spellings_in("\n".join(texts))))


def spellings(connection: apsw.Connection) -> Iterator[tuple[int, str]]:
    """Each document's row with its words as they are spelled, from the indexed words."""
    documents: list[Any] = connection.execute("SELECT rowid FROM document").fetchall()
    for (document,) in documents:
        yield document, spelling_of(connection.execute(SELECT_WORDS_OF_DOCUMENT, (document,)))


def read(connection: apsw.Connection, document_id: DocumentId) -> DocumentRows | None:
    """A document's rows as the database holds them, whatever their state."""
    row = connection.execute(SELECT_DOCUMENT, (document_id,)).fetchone()
    if row is None:
        return None
    rowid, checks, *columns = row
    words = connection.execute(SELECT_DOCUMENT_WORDS, (rowid,)).fetchone() or ()
    definitions = tuple(connection.execute(SELECT_DEFINITIONS, (rowid,)))
    names = tuple(name for (name,) in connection.execute(SELECT_NAMES, (rowid,)))
    chunks = tuple(
        ChunkRows(
            chunk=chunk,
            words=connection.execute(SELECT_WORDS, (rowid,)).fetchone() or (),
            windows=tuple(connection.execute(SELECT_WINDOWS, (rowid,))),
        )
        for rowid, *chunk_columns in connection.execute(SELECT_CHUNKS, (document_id,)).fetchall()
        for chunk in (tuple(chunk_columns),)
    )
    rows = DocumentRows(tuple(columns), words, definitions, names, chunks)
    _checked(rows.text, checks)
    return rows


def read_text(
    connection: apsw.Connection, statement: str, document: DocumentId | int, start: int, end: int
) -> tuple[str, int, Row]:
    """At least this slice of a document's text, where it begins, and what else is selected."""
    first = start // _CHECKED_TOGETHER
    count = max(-(-end // _CHECKED_TOGETHER) - first, 0)
    values = {"document": document, "first": first, "count": count}
    text, checks, *others = connection.execute(statement, values).fetchone() or ("", b"")
    return _checked(text, checks), first * _CHECKED_TOGETHER, tuple(others)


def checks_of(text: str) -> bytes:
    """A checksum of each stretch of a text, so that not all of it is read to know a part."""
    stretches = (
        text[start : start + _CHECKED_TOGETHER].encode("utf-8", "surrogatepass")
        for start in range(0, len(text), _CHECKED_TOGETHER)
    )
    return b"".join(blake2b(one, digest_size=_CHECK_BYTES).digest() for one in stretches)


def _checked(text: str, checks: bytes) -> str:
    if checks_of(text) != checks:
        raise ValueError("the text is not what was stored")
    return text


def forget(connection: apsw.Connection, ids: Sequence[DocumentId], *, path: str | None) -> None:
    """Delete documents by id, and whichever stands at the path; call inside a transaction."""
    found = connection.execute(
        "SELECT rowid FROM document WHERE path = ? OR id IN (SELECT value FROM json_each(?))",
        (path, json.dumps(list(ids))),
    ).fetchall()
    for (document,) in found:
        for statement in FORGET:
            connection.execute(statement, {"document": document})
