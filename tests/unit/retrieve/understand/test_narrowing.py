"""A question's own phrases and dates restrict further what the filters let through."""

from __future__ import annotations

from pincite.records import Filters, Understood
from pincite.retrieve.understand.narrowing import narrowed


def understood(*phrases: str, since: str | None = None, until: str | None = None) -> Understood:
    return Understood("q", "q", phrases=phrases, since=since, until=until)


def test_a_question_that_asks_for_nothing_leaves_the_filters_as_they_are() -> None:
    filters = Filters(types=("md",), phrases=(), since="2024", until="2025")
    assert narrowed(filters, understood()) == filters
    assert narrowed(Filters(), understood()).none_given


def test_phrases_must_all_be_there_and_nothing_stays_nothing() -> None:
    assert narrowed(Filters(), understood("a b")).phrases == ("a b",)
    assert narrowed(Filters(phrases=("c",)), understood("a b", "c")).phrases == ("c", "a b")
    assert narrowed(Filters(phrases=()), understood("a b")).phrases == ()


def test_of_two_ranges_what_both_allow_is_left() -> None:
    asked = understood(since="2024-03-01", until="2024-12-31")
    inner = narrowed(Filters(since="2024", until="2024-06"), asked)
    assert (inner.since, inner.until) == ("2024-03-01", "2024-06")
    outer = narrowed(Filters(since="2024-05", until="2025"), asked)
    assert (outer.since, outer.until) == ("2024-05", "2024-12-31")
