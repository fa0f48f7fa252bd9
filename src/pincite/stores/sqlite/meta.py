"""What the database keeps about itself, by name."""

from __future__ import annotations

import apsw


def meta(connection: apsw.Connection, key: str) -> str | None:
    """A value the database keeps about itself."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def set_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Keep a value; call inside a transaction."""
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))


def log_position(connection: apsw.Connection) -> int:
    """How many bytes of the log the database has followed."""
    return int(meta(connection, "log_position") or 0)


def next_chunk(connection: apsw.Connection) -> int:
    """The row of the chunk that will be stored next. A row is never given twice.

    Segments name chunks by their rows, and may be older than the chunk that stands there.
    """
    return int(meta(connection, "next_chunk") or 1)
