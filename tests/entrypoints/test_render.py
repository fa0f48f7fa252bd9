"""Records as people read them."""

from __future__ import annotations

import pytest
from click import unstyle

from helpers import embedded
from pincite.entrypoints.render import highlight, marked, place_as_text, results_as_text
from pincite.entrypoints.reports import report_as_text
from pincite.records import (
    CitedPlace,
    Confidence,
    Failure,
    IndexReport,
    Locator,
    Said,
    SearchResults,
    Skipped,
)


def test_words_that_are_broken_at_the_end_of_a_line_are_shown_whole() -> None:
    text = "We ad-\nvise day-to-\nday care."
    shown = marked(text, [(3, 11)], hyphens=[(5, 7)])
    assert shown == f"We {highlight('advise')} day-to- day care."


FAILED = (Failure("b.pdf", "is damaged"),)


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (IndexReport(failures=FAILED), "Failed (1):"),
        (IndexReport(added=1, failures=FAILED), "Failed (1); all else is searchable:"),
        (
            IndexReport(added=1, unchanged=2, failures=FAILED),
            "Failed (1); all else is searchable, and an earlier version is kept where there was "
            "one:",
        ),
    ],
)
def test_an_earlier_version_is_told_of_only_where_there_can_be_one(
    report: IndexReport, told: str
) -> None:
    assert told in list(report_as_text(report, 1.0))


def test_files_that_are_read_through_their_recognised_text_are_counted_and_not_left_out() -> None:
    scans = tuple(Skipped(path, "is read through …", "converted") for path in ("a.png", "b.png"))
    empty = Skipped("c.md", "is empty", "empty")
    told = list(report_as_text(IndexReport(unchanged=3, skipped=(*scans, empty)), 1.0))
    assert told[1:] == [
        "Read through their recognised text: 2 files.",
        "Left out (1):",
        "  c.md: is empty",
    ]


def test_a_place_of_a_recording_is_shown_by_its_captions() -> None:
    said = [
        Said("Audio", 799.2, 801.9, "Ann: The light goes out at six.", "talk.sbv", True),
        Said("Audio", 802.0, 802.5, "Always.", "talk.sbv", False),
    ]
    talk = embedded("talk.sbv", "Ann: The light goes out at six. Always.", kind="sbv").document
    at = Locator(1, 1, time_start=799.2, time_end=801.9)
    cited = CitedPlace(talk, (), at, 1, (talk.text,), captions=tuple(said))
    assert list(map(unstyle, place_as_text(cited))) == [
        "talk.sbv (00:13:19–00:13:21)",
        "> 00:13:19–00:13:21  Ann: The light goes out at six.",
        "  00:13:22  Always.",
    ]


@pytest.mark.parametrize(
    ("complete", "where"), [(True, "these documents"), (False, "what is indexed so far")]
)
def test_what_is_not_found_is_told_of_what_is_indexed_so_far(complete: bool, where: str) -> None:
    sure = Confidence(0.1, {}, ("dental",))
    found = SearchResults("dental?", "hybrid", (), confidence=sure, complete=complete)
    (line,) = results_as_text(found, explain=False)
    assert line == f"Probably not in {where}: nothing mentions “dental”."
