"""Reads files in child processes that can do nothing but read them.

A reader may be made to hang, to eat all memory, to crash, or to run code of the file's author. So
files are read in processes which have so much memory and processor time and no more, and which
cannot open any file or connection: they get the bytes through a socket and answer with typed data,
never code. They are forked from one that has all readers loaded, which takes milliseconds.

A parser that is not written in Python could be taken over by a file and lie about the next one, so
each of its files gets a child of its own. The other kinds share a child, which is replaced now and
then, and whenever it dies; its file is then tried alone, as an earlier one may be to blame.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Self

import msgspec

from pincite.child_process import (
    LONGEST_PROBLEM,
    SECONDS_TO_START,
    Channel,
    Process,
    python_module,
)
from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.sniff import CODE, KINDS, MARKDOWN
from pincite.reading.source_file import SourceFile
from pincite.records import Content
from pincite.records.soundness import is_sound
from pincite.settings import ReadingLimits

OUT_OF_MEMORY = 3  # how a child exits that has too little
STATUS_BYTES = 4
# What reads code that breaks its grammar, and is still text.
_WITHOUT_GRAMMAR = {CODE.module: "code.lines", MARKDOWN.module: "lines.markdown"}
# Modules whose files share a child; any other has a child for each file.
SHARED = frozenset(
    {*(kind.module for kind in KINDS if not kind.native), *_WITHOUT_GRAMMAR.values()}
)
COMMON, OWN = b"c", b"o"  # the child that files share, and the one of a single file
NEEDS_OWN = b""  # what the shared child answers for a file that is not for it

# What a shared child reads before it is replaced, as it never gives back all memory.
_MOST_FILES = 500
_MOST_BYTES = 5_000_000


class _Died(FileUnreadable):
    """The child that read the file is gone."""


@dataclass
class _Child:
    """A process forked by the server, and what it has read so far."""

    channel: Channel
    started: float = field(default_factory=time.monotonic)
    files: int = 0
    bytes: int = 0


class Sandbox:
    """The readers in child processes. Nothing is started before the first file."""

    def __init__(
        self, limits: ReadingLimits | None = None, *, shared: frozenset[str] = SHARED
    ) -> None:
        self._limits = limits or ReadingLimits()
        self._shared = shared
        self._server: Process | None = None
        self._children: dict[bytes, _Child] = {}
        self._one_at_a_time = threading.Lock()

    def read(self, module: str, file: SourceFile) -> Content:
        """What the file holds, read by that module; FileUnreadable in plain words otherwise."""
        with self._one_at_a_time:
            try:
                return self._read(module, file)
            except FileUnreadable:
                raise
            except BaseException:
                self._stop()  # interrupted: the answer that is under way belongs to nobody
                raise

    def _read(self, module: str, file: SourceFile) -> Content:
        request = msgspec.msgpack.encode(Request(module, file))
        if module in self._shared:
            with suppress(_Died):  # perhaps of what an earlier file left behind
                answer = self._asked(COMMON, request)
                if answer != NEEDS_OWN:
                    return decode_reply(answer)
        self._replace(OWN)
        try:
            with closing(self._children[OWN].channel):  # with which the child ends
                return decode_reply(self._asked(OWN, request))
        except FileUnreadable:
            if module not in _WITHOUT_GRAMMAR:
                raise
        return self._read(_WITHOUT_GRAMMAR[module], file)

    def _asked(self, which: bytes, request: bytes) -> bytes:
        limits = self._limits
        child = self._children.get(which)
        if (
            child is None
            or child.files >= _MOST_FILES
            or child.bytes >= _MOST_BYTES
            # It never has more processor time than clock time, and its limit is twice this.
            or time.monotonic() - child.started >= limits.seconds
        ):
            self._replace(which)
            child = self._children[which]
        child.files += 1
        child.bytes += len(request)
        try:
            child.channel.send(request, limits.clock_seconds)
            return child.channel.receive(limits.clock_seconds)
        except TimeoutError:
            self._replace(which)
            raise FileUnreadable(f"takes longer than {limits.clock_seconds} s to read") from None
        except ConnectionError:
            status = self._replace(which)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            raise FileUnreadable(f"takes longer than {limits.seconds} s to read")
        needs = f"needs more than {limits.memory_bytes >> 20} MB to read"
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == OUT_OF_MEMORY:
            raise _Died(needs)
        raise _Died(f"made its reader crash: it is damaged, or {needs}")

    def _replace(self, which: bytes) -> int:
        """End a child and start another in its place; how the last one ended."""
        if which in self._children:
            self._children.pop(which).channel.close()
        for _ in range(2):  # the server gets one more chance where it is gone itself
            if self._server is None:
                limits = (str(self._limits.memory_bytes), str(self._limits.seconds))
                self._server = Process(python_module("pincite.reading.fork_server", *limits), {})
            server = self._server.channel.connection
            with suppress(OSError):
                server.settimeout(SECONDS_TO_START)
                server.sendall(which)
                status, sockets, _, _ = socket.recv_fds(server, STATUS_BYTES, 1)
                if sockets:
                    connection = socket.socket(fileno=sockets[0])
                    self._children[which] = _Child(Channel(connection))
                    return int.from_bytes(status)
            self._stop()
        raise FileUnreadable("made its reader crash; it may be damaged")

    def _stop(self) -> None:
        server, self._server = self._server, None
        while self._children:
            self._children.popitem()[1].channel.close()
        if server is not None:
            server.kill()

    def close(self) -> None:
        """End the server and its children."""
        with self._one_at_a_time:
            self._stop()

    def __del__(self) -> None:
        """Nobody closed it: its processes end all the same."""
        if self._server is not None:
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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


def decode_reply(data: bytes) -> Content:
    """What was read; a file made it, so every value is checked before it is believed."""
    try:
        reply = msgspec.msgpack.decode(data, type=Reply)
    except msgspec.MsgspecError as error:
        raise FileUnreadable("made its reader answer nonsense; it may be damaged") from error
    if reply.content is None:
        problem = reply.problem[:LONGEST_PROBLEM]
        raise (FileEmpty if reply.empty else FileUnreadable)(problem)
    if not reply.content.sections or not is_sound(reply.content):
        raise FileUnreadable("made its reader lose its place; it may be damaged")
    return reply.content
