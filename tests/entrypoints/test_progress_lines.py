"""How far a run is, as a log or a pipe is told."""

from __future__ import annotations

import pytest

from pincite.entrypoints.cli.progress import Lines
from pincite.records import Progress


def test_the_time_left_follows_from_the_work_and_not_from_what_came_before_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    lines = Lines(lambda: now[-1])
    now.append(60)  # a model was loaded, and files were compared
    lines.show(Progress(1, 100, 1_000, 100_000, "a.md"))
    now.append(70)
    lines.show(Progress(11, 100, 11_000, 100_000, "b.md"))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "1/100 documents"
    assert second == "11/100 documents, about 89 seconds left"


def test_questions_are_timed_from_the_first_on(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = Lines(lambda: now[-1], noun="questions")
    now.append(1_000)
    lines.show(Progress(1, 50, 1, 50, ""))
    now.append(1_010)
    lines.show(Progress(11, 50, 11, 50, ""))
    told = capsys.readouterr().err.splitlines()
    assert told == ["1/50 questions", "11/50 questions, about 39 seconds left"]


def test_what_comes_before_the_documents_is_told_at_once_and_then_now_and_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    lines = Lines(lambda: now[-1])
    for seconds, done in ((1, 0), (2, 5_000_000), (12, 21_000_000), (13, 42_000_000)):
        now.append(seconds)
        lines.show(Progress(0, 0, done, 84_000_000, "", doing="Downloading the model"))
    lines.show(Progress(0, 0, 0, 0, "", doing="Trying the model out"))
    told = capsys.readouterr().err.splitlines()
    assert told == ["Downloading the model …", "21.0/84.0 MB", "Trying the model out …"]


def test_a_large_file_shows_how_far_it_is_and_the_time_left_in_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    lines = Lines(lambda: now[-1])
    lines.show(Progress(0, 1, 0, 30_000_000, "a.md", "Reading a.md", 0, 0))
    for seconds, done in ((20, 100), (30, 200), (40, 2_000), (90, 29_900)):
        now.append(seconds)
        lines.show(Progress(0, 1, 0, 30_000_000, "a.md", "", done, 30_000))
    assert capsys.readouterr().err.splitlines() == [
        "Reading a.md …",
        "0/1 documents, 100/30,000 windows",
        "0/1 documents, 200/30,000 windows, about 50 minutes left",
        "0/1 documents, 2,000/30,000 windows, about 5 minutes left",
        "0/1 documents, 29,900/30,000 windows, about 0 seconds left",
    ]
    now.append(100)
    lines.show(Progress(0, 2, 0, 30_000_000, "a.md", "", 30_000, 9_000_000))
    assert capsys.readouterr().err.endswith("about 6.7 hours left\n")


def test_what_a_user_should_know_beforehand_is_a_line_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Lines().show(Progress(0, 4, 0, 0, "", note="4 are read again."))
    assert capsys.readouterr().err == "4 are read again.\n"
