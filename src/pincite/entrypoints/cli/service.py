"""`pincite service`: status, start, stop, restart."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from pincite.engine.folders import library_around
from pincite.entrypoints.cli.common import GivenPath, as_json_option, echo
from pincite.entrypoints.http.sockets import connected, listening, peer, socket_path, stamp
from pincite.entrypoints.reports import size
from pincite.errors import ServerError, SettingsError
from pincite.text.printable import printable

_STATUS_SECONDS = 5.0
_START_SECONDS = 120.0  # to load the largest model
_END_SECONDS = 45.0  # for requests that are under way, then for the job
_BETWEEN_LOOKS = 0.1  # seconds
_LAST_WORDS = 2_000  # characters of a log that are shown

folders_argument = click.argument("folders", nargs=-1, type=GivenPath())
port_option = click.option(
    "--port", type=click.IntRange(1, 65_535), help="Also listen at this port of this machine."
)


@dataclass(frozen=True)
class Running:
    """One line of `pincite service status`."""

    state: str  # ready, warming up, failed, not answering; or of another version
    pid: int
    libraries: tuple[str, ...] = ()
    version: str = ""
    uptime_seconds: float = 0.0
    memory_bytes: int = 0
    message: str = ""  # why it failed, or does not follow a folder
    sockets: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # it was started with
    is_current: bool = True  # of this version and with these settings: commands here use it


@click.group()
def service() -> None:
    """A service in the background, which keeps model and index loaded for your commands."""


@service.command()
@as_json_option
def status(as_json: bool) -> None:
    """Tell which services run, for which libraries, and since when.

    Example: pincite service status
    """
    _show(running(), as_json)


@service.command()
@folders_argument
@port_option
@as_json_option
def start(folders: tuple[Path, ...], port: int | None, as_json: bool) -> None:
    """Start a service for the libraries in FOLDERS, unless it is running.

    Without FOLDERS it is the library around the current folder. `pincite search` and `ask` then use
    it by themselves. It runs until `pincite service stop`.

    Example: pincite service start ~/notes
    """
    where = "--no-port" if port is None else f"--port={port}"
    roots = _roots(folders)
    for one in _of(roots):
        if one.is_current and port is not None and where not in one.options:
            raise SettingsError(
                f"the service {one.pid} runs already with other options "
                f"({' '.join(one.options)}); run `pincite service restart --port {port}`"
            )
    _show([_started(roots, (where,))], as_json)


@service.command()
@folders_argument
@as_json_option
def stop(folders: tuple[Path, ...], as_json: bool) -> None:
    """Stop the services for the libraries in FOLDERS; without FOLDERS, all that commands here use.

    Example: pincite service stop
    """
    stopped = _stopped(
        _of(_roots(folders)) if folders else [one for one in running() if one.is_current]
    )
    echo(as_json, {"stopped": stopped}, [f"Services stopped: {stopped}."])


@service.command()
@folders_argument
@port_option
@as_json_option
def restart(folders: tuple[Path, ...], port: int | None, as_json: bool) -> None:
    """Stop the services for the libraries in FOLDERS, if they run, and start one again.

    It serves what they served, with the options they were started with.

    Example: pincite service restart
    """
    from pincite.entrypoints.cli.serve import listening as at_port

    roots = _roots(folders)
    before = _of(roots)
    served = (Path(folder) for one in before for folder in one.folders)
    options = next((one.options for one in before if one.version), ("--no-port",))
    if port is not None:
        if not any(f"--port={port}" in one.options for one in before):
            with at_port("127.0.0.1", port):
                pass  # before anything is stopped: it is free
        others = (one for one in options if not one.startswith(("--port=", "--no-port")))
        options = (*others, f"--port={port}")
    _stopped(before)
    _show([_started([*dict.fromkeys([*roots, *served])], options)], as_json)


def _roots(folders: Sequence[Path]) -> list[Path]:
    """The folders that `pincite serve` would serve."""
    from pincite.entrypoints.cli.serve import own_folder

    around = None if folders else library_around(Path())
    chosen = folders or (around or own_folder(),)
    if not folders and around is None:
        told = printable(str(chosen[0]))
        click.echo(f"Note: no library is here, so {told} is meant; else name a folder.", err=True)
    return [folder.expanduser().resolve() for folder in chosen]


def running() -> list[Running]:
    """Every service of this user."""
    sockets: dict[int, list[str]] = {}
    for path in listening():
        with suppress(OSError), connected(path, _STATUS_SECONDS) as connection:
            sockets.setdefault(peer(connection)[0], []).append(path)
    return [_status(process, paths) for process, paths in sockets.items()]


def _of(roots: Iterable[Path]) -> list[Running]:
    """The services for any of these folders, also those of another version."""
    names = {_library_in(socket_path(root)) for root in roots}
    return [one for one in running() if names & set(map(_library_in, one.sockets))]


def _library_in(path: str) -> str:
    """The part of a socket's name that says for which library it is."""
    return path.rpartition("/")[2].partition("-")[0]


