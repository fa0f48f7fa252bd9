"""Opens SQLite the one safe way, and says its errors in our words."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import sqlite_vec

from pincite.errors import (
    LibraryBusy,
    PinciteError,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnsupported,
)
from pincite.files import refuse_links

# Before 3.51.3 committed writes could be lost (WAL reset); before 3.53.2 FTS5 could overflow.
OLDEST_SQLITE = (3, 53, 2)
_WAIT_FOR_LOCK_MS = 10_000
# What a value that was damaged on disk raises when it is decoded.
UNREADABLE_VALUE = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError)
REPAIR = "run `pincite index verify --repair`"


def check_sqlite(version: str) -> None:
    """Refuse a SQLite that can lose writes."""
    if tuple(int(part) for part in version.split(".")) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise StoreUnsupported(
            f"SQLite {version} is too old, {oldest} or newer is needed; "
            "run `pip install --upgrade apsw`"
        )


def connect(path: Path, *, writable: bool) -> apsw.Connection:
    """A connection with sqlite-vec loaded; a writable one is created and syncs every commit."""
    check_sqlite(apsw.sqlite_lib_version())
    with translated_errors(path):
        for suffix in ("", "-wal", "-shm", "-journal"):
            refuse_links(path.with_name(path.name + suffix))
        connection = _open(path, writable=writable)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.enable_load_extension(True)  # noqa: FBT003 — positional only in apsw
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)  # noqa: FBT003 — positional only in apsw
        if writable:
            # One statement a call: apsw stops a chain at the first statement that gives a row.
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def _open(path: Path, *, writable: bool) -> apsw.Connection:
    if writable:
        return _opened_and_read(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    try:
        return _opened_and_read(str(path), apsw.SQLITE_OPEN_READONLY)
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError):
        # In a folder we may not write to, or on a full disk, SQLite cannot make the files that it
        # shares between readers.
        wal = path.with_name(path.name + "-wal")
        if not path.is_file():
            raise
        if wal.exists() and wal.stat().st_size > 0:
            # Pending changes can be read without sharing them: nobody else reads meanwhile.
            return _opened_and_read(str(path), apsw.SQLITE_OPEN_READWRITE, alone=True)
        # Without pending changes the database can be read as it stands.
        uri = path.as_uri() + "?immutable=1"
        return _opened_and_read(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _opened_and_read(name: str, flags: int, *, alone: bool = False) -> apsw.Connection:
    """SQLite opens lazily; one read shows whether the file can be used."""
    connection = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_NOFOLLOW)
    try:
        connection.set_busy_timeout(_WAIT_FOR_LOCK_MS)  # first of all: the read waits as well
        if alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        connection.execute("PRAGMA temp_store = MEMORY")  # sorting needs no room on a disk
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.Error:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All or nothing. IMMEDIATE: a deferred transaction that turns to writing fails at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Several reads that see one and the same state; inside another one, its state."""
    if not connection.get_autocommit():
        yield
        return
    connection.execute("BEGIN DEFERRED")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def translated_errors(path: Path, *, mend: str = REPAIR) -> Iterator[None]:
    """SQLite's and the file system's errors as ours, each with what to do."""
    try:
        yield
    except apsw.Error as error:
        raise _from_sqlite(error, path, mend) from error
    except OSError as error:
        raise _from_os(error, path) from error
    except UNREADABLE_VALUE as error:
        raise StoreDamaged(f"{path} holds a value that cannot be read; {mend}") from error


def _from_sqlite(error: apsw.Error, path: Path, mend: str) -> PinciteError:
    match error:
        case apsw.FullError():
            return StoreFull(_full(path))
        case apsw.BusyError():
            return LibraryBusy(f"{path} is locked by another program; try again later")
        # SQLError: the statements are ours, so tables that do not fit them are not.
        case apsw.CorruptError() | apsw.NotADBError() | apsw.SQLError():
            return StoreDamaged(f"{path} is damaged ({error}); {mend}")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreReadOnly(_read_only(path))
        case apsw.CantOpenError() if not os.access(path.parent, os.W_OK):
            return StoreReadOnly(_read_only(path))
        case apsw.IOError():
            to_do = "check the disk, its free space and your quota, then run the command again"
        case _:
            to_do = mend
    return StoreError(f"{path}: {error}; {to_do}")


def _from_os(error: OSError, path: Path) -> PinciteError:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return StoreFull(_full(path))
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return StoreReadOnly(_read_only(path))
    return StoreError(f"{path}: {error.strerror or error}")


def _full(path: Path) -> str:
    return (
        f"no space left to write {path}; what was indexed before is kept. "
        "Free some space and run the command again: it goes on where it stopped"
    )


def _read_only(path: Path) -> str:
    return f"{path.parent} cannot be written to; check its permissions or copy the library"
