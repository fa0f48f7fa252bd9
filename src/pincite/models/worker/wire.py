"""What crosses the socket to a worker, and where the worker's files are.

Messages are plain JSON and numbers, each with its lengths before it. Nobody but the user may touch
the files.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import platformdirs

from pincite.errors import (
    ModelError,
    ModelInvalid,
    ModelMissing,
    ModelUnavailable,
    PinciteError,
    SettingsError,
)
from pincite.models.catalog import model_folder

Header = dict[str, Any]

# Why a worker may not be asked this; another one has to be started.
STRANGER, OTHER_CODE, OTHER_MODEL = "stranger", "other code", "other model"

_LENGTHS = struct.Struct(">QQ")
_LONGEST = 1 << 30  # bytes
_ERRORS = {
    kind.__name__: kind
    for kind in (ModelError, ModelInvalid, ModelMissing, ModelUnavailable, SettingsError)
}

TOKEN_BYTES = 32
_PACKAGE = Path(__file__).parents[2]  # pincite
# What an answer depends on: models are run by it, or texts and vectors go through it.
_STAMPED = ("", "models", "models/worker", "records", "text")
_LONGEST_SOCKET_PATH = 100  # bytes; systems take 104 to 108


class Broken(Exception):
    """The other side is gone, or does not speak our language."""


def send(connection: socket.socket, header: Header, body: bytes = b"") -> None:
    """Send a message."""
    told = json.dumps(header).encode()  # ASCII: half a character from a broken file goes through
    connection.sendall(_LENGTHS.pack(len(told), len(body)) + told + body)


def receive(connection: socket.socket) -> tuple[Header, bytes]:
    """The next message; Broken where it does not come whole."""
    told, body = _LENGTHS.unpack(receive_bytes(connection, _LENGTHS.size))
    if told + body > _LONGEST:
        raise Broken(f"a message of {told + body} bytes")
    try:
        header = json.loads(receive_bytes(connection, told))
    except ValueError as error:
        raise Broken("a message that is not JSON") from error
    if not isinstance(header, dict):
        raise Broken("a message that is not an object")
    return header, receive_bytes(connection, body)


def receive_bytes(connection: socket.socket, length: int) -> bytes:
    """Exactly so many bytes."""
    data = bytearray()
    while len(data) < length:
        part = connection.recv(min(length - len(data), 1 << 20))
        if not part:
            raise Broken("the other side is gone")
        data += part
    return bytes(data)


def problem(error: PinciteError) -> Header:
    """An error as it is sent."""
    return {"problem": type(error).__name__, "message": str(error)}


def error_in(header: Header) -> PinciteError | None:
    """The error that was sent, if it was one."""
    if "problem" not in header:
        return None
    return _ERRORS.get(str(header["problem"]), ModelError)(str(header.get("message", "")))


@dataclass(frozen=True)
class Place:
    """The folder of one worker: its socket, its token, its lock and what it has to tell."""

    folder: Path

    @property
    def socket(self) -> Path:
        """Where it listens; only there once it is ready."""
        return self.folder / "socket"

    @property
    def token(self) -> Path:
        """What whoever asks must know."""
        return self.folder / "token"

    @property
    def lock(self) -> Path:
        """Held as long as it lives; holds its process id."""
        return self.folder / "lock"

    @property
    def log(self) -> Path:
        """What it said on standard error."""
        return self.folder / "log"

    def make(self) -> None:
        """Make the folder, for the user alone."""
        _make_for_owner(self.folder)
        self.refuse_strangers()
        if len(os.fsencode(self.socket)) > _LONGEST_SOCKET_PATH:
            raise ModelUnavailable(
                f"{self.socket} is too long a path for a socket; set PINCITE_WORKER_FOLDER to "
                "one that is shorter"
            )

    def make_token(self) -> None:
        """Make the token, unless it is there."""
        try:
            whole = self.token.stat().st_size == TOKEN_BYTES
        except FileNotFoundError:
            whole = False
        if not whole:
            _write_for_owner(self.token, os.urandom(TOKEN_BYTES))

    def refuse_strangers(self) -> None:
        """ModelUnavailable where another user could be listening here, or put a socket here."""
        mine = os.getuid()
        status = self.folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != mine or status.st_mode & 0o077:
            raise ModelUnavailable(
                f"{self.folder} is not a folder for you alone, so no worker is used there; remove "
                "it, or run `chmod 700` on it"
            )
        for above in self.folder.parents:
            status = above.stat()
            others_write = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
            if status.st_uid not in (0, mine) or others_write:
                raise ModelUnavailable(
                    f"others may replace what is in {above}, so no worker is used there; set "
                    "PINCITE_WORKER_FOLDER to a folder that is yours alone"
                )

    def is_held(self) -> bool:
        """Whether a worker lives, be it ready or not."""
        try:
            descriptor = os.open(self.lock, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            # Shared: two who look at once must not take each other for a worker.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def process_id(self) -> int | None:
        """Of the worker that lives; None where there is none, or it has not told yet."""
        try:
            told = self.lock.read_text()
        except OSError:
            return None
        return int(told) if told.isdigit() and self.is_held() else None

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Let nobody else start or replace the worker meanwhile, neither process nor thread."""
        descriptor = os.open(self.folder / "starting", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Be the only worker here; False where there is one. Ends with the process, too."""
        descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
            yield True
        finally:
            os.close(descriptor)


def workers_folder(chosen: Path | None) -> Path:
    """Where all workers of this user are."""
    return (chosen or platformdirs.user_cache_path("pincite") / "workers").resolve()


def place_of(spec: str, models_folder: Path, chosen: Path | None) -> Place:
    """The place of the worker for this model, run by this very installation."""
    folder = model_folder(spec, models_folder)
    # The machine, because homes are shared between machines, but processes are not.
    machine = os.uname().nodename
    who = [machine, str(_PACKAGE), sys.prefix, spec if folder is None else str(folder.resolve())]
    name = hashlib.sha256(json.dumps(who).encode()).hexdigest()[:16]
    return Place(workers_folder(chosen) / name)


def model_stamp(spec: str, models_folder: Path) -> str:
    """Changes whenever a file of the model does; empty for a model that is code alone."""
    folder = model_folder(spec, models_folder)
    return "" if folder is None else _stamp([*folder.glob("*"), *folder.glob("*/config.json")])


@lru_cache(maxsize=1)
def code_stamp() -> str:
    """Changes with every version of the code that answers, as a version number need not."""
    return stamp_of_code(_PACKAGE)


def stamp_of_code(package: Path) -> str:
    """Of the code of pincite in that folder."""
    files: list[os.DirEntry[str]] = []
    for folder in _STAMPED:
        with os.scandir(package / folder) as found:  # twice as fast as glob, and each call needs it
            files += (file for file in found if file.name.endswith(".py"))
    return _stamp(files)


def _stamp(files: Sequence[Path | os.DirEntry[str]]) -> str:
    facts = []
    for file in sorted(files, key=os.fspath):
        try:
            status = file.stat()
        except FileNotFoundError:
            continue
        facts.append((file.name, status.st_size, status.st_mtime_ns, status.st_ino))
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def _make_for_owner(folder: Path) -> None:
    """With all that is missing above it, whose modes `parents=True` would leave to the umask."""
    if not folder.parent.exists():
        _make_for_owner(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def _write_for_owner(path: Path, data: bytes) -> None:
    """Whole or not at all, and never readable for others in between."""
    new = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    new.rename(path)
