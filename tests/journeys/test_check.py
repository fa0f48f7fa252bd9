"""Receipts: asked today, checked after the documents were edited, moved, renamed or deleted."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pincite import AskSettings, CheckedCitation, open_library
from pincite.answer.receipts import sha256
from pincite.entrypoints.cli.main import cli
from projects import Open, share

LEASE = (
    "# The lease\n\nThe office has two rooms. "
    "The lease of the harbour office ends on 30 June 2025. It costs 900 euros.\n"
)
QUOTE = "The lease of the harbour office ends on 30 June 2025."
QUESTION = "when does the lease of the harbour office end?"


def run(folder: Path, *arguments: str) -> Result:
    command, *rest = arguments
    return CliRunner().invoke(cli, [command, "--library", str(folder), *rest])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A library with a receipt and a copy of an answer beside it."""
    root = tmp_path / "library"
    root.mkdir()
    (root / "lease.md").write_text(LEASE)
    (root / "buoy.md").write_text("# Buoy\n\nThe yellow buoy lies in 27 metres of water.\n")
    with open_library(root) as library:
        library.index()
    proof = str(tmp_path / "proof.json")
    asked = run(root, "ask", "--claims", "1", QUESTION, "--receipt", proof, "--copy")
    assert (asked.exit_code, asked.stderr) == (0, "")
    (tmp_path / "copy.md").write_text(asked.stdout)
    return root


def checked(folder: Path) -> CheckedCitation:
    """What became of the first citation: as the index was, and as it is after an update."""
    with open_library(folder) as library:
        (before, *_) = library.check(folder.parent / "proof.json")
        assert before.state == "valid"
        assert "run `pincite index update`" in before.message
        library.index()
        (told, *_) = library.check(folder.parent / "proof.json")
        (copied, *_) = library.check(folder.parent / "copy.md")
        assert told == copied
        return told


def test_nothing_happened_and_all_is_valid(folder: Path) -> None:
    files = [str(folder.parent / name) for name in ("proof.json", "copy.md")]
    done = run(folder, "check", *files)
    assert done.exit_code == 0
    assert done.stdout.count("valid: lease.md — The lease (line 3)") == 2
    assert done.stdout.endswith("citations: 2 valid\n")


def test_an_edited_file(folder: Path) -> None:
    (folder / "lease.md").write_text(LEASE.replace("30 June 2025", "31 July 2027"))
    told = checked(folder)
    assert (told.state, told.became) == ("changed", QUOTE.replace("30 June 2025", "31 July 2027"))
    assert "which the log still holds" in told.message


def test_an_edit_elsewhere_in_the_file(folder: Path) -> None:
    (folder / "lease.md").write_text(LEASE + "\nThe keys hang in the hall.\n" * 9)
    told = checked(folder)
    assert (told.state, told.quote) == ("valid", QUOTE)


def test_a_line_above(folder: Path) -> None:
    (folder / "lease.md").write_text(f"Read this with care.\n\n{LEASE}")
    told = checked(folder)
    assert (told.state, told.now) == ("moved", "lease.md — The lease (line 5)")


def test_a_renamed_file(folder: Path) -> None:
    (folder / "old").mkdir()
    shutil.move(folder / "lease.md", folder / "old" / "lease-2025.md")
    told = checked(folder)
    assert (told.state, told.now) == ("moved", "old/lease-2025.md — The lease (line 3)")


def test_a_truncated_file(folder: Path) -> None:
    (folder / "lease.md").write_text(LEASE[: LEASE.index("The lease of")])
    assert checked(folder).state == "gone"


def test_a_deleted_file(folder: Path) -> None:
    (folder / "lease.md").unlink()
    told = checked(folder)
    assert (told.state, told.now) == ("gone", "")


def test_the_command_checks_every_file_it_can_and_says_what_it_cannot(folder: Path) -> None:
    (folder / "lease.md").write_text(LEASE.replace("June", "July"))
    run(folder, "index", "update")
    with open_library(folder) as library:
        library.index()
    (folder.parent / "notes.md").write_text("Nothing is cited here.\n")
    (folder.parent / "binary").write_bytes(bytes(range(256)))
    (folder.parent / "other.json").write_text('{"outcome": "answer"}')
    names = ("notes.md", "proof.json", "binary", "missing", "other.json")
    files = [str(folder.parent / name) for name in (*names, "")]
    done = run(folder, "check", *files)
    assert done.exit_code == 4
    assert "changed: lease.md — The lease (line 3)" in done.stdout
    assert done.stdout.endswith("1 citation: 1 changed\n")
    for told in (
        "notes.md: holds no citations of pincite",
        "binary: is neither a receipt nor Markdown",
        "missing: cannot be read: No such file",
        "other.json: this JSON is not a receipt",
        "cannot be read: Is a directory",
    ):
        assert told in done.stderr

    only = run(folder, "check", "--json", str(folder.parent / "proof.json"))
    assert only.exit_code == 12
    told = json.loads(only.stdout)
    assert (told["valid"], told["counts"]) == (False, {"changed": 1})
    (file,) = told["files"]
    assert (file["error"], file["citations"][0]["quote"]) == (None, QUOTE)


