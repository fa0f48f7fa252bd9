"""Bringing a database up to date, or refusing one that cannot be used."""

from __future__ import annotations

from collections.abc import Callable

from psycopg import errors

from pincite.errors import StoreDenied, StoreTooNew, StoreUnsupported
from pincite.stores.postgres.rights import (
    MEMBER,
    m002_rights,
    m003_functions,
    m004_clearance_of_a_key,
    m005_journal,
    m006_saved_answers,
    m007_answers_of_one_user,
)
from pincite.stores.postgres.schema import (
    SCHEMA,
    Connection,
    m001_documents_chunks_windows,
)

OLDEST_SERVER = 15_00_00  # UNIQUE NULLS NOT DISTINCT, security_invoker, MERGE
OLDEST_VECTOR = (0, 8, 4)  # before, an iterative scan could miss what it should find
_LOCK = 0x70696E63697465  # "pincite": one migration at a time

# The numbered steps that led to the schema as it is.
MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    m001_documents_chunks_windows,
    m002_rights,
    m003_functions,
    m004_clearance_of_a_key,
    m005_journal,
    m006_saved_answers,
    m007_answers_of_one_user,
)

# Who may do what this login may not, by what the server says.
_OWNER_MAY = "let the database's owner run `pincite team setup`"
_WHO_MAY = {
    "create extension": "let a superuser run CREATE EXTENSION vector in this database first",
    "grant role": f"let a superuser run GRANT {MEMBER} TO this login WITH ADMIN OPTION first",
    "create role": f"let a superuser run CREATE ROLE {MEMBER} NOLOGIN, and GRANT it TO this login "
    "WITH ADMIN OPTION, first",
}


def migrate(connection: Connection) -> None:
    """Bring the schema up to date, all steps in one transaction: PostgreSQL can take back DDL."""
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise StoreUnsupported(
            f"PostgreSQL {version // 10_000} is too old; pincite needs 15 or newer"
        )
    with connection.transaction():
        if schema_version(connection) == len(MIGRATIONS):
            _refuse_old_vector(connection)
            return
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        refuse_newer(connection)
        try:
            _bring_up_to_date(connection)
        except errors.InsufficientPrivilege as error:
            said = str(error).splitlines()[0]
            who = next((who for sign, who in _WHO_MAY.items() if sign in said), _OWNER_MAY)
            raise StoreDenied(
                "the tables of pincite are not there or not up to date, and this database user "
                f"may not make them ({said}); {who}"
            ) from error


def _bring_up_to_date(connection: Connection) -> None:
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    _refuse_old_vector(connection)
    connection.execute("CREATE TABLE IF NOT EXISTS migration (number integer PRIMARY KEY)")
    for number, step in enumerate(MIGRATIONS, start=1):
        if schema_version(connection) < number:
            step(connection)
            connection.execute("INSERT INTO migration VALUES (%s)", (number,))


def schema_version(connection: Connection) -> int:
    """How many migrations this database has seen."""
    if connection.execute("SELECT to_regclass('pincite.migration')").fetchone() == (None,):
        return 0
    row = connection.execute("SELECT coalesce(max(number), 0) FROM migration").fetchone()
    return int(row[0]) if row else 0


def refuse_newer(connection: Connection) -> None:
    """A database of a newer pincite is left alone."""
    if (found := schema_version(connection)) > len(MIGRATIONS):
        raise StoreTooNew(
            f"the database was written by a newer pincite (schema {found}, this one knows "
            f"{len(MIGRATIONS)}); upgrade pincite"
        )


def _refuse_old_vector(connection: Connection) -> None:
    row = connection.execute(
        "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    ).fetchone()
    found = tuple(map(int, str(row[0]).split("."))) if row else ()
    if found < OLDEST_VECTOR:
        raise StoreUnsupported(
            f"pgvector {'.'.join(map(str, found))} is too old; pincite needs "
            f"{'.'.join(map(str, OLDEST_VECTOR))} or newer: `ALTER EXTENSION vector UPDATE`"
        )
