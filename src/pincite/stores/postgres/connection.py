"""Connections to a PostgreSQL server, each transaction of them for one scope."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import IsolationLevel, errors
from psycopg_pool import ConnectionPool

from pincite.errors import DatabaseMissing, LibraryBusy
from pincite.stores.postgres.address import named
from pincite.stores.postgres.meanings import translated_errors
from pincite.stores.postgres.migrating import migrate, schema_version
from pincite.stores.postgres.rights import MEMBER
from pincite.stores.postgres.schema import SCHEMA, Connection

_OPTIONS = f"-c search_path={SCHEMA},public -c jit=off"  # compiling a statement never pays here
_TIMEOUT = 10.0  # seconds to wait for a server or a free connection
_LOCK_TIMEOUT = "30s"  # for a lock that others soon let go of

_ENTER = """
SELECT set_config('role', %(role)s, true), set_config('pincite.account', %(account)s, true),
    set_config('pincite.project', %(project)s, true),
    set_config('pincite.clearance', %(clearance)s, true)
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a transaction may see: the rows of one project, as one account."""

    account: int
    project: int | None  # None: none yet
    clearance: int | None = None  # see no more than this; None: all that the account may


@dataclass(frozen=True)
class HeldLock:
    """A lock that lasts as long as its connection."""

    connection: psycopg.Connection[tuple[Any, ...]]

    def check(self) -> None:
        """LibraryBusy where the connection ended, and the lock with it."""
        try:
            self.connection.execute("SELECT 1")
        except psycopg.Error as error:
            raise LibraryBusy(
                "the connection ended that kept others from writing; another process may be "
                "indexing now. What was written is kept: begin again"
            ) from error

    def release(self) -> None:
        """Let others write, from this moment on.

        The server notices only a while later that a connection was closed.
        """
        with suppress(psycopg.Error):  # an ended connection has let go of the lock
            self.connection.execute("SELECT pg_advisory_unlock_all()")
        self.connection.close()


def connected(url: str) -> Connection:
    """A connection outside of any pool, to the tables of pincite."""
    timeout = int(_TIMEOUT)
    return psycopg.connect(url, autocommit=True, options=_OPTIONS, connect_timeout=timeout)


class Server:
    """A pool of connections to one database. Threads may share it."""

    def __init__(self, url: str, *, connections: int = 8) -> None:
        self.url = url
        self.name = named(url)
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            kwargs={"autocommit": True, "options": _OPTIONS, "connect_timeout": int(_TIMEOUT)},
            min_size=0,
            max_size=connections,
            timeout=_TIMEOUT,
            # Attempts come at growing distances: after a long outage too far from each other.
            reconnect_timeout=_TIMEOUT,
            configure=_configure,
            open=False,
        )

    def open(self, *, make: bool = True) -> None:
        """Connect once, and bring the schema up to date.

        Without `make`, DatabaseMissing where there are no tables yet.
        """
        with translated_errors(self.name):
            with connected(self.url) as connection:
                if not make and not schema_version(connection):
                    raise DatabaseMissing(
                        f"{self.name} holds no tables of pincite; correct the address, or let the "
                        "database's owner run `pincite team setup`"
                    )
                migrate(connection)
            self._pool.open()

    @contextmanager
    def within(self, entry: Entry, *, snapshot: bool = False) -> Iterator[Connection]:
        """A transaction that sees what the entry allows; with `snapshot` one moment throughout."""
        project = "" if entry.project is None else str(entry.project)
        clearance = "" if entry.clearance is None else str(entry.clearance)
        scope = {"role": MEMBER, "account": str(entry.account), "project": project}
        scope |= {"clearance": clearance}
        with translated_errors(self.name), self._connection() as connection:
            connection.isolation_level = IsolationLevel.REPEATABLE_READ if snapshot else None
            with connection.transaction():
                connection.execute(_ENTER, scope)
                yield connection

    @contextmanager
    def as_owner(self) -> Iterator[Connection]:
        """A connection that says who it is, outside of any project: for indexes and the journal."""
        with translated_errors(self.name), self._connection() as connection:
            yield connection

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """A connection that answers; those that ended while nobody used them are dropped."""
        # The pool's own check waits longer with each of them, in the end longer than it may.
        connection = self._pool.getconn()
        while True:
            try:
                ConnectionPool.check_connection(connection)
                break
            except psycopg.OperationalError:
                self._pool.putconn(connection)
                connection = self._pool.getconn()
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def hold(
        self, key: int, *, otherwise: str, patient: bool = False, shared: bool = False
    ) -> HeldLock:
        """Be the only one with this key until it is released; LibraryBusy if another is.

        Who is patient waits for a while until the others have let go of it. Those who share it do
        not hinder each other.

        The lock goes with its connection, so a process that is killed leaves none behind.
        """
        with translated_errors(self.name):
            connection = connected(self.url)
            try:
                if patient:
                    connection.execute(
                        "SELECT set_config('lock_timeout', %s, false)", (_LOCK_TIMEOUT,)
                    )
                    connection.execute("SELECT pg_advisory_lock(%s)", (key,))
                    return HeldLock(connection)
                attempt = f"SELECT pg_try_advisory_lock{'_shared' * shared}(%s)"
                held = connection.execute(attempt, (key,)).fetchone()
            except errors.LockNotAvailable:
                held = None
            except psycopg.Error:
                connection.close()
                raise
        if held != (True,):
            connection.close()
            raise LibraryBusy(otherwise)
        return HeldLock(connection)

    def close(self) -> None:
        """Give back every connection."""
        self._pool.close()


def _configure(connection: psycopg.Connection[Any]) -> None:
    register_vector(connection)
    connection.execute("SELECT '[1]'::vector")  # loads pgvector, which then knows its settings


# Whoever configures logging hears of what a pool does; a terminal does not.
logging.getLogger("psycopg").addHandler(logging.NullHandler())
