"""Question → the dates it asks for, and the question without them. English only.

`3 May 2025`, `Q2 2024`, `since March`, `last week`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = rf"(?:{'|'.join(_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
_YEAR = r"(?:1[5-9]|20)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_UNIT = r"(?:day|week|month|year)s?"


class Days(NamedTuple):
    """The first and the last day of a stretch."""

    first: date
    last: date


def _days_of(written: str, today: date, *, year: int | None = None) -> Days | None:
    """The days that the words cover; None for a day that no calendar has.

    Without a year it is the latest one that has begun, unless `year` says otherwise.
    """
    text = " ".join(written.lower().replace(",", " ").split())
    try:
        for pattern, days in _FORMS:
            if match := pattern.fullmatch(text):
                return days(match, today, year)
    except (ValueError, OverflowError):
        pass  # 31 June
    return None


def _year_in(written: str) -> int | None:
    """The year that the words name, if they do."""
    found = re.search(rf"\b{_YEAR}\b", written)
    return int(found.group()) if found else None


def _day(match: re.Match[str], today: date, year: int | None) -> Days:
    number = int(re.sub(r"\D", "", match["day"]))
    month = _number_of(match["month"])
    named = int(match["year"]) if match["year"] else year
    if named is None:
        this_year = date(today.year, month, number)
        return Days(*[this_year if this_year <= today else date(today.year - 1, month, number)] * 2)
    return Days(*[date(named, month, number)] * 2)


def _weekday(match: re.Match[str], today: date, _year: int | None) -> Days:
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"])) % 7
    if not back and match[0].startswith("last"):
        back = 7  # said on that day, the last one was a week ago
    return Days(*[today - timedelta(days=back)] * 2)


def _named_stretch(match: re.Match[str], today: date, _year: int | None) -> Days:
    """`this` one as far as it has come, or the one before."""
    before = match["which"] in ("last", "previous")
    if match["unit"] == "week":
        monday = today - timedelta(days=today.weekday() + 7 * before)
        return Days(monday, monday + timedelta(days=6))
    if match["unit"] == "year":
        return _months(today.year - before, 1, 12)
    month = _back(today, before)
    return _months(month.year, month.month, 1)


def _counted_stretch(match: re.Match[str], today: date, _year: int | None) -> Days:
    """`the last 3 months`: back from today."""
    count, unit = int(match["count"]), match["unit"].removesuffix("s")
    if unit in ("day", "week"):
        return Days(today - timedelta(days=count * (7 if unit == "week" else 1)), today)
    month = _back(today, count * (12 if unit == "year" else 1))
    day = min(today.day, monthrange(month.year, month.month)[1])
    return Days(month.replace(day=day), today)


def _number_of(month: str) -> int:
    return next(at for at, name in enumerate(_MONTHS, start=1) if name.startswith(month[:3]))


def _stretch(match: re.Match[str], today: date, year: int | None) -> Days:
    """A month or a quarter, of the year that is named or given, or the latest in which it began."""
    named = match.groupdict()
    is_quarter = "quarter" in named
    first = 3 * int(named["quarter"]) - 2 if is_quarter else _number_of(named["month"])
    begun = today.year if first <= today.month else today.year - 1
    of_year = int(named["year"]) if named["year"] else year or begun
    return _months(of_year, first, 3 if is_quarter else 1)


def _back(today: date, months: int) -> date:
    """The first day of the month so many months before."""
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return date(year, month + 1, 1)


def _months(year: int, first: int, count: int) -> Days:
    last = first + count - 1
    return Days(date(year, first, 1), date(year, last, monthrange(year, last)[1]))


_Form = Callable[[re.Match[str], date, int | None], Days]
_WRITTEN: tuple[tuple[str, _Form], ...] = (
    (rf"{_YEAR}-\d\d-\d\d", lambda match, _, __: Days(*[date.fromisoformat(match[0])] * 2)),
    (rf"(?P<day>{_DAY}) (?:of )?(?P<month>{_MONTH})(?: (?P<year>{_YEAR}))?", _day),
    (rf"(?P<month>{_MONTH}) (?P<day>{_DAY})(?: (?P<year>{_YEAR}))?", _day),
    (rf"(?P<month>{_MONTH})(?: (?:of )?(?P<year>{_YEAR}))?", _stretch),
    (rf"q(?P<quarter>[1-4])(?: (?:of )?(?P<year>{_YEAR}))?", _stretch),
    (rf"(?P<year>{_YEAR}) ?q(?P<quarter>[1-4])", _stretch),
    (rf"(?P<year>{_YEAR})", lambda match, _, __: _months(int(match["year"]), 1, 12)),
    (rf"(?:last )?(?P<weekday>{'|'.join(_WEEKDAYS)})", _weekday),
    (
        r"today|yesterday",
        lambda match, today, _: Days(*[today - timedelta(days=match[0] == "yesterday")] * 2),
    ),
    (r"(?P<which>last|previous|this) (?P<unit>week|month|year)", _named_stretch),
    (rf"(?:the )?(?:last|past) (?P<count>\d{{1,4}}) (?P<unit>{_UNIT})", _counted_stretch),
)
_FORMS = tuple((re.compile(pattern), days) for pattern, days in _WRITTEN)
# A comma may stand before the year, and any white space between words.
_LOOSE = "|".join(
    re.sub(r"\?P<\w+>", "?:", pattern).replace(" ", r",?\s+") for pattern, _ in _WRITTEN
)
# Without groups, for all of these, case ignored.
_MOMENT = rf"(?:{_LOOSE})"
# Those that are dates wherever they stand; March and 2024 may be something else.
_NEEDS_NO_WORD_BEFORE = (
    r"(?:today|yesterday|(?:last|previous|this)\s+(?:week|month|year)"
    rf"|(?:the\s+)?(?:last|past)\s+\d{{1,4}}\s+{_UNIT})"
)
_ASKED = re.compile(
    rf"\b(?:"
    rf"(?P<range>between|from)\s+(?P<first>{_MOMENT})\s+(?:and|to|until|till)\s+(?P<second>{_MOMENT})"
    rf"|(?P<word>since|after|later\sthan|before|earlier\sthan|prior\sto|until|till|up\sto|by|in"
    rf"|during|on|from|within)\s+(?P<moment>{_MOMENT})"
    rf"|(?P<alone>{_NEEDS_NO_WORD_BEFORE})"
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
    for match in _ASKED.finditer(question):
        if match["range"]:
            found = _from_to(match["first"], match["second"], today)
        else:
            days = _days_of(match["moment"] or match["alone"], today)
            found = days and _side(" ".join((match["word"] or "in").lower().split()), days)
        if found is not None:
            asked = asked.and_also(found)
            words.append(match.group())
            kept.append(question[at : match.start()])
            at = match.end()
    rest = " ".join("".join([*kept, question[at:]]).split())
    has_words = re.search(r"\w", rest) is not None
    return asked, rest if words and has_words else question, tuple(words)


def _from_to(first: str, second: str, today: date) -> DateRange | None:
    """From one moment to the other; where a year is not said, in one that puts them in order.

    November to February 2024 begins in 2023, and in June May to July ends this year. Two moments
    that say their years and are the wrong way round are turned.
    """
    named = _year_in(second)
    begin, end = _days_of(first, today, year=named), _days_of(second, today)
    if not begin or not end:
        return None
    years = (
        (named, None),
        (named, begin.first.year),
        (end.last.year - 1, None),
        (named, begin.first.year + 1),
    )
    for year_of_first, year_of_second in years:
        one = _days_of(first, today, year=year_of_first)
        other = _days_of(second, today, year=year_of_second)
        if one and other and one.first <= other.last:
            return DateRange(one.first, other.last)
    return DateRange(end.first, begin.last) if named and _year_in(first) else None


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
