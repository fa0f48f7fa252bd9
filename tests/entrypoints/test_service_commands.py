"""`pincite service`, and commands that a running service answers, as processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import pincite
from pincite import open_library
from pincite.entrypoints.http.sockets import bound
from pincite.entrypoints.running import ROUTE
from pincite.errors import SettingsError
from service import waited

Pincite = Callable[..., subprocess.CompletedProcess[bytes]]
# What differs from one search to the next.
TIMES = re.compile(rb'"seconds": \{[^}]*\}|"query_id": "\w*"|Milliseconds: .*')
# A command that only a service may answer.
BY_SERVICE = """
import sys
from pincite.entrypoints.running import run_by_service
code = run_by_service(sys.argv[1:])
sys.exit(99 if code is None else code)
"""
# A service that goes away between the connection and the command.
GONE = """
import os, socket, sys
from pincite.entrypoints.http import sockets
from pincite.entrypoints.running import run_by_service

def connected(path, seconds):
    here, there = socket.socketpair()
    there.close()
    return here

with sockets.bound(os.getcwd()):
    sockets.connected = connected
    code = run_by_service(sys.argv[1:])
sys.exit(99 if code is None else code)
"""
NOBODY = 99


def notes_in(folder: Path) -> Path:
    (folder / "notes" / "deep").mkdir(parents=True)
    (folder / "notes" / "pumps.md").write_text("# Pumps\n\nThe north pump leaks at the seal.\n")
    (folder / "notes" / "lease.md").write_text("# Lease\n\nThe lease ends: größer 漢字.\n")
    with open_library(folder / "notes") as library:
        library.index(model="hashing")
    return folder / "notes"


def runner(notes: Path, runtime: Path) -> Pincite:
    """Runs commands in the library's folder, unless that is said otherwise."""

    def run(
        *arguments: str,
        cwd: Path = notes,
        program: tuple[str, ...] = ("-m", "pincite"),
        **environment: str,
    ) -> subprocess.CompletedProcess[bytes]:
        folders = {"XDG_RUNTIME_DIR": str(runtime), "XDG_STATE_HOME": str(runtime)}
        return subprocess.run(
            [sys.executable, *program, *arguments],
            cwd=cwd,
            env={**os.environ, **folders, **environment},
            capture_output=True,
            check=False,
        )

    return run


def by_service(run: Pincite, *arguments: str, **how: str) -> subprocess.CompletedProcess[bytes]:
    """What a service says to a command; NOBODY is the exit code where none does."""
    return run(*arguments, program=("-c", BY_SERVICE), **how)


