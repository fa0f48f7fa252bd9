"""Reads files of foreign formats in child processes that can do nothing but read them.

A parser may be made to hang, to eat all memory, to crash, or to run code of the file's author. So
each file is read in a process of its own, which has so much memory and time and no more, and which
cannot open any file or connection: it gets the bytes through a pipe and answers with typed data,
never code. The processes are forked from one that has all readers loaded, which takes milliseconds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Self

import msgspec

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.records import Block, Content, Omission, Place, Section
from pincite.settings import ReadingLimits

LENGTH_BYTES = 8

_MOST = 1e9  # of anything that is counted or measured; infinity and NaN are more, or nothing
Stretch = Block | Omission | Place | Section


class Sandbox:
    """The readers in processes of their own. Nothing is started before the first file."""

    def __init__(self, limits: ReadingLimits | None = None) -> None:
        self._limits = limits or ReadingLimits()
        self._server: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def read(self, module: str, file: SourceFile) -> Content:
        """What the file holds, read by that module; FileUnreadable in plain words otherwise."""
        request = encode(Request(module, file))
        with self._one_at_a_time:
            answer = self._ask(request)
            if answer is None:  # the server itself is gone; the file gets one more chance
                self._stop()
                answer = self._ask(request)
        if answer is None:
            self._stop()
            raise FileUnreadable("made its reader crash; it may be damaged")
        return decode_reply(answer)

    def _ask(self, request: bytes) -> bytes | None:
        server = self._started()
        if server.stdin is None or server.stdout is None:
            return None
        try:
            write_frame(server.stdin, request)
            return read_frame(server.stdout)
        except OSError:
            return None
        except BaseException:
            self._stop()  # interrupted: the answer that is under way belongs to nobody
            raise

    def _started(self) -> subprocess.Popen[bytes]:
        if self._server is None:
            # Neither our environment, which may hold keys, nor the folder we stand in, which may
            # hold modules of the same names, is passed on.
            self._server = subprocess.Popen(  # noqa: S603 — our own module
                [
                    *(sys.executable, "-P", "-m", "pincite.reading.fork_server"),
                    *(str(self._limits.memory_bytes), str(self._limits.seconds)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is ours to handle, and its children end with it
                cwd="/",
                env={
                    "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                    "PYTHONUTF8": "1",
                },
            )
        return self._server

    def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            with suppress(BrokenPipeError):
                server.communicate()

    def close(self) -> None:
        """End the server."""
        with self._one_at_a_time:
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_frame(pipe: IO[bytes], data: bytes) -> None:
    """Send a message with its length before it."""
    pipe.write(len(data).to_bytes(LENGTH_BYTES))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """The next message; None where the other side is gone."""
    length = pipe.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    data = pipe.read(int.from_bytes(length))
    return data if len(data) == int.from_bytes(length) else None


@dataclass(frozen=True, slots=True)
class Request:
    """A file to read, by which module of `reading/`."""

    module: str
    file: SourceFile


@dataclass(frozen=True, slots=True)
class Reply:
    """What a file holds, or why it cannot be read."""

    content: Content | None = None
    problem: str = ""
    empty: bool = False


def encode(message: Request | Reply) -> bytes:
    """A message as bytes."""
    return msgspec.msgpack.encode(message)


def decode_request(data: bytes) -> Request:
    """The inverse of `encode`, in the process that reads."""
    return msgspec.msgpack.decode(data, type=Request)


def decode_reply(data: bytes) -> Content:
    """What was read; a file made it, so every value is checked before it is believed."""
    try:
        reply = msgspec.msgpack.decode(data, type=Reply)
    except msgspec.MsgspecError as error:
        raise FileUnreadable("made its reader answer nonsense; it may be damaged") from error
    if reply.content is None:
        raise (FileEmpty if reply.empty else FileUnreadable)(reply.problem)
    content = reply.content
    for stretches in (content.sections, content.blocks, content.places, content.omissions):
        if not _in_order(stretches, len(content.text)):
            raise FileUnreadable("made its reader lose its place; it may be damaged")
    if not content.sections or not all(map(_is_sound, content.places)):
        raise FileUnreadable("made its reader lose its place; it may be damaged")
    return content


def _is_sound(place: Place) -> bool:
    """Whether its numbers are such as a page, a recording or a table can have."""
    counts = (place.page, place.row, place.box.page if place.box else None)
    sizes = [place.time_start, place.time_end]
    if place.box is not None:
        sizes += [place.box.left, place.box.bottom, place.box.right, place.box.top]
    return all(count is None or 0 <= count <= _MOST for count in counts) and all(
        size is None or abs(size) <= _MOST for size in sizes
    )


def _in_order(stretches: Sequence[Stretch], length: int) -> bool:
    """Whether they lie inside the text, one behind the other."""
    inside = all(0 <= one.start <= one.end <= length for one in stretches)
    return inside and all(one.end <= after.start for one, after in pairwise(stretches))
