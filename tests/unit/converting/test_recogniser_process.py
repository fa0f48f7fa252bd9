"""The process that recognises: what it answers, and what becomes of files that break it."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pictures import joined, picture, scanned_pdf, text_pdf
from pincite.child_process import Process
from pincite.converting.process import RecogniserProcess
from pincite.converting.wire import (
    Finished,
    Job,
    Opened,
    Options,
    Part,
    Problem,
    Ready,
    Said,
    SourceKind,
    Wanted,
)
from pincite.errors import FileUnreadable, ModelInvalid


def frame(message: msgspec.Struct) -> bytes:
    """A message as it passes through the socket."""
    data = msgspec.json.encode(message)
    return len(data).to_bytes(8) + data


@pytest.fixture(scope="module")
def recogniser() -> Iterator[RecogniserProcess]:
    """A process that looks, and recognises nothing: it needs no extra."""
    with RecogniserProcess(Options()) as opened:
        yield opened


def parts(
    recogniser: RecogniserProcess, data: bytes, kind: SourceKind = SourceKind.PDF
) -> list[Part]:
    return list(recogniser.recognise(io.BytesIO(data), Job(kind=kind, size=len(data))))


def test_one_process_serves_many_files_also_after_a_bad_one(recogniser: RecogniserProcess) -> None:
    with pytest.raises(FileUnreadable, match="cannot be opened as a PDF"):
        parts(recogniser, b"%PDF-")
    with pytest.raises(FileUnreadable, match="not the kind of image"):
        parts(recogniser, b"", SourceKind.IMAGE)
    data = joined(text_pdf("words"), scanned_pdf(picture("a")))
    assert parts(recogniser, data) == [Opened(pages=2, scanned=(2,)), Finished()]


def test_a_reader_who_stops_in_the_middle_does_not_confuse_the_next(
    recogniser: RecogniserProcess,
) -> None:
    data = scanned_pdf(picture("a"))
    stream = recogniser.recognise(io.BytesIO(data), Job(kind=SourceKind.PDF, size=len(data)))
    next(stream)
    stream.close()  # type: ignore[attr-defined]  # a generator
    assert len(parts(recogniser, data)) == 2


def script(body: str) -> list[str]:
    """A process that reads its options, is ready, reads a job, and then does as told."""
    greeting = frame(Ready("fake"))
    return [
        sys.executable,
        "-c",
        "import os, sys\n"
        "def read():\n"
        "    return os.read(0, int.from_bytes(os.read(0, 8)))\n"
        "def say(data):\n"
        "    while data: data = data[os.write(0, data) :]\n"
        f"read(); say({greeting!r}); read()\n" + body,
    ]


@pytest.mark.parametrize(
    ("body", "seconds", "reason"),
    [
        ("os.abort()", 60.0, "makes the recogniser crash"),
        ("say(b'gibberish that is no frame')", 60.0, "makes the recogniser crash"),
        (f"say({frame(Ready('again'))!r})", 60.0, "makes the recogniser crash"),
        ("say((2).to_bytes(8) + b'{}')", 60.0, "makes the recogniser crash"),
        ("os.read(0, 1)", 0.1, "takes longer than"),
        *(
            (f"say({frame(wanted)!r}); read(); say({frame(Finished())!r})", 60.0, "crash")
            for wanted in (Wanted(-5, 1), Wanted(2**70, 1), Wanted(4, 1), Wanted(0, -1))
        ),
        (f"for _ in range(10**5): say({frame(Wanted(0, 1))!r}); read()", 0.1, "takes longer than"),
        (
            f"one = {frame(Said(0.0, 1.0, 'x' * 50_000))!r}\n"
            f"for _ in range(1_400): say(one)\n"
            f"say({frame(Finished())!r})",
            60.0,
            "makes the recogniser crash",
        ),
        (f"while True: say({frame(Problem('x' * 300))!r}); read()", 60.0, "^x{200}$"),
    ],
)
def test_a_process_that_breaks_is_told_of_its_file_and_started_again(
    body: str, seconds: float, reason: str
) -> None:
    with RecogniserProcess(Options(), command=script(body), seconds_a_part=seconds) as recogniser:
        for _ in range(2):
            with pytest.raises(FileUnreadable, match=reason):
                parts(recogniser, b"any")
        assert recogniser.engine == "fake"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["true"], "it ended at once"),
        (
            [
                sys.executable,
                "-c",
                f"import os; os.write(0, {frame(Problem('no model'))!r}); input()",
            ],
            "no model",
        ),
    ],
)
def test_an_engine_that_cannot_be_started_ends_the_run(command: list[str], reason: str) -> None:
    with (
        RecogniserProcess(Options(engine="rapidocr"), command=command) as recogniser,
        pytest.raises(ModelInvalid, match=f"rapidocr cannot be started: {reason}"),
    ):
        parts(recogniser, b"any")


def test_a_program_that_is_not_there_leaves_nothing_open() -> None:
    before = sorted(Path("/dev/fd").iterdir())
    with pytest.raises(FileNotFoundError) as told:
        Process(["/no/such/program"], {})
    assert sorted(Path("/dev/fd").iterdir()) == before, told


def test_once_loaded_the_process_opens_nothing_and_has_limits() -> None:
    attempt = (
        "import errno, socket, sys\n"
        "from pincite.converting.wire import Options\n"
        "from pincite.converting.worker import _restrict\n"
        "_restrict(Options(memory_bytes=100_000_000))\n"
        "def denied(attempt):\n"
        "    try:\n"
        "        attempt()\n"
        "    except OSError as error:\n"
        "        return error.errno == errno.EMFILE\n"
        "    except MemoryError:\n"
        "        return True\n"
        "    return False\n"
        "attempts = [lambda: open('/dev/null'), socket.socket, lambda: bytes(200_000_000)]\n"
        "sys.exit(0 if all(map(denied, attempts)) else 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", attempt], check=False)
    assert done.returncode == 0
