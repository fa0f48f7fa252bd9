"""The labels file: what it may say of files, and what becomes of what they say themselves."""

from __future__ import annotations

import json

import pytest

from pincite.errors import FileUnreadable
from pincite.reading.labels import LabelsFile, parse_labels
from pincite.records import Metadata


def parse(*labels: dict[str, object]) -> LabelsFile:
    return parse_labels(json.dumps({"version": 1, "labels": labels}).encode())


def test_a_file_gets_what_is_said_of_it() -> None:
    labels = parse(
        {
            "files": "contracts/*",
            "name": "Lease.pdf",
            "project": "Lease",
            "confidentiality": "confidential",
            "author": "Ada",
            "date": "2024-05",
            "language": "en",
            "tags": ["law"],
            "agents": ["planner"],
        }
    )
    assert labels.labelled("contracts/2024/lease.pdf", Metadata()) == Metadata(
        name="Lease.pdf",
        project="Lease",
        confidentiality="confidential",
        author="Ada",
        date="2024-05",
        language="en",
        tags=("law",),
        agents=("planner",),
    )
    assert labels.labelled("notes/lease.pdf", Metadata()) == Metadata()


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("a.pdf", "b/a.pdf", False),
        ("*.pdf", "b/a.pdf", True),
        ("b/", "b/c/a.pdf", True),
        ("b/", "bc/a.pdf", False),
        ("[a].pdf", "[a].pdf", True),
        (["x", "a.*"], "a.pdf", True),
    ],
)
def test_patterns_are_of_the_whole_path_and_folders_of_all_in_them(
    pattern: object, path: str, matches: bool
) -> None:
    labelled = parse({"files": pattern, "project": "P"}).labelled(path, Metadata())
    assert (labelled.project == "P") == matches


def test_what_is_said_later_wins_and_lists_are_added() -> None:
    labels = parse(
        {"files": "*", "project": "one", "tags": ["a"], "agents": ["x"]},
        {"files": "a.md", "project": "two", "tags": ["b", "own"]},
    )
    own = Metadata(project="own", tags=("own",), author="Grace")
    assert labels.labelled("a.md", own) == Metadata(
        project="two", tags=("own", "a", "b"), agents=("x",), author="Grace"
    )


@pytest.mark.parametrize(
    ("own", "label", "holds"),
    [
        (None, "public", "public"),
        ("confidential", "public", "confidential"),
        ("public", "restricted", "restricted"),
        ("eyes only", "public", "restricted"),
    ],
)
def test_of_two_levels_of_confidentiality_the_stricter_holds(
    own: str | None, label: str, holds: str
) -> None:
    labels = parse({"files": "*", "confidentiality": label})
    assert labels.labelled("a.md", Metadata(confidentiality=own)).confidentiality == holds


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"{", "docs/filters.md"),
        (b'{"version": 2}', "version"),
        (b'{"version": 1, "labels": [{"project": "x"}]}', "files"),
        (b'{"version": 1, "labels": [{"files": "*", "colour": "red"}]}', "colour"),
        (b'{"version": 1, "labels": [{"files": "*", "confidentiality": "secret"}]}', "secret"),
        (b" " * 1_000_001, "larger"),
    ],
)
def test_a_wrong_file_is_told_in_plain_words(data: bytes, told: str) -> None:
    with pytest.raises(FileUnreadable, match=told):
        parse_labels(data)
