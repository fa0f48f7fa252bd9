"""The process that recognises: it decodes what strangers made, so it can do nothing else.

Run by `process.py`: `python -m pincite.converting.worker`, with a socket as standard input. Options
come first, then jobs; answers go back the same way. Once engine and models are loaded, no file,
connection or process can be opened any more, and there is only so much memory.
"""

from __future__ import annotations

import io
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from pincite.child_process import Channel, forbid_inspection, load_codecs, restrict, told
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
)
from pincite.errors import FileUnreadable, PinciteError

_LARGEST = 500_000_000  # bytes of a PDF or an image, which are held in memory


def main() -> None:
    """Answer until nobody asks any more."""
    forbid_inspection()
    with suppress(ConnectionError):
        _serve(Channel(socket.socket(fileno=0)))


def _serve(channel: Channel) -> None:
    options = msgspec.json.decode(channel.receive(), type=Options)
    try:
        engine = _engine(options)
        load_codecs()
        if options.engine != "whisper":
            rehearse()
    except Exception as error:  # noqa: BLE001 — whatever keeps a library from loading ends the run
        _send(channel, Problem(str(error) if isinstance(error, PinciteError) else told(error)))
        return
    _restrict(options)
    _send(channel, Ready(engine.name if engine else ""))
    while True:
        job = msgspec.json.decode(channel.receive(), type=Job)
        try:
            for part in _parts(job, FileAtParent(channel, job.size), engine, options.language):
                _send(channel, part)
        except FileUnreadable as error:
            _send(channel, Problem(str(error)))
        except MemoryError:
            needs = f"needs more than {options.memory_bytes >> 20} MB to recognise"
            _send(channel, Problem(needs))
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 — a decoder met something it was not made for
            _send(channel, Problem(f"is damaged, or cannot be recognised ({told(error)})"))


def _send(channel: Channel, answer: Answer) -> None:
    channel.send(msgspec.json.encode(answer))


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


def _restrict(options: Options) -> None:
    """From here on: so much more memory, and nothing new is opened."""
    limits = {}
    if options.engine == "tesseract":  # which is a program of its own, started for each image
        limits[resource.RLIMIT_NOFILE] = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if taken := _address_space():
        limits[resource.RLIMIT_AS] = taken + options.memory_bytes
    restrict(limits)


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
    stream = io.BufferedReader(file, 1 << 20)
    if job.kind in (SourceKind.AUDIO, SourceKind.VIDEO):
        if isinstance(engine, Transcriber):
            yield from engine.transcribe(stream)
        return
    if job.size > _LARGEST:
        raise FileUnreadable(f"is larger than {_LARGEST / 1e6:g} MB")
    data = stream.read(job.size)
    opened, pages = (
        open_pdf(data, job.passwords) if job.kind is SourceKind.PDF else open_image(data)
    )
    yield opened
    if engine is not None and not isinstance(engine, Transcriber):
        for number, image in pages:
            yield Page(number, tuple(lines_on(image, engine)))
    yield Finished(language)


class FileAtParent(io.RawIOBase):
    """The file to recognise; the parent holds it open and sends what is asked for."""

    def __init__(self, channel: Channel, size: int) -> None:
        self._channel = channel
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

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as there is something to read."""
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0
        _send(self._channel, Wanted(self._at, wanted))
        data = self._channel.receive()
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


if __name__ == "__main__":
    main()