def status(run: Pincite, **environment: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(
        run("service", "status", "--json", **environment).stdout
    )
    return told


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return notes_in(tmp_path)


@pytest.fixture
def runtime() -> Iterator[Path]:
    """Where the sockets of a test are. Short: a socket's path must be."""
    with tempfile.TemporaryDirectory(prefix="pincite-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def run(notes: Path, runtime: Path) -> Iterator[Pincite]:
    run = runner(notes, runtime)
    yield run
    run("service", "stop")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pincite]:
    """Commands beside a service that runs for several tests."""
    with tempfile.TemporaryDirectory(prefix="pincite-", dir="/tmp") as runtime:
        run = runner(notes_in(tmp_path_factory.mktemp("served")), Path(runtime))
        assert run("service", "start").returncode == 0
        yield run
        assert run("service", "stop").stdout == b"Services stopped: 1.\n"


def test_a_service_is_started_looked_at_restarted_and_stopped(
    run: Pincite, notes: Path, runtime: Path
) -> None:
    assert b"No service is running" in run("service", "status").stdout
    started = run("service", "start")
    assert started.stdout.startswith(b"notes: ready, process "), started.stderr
    (first,) = status(run)
    assert first["libraries"] == ["notes"]
    assert first["memory_bytes"] > 10_000_000
    run("service", "start", cwd=notes / "deep")
    assert [one["pid"] for one in status(run)] == [first["pid"]]
    (path,) = (runtime / "pincite").glob("*.sock")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run("service", "restart", "--port", port).returncode == 2
        assert [one["pid"] for one in status(run)] == [first["pid"]]
    assert b"runs already with other options" in run("service", "start", "--port", port).stderr
    run("service", "restart", "--port", port)
    run("service", "restart", str(notes), cwd=runtime)
    (second,) = status(run)
    assert second["options"] == [f"--port={port}"]
    assert second["folders"] == [str(notes)]
    assert run("service", "stop", HOME=str(runtime)).stdout == b"Services stopped: 0.\n"
    assert second["pid"] != first["pid"]
    assert run("service", "stop", str(runtime)).stdout == b"Services stopped: 0.\n"
    assert run("service", "stop", str(notes)).stdout == b"Services stopped: 1.\n"
    assert status(run) == []
    assert not path.exists()


def test_a_service_that_cannot_start_says_why(run: Pincite, tmp_path: Path) -> None:
    told = run("service", "start", str(tmp_path / "nowhere"))
    assert told.returncode == 9
    assert b"nowhere does not exist" in told.stderr
    assert status(run) == []


@pytest.mark.parametrize(
    "command",
    [
        ("search", "which", "pump", "leaks?"),
        ("search", "leaks", "--json", "--explain", "--type", "md"),
        ("search", "leaks", "--by-document", "-l", "deep"),
        ("search", "größer", "--set", "typos=off", "--library=."),
        ("search", "--", "-leaks"),
        ("search", "zebra", "--mode", "words"),
        ("ask", "which pump leaks?"),
        ("ask", "which pump leaks?", "--json"),
        ("ask", "which pump leaks?", "--copy"),
        ("ask", "who won the cup final?"),
    ],
)
def test_a_command_says_the_same_with_and_without_a_service(
    served: Pincite, command: tuple[str, ...]
) -> None:
    answered = by_service(served, *command)
    alone = served(*command, PINCITE_SERVICE="off")
    assert answered.returncode == alone.returncode
    assert TIMES.sub(b"", answered.stdout) == TIMES.sub(b"", alone.stdout)
    assert answered.stderr == alone.stderr
    assert TIMES.sub(b"", served(*command).stdout) == TIMES.sub(b"", alone.stdout)


@pytest.mark.parametrize("no_color", ["", "1"])
def test_colours_are_shown_where_the_command_has_a_terminal(served: Pincite, no_color: str) -> None:
    shown = []
    for service in ("on", "off"):
        on_terminal = "import pty, sys; sys.exit(pty.spawn([sys.executable, *sys.argv[1:]]) >> 8)"
        told = served(
            *("-m", "pincite", "search", "leaks"),
            program=("-c", on_terminal),
            PINCITE_SERVICE=service,
            NO_COLOR=no_color,
        )
        shown.append(told.stdout)
    assert shown[0] == shown[1]
    assert (b"\x1b[" in shown[0]) == (not no_color)


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (("search", "--nonsense"), {}),
        (("search", "leaks", "--help"), {}),
        (("search", "leaks", "--rerank", "maxsim"), {}),
        (("search", "leaks", "--set", "expand=openai:m"), {}),
        (("search", "leaks", "-l", "/"), {}),
        (("search", "leaks", "--where", "colour = red"), {}),
        (("ask", "which pump leaks?", "--receipt", "proof.json"), {}),
        (("ask", "which pump leaks?", "--profile", "cheap"), {}),
        (("show", "pumps.md:1"), {}),
        (("search", "leaks"), {"PINCITE_SERVICE": "off"}),
        (("search", "leaks"), {"PINCITE_STORE": "postgresql://nowhere/x"}),
        (("search", "leaks"), {"PINCITE_CAUTION": "0.9"}),
        (("search", "leaks"), {"PINCITE_SERVER": "http://localhost:1"}),
        (("search", "leaks"), {"PYTHONIOENCODING": "latin-1"}),
    ],
)
def test_what_only_its_own_process_can_do_is_not_for_the_service(
    served: Pincite, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    told = by_service(served, *arguments, **environment)
    assert (told.returncode, told.stdout, told.stderr) == (NOBODY, b"", b"")


def test_what_a_service_answers_is_in_the_log_as_the_command_s(served: Pincite) -> None:
    assert by_service(served, "search", "who", "logs", "this?").returncode == 0
    (query,) = json.loads(served("log", "list", "--json", "--limit", "1").stdout)
    assert (query["question"], query["door"]) == ("who logs this?", "cli")
    assert by_service(served, "search", "not this", PINCITE_LOG="off").returncode == NOBODY


def test_the_doctor_looks_at_services_that_run(served: Pincite) -> None:
    def services(**environment: str) -> list[tuple[str, str]]:
        checks = json.loads(served("doctor", "--json", **environment).stdout)
        return [(one["state"], one["mend"]) for one in checks if one["part"] == "service"]

    assert services() == [("ok", "")]
    assert services(PINCITE_LOG="off") == [("warning", "pincite service restart")]


def test_a_service_that_would_log_more_than_is_wanted_now_is_not_asked(
    run: Pincite, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('log = "facts"')
    run("service", "start", PINCITE_CONFIG=str(settings))
    for mode, code in (("full", 0), ("off", NOBODY), ("facts", 0)):
        settings.write_text(f'log = "{mode}"')
        told = by_service(run, "search", "leaks", PINCITE_CONFIG=str(settings))
        assert told.returncode == code


def test_the_reader_of_an_answer_may_go_away(served: Pincite) -> None:
    told = served("-m", "pincite", "search", "leaks", program=("-c", PIPED))
    assert (told.returncode, told.stderr) == (0, b"")


PIPED = """
import subprocess, sys
reads = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.PIPE)
reads.stdout.close()
sys.exit(reads.wait())
"""


def test_a_folder_inside_that_has_its_own_index_is_not_asked_of_the_service(
    run: Pincite, notes: Path
) -> None:
    run("service", "start")
    deep = notes / "deep"
    (deep / "inner.md").write_text("# Inner\n\nA zebra leaks.\n")
    with open_library(deep) as library:
        library.index(model="hashing")
    assert by_service(run, "search", "zebra", "-l", "deep").returncode == NOBODY
    assert b"inner.md" in run("search", "zebra", "-l", "deep").stdout


def test_commands_are_run_for_nobody_who_comes_through_a_port(run: Pincite, notes: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert run("service", "start", "--port", str(port)).returncode == 0
    assert by_service(run, "search", "leaks").returncode == 0
    asked = f"00\0{notes}\0search\0leaks".encode()
    request = Request(f"http://localhost:{port}{ROUTE}", asked)
    with pytest.raises(HTTPError) as refused:
        urlopen(request)
    assert refused.value.code in (404, 405)
    refused.value.close()


def test_a_service_that_was_killed_is_not_missed_and_its_socket_is_replaced(
    run: Pincite, runtime: Path
) -> None:
    run("service", "start")
    (one,) = status(run)
    os.kill(one["pid"], signal.SIGKILL)
    waited(lambda: by_service(run, "search", "leaks").returncode == NOBODY)
    assert len(list((runtime / "pincite").glob("*.sock"))) == 1
    assert b"pumps.md" in run("search", "leaks").stdout
    assert run("service", "start").returncode == 0
    assert by_service(run, "search", "leaks").returncode == 0


def test_a_service_that_goes_away_before_it_is_asked_is_not_missed(run: Pincite) -> None:
    told = run("search", "leaks", program=("-c", GONE))
    assert (told.returncode, told.stdout, told.stderr) == (NOBODY, b"", b"")


def test_searches_go_on_while_the_service_is_stopped(run: Pincite) -> None:
    run("service", "start")
    expected = run("search", "leaks").stdout
    with ThreadPoolExecutor(4) as threads:
        searches = [threads.submit(run, "search", "leaks") for _ in range(12)]
        stopping = threads.submit(run, "service", "stop")
        searches += [threads.submit(run, "search", "leaks") for _ in range(12)]
        told = [one.result() for one in searches]
    assert stopping.result().stdout == b"Services stopped: 1.\n"
    assert {(one.returncode, one.stdout, one.stderr) for one in told} == {(0, expected, b"")}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\npincite-exit: 0\r\npincite-output: 4\r\n\r\nhal",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhal",
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"\xff\xff\xff",
    ],
)
def test_a_service_that_breaks_off_never_makes_a_search_fail(
    notes: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with bound(notes) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        listener.settimeout(60)  # a command that does not come is a failure, and no wait for ever
        thread = threading.Thread(target=serve)
        thread.start()
        told = runner(notes, runtime)("search", "leaks")
        thread.join()
    assert (told.returncode, told.stderr) == (0, b"")
    assert told.stdout.startswith(b"[1] pumps.md")


def test_a_folder_that_others_can_enter_is_not_used(
    run: Pincite, notes: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with bound(notes), pytest.raises(SettingsError, match="running already"), bound(notes):
        pass
    (runtime / "pincite").chmod(0o755)
    with pytest.raises(SettingsError, match="chmod 700"), bound(notes):
        pass
    told = run("service", "start")
    assert told.returncode == 9
    assert b"chmod 700" in told.stderr
    assert b"pumps.md" in run("search", "leaks").stdout


def test_after_an_upgrade_a_service_of_the_old_version_is_not_asked(
    run: Pincite, tmp_path: Path
) -> None:
    shutil.copytree(Path(pincite.__file__).parent, tmp_path / "code" / "pincite")
    code = {"PYTHONPATH": str(tmp_path / "code")}
    run("service", "start", **code)
    assert by_service(run, "search", "leaks", **code).returncode == 0
    with (tmp_path / "code" / "pincite" / "text" / "words.py").open("a") as upgraded:
        upgraded.write("# upgraded\n")
    assert by_service(run, "search", "leaks", **code).returncode == NOBODY
    (old,) = status(run, **code)
    assert not old["is_current"]
    assert b"service restart" in run("service", "start", **code).stderr
    run("service", "restart", **code)
    (new,) = status(run, **code)
    assert (new["is_current"], new["pid"] != old["pid"]) == (True, True)
    assert by_service(run, "search", "leaks", **code).returncode == 0
