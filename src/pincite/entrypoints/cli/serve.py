"""`pincite serve`."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from pincite.engine import Library, Profile
from pincite.engine.folders import has_index, library_around
from pincite.engine.keys import admit
from pincite.engine.saved_answers import note_told
from pincite.entrypoints.cli.common import (
    GivenPath,
    ask_for_consent,
    model_access,
    open_at,
    own_profiles,
)
from pincite.entrypoints.config import user_settings
from pincite.entrypoints.http.sockets import bound
from pincite.entrypoints.reports import recheck_as_text
from pincite.errors import IndexMissing, NothingToIndex, PinciteError, SettingsError
from pincite.records import Progress
from pincite.settings import ONE_THREAD
from pincite.text.printable import printable

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from pincite.engine.serving import Libraries
    from pincite.entrypoints.http.service import Service

_WHILE_WRITING = 16  # requests at once: most of them wait for a language model
_BETWEEN_NOTES = 10.0  # seconds, on how far the first run is
_SECONDS_TO_END = 10  # for requests that are under way


@click.command()
@click.argument("folders", nargs=-1, type=GivenPath())
@click.option(
    "--store",
    metavar="URL",
    help="Serve the projects of a team's database, each user's with their key.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="The port; 0 takes a free one.",
)
@click.option("--no-port", is_flag=True, help="Listen only for your own commands on this machine.")
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name by which others call the service, such as docs.example.org.  [several]",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="A web page's origin that may use the service, such as https://app.example.org.  "
    "[several]",
)
@click.option(
    "--rate", default="", metavar="N/PERIOD", help="Limit each caller, such as to 100/second."
)
@click.option(
    "--max-body",
    type=click.IntRange(min=1_000),
    default=64 * 1024 * 1024,
    show_default=True,
    help="Largest request, in bytes.",
)
@click.option(
    "--max-waiting",
    type=click.IntRange(min=0),
    default=64,
    show_default=True,
    help="Requests that may wait for their turn; more are turned away.",
)
@click.option("--no-watch", is_flag=True, help="Do not follow changes in the folders.")
@click.option(
    "--profile",
    metavar="NAME",
    help="The language model that writes answers; else they are in the documents' own words.",
)
@click.option("--judge", default="", metavar="WHO", help="Who checks what it writes; see `ask`.")
@click.option(
    "--tools",
    default="default",
    show_default=True,
    metavar="LIST",
    help="Tools for agents at /mcp: default, write, connector, all, or names.",
)
def serve(
    folders: tuple[Path, ...],
    store: str | None,
    host: str,
    port: int,
    no_port: bool,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    rate: str,
    max_body: int,
    max_waiting: int,
    no_watch: bool,
    profile: str | None,
    judge: str,
    tools: str,
) -> None:
    """Answer HTTP requests about the libraries in FOLDERS.

    Without FOLDERS it is the library around the current folder; if there is none, one in your data
    folder, to which files are handed in.

    Example: pincite serve ~/notes --port 8000
    """
    if store and (folders or no_port):
        raise click.UsageError("--store stands alone: leave out folders and --no-port")
    os.environ.update({**ONE_THREAD, **os.environ})
    from pincite.engine.jobs import Jobs
    from pincite.engine.models import Embedders
    from pincite.entrypoints.http.app import create_app
    from pincite.entrypoints.http.commands import OwnDoor
    from pincite.entrypoints.http.guard import LOOPBACK, Limits
    from pincite.entrypoints.http.service import Service

    if profile:  # what is wrong with it is said before anybody asks
        Embedders(model_access(own_profiles())).writer(profile)
    try:
        limits = Limits(
            hosts=(*LOOPBACK, *(() if host in ("0.0.0.0", "::") else (host,)), *hosts),  # noqa: S104 — compared
            origins=origins,
            rate=rate,
            body_bytes=max_body,
            waiting=max_waiting,
            **({"at_once": _WHILE_WRITING} if profile else {}),
        )
    except ValueError as error:
        raise SettingsError(f"{error} is not a host name, such as docs.example.org") from error
    is_local = host in LOOPBACK
    with ExitStack() as ending:
        listener = None if no_port else ending.enter_context(listening(host, port))
        libraries = _libraries(folders, store, is_local=is_local)
        ending.callback(libraries.close)
        service = Service(
            libraries, Jobs(libraries), limits, profile, judge, tools, _options_given()
        )
        served = getattr(libraries, "libraries", {})
        own: list[socket.socket] = []
        for library in served.values():
            try:
                own.append(ending.enter_context(bound(library.root)))
            except SettingsError as error:
                if no_port:
                    raise
                click.echo(f"Note: your own commands do not use this one: {error}", err=True)
        app = OwnDoor(create_app(service), service, served.values())
        stop = threading.Event()
        service.jobs.start()
        ending.callback(service.jobs.close)
        ending.callback(stop.set)
        for name, library in served.items():
            _introduce(name, library, service, stop, watch=not no_watch)
        threading.Thread(target=service.warm_up, args=(stop,), name="warm-up", daemon=True).start()
        _log_to_stderr()
        if listener is not None:
            names = ", ".join(map(printable, libraries.names())) or printable(store or "")
            shown = f"[{host}]" if ":" in host else host
            click.echo(f"Serving {names} at http://{shown}:{listener.getsockname()[1]}")
        _run(app, service, own if listener is None else [*own, listener])
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    # An index run may still be in the middle of a large file; every write is crash-safe.
    os._exit(0)


def _options_given() -> tuple[str, ...]:
    """The options of this command as they were written, for who starts it again."""
    context = click.get_current_context()
    told: list[str] = []
    for one in context.command.params:
        name = one.name or ""
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE or (
            name == "port" and not context.params["no_port"]  # also where it is the usual one
        )
        if isinstance(one, click.Option) and is_given:
            value = context.params[name]
            values = value if one.multiple else [value]
            told += one.opts if one.is_flag else (f"{one.opts[0]}={each}" for each in values)
    return tuple(told)


def _libraries(folders: tuple[Path, ...], store: str | None, *, is_local: bool) -> Libraries:
    """What is served; SettingsError where others could reach it without a key."""
    from pincite.engine.serving import FolderLibraries, TeamLibraries

    if store:
        log = user_settings(os.environ).log
        return TeamLibraries(store, model_access(own_profiles()), log=log)
    opened = open_named(folders or (library_around(Path()) or own_folder(),), own_profiles())
    for library in opened.values():
        with suppress(IndexMissing):
            admit(library, ask_for_consent)  # to those whose keys came with the folder
    libraries = FolderLibraries(opened, trusting=is_local)
    free = () if is_local else libraries.without_keys()
    if free:
        libraries.close()
        raise SettingsError(
            f"others can reach this address, and {free[0]} has no keys; make one with "
            f"`pincite keys add NAME --library {opened[free[0]].root}`, or listen at 127.0.0.1"
        )
    return libraries


def open_named(folders: Iterable[Path], profiles: Mapping[str, Profile] = {}) -> dict[str, Library]:
    """Libraries by the names of their folders, by which requests and tools name them."""
    opened: dict[str, Library] = {}
    for folder in folders:
        library = open_at(folder, profiles)
        name = library.root.name or "library"
        if name in opened:
            raise SettingsError(f"two folders are called {name}; rename one or serve them apart")
        opened[name] = library
    return opened


def _introduce(
    name: str, library: Library, service: Service, stop: threading.Event, *, watch: bool
) -> None:
    """Say what there is to know of a library, and follow its folder."""
    told = printable(str(library.root))
    if not has_index(library.root):
        if watch:
            click.echo(f"{told} has no index yet: it is made as soon as there is a file to read.")
        else:
            click.echo(f"{told} has no index yet; run `pincite index build {told}`.")
    if watch and not library.place:
        if not has_index(library.root):
            service.indexing[name] = "just begun"
        told_of = (partial(service.note_followed, name), _far(name, library, service))
        threading.Thread(
            target=follow, args=(library, stop, *told_of), name=f"watch {name}", daemon=True
        ).start()


def _far(name: str, library: Library, service: Service) -> Callable[[Progress], None]:
    """Notes how far a run is, and says so once in a while."""
    said = time.monotonic()

    def note(progress: Progress) -> None:
        nonlocal said
        done, total = progress.documents_done, progress.documents_total
        if not service.indexing.get(name):  # a run begins
            said = time.monotonic()
        far = f"{done:,} of {total:,} documents"
        service.indexing[name] = far if done < total else ""
        if time.monotonic() > said + _BETWEEN_NOTES:
            said = time.monotonic()
            click.echo(f"Indexing {printable(str(library.root))}: {far}", err=True)

    return note


def own_folder() -> Path:
    """A library of the user's own, for an empty machine."""
    import platformdirs

    folder = platformdirs.user_data_path("pincite") / "library"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def follow(
    library: Library,
    stop: threading.Event,
    on_state: Callable[[str], None] = lambda why: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Bring the index up to date whenever the folder changes; `on_state` hears why it is not."""

    def tell(trouble: PinciteError, what: str = "") -> None:
        is_empty = isinstance(trouble, NothingToIndex)
        on_state("" if is_empty else str(trouble))
        if not is_empty:
            click.echo(f"Note: {what}{printable(str(trouble))}", err=True)

    logged: set[tuple[str, float | str]] = set()
    try:
        for report in library.watch(stop, on_trouble=tell, on_progress=on_progress):
            on_state("")
            try:
                for one in report.answers:
                    if (check := (one.answer.id, one.answer.checked_at)) not in logged:
                        click.echo(f"Note: {recheck_as_text(one)}", err=True)
                        logged.add(check)
                if sys.stderr.isatty():  # a log may have no reader: commands tell it, too
                    note_told(library, report.answers)
                for failure in report.failures:
                    if (failed := (failure.path, failure.reason)) not in logged:
                        click.echo(printable(f"Note: {failure.path}: {failure.reason}"), err=True)
                        logged.add(failed)
            except PinciteError as error:  # of the journal: the folder is followed all the same
                click.echo(f"Note: {printable(str(error))}", err=True)
    except PinciteError as error:
        tell(error, "changes are no longer followed: ")


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket at the address, before anything is opened for it."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=1_024)
    except OSError as error:
        raise SettingsError(
            f"cannot listen at {host} port {port}: {error.strerror}; choose another with --port"
        ) from error
    with listening:
        yield listening


def _run(app: ASGIApp, service: Service, listening: list[socket.socket]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            service.stopping.set()  # or whoever follows a job would be waited for
            await super().shutdown(sockets)

    # uvicorn ends well and then gives the signal on: it must not end us before we tidied up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    with suppress(KeyboardInterrupt, SystemExit):  # that is how it is meant to end
        Server(config).run(listening)
    click.echo("Stopping …", err=True)


def _log_to_stderr() -> None:
    """One line for each request, and what a library wants to be known."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    logging.getLogger("pincite").setLevel(logging.INFO)
