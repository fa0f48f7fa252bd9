"""The server of a folder ends with its last user, however the users end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import psutil
import psycopg
import pytest

from pincite.errors import SettingsError, StoreReadOnly
from pincite.stores.postgres.embedded import EmbeddedServer

_USE_AND_WAIT = """
import sys, time
from pathlib import Path
from pincite.stores.postgres.embedded import EmbeddedServer
EmbeddedServer(Path(sys.argv[1])).start()
sys.stdout.write("started\\n")
sys.stdout.flush()
time.sleep(60)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short: a socket's path must be."""
    folder = Path(tempfile.mkdtemp(prefix="pincite-embedded-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def runs(folder: Path) -> bool:
    return (folder / "postmaster.pid").exists()


def test_of_two_users_in_one_process_the_last_stops_the_server(folder: Path) -> None:
    with EmbeddedServer(folder) as last:
        with EmbeddedServer(folder) as first:
            first.start()
            address = last.start()
        with psycopg.connect(address) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not runs(folder)


def test_a_user_that_was_killed_does_not_keep_the_server_running(folder: Path) -> None:
    command = [sys.executable, "-c", _USE_AND_WAIT, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "started\n"
        other.kill()
    assert runs(folder)

    with EmbeddedServer(folder) as server:
        server.start()
    assert not runs(folder)


def process_of(folder: Path) -> int:
    return int((folder / "postmaster.pid").read_text().splitlines()[0])


def test_a_server_that_was_killed_is_started_again_where_others_still_use_it(folder: Path) -> None:
    with EmbeddedServer(folder) as first, EmbeddedServer(folder) as second:
        address = first.start()
        os.kill(process_of(folder), signal.SIGKILL)
        psutil.wait_procs([psutil.Process(process_of(folder))], timeout=10)
        assert second.start() == address
        with psycopg.connect(address) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not runs(folder)


def test_a_server_that_was_killed_while_it_started_is_started(folder: Path) -> None:
    with EmbeddedServer(folder) as server:
        server.start()
    dead = subprocess.Popen(["true"])
    dead.wait()
    for note in (f"{dead.pid}\n{folder}\n1794995357\n5432\n\n\n  2622112    131134\n", ""):
        (folder / "postmaster.pid").write_text(note)
        with EmbeddedServer(folder) as server:
            server.start()
            assert psutil.pid_exists(process_of(folder))


class Killed:
    """A server whose process goes just when it is told to stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.global_process_id_list = self

    def _get(self) -> list[int]:
        return []

    def put(self, users: list[int]) -> None:
        assert users == []

    def __exit__(self, *_: object) -> None:
        raise psutil.NoSuchProcess(1)


def test_a_server_that_was_killed_need_not_be_stopped(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server._server = cast(Any, Killed())
    server.stop()
    server.stop()


def test_a_folder_that_cannot_be_a_database_is_left_as_it_is(folder: Path) -> None:
    (folder / "letter.txt").write_text("Dear Ada")
    for path, said in (
        (folder, "holds other files and no database"),
        (folder / "letter.txt", r"letter\.txt is a file"),
        (folder / "letter.txt" / "db", r"letter\.txt is a file"),
    ):
        with pytest.raises(SettingsError, match=said):
            EmbeddedServer(path).start()
    assert [one.name for one in folder.iterdir()] == ["letter.txt"]


def test_a_folder_that_must_not_be_written_is_told() -> None:
    with pytest.raises(StoreReadOnly, match="no permission for a database in /sys/pincite"):
        EmbeddedServer(Path("/sys/pincite")).start()
