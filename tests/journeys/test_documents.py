"""What a library holds, file by file: what is known, what could not be read, what has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite import Library, open_library
from pincite.errors import FilterError

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


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Library]:
    for name, author, day, said in (
        ("handbook.md", "Ada Brae", "2021-04-01", "This document lists the rules of the house."),
        ("budget.md", "Liam Cavanagh", "2023-02-01", "What the roof costs."),
        ("roof.md", "Liam Cavanagh", "2024-05-01", "The roof is mended."),
        ("party.md", "", "", "Liam brings the cake, says Ada."),
        ("flood.md", "", "", "The sea came over the wall."),
    ):
        labels = f"author: {author}\ndate: {day}\n" if day else "lang: en\n"
        title = "Recordings of the flood of 1953" if name == "flood.md" else name[:-3].title()
        (tmp_path / name).write_text(f"---\n{labels}---\n# {title}\n\n{said}\n")
    (tmp_path / "crew.csv").write_text("Name,Age\nAda,36\nLio,41\n")
    (tmp_path / "letter.eml").write_text("From: a@b.example\nSubject: Hello\n\nGood morning.\n")
    (tmp_path / "password_2019.pdf").write_bytes(PDF_WITHOUT_PAGES)
    with open_library(tmp_path) as opened:
        opened.index(model="hashing")
        yield opened


ALL = "budget.md crew.csv flood.md handbook.md letter.eml party.md password_2019.pdf roof.md"


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("how many documents are there?", ALL),
        ("List all of my files, please", ALL),
        ("which are the newest documents?", f"roof.md budget.md handbook.md {'*' * 4}"),
        ("oldest document first", f"handbook.md budget.md roof.md {'*' * 4}"),
        ("documents from 2023", "budget.md"),
        ("2023", "budget.md"),
        ("documents since 2022", "budget.md roof.md"),
        ("files from 2019", "password_2019.pdf"),
        ("what was written in 1990?", ""),
        ("documents by Liam Cavanagh", "budget.md roof.md"),
        ("what did Ada write?", "handbook.md"),
        ("spreadsheets", "crew.csv"),
        ("which emails do we have?", "letter.eml"),
        ("list all pdfs", "password_2019.pdf"),
        ("are there any presentations?", ""),
        ("presentations by Liam", ""),
        ("video party", "party.md"),
        ("party videos", ""),
        ("documents from 1953", "flood.md"),  # a year of its title
        ("flood recordings", "flood.md"),
        ("the newest roof files", "roof.md"),
    ],
)
def test_words_that_ask_for_files_look_for_none_and_kinds_dates_and_authors_are_kept_to(
    office: Library, question: str, paths: str
) -> None:
    found = [entry.path for entry in office.catalog(question)]
    wanted = paths.replace("****", " ".join(found[3:])).split()
    assert found == wanted
    assert "****" not in paths or len(found) == len(ALL.split())


def test_a_file_that_could_not_be_read_is_found_under_a_filter_of_names_and_types(
    office: Library,
) -> None:
    for filters in ({"name": "PASSWORD"}, {"types": ["pdf"]}, {"name": "pass*.pdf"}):
        assert [one.path for one in office.catalog(filters=filters)] == ["password_2019.pdf"]
    for filters in ({"name": "roof"}, {"tag": "x"}, {"where": "name contains password"}):
        assert "password_2019.pdf" not in [one.path for one in office.catalog(filters=filters)]
    with pytest.raises(FilterError, match="unknown type 'emial'"):
        office.catalog(filters={"types": ["emial"]})


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
