"""The database's schema, as the numbered steps that led to it. Read from top to bottom."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import apsw

from pincite.errors import StoreDamaged, StoreTooNew
from pincite.records import without
from pincite.stores.codec import omissions_from_json
from pincite.stores.rows import definition_rows
from pincite.stores.sqlite import tables
from pincite.stores.sqlite.connection import REPAIR, connect, transaction, translated_errors
from pincite.text.dates import day_span
from pincite.text.naming import document_names
from pincite.text.words import fold, indexed_words


def m001_documents_chunks_windows(connection: apsw.Connection) -> None:
    """Documents with their chunks and windows, and what the database knows of the log."""
    for statement in (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
        """
        CREATE TABLE document (
            rowid INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            path TEXT NOT NULL UNIQUE,
            folded_name TEXT NOT NULL,
            checksum TEXT NOT NULL,
            type TEXT NOT NULL,
            title TEXT NOT NULL,
            own_title INTEGER NOT NULL,
            text TEXT NOT NULL,
            sections TEXT NOT NULL,
            metadata TEXT NOT NULL,
            folded_tags TEXT NOT NULL,
            chunks INTEGER NOT NULL,
            indexed_at TEXT NOT NULL,
            recipe TEXT NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE chunk (
            rowid INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            document INTEGER NOT NULL REFERENCES document (rowid),
            modality TEXT NOT NULL,
            position INTEGER NOT NULL,
            start INTEGER NOT NULL,
            end INTEGER NOT NULL,
            line_start INTEGER NOT NULL,
            line_end INTEGER NOT NULL,
            sections TEXT NOT NULL,
            folded_headings TEXT NOT NULL,
            tokens INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX chunk_of_document ON chunk (document)",
        """
        CREATE TABLE window (
            rowid INTEGER PRIMARY KEY,
            chunk INTEGER NOT NULL REFERENCES chunk (rowid),
            start INTEGER NOT NULL,
            end INTEGER NOT NULL,
            fingerprint TEXT NOT NULL
        ) STRICT
        """,
        "CREATE INDEX window_of_chunk ON window (chunk)",
        "CREATE INDEX window_by_fingerprint ON window (fingerprint)",
        # Marks inside a word (Mn, Mc) belong to it: without them Thai falls apart.
        """
        CREATE VIRTUAL TABLE chunk_words USING fts5 (
            text, about, headings, codes,
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
        )
        """,
    ):
        connection.execute(statement)


def m002_places_and_catalog(connection: apsw.Connection) -> None:
    """Where chunks stand beyond lines, what is hidden in them, what code they hold; the catalog."""
    for table, columns in (
        (
            "document",
            (
                "size INTEGER NOT NULL DEFAULT 0",
                "modality TEXT NOT NULL DEFAULT 'text'",
                "summary TEXT NOT NULL DEFAULT ''",
                "folded_language TEXT NOT NULL DEFAULT ''",
            ),
        ),
        (
            "chunk",
            (
                *("page_start INTEGER", "page_end INTEGER", "time_start REAL", "time_end REAL"),
                *("row_start INTEGER", "row_end INTEGER"),
                "places BLOB NOT NULL DEFAULT x''",
                "omissions TEXT NOT NULL DEFAULT '[]'",
                f"analysis TEXT NOT NULL DEFAULT '{_NO_ANALYSIS}'",
                "folded_layer TEXT NOT NULL DEFAULT ''",
                "folded_symbols TEXT NOT NULL DEFAULT '[]'",
                "folded_imports TEXT NOT NULL DEFAULT '[]'",
            ),
        ),
    ):
        for column in columns:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    connection.execute(
        """
        CREATE VIRTUAL TABLE document_words USING fts5 (
            about, path, summary,
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
        )
        """
    )
    documents: list[Any] = connection.execute(
        "SELECT rowid, path, title, metadata FROM document"
    ).fetchall()
    for rowid, path, title, metadata in documents:
        known = json.loads(metadata)
        name = path.rpartition("/")[2]
        about = "\n".join((title, name, known["author"] or "", *known["tags"]))
        connection.execute(
            "INSERT INTO document_words (rowid, about, path, summary) VALUES (?, ?, ?, '')",
            (rowid, indexed_words(about), indexed_words(path)),
        )
        # What the file says of its language could not be filtered by before.
        connection.execute(
            "UPDATE document SET folded_language = ? WHERE rowid = ?",
            (fold(known["language"] or ""), rowid),
        )


_NO_ANALYSIS = '{"layer":null,"symbols":[],"imports":[],"entry_points":[]}'


def m003_segments(connection: apsw.Connection) -> None:
    """Rows of chunks are given once and for all, so that segments can name chunks by them.

    What documents are filtered by stands together, apart from their texts.
    """
    connection.execute(
        "CREATE INDEX document_seen ON document "
        "(type, folded_language, folded_name, path, folded_tags)"
    )
    connection.execute("CREATE TABLE forgotten (chunk INTEGER PRIMARY KEY) STRICT")
    connection.execute(
        "INSERT INTO meta (key, value) SELECT 'next_chunk', coalesce(max(rowid), 0) + 1 FROM chunk"
    )


def m004_more_to_filter_by(connection: apsw.Connection) -> None:
    """Project, author, agents, confidentiality and dates of documents, to be filtered by.

    What chunks are filtered by stands together, too, apart from their places.
    """
    for column in (
        *("folded_project TEXT NOT NULL DEFAULT ''", "folded_author TEXT NOT NULL DEFAULT ''"),
        *("folded_agents TEXT NOT NULL DEFAULT '[]'", "level INTEGER NOT NULL DEFAULT 1"),
        *("date_first TEXT NOT NULL DEFAULT ''", "date_last TEXT NOT NULL DEFAULT ''"),
    ):
        connection.execute(f"ALTER TABLE document ADD COLUMN {column}")
    documents: list[Any] = connection.execute("SELECT rowid, metadata FROM document").fetchall()
    for rowid, metadata in documents:
        # Nothing could say its project, agents or confidentiality before.
        known = json.loads(metadata)
        span = day_span(known["date"] or known.get("modified") or "") or ("", "")
        connection.execute(
            "UPDATE document SET folded_author = ?, date_first = ?, date_last = ? WHERE rowid = ?",
            (fold(known["author"] or ""), *span, rowid),
        )
    connection.execute("DROP INDEX document_seen")
    connection.execute(
        "CREATE INDEX document_seen ON document (type, folded_language, folded_name, path, "
        "folded_tags, folded_project, folded_author, folded_agents, level, date_first, date_last)"
    )
    connection.execute("DROP INDEX chunk_of_document")
    connection.execute(
        "CREATE INDEX chunk_seen ON chunk "
        "(document, modality, folded_layer, folded_headings, folded_symbols)"
    )


def m005_vocabulary(connection: apsw.Connection) -> None:
    """The words as they are spelled, and what the documents say abbreviations stand for."""
    for statement in (
        # Each document's words once: what they are and in how many documents is all that is asked.
        """
        CREATE VIRTUAL TABLE document_spelling USING fts5 (
            words, content = '', contentless_delete = 1, detail = none,
            tokenize = "unicode61 remove_diacritics 0 categories 'L*'"
        )
        """,
        """
        CREATE TABLE definition (
            document INTEGER NOT NULL REFERENCES document (rowid),
            short TEXT NOT NULL,
            long TEXT NOT NULL,
            short_key TEXT NOT NULL,
            long_key TEXT NOT NULL,
            PRIMARY KEY (document, short, long_key)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX definition_by_short ON definition (short_key)",
    ):
        connection.execute(statement)
    # `spelling_of` and `definition_rows` are the rules of this version: who changes what they give
    # keeps a copy as it was here, and lets a step of its own make the rows anew.
    documents: list[Any] = connection.execute("SELECT rowid FROM document").fetchall()
    for (document,) in documents:
        words = connection.execute(
            "SELECT text, about, headings FROM chunk "
            "JOIN chunk_words ON chunk_words.rowid = chunk.rowid WHERE chunk.document = ?",
            (document,),
        )
        connection.execute(
            "INSERT INTO document_spelling (rowid, words) VALUES (?, ?)",
            (document, tables.spelling_of(words)),
        )
        for row in definition_rows(_seen_texts(connection, document)):
            connection.execute("INSERT INTO definition VALUES (?, ?, ?, ?, ?)", (document, *row))


def _seen_texts(connection: apsw.Connection, document: int) -> Iterator[str]:
    """The texts of a document's chunks without what nobody would see."""
    statement = """
        SELECT document.text, chunk.start, chunk.end, chunk.omissions
        FROM chunk JOIN document ON document.rowid = chunk.document
        WHERE document.rowid = ? ORDER BY chunk.position
    """
    for text, start, end, omissions in connection.execute(statement, (document,)):
        told = omissions_from_json(json.loads(omissions))
        left_out = (one for one in told if not one.reason.is_searched)
        yield without(text[start:end], start, left_out)


def m006_names(connection: apsw.Connection) -> None:
    """What documents are called, so that a question can name them."""
    connection.execute(
        """
        CREATE TABLE document_name (
            name TEXT NOT NULL,
            document INTEGER NOT NULL REFERENCES document (rowid),
            PRIMARY KEY (name, document)
        ) STRICT, WITHOUT ROWID
        """
    )
    connection.execute("CREATE INDEX name_of_document ON document_name (document)")
    # `document_names` is the rule of this version: who changes it keeps a copy as it was here.
    documents: list[Any] = connection.execute("SELECT rowid, title, path FROM document").fetchall()
    for document, title, path in documents:
        for name in document_names(title, path.rpartition("/")[2]):
            connection.execute("INSERT INTO document_name VALUES (?, ?)", (name, document))


def m007_checks(connection: apsw.Connection) -> None:
    """Checksums of the texts, so that nothing is quoted that the disk has changed."""
    connection.execute("ALTER TABLE document ADD COLUMN checks BLOB NOT NULL DEFAULT x''")
    # `checks_of` is the rule of this version: who changes it keeps a copy as it was here.
    documents: list[Any] = connection.execute("SELECT rowid FROM document").fetchall()
    for (document,) in documents:
        text = connection.execute("SELECT text FROM document WHERE rowid = ?", (document,)).get
        connection.execute(
            "UPDATE document SET checks = ? WHERE rowid = ?", (tables.checks_of(text), document)
        )


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (
    m001_documents_chunks_windows,
    m002_places_and_catalog,
    m003_segments,
    m004_more_to_filter_by,
    m005_vocabulary,
    m006_names,
    m007_checks,
)


def schema_version(connection: apsw.Connection) -> int:
    """How many migrations this database has seen."""
    version = connection.execute("PRAGMA user_version").get
    assert isinstance(version, int)  # noqa: S101 — for the type checker; SQLite gives a number
    return version


def open_database(path: Path, *, writable: bool) -> apsw.Connection:
    """A connection to a database of ours; one of a newer pincite is left alone.

    Somebody may have put a view in the place of a table that never comes to an end. So before a
    table is looked at, the schema must be what our statements make.
    """
    connection = connect(path, writable=writable)
    try:
        with translated_errors(path):
            _refuse_foreign(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_foreign(connection: apsw.Connection, path: Path) -> None:
    version = schema_version(connection)
    if version > len(MIGRATIONS):
        raise StoreTooNew(
            f"{path} was written by a newer pincite (schema {version}, this one knows "
            f"{len(MIGRATIONS)}); upgrade pincite"
        )
    if foreign := sorted(_objects(connection) ^ _objects_of(version)):
        raise StoreDamaged(f"{path}: {foreign[0][0]} is not as pincite made it; {REPAIR}")


@lru_cache
def _objects_of(version: int) -> frozenset[tuple[str, str]]:
    with closing(apsw.Connection(":memory:")) as empty:
        for step in MIGRATIONS[:version]:
            step(empty)
        return _objects(empty)


def _objects(connection: apsw.Connection) -> frozenset[tuple[str, str]]:
    """The schema's names and statements, but for the table of vectors, which a header makes.

    How virtual tables keep what is in them is left to them, as long as these are tables.
    """
    rows = connection.execute("SELECT name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
    return frozenset(
        (str(name), "".join(sql.split()))
        for name, table, sql in rows
        if not (_KEPT_INSIDE.match(table) and _PLAIN.match(sql)) and not _VECTORS.fullmatch(sql)
    )


_KEPT_INSIDE = re.compile(
    "(chunk_words|document_words|document_spelling|window_vector)_|sqlite_sequence$"
)
_PLAIN = re.compile("CREATE TABLE |$")
_VECTORS = re.compile(
    r"CREATE VIRTUAL TABLE window_vector USING vec0 "
    r"\(embedding float\[\d+\] distance_metric=cosine\)"
)


def migrate(connection: apsw.Connection) -> None:
    """Bring the schema up to date, each step in one transaction with the record that it ran."""
    for number, step in enumerate(MIGRATIONS, start=1):
        if schema_version(connection) < number:
            with transaction(connection):
                step(connection)
                connection.execute(f"PRAGMA user_version = {number}")


def create_vector_table(connection: apsw.Connection, dimensions: int) -> None:
    """Make room for vectors of one model; those of another are dropped."""
    connection.execute("DROP TABLE IF EXISTS window_vector")
    connection.execute(
        "CREATE VIRTUAL TABLE window_vector USING vec0 "
        f"(embedding float[{dimensions:d}] distance_metric=cosine)"
    )
