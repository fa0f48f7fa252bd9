"""The process that has all readers loaded and forks children with limits, which read files.

Run by `sandbox.py`: `python -m pincite.reading.fork_server MEMORY_BYTES SECONDS`, with a socket as
standard input. Asked with one byte, it ends the child of that name, if there is one, and answers
how that ended, with a socket to a new child of the same name.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import signal
import socket
import sys
import time
from importlib import import_module

import msgspec

from pincite.child_process import Channel, forbid_inspection, load_codecs, restrict, told
from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.lines.fences import has_code
from pincite.reading.reader import read_here
from pincite.reading.sandbox import COMMON, NEEDS_OWN, OUT_OF_MEMORY, STATUS_BYTES, Reply, Request
from pincite.reading.sniff import KINDS, MARKDOWN
from pincite.settings import ReadingLimits


def main() -> None:
    """Fork and end children until nobody asks any more."""
    forbid_inspection()
    limits = ReadingLimits(memory_bytes=int(sys.argv[1]), seconds=int(sys.argv[2]))
    load_everything()
    gc.disable()  # a child lives for few files, and its memory is bounded
    asked = socket.socket(fileno=0)
    children: dict[bytes, int] = {}
    while which := asked.recv(1):
        status = 0
        if which in children:
            os.kill(children[which], signal.SIGKILL)
            _, status = os.waitpid(children[which], 0)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            children[which] = os.fork()
            if children[which] == 0:
                _be_the_child(which, theirs.fileno(), limits)
            socket.send_fds(asked, [status.to_bytes(STATUS_BYTES)], [ours.fileno()])
    os.killpg(0, signal.SIGKILL)  # also children that nobody waits for any more


def load_everything() -> None:
    """Import what readers may need: in the child nothing can be opened, so not imported either."""
    for kind in KINDS:
        import_module(f"pincite.reading.{kind.module}")
    load_codecs()


def _be_the_child(which: bytes, connection: int, limits: ReadingLimits) -> None:
    """Read files behind limits, answer for each, and never return."""
    status = 0
    try:
        os.dup2(connection, 0)  # nothing else is left to read from or to write to
        os.closerange(1, connection + 64)
        channel = Channel(socket.socket(fileno=0))
        # What takes the process over can raise the time of its file up to the hard limit, which has
        # room for one more file in a child that is about to be replaced.
        most_seconds = 2 * limits.seconds + 1
        restrict(
            {
                resource.RLIMIT_AS: limits.memory_bytes,
                resource.RLIMIT_CPU: most_seconds,
                resource.RLIMIT_NPROC: 0,
            }
        )
        while True:
            request = msgspec.msgpack.decode(channel.receive(), type=Request)
            end = math.ceil(time.process_time()) + limits.seconds
            resource.setrlimit(resource.RLIMIT_CPU, (end, most_seconds))
            is_page = request.module == MARKDOWN.module
            if which == COMMON and is_page and has_code(request.file.data):
                channel.send(NEEDS_OWN)  # for the grammars, which are native
            else:
                channel.send(msgspec.msgpack.encode(_read(request)))
    except MemoryError:
        status = OUT_OF_MEMORY
    finally:
        os._exit(status)


def _read(request: Request) -> Reply:
    try:
        return Reply(content=read_here(request.module, request.file))
    except FileUnreadable as error:
        return Reply(problem=str(error), empty=isinstance(error, FileEmpty))
    except MemoryError:
        raise
    except RecursionError:
        return Reply(problem="is nested too deeply to read")
    except Exception as error:  # noqa: BLE001 — a parser met something it was not made for
        return Reply(problem=f"is damaged, or of a make that cannot be read ({told(error)})")


if __name__ == "__main__":
    main()
