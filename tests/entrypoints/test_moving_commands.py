"""`pincite export`, `import`, `backup` and `restore` as a user meets them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pincite.entrypoints.cli.main import cli

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line beside a library named `notes`."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "pumps.md").write_text("# Pumps\n\nThe north pump leaks.\n")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments)

    assert call("index", "build", "notes", "--model", "hashing").exit_code == 0
    return call


def test_a_library_goes_through_a_file_into_a_folder_that_is_made_for_it(run: Run) -> None:
    exported = run("export", "notes.pincite", "--library", "notes")
    assert exported.exit_code == 0, exported.output
    assert exported.stdout.startswith("Wrote 1 document, 1 chunk, 1 vector: ")
    assert "kB in notes.pincite" in exported.stdout or "bytes in notes.pincite" in exported.stdout
    imported = run("import", "notes.pincite", "new")
    assert imported.exit_code == 0, imported.output
    assert "Took over 1 document" in imported.stdout
    assert "none of the documents' files" in imported.stdout
    found = run("search", "--library", "new", "pump")
    assert found.stdout.startswith("[1] pumps.md")
    assert "changed" not in found.output
    assert run("index", "verify", "new").exit_code == 0


def test_reports_are_json_where_asked(run: Run) -> None:
    told = json.loads(run("backup", "b.pincite", "-l", "notes", "--json").stdout)
    assert (told["documents"], told["vectors"], told["past"]) == (1, 1, 0)
    assert told["file_bytes"] == Path("b.pincite").stat().st_size
    told = json.loads(run("restore", "b.pincite", "notes", "--replace", "--json").stdout)
    assert (told["documents"], told["library"], told["apart"]) == (1, "notes", False)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("import", "a.pincite", "notes"), 3, "has an index already"),
        (("import", "absent.pincite", "new"), 2, "is not a file"),
        (("import", "cut.pincite", "new"), 4, "is cut off"),
        (("export", "a.pincite", "-l", "notes"), 2, "--overwrite"),
        (("import", "a.pincite", "no/such/folder"), 3, "no/such does not exist; make it first"),
        (("export", "notes", "-l", "notes"), 2, "is a folder"),
        (("export", "no/such/a.pincite", "-l", "notes"), 2, "no folder"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_exit_code(
    run: Run, arguments: tuple[str, ...], code: int, told: str
) -> None:
    assert run("export", "a.pincite", "-l", "notes").exit_code == 0
    Path("cut.pincite").write_bytes(Path("a.pincite").read_bytes()[:-20])
    result = run(*arguments)
    assert (result.exit_code, told in result.stderr) == (code, True), result.output
    assert not Path("new").exists()


PROGRAM = (sys.executable, "-c", "from pincite.entrypoints.cli.main import main; main()")


@pytest.mark.parametrize("command", ["export", "backup"])
def test_a_file_takes_the_place_of_the_last_one_where_that_is_asked(run: Run, command: str) -> None:
    assert run(command, "b.pincite", "-l", "notes").exit_code == 0
    assert run(command, "b.pincite", "-l", "notes").exit_code != 0
    assert run(command, "b.pincite", "-l", "notes", "--overwrite").exit_code == 0


@pytest.mark.parametrize("command", ["export", "backup"])
def test_a_library_goes_to_standard_output_and_its_report_beside_it(run: Run, command: str) -> None:
    assert run(command, "a.pincite", "-l", "notes").exit_code == 0
    done = subprocess.run(
        [*PROGRAM, command, "-", "-l", "notes", "--json"], capture_output=True, check=True
    )
    assert done.stdout == Path("a.pincite").read_bytes()
    told = json.loads(done.stderr)
    assert (told["file"], told["file_bytes"]) == ("", len(done.stdout))
    assert not Path("-").exists()


def test_a_library_is_not_written_to_a_terminal(run: Run) -> None:
    ours, terminal = pty.openpty()
    done = subprocess.run(
        [*PROGRAM, "export", "-", "-l", "notes"],
        stdout=terminal,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(terminal)
    os.close(ours)
    assert (done.returncode, b"to your terminal" in done.stderr) == (2, True)


def test_a_reader_that_goes_away_has_no_whole_file(run: Run) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, "export", "-", "-l", "notes"],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, b"is cut off" in done.stderr) == (7, True), done.stderr


def test_a_file_named_like_standard_output_is_a_file(run: Run) -> None:
    assert run("export", "./-", "-l", "notes").exit_code == 0
    assert Path("./-").is_file()
