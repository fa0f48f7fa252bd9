"""The driver's exceptions as ours: each says in one sentence what is wrong and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from pincite.errors import (
    DatabaseMissing,
    PinciteError,
    StoreBusy,
    StoreDamaged,
    StoreDenied,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
    StoreUnsupported,
)
from pincite.stores.postgres.rights import MEMBER

# A sign in what the server or the driver says, our error, and its words; the first that fits.
_Meanings = tuple[tuple[str, type[PinciteError], str], ...]
# What is refused before there is a connection is told in words alone.
_AT_THE_DOOR: _Meanings = (
    (
        "authentication failed|no password supplied",
        StoreDenied,
        "does not let this user in: {said}; give the password in PGPASSWORD or in ~/.pgpass",
    ),
    (
        r'role "(?P<name>.*)" does not exist',
        StoreDenied,
        "knows no login {name!r}; name another in the address, or let an administrator make it: "
        "CREATE ROLE … LOGIN",
    ),
    (
        r'database "(?P<name>.*)" does not exist',
        DatabaseMissing,
        "is not there; correct the address, or let an administrator make it: CREATE DATABASE …",
    ),
    (
        "no pg_hba.conf entry",
        StoreDenied,
        "lets this login in from elsewhere only: {said}; let an administrator add it to "
        "pg_hba.conf",
    ),
    (
        "starting up|shutting down|in recovery mode|not yet accepting connections",
        StoreUnreachable,
        "is not ready: {said}; try again in a moment",
    ),
    (
        "failed to resolve host|could not translate host name",
        StoreUnreachable,
        "is not found: there is no such host; correct the address",
    ),
    (
        "Connection refused|No such file or directory|timeout expired|No route to host",
        StoreUnreachable,
        "does not answer: {said}; is the server running, and are host and port as in the address?",
    ),
)

_INSIDE: _Meanings = (
    (
        "permission denied (to set role|for schema pincite)",
        StoreDenied,
        f"does not let this login work as {MEMBER}; let the database's owner run: "
        f"GRANT {MEMBER} TO …",
    ),
    (
        r'extension "vector" is not available|vector\.control',
        StoreUnsupported,
        "has no pgvector; let the server's administrator install it, 0.8.4 or newer",
    ),
)

# What each error of the driver means, the first that fits.
_BY_KIND: tuple[tuple[type[Exception], type[StoreError], str], ...] = (
    (errors.InsufficientPrivilege, StoreDenied, "does not allow this: {said}"),
    (errors.ReadOnlySqlTransaction, StoreReadOnly, "can only be read: {said}"),
    (errors.DiskFull, StoreFull, "is full: {said}; what was stored is kept"),
    (errors.OutOfMemory, StoreFull, "is full: {said}; what was stored is kept"),
    (errors.DataCorrupted, StoreDamaged, "reports damage: {said}"),
    (errors.IndexCorrupted, StoreDamaged, "reports damage: {said}"),
    (errors.DeadlockDetected, StoreBusy, "is busy: {said}; try again"),
    (errors.LockNotAvailable, StoreBusy, "is busy: {said}; try again"),
    (errors.SerializationFailure, StoreBusy, "is busy: {said}; try again"),
    (errors.TooManyConnections, StoreBusy, "is busy: {said}; try again"),
    (errors.ProgramLimitExceeded, StoreError, "cannot keep this: {said}"),
    (
        psycopg.OperationalError,
        StoreUnreachable,
        "does not answer: {said}; try again, or reopen it",
    ),
    (psycopg.Error, StoreError, "says: {said}"),
)


@contextmanager
def translated_errors(server: str) -> Iterator[None]:
    """The driver's exceptions as ours."""
    try:
        yield
    except psycopg.Error as error:
        said = next(iter(str(error).splitlines()), type(error).__name__)
        for sign, ours, words in _INSIDE if error.sqlstate else _AT_THE_DOOR:
            if found := re.search(sign, str(error)):
                told = words.format(said=said, **found.groupdict())
                raise ours(f"{server} {told}") from error
        kinds = ((one, words) for kind, one, words in _BY_KIND if isinstance(error, kind))
        meant, words = next(kinds)
        raise meant(f"{server} {words.format(said=said)}") from error