def test_an_abstention_has_a_receipt_as_well(folder: Path, tmp_path: Path) -> None:
    proof = tmp_path / "no.json"
    asked = run(folder, "ask", "what is the capital of Mongolia?", "--receipt", str(proof))
    assert asked.exit_code == 11
    told = json.loads(proof.read_text())
    assert (told["outcome"], told["reason"], told["claims"]) == ("abstention", "out_of_domain", [])
    assert told["missing_terms"] == ["capital", "Mongolia"]
    assert run(folder, "check", str(proof)).exit_code == 0


def test_the_same_question_gives_the_same_receipt(folder: Path, tmp_path: Path) -> None:
    run(folder, "ask", "--claims", "1", QUESTION, "--receipt", str(tmp_path / "again.json"))
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "proof.json").read_bytes()


def test_a_receipt_is_written_whole_or_not_at_all(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    before = sorted(tmp_path.iterdir())
    asked = run(folder, "ask", QUESTION, "--receipt", str(tmp_path / "taken"))
    assert asked.exit_code == 7
    assert sorted(tmp_path.iterdir()) == before


def test_a_receipt_does_not_take_the_place_of_a_pipe_or_a_device(
    folder: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    asked = run(folder, "ask", "--claims", "1", QUESTION, "--receipt", str(pipe))
    assert asked.exit_code == 0
    assert pipe.is_fifo()
    assert os.read(reader, 1 << 16) == (tmp_path / "proof.json").read_bytes()
    os.close(reader)


def test_a_copy_is_markdown_and_no_json(folder: Path) -> None:
    asked = run(folder, "ask", QUESTION, "--copy", "--json")
    assert asked.exit_code == 2
    assert "leave out --json" in asked.stderr


def test_an_answer_is_told_even_where_its_receipt_cannot_be_written(folder: Path) -> None:
    asked = run(folder, "ask", QUESTION, "--receipt", str(folder / "missing" / "proof.json"))
    assert QUOTE in asked.stdout
    assert asked.exit_code == 7
    assert "cannot be written" in asked.stderr


@pytest.mark.parametrize("quote", ["\x00", '" OR ( * NEAR', "x" * 100_000, "\u202e", "  "])
def test_a_receipt_of_anyone_is_looked_for_like_any_other(opened: Open, quote: str) -> None:
    ada = opened("ada")
    ada.index_document("lease.md", LEASE.encode())
    proof = json.loads(ada.receipt(ada.ask(QUESTION, asking=AskSettings(caution=0))))
    for claim in proof["claims"]:
        claim["text"] = quote
        claim["citations"] = [
            one
            | {
                "quote": quote,
                "end": one["start"] + len(quote),
                "quote_sha256": sha256(quote),
                "document_id": "0" * 40,
                "chunk_id": "0" * 40,
                "path": "\x00/../etc",
            }
            for one in claim["citations"]
        ]
    assert {one.state for one in ada.check(json.dumps(proof))} <= {"gone", "moved"}


def test_whether_a_document_exists_that_is_above_the_clearance_is_not_told(opened: Open) -> None:
    ada = opened("ada")
    uploaded = ada.index_document(
        "lease.md", LEASE.encode(), labels={"confidentiality": "confidential"}
    )
    share(ada, "grace", "reader", clearance="internal")
    grace = opened("grace")
    told = ada.ask(QUESTION, asking=AskSettings(caution=0))
    proof = ada.receipt(told)
    assert {one.state for one in ada.check(proof)} == {"valid"}

    seen = grace.check(proof)
    assert {one.state for one in seen} == {"not_allowed"}
    assert {(one.now, one.became) for one in seen} == {("", "")}
    ada.delete_document(uploaded.document.id)
    assert grace.check(proof) == seen
    assert {one.state for one in ada.check(proof)} == {"gone"}

    ada.index_document("lease.md", LEASE.encode(), labels={"confidentiality": "internal"})
    assert {one.state for one in grace.check(proof)} == {"valid"}
    share(ada, "grace", "reader", clearance="public")
    assert {one.state for one in grace.check(proof)} == {"not_allowed"}
