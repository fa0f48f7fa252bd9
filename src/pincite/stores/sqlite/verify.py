"""Do log, database, words and vectors agree?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from pincite.errors import StoreError
from pincite.records import DocumentId, Finding, Part
from pincite.stores.codec import embedded_from_json
from pincite.stores.lines import Entry
from pincite.stores.rows import ChunkRows, rows_of
from pincite.stores.sqlite import tables
from pincite.stores.sqlite.connection import UNREADABLE_VALUE, translated_errors
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.meta import log_position, meta
from pincite.stores.sqlite.replay import LiveLog, read_live
from pincite.stores.sqlite.schema import open_database
from pincite.stores.sqlite.segments.shelf import Shelf
from pincite.stores.sqlite.vocabulary import all_spellings


def _count(table: str, key: str, other: str, other_key: str) -> str:
    return f"SELECT count(*) FROM {table} WHERE {key} NOT IN (SELECT {other_key} FROM {other})"


# Rows that hang in the air: nothing they belong to is there, or nothing belongs to them.
ORPHANS: tuple[tuple[Part, str, str], ...] = (
    ("words", "chunks without words", _count("chunk", "rowid", "chunk_words", "rowid")),
    ("words", "words without a chunk", _count("chunk_words", "rowid", "chunk", "rowid")),
    ("words", "documents without words", _count("document", "rowid", "document_words", "rowid")),
    ("words", "words without a document", _count("document_words", "rowid", "document", "rowid")),
    (
        "words",
        "abbreviations of no document",
        _count("definition", "document", "document", "rowid"),
    ),
    ("words", "names of no document", _count("document_name", "document", "document", "rowid")),
    ("vectors", "windows without a vector", _count("window", "rowid", "window_vector", "rowid")),
    ("vectors", "vectors without a window", _count("window_vector", "rowid", "window", "rowid")),
    ("vectors", "windows without a chunk", _count("window", "chunk", "chunk", "rowid")),
    ("database", "chunks without a document", _count("chunk", "document", "document", "rowid")),
)


def findings(database: Path, log: ChunkLog, shelf: Shelf) -> list[Finding]:
    """All that does not agree; the index must not be written meanwhile."""
    live = read_live(log)
    found = [Finding("log", f"the line at byte {start} is damaged") for start in live.broken]
    if not database.exists():
        return [*found, Finding("database", f"{database.name} is missing")]
    try:
        with (
            closing(open_database(database, writable=True)) as connection,
            translated_errors(database),
        ):
            found += [*_inside(connection), *_against_log(connection, log, live)]
            return [*found, *_in_segments(connection, shelf)]
    except StoreError as error:
        return [*found, Finding("database", str(error))]


def _inside(connection: apsw.Connection) -> Iterator[Finding]:
    """What the database can say of itself."""
    for (problem,) in connection.execute("PRAGMA integrity_check(20)").fetchall():
        if problem != "ok":
            yield Finding("database", str(problem))
    if meta(connection, "header") is None:
        return
    for part, what, statement in ORPHANS:
        count = connection.execute(statement).get
        if count:
            yield Finding(part, f"{count} {what}")
    yield from _in_words(connection)


def _in_words(connection: apsw.Connection) -> Iterator[Finding]:
    try:
        # The plain integrity_check does not compare the words index with its text; this does.
        for table in ("chunk_words", "document_words", "document_spelling"):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    except apsw.Error:
        yield Finding("words", "the words index does not match its text")
    counted = Counter(word for _, words in tables.spellings(connection) for word in words.split())
    if all_spellings(connection) != counted:
        yield Finding("words", "the spelled words differ from the text")


def _in_segments(connection: apsw.Connection, shelf: Shelf) -> Iterator[Finding]:
    """What is searched first, against the tables that it is made from."""
    header = meta(connection, "header")
    if header is not None:
        dimensions = json.loads(header)["model"]["dimensions"]
        for what in shelf.disagreements(connection, dimensions=dimensions):
            yield Finding("segments", what)


def _against_log(connection: apsw.Connection, log: ChunkLog, live: LiveLog) -> Iterator[Finding]:
    """Row for row, what the log says and what the database holds."""
    position = log_position(connection)
    # Without a log line and without a position nothing was ever begun: that is no damage.
    if position and not log.path.exists():
        yield Finding("log", f"{log.path.name} is missing")
    if position != live.size:
        yield Finding(
            "database", f"follows the log to byte {position}, but the log has {live.size}"
        )
    header = meta(connection, "header")
    if live.header is not None and header is None:
        yield Finding("database", "has no header")
    elif live.header and header and live.header != json.loads(header):
        yield Finding("database", "was made for another model or policy than the log says")
    stored = {row[0] for row in connection.execute("SELECT id FROM document")}
    for extra in sorted(stored - live.documents.keys()):
        yield Finding("database", f"document {extra} is not in the log")
    for document_id, start in live.documents.items():
        yield from _document_findings(connection, log.entry_at(start), document_id)


def _document_findings(
    connection: apsw.Connection, entry: Entry, document_id: DocumentId
) -> Iterator[Finding]:
    expected = rows_of(
        embedded_from_json(entry["document"]), time=entry["time"], recipe=entry["recipe"]
    )
    path = entry["document"]["path"]
    try:
        actual = tables.read(connection, document_id)
    except UNREADABLE_VALUE as error:
        yield Finding("database", f"{path}: {error}")
        return
    if actual is None:
        yield Finding("database", f"{path} is missing")
        return
    if actual.document != expected.document:
        yield Finding("database", f"{path}: the document differs from the log")
    for what, held, wanted in (
        ("the catalog's words differ from the document", actual.words, expected.words),
        ("its names differ from the document", actual.names, expected.names),
        ("the abbreviations differ from the text", actual.definitions, expected.definitions),
    ):
        if held != wanted:
            yield Finding("words", f"{path}: {what}")
    yield from _chunk_findings(path, actual.chunks, expected.chunks)


def _chunk_findings(
    path: str, actual: Sequence[ChunkRows], expected: Sequence[ChunkRows]
) -> Iterator[Finding]:
    if [part.chunk for part in actual] != [part.chunk for part in expected]:
        yield Finding("database", f"{path}: the chunks differ from the log")
    if [part.words for part in actual] != [part.words for part in expected]:
        yield Finding("words", f"{path}: the indexed words differ from the text")
    if [part.windows for part in actual] != [part.windows for part in expected]:
        yield Finding("vectors", f"{path}: the vectors differ from the log")
