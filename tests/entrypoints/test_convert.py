"""`pincite convert` as a user meets it, with a Tesseract of the test's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pictures import joined, picture, saved, scanned_pdf, text_pdf
from pincite.entrypoints.cli.main import cli

Run = Callable[..., Result]

TESSERACT = """#!{python}
import sys
if "--version" in sys.argv:
    print("tesseract 0.0")
elif "--list-langs" in sys.argv:
    print("List of available languages (1):\\neng")
elif sys.stdin.buffer.read(2) == b"P6":
    print("level\\tblock_num\\tpar_num\\tline_num\\tleft\\ttop\\twidth\\theight\\tconf\\ttext")
    for at, word in enumerate("The pump leaks at the seal.".split()):
        print(5, 1, 1, 1, 60 * at, 0, 50, 20, 95, word, sep="\\t")
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text, a PDF of which one page is scanned, an image, and a recording."""
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "notes.md").write_text("# Notes\n\nNothing about machines.\n")
    scanned = scanned_pdf(picture("a scan"))
    (folder / "letter.pdf").write_bytes(joined(text_pdf(*["Dear Ada, as agreed."] * 9), scanned))
    (folder / "sign.png").write_bytes(saved(picture("a sign")))
    (folder / "talk.mp3").write_bytes(b"ID3")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "tesseract").write_text(TESSERACT.format(python=sys.executable))
    (programs / "tesseract").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(library: Path) -> Run:
    return lambda *arguments: CliRunner().invoke(cli, ["convert", *arguments])


def test_without_options_it_tells_what_there_is_and_what_would_read_it(
    run: Run, library: Path
) -> None:
    result = run()
    assert result.exit_code == 0
    assert result.stdout == (
        "Not recognised: 1 image, 1 PDF with 1 scanned page. To read them: --ocr\n"
        "Not recognised: 1 audio file. To read them: --speech-model DIR\n"
    )
    assert not (library / ".converted").exists()


def test_images_and_scanned_pages_become_markdown(run: Run, library: Path) -> None:
    result = run("--engine", "tesseract")
    assert result.exit_code == 0
    assert "Recognised 2 files with tesseract 0.0" in result.stdout
    assert "written: .converted/letter.pdf.md, .converted/sign.png.md" in result.stdout
    text = (library / ".converted" / "letter.pdf.md").read_text()
    assert "\nsource: letter.pdf\n" in text
    assert "\npages: 2\n" in text
    assert text.endswith("---\n\n## Page 2\n\nThe pump leaks at the seal.\n")
    assert "Recognised before: 2 files." in run("--engine", "tesseract").stdout


def test_a_correction_is_kept_and_told_and_force_overwrites_it(run: Run, library: Path) -> None:
    run("--engine", "tesseract")
    text = library / ".converted" / "sign.png.md"
    text.write_text(text.read_text().replace("pump", "Pump"))
    (library / "sign.png").write_bytes(saved(picture("another sign")))
    kept = run("--engine", "tesseract")
    assert (
        "corrected their text by hand; --force recognises them again (1):\n  sign.png\n"
        in kept.stdout
    )
    assert "Pump" in text.read_text()
    forced = run("--engine", "tesseract", "--force")
    assert "corrections overwritten: sign.png" in forced.stdout
    assert "Pump" not in text.read_text()


def test_a_failure_is_a_line_and_an_exit_code(run: Run, library: Path) -> None:
    (library / "bad.png").write_bytes(b"not an image")
    result = run("--engine", "tesseract")
    assert result.exit_code == 1
    assert "Failed (1):\n  bad.png: is damaged, or is not the kind of image" in result.stdout
    assert "Recognised 2 files" in result.stdout


def test_json_tells_the_same(run: Run) -> None:
    told = json.loads(run("--engine", "tesseract", "--json").stdout)
    assert told["written"] == ["letter.pdf", "sign.png"]
    assert told["waiting"] == [{"path": "talk.mp3", "kind": "audio", "pages": 0}]
    assert told["engines"] == {"ocr": "tesseract 0.0"}


def test_a_language_that_is_not_installed_is_told(run: Run) -> None:
    result = run("--engine", "tesseract", "--language", "fr")
    assert result.exit_code == 5
    assert "does not know fra, only eng; install the language" in result.stderr


def test_a_missing_extra_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)  # as where it is not installed
    result = run("--engine", "rapidocr")
    assert result.exit_code == 2
    assert "with its extra `ocr`" in result.stderr


def test_what_was_recognised_is_found_and_cited_by_its_page(run: Run, library: Path) -> None:
    run("--engine", "tesseract")
    runner = CliRunner()
    assert runner.invoke(cli, ["index", "build", "--model", "hashing"]).exit_code == 0
    found = runner.invoke(cli, ["search", "where does the pump leak?", "--json", "-k", "2"])
    results = json.loads(found.stdout)["results"]
    letter = next(one for one in results if one["document"]["path"] == ".converted/letter.pdf.md")
    assert letter["chunk"]["modality"] == "ocr"
    assert letter["quote"]["locator"]["page_start"] == 2
    assert letter["document"]["metadata"]["source"] == "letter.pdf"


def test_the_real_engine_reads_a_scan(run: Run, library: Path) -> None:
    pytest.importorskip("rapidocr")
    (library / "letter.pdf").write_bytes(scanned_pdf(picture("Notice is three months.")))
    assert run("--ocr", "--engine", "rapidocr").exit_code == 0
    text = (library / ".converted" / "letter.pdf.md").read_text()
    assert text.endswith("## Page 1\n\nNotice is three months.\n")
