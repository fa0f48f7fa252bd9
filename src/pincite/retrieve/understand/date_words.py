"""Question → the dates it asks for, and the question without them. English only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from pincite.retrieve.understand.moments import (
    MOMENT,
    NEEDS_NO_WORD_BEFORE,
    Days,
    days_of,
    year_in,
)

_ASKED = re.compile(
    rf"\b(?:"
    rf"(?P<range>between|from)\s+(?P<first>{MOMENT})\s+(?:and|to|until|till)\s+(?P<second>{MOMENT})"
    rf"|(?P<word>since|after|later\sthan|before|earlier\sthan|prior\sto|until|till|up\sto|by|in"
    rf"|during|on|from|within)\s+(?P<moment>{MOMENT})"
    rf"|(?P<alone>{NEEDS_NO_WORD_BEFORE})"
    r")(?![\w-])",
    re.IGNORECASE,
)
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DateRange:
    """First and last day that may be; None is open."""

    since: date | None = None
    until: date | None = None

    def and_also(self, other: DateRange) -> DateRange:
        """What both allow."""
        since = [one for one in (self.since, other.since) if one]
        until = [one for one in (self.until, other.until) if one]
        return DateRange(max(since, default=None), min(until, default=None))

    def __str__(self) -> str:
        if self.since == self.until:
            return f"of {self.since}"
        if self.until is None:
            return f"from {self.since} on"
        return f"up to {self.until}" if self.since is None else f"{self.since} to {self.until}"


def dates_asked_for(question: str, today: date) -> tuple[DateRange, str, tuple[str, ...]]:
    """The range, the question without the words for it, and those words.

    A question that is nothing but dates keeps its words: something must be searched for.
    """
    asked = DateRange()
    kept, words, at = [], [], 0
    for start, end, found in _found(question, today):
        asked = asked.and_also(found)
        words.append(question[start:end])
        kept.append(question[at:start])
        at = end
    rest = " ".join("".join([*kept, question[at:]]).split())
    has_words = re.search(r"\w", rest) is not None
    return asked, rest if words and has_words else question, tuple(words)


def _found(question: str, today: date) -> Iterator[tuple[int, int, DateRange]]:
    for match in _ASKED.finditer(question):
        found = _range(match, today)
        if found is not None:
            yield *match.span(), found


def _range(match: re.Match[str], today: date) -> DateRange | None:
    if match["range"]:
        return _from_to(match["first"], match["second"], today)
    days = days_of(match["moment"] or match["alone"], today)
    return days and _side(" ".join((match["word"] or "in").lower().split()), days)


def _from_to(first: str, second: str, today: date) -> DateRange | None:
    """From one moment to the other; where a year is not said, in one that puts them in order.

    November to February 2024 begins in 2023, and in June May to July ends this year. Two moments
    that say their years and are the wrong way round are turned.
    """
    named = year_in(second)
    begin, end = days_of(first, today, year=named), days_of(second, today)
    if not begin or not end:
        return None
    years = (
        (named, None),
        (named, begin.first.year),
        (end.last.year - 1, None),
        (named, begin.first.year + 1),
    )
    for year_of_first, year_of_second in years:
        one = days_of(first, today, year=year_of_first)
        other = days_of(second, today, year=year_of_second)
        if one and other and one.first <= other.last:
            return DateRange(one.first, other.last)
    return DateRange(end.first, begin.last) if named and year_in(first) else None


def _side(word: str, days: Days) -> DateRange:
    match word:
        case "since":
            return DateRange(since=days.first)
        case "after" | "later than":
            return DateRange(since=days.last + _ONE_DAY)
        case "before" | "earlier than" | "prior to":
            return DateRange(until=days.first - _ONE_DAY)
        case "until" | "till" | "up to" | "by":
            return DateRange(until=days.last)
        case _:
            return DateRange(*days)