def _status(process: int, sockets: Sequence[str]) -> Running:
    connection = http.client.HTTPConnection("localhost", timeout=_STATUS_SECONDS)
    told: dict[str, Any] = {}
    try:
        connection.sock = connected(sockets[0], _STATUS_SECONDS)
        connection.request("GET", "/readyz")
        told = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        told = {"status": "not answering"}
    finally:
        connection.close()
    return Running(
        state=str(told["status"]),
        pid=process,
        libraries=tuple(map(str, told.get("libraries", ()))),
        version=str(told.get("version", "")),
        uptime_seconds=float(told.get("uptime_seconds", 0)),
        memory_bytes=int(told.get("memory_bytes", 0)),
        message=str(told.get("message", "")).removeprefix(str(told["status"])).lstrip(":; "),
        sockets=tuple(sockets),
        folders=tuple(map(str, told.get("folders", ()))),
        options=tuple(map(str, told.get("options", ()))),
        is_current=f"-{stamp()}." in sockets[0],
    )


def _started(roots: Sequence[Path], options: Sequence[str]) -> Running:
    """The service for these folders, once it is ready; ServerError with the reason where not."""
    for one in _of(roots):
        if one.is_current and {socket_path(root) for root in roots} <= set(one.sockets):
            return one
        raise SettingsError(
            f"the service {one.pid} is running for one of these folders, with another version, "
            "settings or folders; run `pincite service restart` with all folders"
        )
    log = _log_file(roots[0])
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as written:
        process = subprocess.Popen(  # noqa: S603 — our own module
            [sys.executable, "-P", "-m", "pincite", "serve", *options, "--", *map(str, roots)],
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            start_new_session=True,
            cwd="/",
        )
    until = time.monotonic() + _START_SECONDS
    while True:
        now = _of(roots)  # ours, or one that was started at the same moment
        if now and (
            now[0].state not in ("warming up", "not answering") or time.monotonic() > until
        ):
            return now[0]
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            told = log.read_text(errors="replace")[-_LAST_WORDS:].strip()
            raise ServerError(f"the service did not start; {log} says:\n{told}")
        time.sleep(_BETWEEN_LOOKS)


def _stopped(services: Sequence[Running]) -> int:
    """End them, each when what it does is done, but in bounded time; how many."""
    for one in services:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(one.pid, sign)
            until = time.monotonic() + _END_SECONDS
            while _lives(one.pid) and time.monotonic() < until:
                time.sleep(_BETWEEN_LOOKS)
            if not _lives(one.pid):
                break
        else:
            raise ServerError(f"the service {one.pid} does not end")
    return len(services)


def _lives(process: int) -> bool:
    """Whether it runs; one that ended and that nobody asks about any more does not."""
    try:
        os.kill(process, 0)
        told = Path(f"/proc/{process}/stat").read_text()
    except ProcessLookupError:
        return False
    except OSError:
        return not Path("/proc/self/stat").exists()
    return told.rpartition(")")[2].split()[0] not in ("Z", "X")


def _log_file(root: Path) -> Path:
    """What a service for that folder says."""
    import platformdirs

    folder = platformdirs.user_state_path("pincite")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"service-{_library_in(socket_path(root))}.log"


def _show(services: Sequence[Running], as_json: bool) -> None:
    lines = []
    for one in services:
        names = ", ".join(map(printable, one.libraries)) or "(unknown)"
        facts = [one.state, f"process {one.pid}"]
        if not one.is_current:
            facts.append("of another version or with other settings, so not used from here")
        if one.version:
            passed = timedelta(seconds=round(one.uptime_seconds))
            facts += [f"for {passed}", size(one.memory_bytes), f"pincite {one.version}"]
        lines.append(f"{names}: {printable(', '.join(facts))}")
        lines += [f"  {printable(folder)}" for folder in one.folders]
        if one.message:
            lines.append(f"  {printable(one.message)}")
    nothing = ["No service is running; each command loads model and index itself."]
    echo(as_json, [asdict(one) for one in services], lines or nothing)
