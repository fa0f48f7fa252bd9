"""The statements that write, read and forget one document's rows."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pgvector import HalfVector, Vector

from pincite.records import DocumentId
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.stores.postgres.words import (
    CHUNK_COLUMNS,
    COUNT_SPELLINGS,
    DOCUMENT_COLUMNS,
    forget_words,
    words_of,
    write_words,
)
from pincite.stores.rows import ChunkRows, DocumentRows, Row
from pincite.text.words import spellings_in
from pincite.vectors import from_bytes, to_bytes

_DOCUMENT = (
    *("id", "path", "folded_name", "checksum", "type", "title", "own_title", "text", "sections"),
    *("metadata", "folded_tags", "size", "modality", "summary", "folded_language"),
    *("folded_project", "folded_author", "folded_agents", "level", "date_first", "date_last"),
    *("chunks", "indexed_at", "recipe"),
)
_CHUNK = (
    *("id", "modality", "position", "start", '"end"', "line_start", "line_end", "sections"),
    *("folded_headings", "tokens", "page_start", "page_end", "time_start", "time_end"),
    *("row_start", "row_end", "places", "omissions", "analysis", "folded_layer"),
    *("folded_symbols", "folded_imports"),
)
_OWN = ("project", "generation")
PATH = _DOCUMENT.index("path")
LEVEL = _DOCUMENT.index("level")
RECIPE = _DOCUMENT.index("recipe")
CHUNKS = _DOCUMENT.index("chunks")
_METADATA = _DOCUMENT.index("metadata")


def _insert(table: str, columns: Sequence[str], *, returning: str = "") -> str:
    places = ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) {returning}"


_INSERT_DOCUMENT = _insert(
    "document",
    (*_OWN, "owner", "upload", *_DOCUMENT, "recording", "about", "about_length", "spelled"),
    returning="ON CONFLICT (generation, owner, upload) DO NOTHING RETURNING row",  # one of a race
)
_INSERT_CHUNK = _insert("chunk", (*_OWN, "row", "document", "level", *_CHUNK, "words", "length"))
_INSERT_WINDOW = _insert(
    "window_vector",
    (*_OWN, "space", "chunk", "start", '"end"', "fingerprint", "embedding", "half"),
)
_INSERT_DEFINITION = _insert(
    "definition", ("project", "document", "short", "long", "short_key", "long_key")
)
_INSERT_NAME = _insert("document_name", ("project", "document", "name"))

ENTRY_COLUMNS = (
    "document.id, document.path, document.checksum, document.type, document.title, "
    "document.metadata, document.size, document.chunks, document.indexed_at, document.recipe, "
    "document.summary"
)
CHUNK_COLUMNS_READ = ", ".join(f"chunk.{name}" for name in _CHUNK)
_DOCUMENT_COLUMNS_READ = ", ".join(f"document.{name}" for name in _DOCUMENT)

_SELECT_DOCUMENT = f"""
SELECT document.row, {_DOCUMENT_COLUMNS_READ} FROM document
WHERE project = %s AND generation = %s AND level <= %s AND id = %s
"""
_SELECT_CHUNKS = f"""
SELECT chunk.row, {CHUNK_COLUMNS_READ} FROM chunk WHERE document = %s ORDER BY position
"""
_SELECT_WINDOWS = """
SELECT chunk, start, "end", fingerprint, coalesce(embedding, half::vector) FROM window_vector
WHERE chunk = ANY (%s) ORDER BY chunk, start, "end"
"""

_COUNT = """
UPDATE generation SET chunks = chunks + %s, words = words + %s, documents = documents + %s,
    about_words = about_words + %s, windows = windows + %s, tokens = greatest(tokens, %s)
