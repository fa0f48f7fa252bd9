"""Child processes that can do nothing but one thing: how they are started, asked and ended.

Files that strangers made are read and recognised in such processes. A process gets what it needs
as messages through one socket and answers through it, in typed data and never in code; it sees
neither our environment nor our folder, and after `restrict` it can open no file and no connection.
"""

from __future__ import annotations

import contextlib
import ctypes
import encodings
import os
import pkgutil
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module

SECONDS_TO_START = 300.0  # with a large model, from a slow disk, on a busy machine
LONGEST_PROBLEM = 200  # characters of a library's own message

_LONGEST_MESSAGE = 1 << 29  # bytes
_LENGTH_BYTES = 8
_PR_SET_DUMPABLE = 4


class Channel:
    """Messages over a socket, each with its length before it.

    TimeoutError says that the other side is too slow; ConnectionError that it is gone, or says what
    it never should.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def send(self, message: bytes, seconds: float | None = None) -> None:
        """Send a message; without `seconds`, however long that takes."""
        self.connection.settimeout(seconds)
        self.connection.sendall(len(message).to_bytes(_LENGTH_BYTES) + message)

    def receive(self, seconds: float | None = None, most: int = _LONGEST_MESSAGE) -> bytes:
        """The next message, of not more than so many bytes, whole in so many seconds."""
        deadline = None if seconds is None else time.monotonic() + seconds
        length = int.from_bytes(self._received(_LENGTH_BYTES, deadline))
        if length > most:
            raise ConnectionError
        return self._received(length, deadline)

    def _received(self, size: int, deadline: float | None) -> bytes:
        data = bytearray()
        while len(data) < size:
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0:  # however fast it goes on byte by byte
                    raise TimeoutError
                self.connection.settimeout(left)
            part = self.connection.recv(min(size - len(data), 1 << 20))
            if not part:
                raise ConnectionError
            data += part
        return bytes(data)

    def close(self) -> None:
        """Nothing is sent any more; the other side reads to the end."""
        self.connection.close()


class Process:
    """A program of ours in a process group of its own, with a channel as its standard input."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        forbid_inspection()
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        with theirs, contextlib.ExitStack() as unstarted:
            unstarted.callback(self.channel.close)
            # Neither our environment, which may hold keys, nor the folder we stand in, which may
            # hold modules of the same names, is passed on. What libraries print goes nowhere.
            self.process = subprocess.Popen(  # noqa: S603 — our own module
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is ours to handle, and its children end with it
                cwd="/",
                env={
                    "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                    "PYTHONUTF8": "1",
                    **environment,
                },
            )
            unstarted.pop_all()

    def kill(self) -> None:
        """End it, with all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.channel.close()
        self.process.wait()


def python_module(name: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a module of ours."""
    return (sys.executable, "-P", "-m", name, *arguments)


def forbid_inspection() -> None:
    """From here on no other process of the same user can read or write the memory of this one.

    It lasts until the process runs another program, and holds for what it forks. On systems other
    than Linux there is no such call.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def load_codecs() -> None:
    """Load what is otherwise loaded when it is needed: then no file can be opened any more."""
    for codec in pkgutil.iter_modules(encodings.__path__):
        with contextlib.suppress(ImportError):  # those of other systems
            import_module(f"encodings.{codec.name}")


def restrict(limits: Mapping[int, int]) -> None:
    """From here on: no new file or connection, nothing written, and what else `limits` says."""
    closed = {resource.RLIMIT_NOFILE: 0, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}
    for limited, most in {**closed, **limits}.items():
        resource.setrlimit(limited, (most, most))


def told(error: Exception) -> str:
    """What a library says went wrong, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_PROBLEM]
