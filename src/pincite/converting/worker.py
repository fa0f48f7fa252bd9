"""The process that recognises: it decodes what strangers made, so it can do nothing else.

Run by `process.py`: `python -m pincite.converting.worker`. Options come first on standard input,
then jobs; answers go to standard output. Once engine and models are loaded, no file, connection or
process can be opened any more, and there is only so much memory.
"""

from __future__ import annotations

import contextlib
import encodings
import io
import os
import pkgutil
import resource
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import msgspec

from pincite.converting.ocr import (
    RapidOcr,
    Recogniser,
    Tesseract,
    lines_on,
    open_image,
    open_pdf,
    rehearse,
)
from pincite.converting.speech import Transcriber
from pincite.converting.wire import (
    LENGTH_BYTES,
    Answer,
    Finished,
    Job,
    Options,
    Page,
    Part,
    Problem,
    Ready,
    SourceKind,
    Wanted,
    frame,
)
from pincite.errors import FileUnreadable, PinciteError

_LARGEST = 500_000_000  # bytes of a PDF or an image, which are held in memory
_LONGEST_PROBLEM = 200  # characters of a library's own message


def main() -> None:
    """Answer until nobody asks any more."""
    # What libraries print must not get between our answers.
    pipes = Pipes(sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    options = msgspec.json.decode(pipes.receive(), type=Options)
    try:
        engine = _engine(options)
        # Load what is otherwise loaded when it is needed: then no file can be opened any more
        for codec in pkgutil.iter_modules(encodings.__path__):
            with contextlib.suppress(ImportError):  # those of other systems
                import_module(f"encodings.{codec.name}")
        if options.engine != "whisper":
            rehearse()
    except Exception as error:  # noqa: BLE001 — whatever keeps a library from loading ends the run
        pipes.send(Problem(_told(error)))
        return
    _restrict(options)
    pipes.send(Ready(engine.name if engine else ""))
    while request := pipes.receive():
        job = msgspec.json.decode(request, type=Job)
        try:
            for part in _parts(job, FileAtParent(pipes, job.size), engine, options.language):
                pipes.send(part)
        except FileUnreadable as error:
            pipes.send(Problem(str(error)))
        except MemoryError:
            pipes.send(Problem(f"needs more than {options.memory_bytes >> 20} MB to recognise"))
        except Exception as error:  # noqa: BLE001 — a decoder met something it was not made for
            pipes.send(Problem(f"is damaged, or cannot be recognised ({_told(error)})"))


def _engine(options: Options) -> Recogniser | Transcriber | None:
    match options.engine:
        case "rapidocr":
            return RapidOcr()
        case "tesseract":
            return Tesseract(
                options.tesseract, tessdata=options.tessdata, language=options.language
            )
        case "whisper":
            return Transcriber(Path(options.model), language=options.language)
        case _:
            return None


def _told(error: Exception) -> str:
    if isinstance(error, PinciteError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_PROBLEM]


def _restrict(options: Options) -> None:
    """From here on: so much more memory, and nothing new is opened."""
    limits = [(resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)]
    if options.engine != "tesseract":  # which is a program of its own, started for each image
        limits.append((resource.RLIMIT_NOFILE, 0))
    if taken := _address_space():
        limits.append((resource.RLIMIT_AS, taken + options.memory_bytes))
    for limited, most in limits:
        resource.setrlimit(limited, (most, most))


def _address_space() -> int:
    """Bytes of memory mapped so far; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _parts(
    job: Job,
    file: FileAtParent,
    engine: Recogniser | Transcriber | None,
    language: str | None,
) -> Iterator[Part]:
    if job.kind in (SourceKind.AUDIO, SourceKind.VIDEO):
        if isinstance(engine, Transcriber):
            yield from engine.transcribe(io.BufferedReader(file, 1 << 20))
        return
    if job.size > _LARGEST:
        raise FileUnreadable(f"is larger than {_LARGEST / 1e6:g} MB")
    data = file.readall()
    opened, pages = (
        open_pdf(data, job.passwords) if job.kind is SourceKind.PDF else open_image(data)
    )
    yield opened
    if engine is not None and not isinstance(engine, Transcriber):
        for number, image in pages:
            yield Page(number, tuple(lines_on(image, engine)))
    yield Finished(language)


class Pipes:
    """The two pipes to the process that asks."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink

    def receive(self) -> bytes:
        """The next message; empty where there is none any more."""
        length = int.from_bytes(self._source.read(LENGTH_BYTES))
        return self._source.read(length)

    def send(self, answer: Answer) -> None:
        """Send an answer."""
        self._sink.write(frame(answer))
        self._sink.flush()


class FileAtParent(io.RawIOBase):
    """The file to recognise; the parent holds it open and sends what is asked for."""

    def __init__(self, pipes: Pipes, size: int) -> None:
        self._pipes = pipes
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """Any part of it can be read."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to where reading goes on."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = min(max(base + offset, 0), self._size)
        return self._at

    def tell(self) -> int:
        """Where reading goes on."""
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as there is something to read."""
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0
        self._pipes.send(Wanted(self._at, wanted))
        data = self._pipes.receive()
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def readall(self) -> bytes:
        """All that is left, in one go."""
        data = bytearray(self._size - self._at)
        view = memoryview(data)
        while view and (got := self.readinto(view)):
            view = view[got:]
        return bytes(data[: len(data) - len(view)])


if __name__ == "__main__":
    main()