WHERE id = %s AND project = %s
"""

_FORGET = (
    """
    UPDATE generation SET
        chunks = generation.chunks - gone.chunks, words = generation.words - gone.words,
        documents = generation.documents - gone.documents,
        about_words = generation.about_words - gone.about_words,
        windows = generation.windows - gone.windows
    FROM (
        SELECT count(*) AS documents, coalesce(sum(about_length), 0) AS about_words,
            coalesce(sum(held.chunks), 0) AS chunks, coalesce(sum(held.words), 0) AS words,
            coalesce(sum(held.windows), 0) AS windows
        FROM document CROSS JOIN LATERAL (
            SELECT count(*) AS chunks, sum(length) AS words, sum(
                (SELECT count(*) FROM window_vector WHERE window_vector.chunk = chunk.row)
            ) AS windows
            FROM chunk WHERE chunk.document = document.row
        ) AS held WHERE row = ANY (%(rows)s)
    ) AS gone
    WHERE id = %(generation)s
    """,
    "DELETE FROM document WHERE row = ANY (%(rows)s)",
)


def write(
    connection: Connection, view: View, rows: DocumentRows, *, owner: int, upload: str | None
) -> bool:
    """Insert a document's rows; False where the same upload is there already."""
    about = words_of(rows.words, DOCUMENT_COLUMNS)
    spelled = sorted(spellings_of(rows.chunks))
    recording = json.loads(rows.document[_METADATA]).get("recording")
    scope = (view.project, view.generation)
    inserted = connection.execute(
        _INSERT_DOCUMENT,
        (*scope, owner, upload, *rows.document, recording, about.vector, about.length, spelled),
    ).fetchone()
    if inserted is None:
        return False
    (document,) = inserted
    level, is_whole = rows.document[LEVEL], view.column == "embedding"
    words = [words_of(one.words, CHUNK_COLUMNS) for one in rows.chunks]
    numbers = connection.execute(
        "SELECT nextval('chunk_row') FROM generate_series(1, %s)", (len(words),)
    ).fetchall()
    made = [(row, one, held) for (row,), one, held in zip(numbers, rows.chunks, words, strict=True)]
    with connection.cursor() as cursor:
        cursor.executemany(
            _INSERT_CHUNK,
            [
                (*scope, row, document, level, *one.chunk, held.vector, held.length)
                for row, one, held in made
            ],
        )
        cursor.executemany(
            _INSERT_WINDOW,
            [
                (
                    *(*scope, view.space, row, start, end, fingerprint),
                    *((Vector(vector), None) if is_whole else (None, HalfVector(vector))),
                )
                for row, one, _ in made
                for start, end, fingerprint, data in one.windows
                for vector in (from_bytes(data),)
            ],
        )
        cursor.executemany(
            _INSERT_DEFINITION, [(view.project, document, *one) for one in rows.definitions]
        )
        cursor.executemany(_INSERT_NAME, [(view.project, document, name) for name in rows.names])
    last_token = write_words(
        connection,
        view.generation,
        chunks=[(row, held) for row, _, held in made],
        document=(document, about),
    )
    connection.execute(COUNT_SPELLINGS, (view.generation, level, spelled))
    lengths = sum(one.length for one in words)
    windows = sum(len(one.windows) for one in rows.chunks)
    counts = (len(words), lengths, 1, about.length, windows, last_token)
    connection.execute(_COUNT, (*counts, view.generation, view.project))
    return True


def spellings_of(chunks: Sequence[ChunkRows]) -> set[str]:
    """The words of a document as its texts spell them."""
    texts = {text for one in chunks for text in one.words[:3]}  # codes are no words
    return spellings_in("\n".join(texts))


def rows_named(
    connection: Connection, view: View, ids: Sequence[DocumentId], path: str | None
) -> list[tuple[int, DocumentId]]:
    """The rows of the documents with these ids, and of whichever stands at the path."""
    found = connection.execute(
        """
        SELECT row, id FROM document WHERE project = %s AND generation = %s AND level <= %s
        AND (id = ANY (%s) OR md5(path) = md5(%s) AND path = %s)
        """,
        (view.project, view.generation, view.clearance, list(ids), path, path),
    )
    return [(row, DocumentId(name)) for row, name in found]


def forget(connection: Connection, generation: int, rows: Sequence[int]) -> None:
    """Delete documents with all that is of them."""
    if rows:
        forget_words(connection, generation, rows)
        forget_documents(connection, generation, rows)


def forget_documents(connection: Connection, generation: int, rows: Sequence[int]) -> None:
    """Delete documents whose words are gone."""
    for statement in _FORGET:
        connection.execute(statement, {"rows": list(rows), "generation": generation})


def read(connection: Connection, view: View, document_id: DocumentId) -> DocumentRows | None:
    """A document's rows with its chunks, windows and vectors; without what is made of them."""
    scope = (view.project, view.generation, view.clearance)
    found = connection.execute(_SELECT_DOCUMENT, (*scope, document_id)).fetchone()
    if found is None:
        return None
    row, *columns = found
    chunks = connection.execute(_SELECT_CHUNKS, (row,)).fetchall()
    windows: dict[int, list[Row]] = {}
    rows = [number for number, *_ in chunks]
    for chunk, *window, vector in connection.execute(_SELECT_WINDOWS, (rows,), binary=True):
        windows.setdefault(chunk, []).append((*window, to_bytes(vector.to_numpy())))
    return DocumentRows(
        document=tuple(columns),
        words=(),
        definitions=(),
        names=(),
        chunks=tuple(
            ChunkRows(tuple(chunk), (), tuple(windows.get(number, ()))) for number, *chunk in chunks
        ),
    )
