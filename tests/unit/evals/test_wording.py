"""Figures, places and expectations in words."""

from __future__ import annotations

import math

import pytest

from pincite.evals import wording
from pincite.evals.judge import BY_QUESTION
from pincite.evals.measures import OVER_RUN
from pincite.records import Case, ChunkId, ExpectedPlace, FigureChange, Filters, Locator

COUNTS = {"questions", "answerable", "unanswerable", "failed"}


def test_every_figure_that_is_measured_has_a_meaning() -> None:
    assert set(wording.MEANINGS) == {*BY_QUESTION, *OVER_RUN} - COUNTS


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Locator(7, 9), "lines 7–9"),
        (Locator(7, 7), "line 7"),
        (Locator(7, 9, page_start=3, page_end=3), "page 3"),
        (Locator(7, 9, page_start=3, page_end=4), "pages 3–4"),
        (Locator(7, 9, page_start=3), "page 3"),
        (Locator(7, 9, page_start=1, page_end=1, row_start=2, row_end=9), "rows 2–9"),
        (Locator(7, 9, time_start=65.9, time_end=108), "01:05–01:48"),
        (Locator(7, 9, time_start=65.2, time_end=65.9), "01:05"),
        (Locator(7, 9, time_start=3725, time_end=3730), "01:02:05–01:02:10"),
        (ExpectedPlace("a.md", lines=(1, 4)), "lines 1–4"),
        (ExpectedPlace("a.pdf", pages=(2, 2)), "page 2"),
        (ExpectedPlace("a.vtt", time=(0, 90.5)), "00:00–01:30"),
        (ExpectedPlace("a.csv", rows=(1, 1)), "row 1"),
        (ExpectedPlace("a.md"), ""),
    ],
)
def test_a_place_is_told_as_people_look_it_up(place: Locator | ExpectedPlace, words: str) -> None:
    assert wording.where(place) == words


def test_what_is_expected_is_told_without_saying_a_document_twice() -> None:
    case = Case(
        question="q",
        documents={"a.md": 1, "b.md": 1},
        places=(ExpectedPlace("a.md", lines=(1, 4)), ExpectedPlace("c.md")),
        chunks=(ChunkId("0123456789abcdef"),),
        terms=("buoy", "ten minutes"),
    )
    assert list(wording.expected(case)) == [
        "a.md, lines 1–4",
        "c.md",
        "chunk 0123456789ab",
        "b.md",
        "the words “buoy”, “ten minutes”",
    ]


def test_grades_are_told_where_they_differ() -> None:
    case = Case(question="q", documents={"a.md": 2, "b.md": 1})
    assert list(wording.expected(case)) == ["a.md (relevance 2)", "b.md (relevance 1)"]


def test_that_there_is_no_answer_is_an_expectation_too() -> None:
    assert list(wording.expected(Case(question="q", unanswerable=True))) == [
        "no answer: the documents do not hold it"
    ]


def test_filters_are_told_by_name() -> None:
    case = Case(question="q", filters=Filters(types=("pdf", "md"), path="notes/"))
    assert wording.narrowed(case) == "types pdf md, path notes/"


@pytest.mark.parametrize(
    ("name", "before", "after", "p_value", "told"),
    [
        ("ndcg@10", 0.5, 0.75, 0.01, ("+0.250", "0.010", "better")),
        ("ndcg@10", 0.75, 0.5, 0.0001, ("−0.250", "< 0.001", "worse")),
        ("ndcg@10", 0.5, 0.75, 0.05, ("+0.250", "0.050", "same")),
        ("ndcg@10", 0.5, 0.5, 1.0, ("0.000", "1.000", "same")),
        ("ndcg@10", 0.5, 0.49999, 0.3, ("0.000", "0.300", "same")),
        ("context_tokens", 4000, 2500, 0.01, ("−1,500", "0.010", "better")),
        ("context_tokens", 2500, 4000, 0.01, ("+1,500", "0.010", "worse")),
        ("mrr", math.nan, 0.5, math.nan, ("–", "–", "same")),
    ],
)
def test_a_change_is_told_with_its_sign_its_chance_and_its_meaning(
    name: str, before: float, after: float, p_value: float, told: tuple[str, str, str]
) -> None:
    change = FigureChange(name, before, after, p_value, questions=9)
    written = (wording.difference(change), wording.p_value(change), wording.verdict(change))
    assert written == told


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0.00"), (0.424, "0.42"), (7.34, "7.3"), (99.9, "99.9"), (1204.4, "1,204")],
)
def test_a_measured_value_has_as_many_places_as_matter(value: float, written: str) -> None:
    assert wording.measured(value) == written


def test_a_long_text_is_cut_and_says_so() -> None:
    assert wording.short("abcdef", 6) == "abcdef"
    assert wording.short("abcdefg", 6) == "abcdef…"


def test_the_time_of_a_run_is_told_to_the_minute() -> None:
    assert wording.minute("2026-02-03T04:05:06+00:00") == "2026-02-03 04:05 UTC"
