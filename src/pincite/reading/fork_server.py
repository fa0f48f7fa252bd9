"""The process that has all readers loaded and forks a child with limits for each file.

Run by `sandbox.py`: `python -m pincite.reading.fork_server MEMORY_BYTES SECONDS`. Requests come on
standard input, replies go to standard output.
"""

from __future__ import annotations

import contextlib
import encodings
import gc
import os
import pkgutil
import resource
import select
import signal
import sys
import time
from importlib import import_module

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.reader import read_here
from pincite.reading.sandbox import Reply, decode_request, encode, read_frame, write_frame
from pincite.reading.sniff import KINDS
from pincite.settings import ReadingLimits

_LONGEST_ANSWER = 1 << 30  # bytes
_SECONDS_TO_END = 2.0  # for a child that has answered
_LONGEST_PROBLEM = 200  # characters of a parser's own message


def main() -> None:
    """Answer requests until nobody asks any more."""
    limits = ReadingLimits(memory_bytes=int(sys.argv[1]), seconds=int(sys.argv[2]))
    load_everything()
    while (request := read_frame(sys.stdin.buffer)) is not None:
        write_frame(sys.stdout.buffer, _answer(request, limits))


def load_everything() -> None:
    """Import what readers may need: in the child nothing can be opened, so not imported either."""
    for module in ("lines.fences", *(kind.module for kind in KINDS if kind.foreign)):
        import_module(f"pincite.reading.{module}")
    for codec in pkgutil.iter_modules(encodings.__path__):
        with contextlib.suppress(ImportError):  # those of other systems
            import_module(f"encodings.{codec.name}")


def _answer(request: bytes, limits: ReadingLimits) -> bytes:
    """The child's reply, or in its place why there is none."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        _be_the_child(request, theirs, limits)
    os.close(theirs)
    answer = _received(ours, limits.seconds)
    os.close(ours)
    status = _ended(child, 0 if answer is None else _SECONDS_TO_END)
    if answer is None or status is None:
        return encode(Reply(problem=f"takes longer than {limits.seconds} s to read"))
    if os.WIFSIGNALED(status) or not answer:
        return encode(Reply(problem=_why_it_died(status, limits)))
    return answer


def _ended(child: int, seconds: float) -> int | None:
    """How the child ended, if it did in time; else it is killed."""
    deadline = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        if time.monotonic() >= deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.001)


def _received(pipe: int, seconds: float) -> bytes | None:
    """Everything the child says before it closes the pipe; None if time runs out."""
    parts: list[bytes] = []
    length = 0
    deadline = time.monotonic() + seconds
    while length <= _LONGEST_ANSWER:
        ready, _, _ = select.select([pipe], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            return None
        part = os.read(pipe, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
        length += len(part)
    return None


def _why_it_died(status: int, limits: ReadingLimits) -> str:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return f"takes longer than {limits.seconds} s to read"
    return (
        "made its reader crash: it is damaged, or needs more than "
        f"{limits.memory_bytes >> 20} MB to read"
    )


def _be_the_child(request: bytes, pipe: int, limits: ReadingLimits) -> None:
    """Read the file behind limits, answer, and never return."""
    try:
        for descriptor in (0, 1, 2):  # nothing of ours is left to read from or to write to
            os.close(descriptor)
        restrict(limits)
        gc.disable()  # the child lives for one file, and its memory is bounded
        answer = encode(_read(request, limits))
        while answer:
            answer = answer[os.write(pipe, answer) :]
    finally:
        os._exit(0)


def restrict(limits: ReadingLimits) -> None:
    """From here on: so much memory and time, no new file, connection or process."""
    for limited, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limited, (most, most))


def _read(request: bytes, limits: ReadingLimits) -> Reply:
    try:
        asked = decode_request(request)
        return Reply(content=read_here(asked.module, asked.file))
    except FileEmpty as error:
        return Reply(problem=str(error), empty=True)
    except FileUnreadable as error:
        return Reply(problem=str(error))
    except MemoryError:
        return Reply(problem=f"needs more than {limits.memory_bytes >> 20} MB to read")
    except RecursionError:
        return Reply(problem="is nested too deeply to read")
    except Exception as error:  # noqa: BLE001 — a parser met something it was not made for
        told = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_PROBLEM]
        return Reply(problem=f"is damaged, or of a make that cannot be read ({told})")


if __name__ == "__main__":
    main()
