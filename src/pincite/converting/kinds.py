"""Which files hold something to recognise, and what it takes, by their names."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath

from pincite.records import Modality
from pincite.settings import CONVERTED_FOLDER


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
