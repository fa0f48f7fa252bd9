"""What passes between us and the process that recognises: typed data, never code.

Also which files hold something to recognise, and what it takes, by their names.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath

import msgspec

from pincite.records import Modality
from pincite.settings import CONVERTED_FOLDER


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is started to do: recognise with an engine, or only look for scanned pages."""

    engine: str = ""  # rapidocr, tesseract or whisper; empty: only look
    language: str | None = None
    tesseract: str = ""  # the program's path
    tessdata: str = ""  # the folder of its languages; empty: its own
    model: str = ""  # the folder of a speech model
    memory_bytes: int = 2 << 30  # on top of what engine and model take


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A file to recognise; its bytes are asked for as they are needed."""

    kind: SourceKind
    size: int
    passwords: tuple[str, ...] = ()


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The process can be asked; `engine` names what recognises, with its version."""

    engine: str


class Wanted(msgspec.Struct, frozen=True, tag=True):
    """Some bytes of the file are needed; the answer is those bytes."""

    offset: int
    size: int


class Opened(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """What a file is, as far as it says so itself."""

    title: str | None = None
    pages: int | None = None  # None of a single image
    scanned: tuple[int, ...] = ()  # numbers of the pages to recognise, from 1
    duration: float | None = None  # seconds


class Line(msgspec.Struct, frozen=True):
    """A line of text on an image. The box is in pixels from the upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float = 1.0  # 0 to 1

    @property
    def width(self) -> float:
        """In pixels."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """In pixels."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """How far down the line stands."""
        return (self.top + self.bottom) / 2


class Page(msgspec.Struct, frozen=True, tag=True):
    """What was recognised on one page, or on an image."""

    number: int
    lines: tuple[Line, ...]


class Said(msgspec.Struct, frozen=True, tag=True):
    """What was said from when to when, in seconds."""

    start: float
    end: float
    text: str


class Finished(msgspec.Struct, frozen=True, tag=True):
    """All of the file was recognised; `language` is that of it, as far as it is known."""

    language: str | None = None


Part = Opened | Page | Said | Finished


class Problem(msgspec.Struct, frozen=True, tag=True):
    """Why the file cannot be recognised, or, before `Ready`, why none can."""

    reason: str


Answer = Ready | Wanted | Opened | Page | Said | Finished | Problem


class Need(StrEnum):
    """What it takes to read a file that is no text."""

    OCR = "ocr"
    SPEECH = "speech"


class SourceKind(StrEnum):
    """What is recognised."""

    IMAGE = "image"
    PDF = "pdf"
    AUDIO = "audio"
    VIDEO = "video"

    @property
    def need(self) -> Need:
        """What it takes to read it."""
        return Need.OCR if self in (self.IMAGE, self.PDF) else Need.SPEECH

    @property
    def modality(self) -> Modality:
        """What kind of evidence its text is."""
        if self.need is Need.OCR:
            return Modality.OCR
        return Modality.AUDIO_TRANSCRIPT if self is self.AUDIO else Modality.VIDEO_TRANSCRIPT


_SUFFIXES = {
    SourceKind.IMAGE: (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp"),
    SourceKind.PDF: (".pdf",),
    SourceKind.AUDIO: (".mp3", ".wav", ".m4a", ".flac", ".ogg", ".opus"),
    SourceKind.VIDEO: (".mp4", ".mkv", ".webm", ".mov"),
}

_KIND_OF = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}


def kind_of(path: str) -> SourceKind | None:
    """The kind of a file of this name; None where nothing in it could be recognised."""
    if path.startswith(f"{CONVERTED_FOLDER}/"):
        return None
    return _KIND_OF.get(PurePosixPath(path).suffix.lower())


def is_convertible(path: str) -> bool:
    """Whether a file of this name may hold something to recognise."""
    return kind_of(path) is not None
