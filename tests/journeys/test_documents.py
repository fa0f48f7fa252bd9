"""What a library holds, file by file: what is known, what could not be read, what has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite import Library, open_library

PDF_WITHOUT_PAGES = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n%%EOF"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    (tmp_path / "lease.md").write_text(
        "---\ntitle: The lease\ntags: [home]\nauthor: Petra\ndate: 2024-05-01\n---\n\n"
        "The lease of the harbour office ends in June. Notice is three months.\n"
    )
    (tmp_path / "crew.csv").write_text("Name,Age\nAda,36\nLio,41\n")
    (tmp_path / "talk.vtt").write_text(
        "WEBVTT\n\n00:00.000 --> 00:30.000\nThe pump is loud tonight.\n"
    )
    (tmp_path / "broken.pdf").write_bytes(PDF_WITHOUT_PAGES)
    with open_library(tmp_path) as opened:
        opened.index(model="hashing")
        yield opened


def test_every_file_is_listed_with_what_is_known_of_it(library: Library) -> None:
    by_path = {entry.path: entry for entry in library.catalog()}
    assert list(by_path) == sorted(by_path)
    lease = by_path["lease.md"].document
    assert lease is not None
    assert (lease.title, lease.metadata.tags, lease.metadata.author) == (
        "The lease",
        ("home",),
        "Petra",
    )
    assert lease.size == (library.root / "lease.md").stat().st_size
    assert lease.summary.startswith("The lease of the harbour office ends in June.")
    talk = by_path["talk.vtt"].document
    assert talk is not None
    assert talk.metadata.duration == 30.0
    assert by_path["broken.pdf"].state == "not read"
    assert "damaged" in by_path["broken.pdf"].reason


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("lease", ["lease.md"]),
        ("petra", ["lease.md"]),
        ("home", ["lease.md"]),
        ("csv", ["crew.csv"]),
        ("harbour office", ["lease.md"]),
        ("broken", ["broken.pdf"]),
        ("leas", ["lease.md"]),  # a part of a name, as of `perks` for PerksPlus.pdf
        ("ken pdf", ["broken.pdf"]),
        ("zebra", []),
    ],
)
def test_documents_are_found_by_what_they_are_called_and_about(
    library: Library, question: str, paths: list[str]
) -> None:
    assert [entry.path for entry in library.catalog(question)] == paths


def test_a_file_that_changed_or_went_is_told_without_reading_it(library: Library) -> None:
    (library.root / "lease.md").write_text("shorter\n")
    (library.root / "crew.csv").unlink()
    states = {entry.path: entry.state for entry in library.catalog()}
    assert (states["lease.md"], states["crew.csv"]) == ("changed", "missing")


def test_a_file_that_cannot_be_read_any_more_keeps_its_earlier_version(library: Library) -> None:
    (library.root / "crew.csv").write_bytes(b"\x7fELF\x00\x00\x00")
    library.index()
    (crew,) = [entry for entry in library.catalog() if entry.path == "crew.csv"]
    assert crew.state == "changed"
    assert "cannot be read" in crew.reason
    assert library.search("Lio", mode="words").results


def test_a_file_that_was_mended_is_a_problem_no_more(library: Library) -> None:
    (library.root / "broken.pdf").unlink()
    library.index()
    assert "broken.pdf" not in [entry.path for entry in library.catalog()]
