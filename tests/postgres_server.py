"""A PostgreSQL server that tests may break, and processes on it that they may kill."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from helpers import HEADER, quick_place
from pincite.records import Scope
from pincite.stores.postgres.connection import Entry, Server
from pincite.stores.postgres.embedded import EmbeddedServer, _persist
from pincite.stores.postgres.meanings import translated_errors
from pincite.stores.postgres.rights import MEMBER
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.team import Team
from pincite.stores.postgres.uploads import UploadStore

SCHEMA_OPTIONS = "-c search_path=pincite,public"
SCOPE = Scope("ada", "plans")
KILLED = "pincite-killed"  # how the connections of processes that will be killed are called


class BreakableServer:
    """A server that can be stopped as if its machine had lost power."""

    def __init__(self) -> None:
        # A server that is stopped loses the same there, and syncs quickly.
        self._folder = Path(tempfile.mkdtemp(prefix="pincite-faults-", dir=quick_place()))
        self._embedded = EmbeddedServer(self._folder)
        self._numbers = itertools.count(1)
        self.address = self._embedded.start()

    def database(self, name: str | None = None, *, more: str = "") -> str:
        """The address of a new database."""
        name = name or f"database{next(self._numbers)}"
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} {more}")
        return self.address.replace("/postgres?", f"/{name}?")

    def database_on(self, disk: Path, name: str) -> str:
        """The address of a new database whose tables are on that disk; its log is not."""
        folder = disk / "tables"
        folder.mkdir()
        assert self._embedded._server is not None
        if (user := self._embedded._server.system_user) is not None:
            shutil.chown(folder, user)
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE {name} LOCATION '{folder}'")
        return self.database(name, more=f"TABLESPACE {name}")

    def forget(self, name: str) -> None:
        """Drop a database that has a disk of its own."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute(f"DROP TABLESPACE {name}")

    def crash(self) -> None:
        """Stop at once: no connection ends well, nothing is written out."""
        server = self._embedded._server
        assert server is not None
        stop = (
            str(server.bin_path / "pg_ctl"),
            "-D",
            str(server.pgdata),
            "-m",
            "immediate",
            "stop",
        )
        subprocess.run(stop, check=True, stdout=subprocess.DEVNULL, user=server.system_user)

    def start(self) -> None:
        """Start again, which recovers what was committed."""
        assert self._embedded._server is not None
        _persist(self._embedded._server.ensure_postgres_running)

    def close(self) -> None:
        self._embedded.stop()
        shutil.rmtree(self._folder)


class NaiveServer(Server):
    """What one writes first: every statement on its own. Every fault test must catch it."""

    @contextmanager
    def within(self, entry: Entry, *, snapshot: bool = False) -> Iterator[Connection]:
        scope = {"role": MEMBER, "account": str(entry.account), "project": str(entry.project)}
        with translated_errors(self.name), self._connection() as connection:
            for name, value in scope.items():
                setting = name if name == "role" else f"pincite.{name}"
                connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
            yield connection


@contextmanager
def opened(url: str, *, naive: bool = False) -> Iterator[UploadStore]:
    """The project's store; it is made where there is none."""
    with closing(Team.at(url)) as team:
        team.create(SCOPE)
        store = team.uploads(SCOPE)
        store.begin(HEADER)
        if not naive:
            yield store
            return
    server = NaiveServer(url)
    server.open()
    yield UploadStore(server, SCOPE, store._entry)
    server.close()


class Driver:
    """A process that does jobs in children of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, **job: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def start_driver(*jobs: str) -> subprocess.Popen[str]:
    script = Path(__file__).parent / "faults" / "postgres_driver.py"
    return subprocess.Popen(
        [sys.executable, str(script), *jobs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
