"""A PostgreSQL server for the tests of isolation, and databases in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest

from helpers import server_folder
from pincite.stores.postgres.embedded import EmbeddedServer


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with server_folder() as folder, EmbeddedServer(folder) as server:
        yield server.start()


@pytest.fixture(scope="session")
def new_database(address: str) -> Callable[[str], str]:
    """Makes an empty database of a name; its address."""

    def make(name: str) -> str:
        name = re.sub(r"\W", "_", name)[:60]
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return address.replace("/postgres?", f"/{name}?")

    return make


@pytest.fixture
def database(new_database: Callable[[str], str], request: pytest.FixtureRequest) -> str:
    """A database of the test's own."""
    return new_database(request.node.name)
