"""Connections to a PostgreSQL server, each transaction of them for one scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import IsolationLevel, errors
from psycopg_pool import ConnectionPool, PoolTimeout

from pincite.errors import (
    LibraryBusy,
    StoreBusy,
    StoreDamaged,
    StoreDenied,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from pincite.stores.postgres.address import named
from pincite.stores.postgres.rights import MEMBER
from pincite.stores.postgres.schema import SCHEMA, Connection, migrate

_OPTIONS = f"-c search_path={SCHEMA},public -c jit=off"  # compiling a statement never pays here
_PATIENCE = 10.0  # seconds to wait for a server or a free connection

_ENTER = """
SELECT set_config('role', %(role)s, true), set_config('pincite.account', %(account)s, true),
    set_config('pincite.project', %(project)s, true)
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a transaction may see: the rows of one project, as one account."""

    account: int
    project: int | None  # None: none yet


class Server:
    """A pool of connections to one database. Threads may share it."""

    def __init__(self, url: str, *, connections: int = 8) -> None:
        self.url = url
        self.name = named(url)
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            kwargs={"autocommit": True, "options": _OPTIONS, "connect_timeout": int(_PATIENCE)},
            min_size=0,
            max_size=connections,
            timeout=_PATIENCE,
            # Attempts come at growing distances: after a long outage too far from each other.
            reconnect_timeout=_PATIENCE,
            configure=_configure,
            open=False,
        )

    def open(self) -> None:
        """Connect once, and bring the schema up to date."""
        with translated_errors(self.name):
            options = {"autocommit": True, "options": _OPTIONS, "connect_timeout": int(_PATIENCE)}
            with psycopg.connect(self.url, **options) as connection:  # type: ignore[arg-type]
                migrate(connection)
            self._pool.open()

    @contextmanager
    def within(self, entry: Entry, *, snapshot: bool = False) -> Iterator[Connection]:
        """A transaction that sees what the entry allows; with `snapshot` one moment throughout."""
        project = "" if entry.project is None else str(entry.project)
        scope = {"role": MEMBER, "account": str(entry.account), "project": project}
        with translated_errors(self.name), self._connection() as connection:
            connection.isolation_level = IsolationLevel.REPEATABLE_READ if snapshot else None
            with connection.transaction():
                connection.execute(_ENTER, scope)
                yield connection

    @contextmanager
    def as_owner(self) -> Iterator[Connection]:
        """A connection that says who it is, outside of any project: for indexes alone."""
        with translated_errors(self.name), self._connection() as connection:
            yield connection

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """A connection that answers; those that ended while nobody used them are dropped."""
        # The pool's own check waits longer with each of them, in the end longer than it may.
        connection = self._pool.getconn()
        while not _answers(connection):
            self._pool.putconn(connection)
            connection = self._pool.getconn()
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def hold(self, key: int, *, otherwise: str) -> Callable[[], None]:
        """Be the only one with this key until what is given back is called; LibraryBusy if not.

        The lock goes with its connection, so a process that is killed leaves none behind.
        """
        with translated_errors(self.name):
            connection = psycopg.connect(self.url, autocommit=True, connect_timeout=int(_PATIENCE))
            held = connection.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone()
        if held != (True,):
            connection.close()
            raise LibraryBusy(otherwise)
        return connection.close

    def close(self) -> None:
        """Give back every connection."""
        self._pool.close()


def _answers(connection: Connection) -> bool:
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.OperationalError:
        return False
    return True


def _configure(connection: psycopg.Connection[Any]) -> None:
    register_vector(connection)
    connection.execute("SELECT '[1]'::vector")  # loads pgvector, which then knows its settings


@contextmanager
def translated_errors(server: str) -> Iterator[None]:
    """The driver's exceptions as ours."""
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise StoreDenied(f"{server} does not allow this: {_said(error)}") from error
    except errors.ReadOnlySqlTransaction as error:
        raise StoreReadOnly(f"{server} can only be read: {_said(error)}") from error
    except (errors.DiskFull, errors.OutOfMemory) as error:
        raise StoreFull(f"{server} is full: {_said(error)}; what was stored is kept") from error
    except (errors.DataCorrupted, errors.IndexCorrupted) as error:
        raise StoreDamaged(f"{server} reports damage: {_said(error)}") from error
    except (errors.DeadlockDetected, errors.LockNotAvailable, errors.TooManyConnections) as error:
        raise StoreBusy(f"{server} is busy: {_said(error)}; try again") from error
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise StoreUnreachable(f"{server} does not answer: {_said(error)}") from error
    except psycopg.Error as error:
        raise StoreError(f"{server}: {_said(error)}") from error


def _said(error: Exception) -> str:
    """The first line of what the server said."""
    return next(iter(str(error).splitlines()), type(error).__name__)
