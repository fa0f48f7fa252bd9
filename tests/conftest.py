"""For every test: the same generated examples each time, others in a soak; stores and servers."""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from helpers import STORES, new_database, open_test_store
from pincite.ports import Store
from postgres_server import BreakableServer, Driver, start_driver
from soak import SOAK

# Of root, not always in the path: `useradd`, with which an embedded server makes its user.
os.environ["PATH"] += os.pathsep + "/usr/sbin:/sbin"
os.environ["PINCITE_CONFIG"] = os.devnull  # the settings of whoever runs the tests do not count
# Nor what they allowed, and what tests allow is not theirs. On macOS the home decides.
_CONFIGURATION = tempfile.TemporaryDirectory(prefix="pincite-configuration-")
os.environ["XDG_CONFIG_HOME"] = _CONFIGURATION.name
atexit.register(_CONFIGURATION.cleanup)
# Nor services that they have running: a socket's path must be short.
_RUNTIME = tempfile.TemporaryDirectory(prefix="pincite-", dir="/tmp")
os.environ["XDG_RUNTIME_DIR"] = _RUNTIME.name
atexit.register(_RUNTIME.cleanup)
settings.register_profile("pincite", deadline=None, derandomize=not SOAK, database=None)
settings.load_profile("pincite")


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of every kind there is, one after the other."""
    with open_test_store(request.param, tmp_path / "index") as opened:
        yield opened


@pytest.fixture
def database() -> str:
    """The address of an empty PostgreSQL database."""
    return new_database()


@pytest.fixture(scope="session")
def breakable_server() -> Iterator[BreakableServer]:
    server = BreakableServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def postgres_driver() -> Iterator[Driver]:
    """A process whose children work on a database and are killed."""
    with start_driver() as process:
        yield Driver(process)
        assert process.stdin is not None
        process.stdin.close()
