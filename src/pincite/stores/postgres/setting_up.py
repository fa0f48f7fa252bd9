"""Making the tables and roles of pincite in a database, and telling what was done."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from pincite.stores.postgres.address import EMBEDDED, named, refuse_bad_address
from pincite.stores.postgres.connection import connected
from pincite.stores.postgres.embedded import EmbeddedServer, folder_of
from pincite.stores.postgres.meanings import translated_errors
from pincite.stores.postgres.migrating import migrate, schema_version
from pincite.stores.postgres.rights import MEMBER
from pincite.stores.postgres.tuning import taken_apart


@dataclass(frozen=True, slots=True)
class Setup:
    """A database that is ready for pincite."""

    database: str  # as messages name it
    before: int  # steps of the schema that were done already; 0: there were no tables
    now: int
    server_version: str
    vector_version: str
    role: str  # logins that pincite works with are members of it
    login: str  # who did it, and owns the tables if they were made now


def set_up(url: str) -> Setup:
    """Make what is not there; nothing happens in a database that is up to date."""
    address, _ = taken_apart(url)
    refuse_bad_address(address)
    with ExitStack() as stack:
        if address.startswith(EMBEDDED):
            address = stack.enter_context(EmbeddedServer(folder_of(address))).start()
        database = named(address)
        stack.enter_context(translated_errors(database))
        connection = stack.enter_context(connected(address))
        before = schema_version(connection)
        migrate(connection)
        told = connection.execute(
            "SELECT current_user, current_setting('server_version'), "
            "(SELECT extversion FROM pg_extension WHERE extname = 'vector')"
        ).fetchone()
        login, server, vector = told or ("", "", "")
        now = schema_version(connection)
        return Setup(database, before, now, str(server), str(vector), MEMBER, str(login))
