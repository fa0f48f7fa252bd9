"""Which dates a question asks for."""

from __future__ import annotations

from datetime import date

import pytest

from pincite.retrieve.understand.date_words import dates_asked_for

TODAY = date(2025, 5, 14)  # a Wednesday


@pytest.mark.parametrize(
    ("words", "since", "until"),
    [
        ("since March", "2025-03-01", None),
        ("since June", "2024-06-01", None),
        ("before 2024", None, "2023-12-31"),
        ("in May 2025", "2025-05-01", "2025-05-31"),
        ("in february 2024", "2024-02-01", "2024-02-29"),
        ("last week", "2025-05-05", "2025-05-11"),
        ("this week", "2025-05-12", "2025-05-18"),
        ("last month", "2025-04-01", "2025-04-30"),
        ("last year", "2024-01-01", "2024-12-31"),
        ("yesterday", "2025-05-13", "2025-05-13"),
        ("since yesterday", "2025-05-13", None),
        ("on Monday", "2025-05-12", "2025-05-12"),
        ("on Wednesday", "2025-05-14", "2025-05-14"),
        ("since last Wednesday", "2025-05-07", None),
        ("between 2023 and 2024", "2023-01-01", "2024-12-31"),
        ("between March and May 2024", "2024-03-01", "2024-05-31"),
        ("from 3 May to 9 May 2024", "2024-05-03", "2024-05-09"),
        ("from November to February 2024", "2023-11-01", "2024-02-29"),
        ("from November 2025 to February", "2025-11-01", "2026-02-28"),
        ("from Q4 to Q1 2024", "2023-10-01", "2024-03-31"),
        ("from November to February", "2024-11-01", "2025-02-28"),
        ("from April to July", "2025-04-01", "2025-07-31"),
        ("from 3 May to 20 May", "2025-05-03", "2025-05-20"),
        ("from April to March", "2024-04-01", "2025-03-31"),
        ("between 2024 and 2023", "2023-01-01", "2024-12-31"),
        ("after 3 May 2025", "2025-05-04", None),
        ("after May 3rd, 2025", "2025-05-04", None),
        ("on 2024-02-29", "2024-02-29", "2024-02-29"),
        ("until 24 December", None, "2024-12-24"),
        ("in Q2 2024", "2024-04-01", "2024-06-30"),
        ("during Q3", "2024-07-01", "2024-09-30"),
        ("in the last 7 days", "2025-05-07", "2025-05-14"),
        ("in the past 3 months", "2025-02-14", "2025-05-14"),
        ("since March until April", "2025-03-01", "2025-04-30"),
    ],
)
def test_date_words_are_understood_and_taken_out(
    words: str, since: str | None, until: str | None
) -> None:
    asked, rest, taken = dates_asked_for(f"which pumps leaked {words} at the pier?", TODAY)
    days = [day and day.isoformat() for day in (asked.since, asked.until)]
    assert days == [since, until]
    assert rest == "which pumps leaked at the pier?"
    assert " ".join(taken) == words


@pytest.mark.parametrize(
    "question",
    [
        "what may leak?",
        "the long march of the pumps",
        "room 2024",
        "on 31 June 2024",
        "in 2024-13-01",
        "which of the 12 in use",
        "by the pump",
        "in March-like weather",
        "last pump of the week",
        "from Tuesday to Friday",  # of which week?
    ],
)
def test_other_words_are_left_alone(question: str) -> None:
    asked, rest, taken = dates_asked_for(question, TODAY)
    assert (asked.since, asked.until, rest, taken) == (None, None, question, ())


def test_a_question_that_is_only_a_date_keeps_its_words() -> None:
    asked, rest, _ = dates_asked_for("last week?", TODAY)
    assert asked.since == date(2025, 5, 5)
    assert rest == "last week?"


def test_the_end_of_a_long_month_is_counted_back_to_the_end_of_a_short_one() -> None:
    asked, _, _ = dates_asked_for("pumps in the last 1 months", date(2025, 3, 31))
    assert asked.since == date(2025, 2, 28)
