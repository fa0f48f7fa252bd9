"""What a file says about itself, made fit for Metadata: one line, real dates, tags each once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime

_LONGEST = 300
_MOST = 100  # authors, or tags; more is data, not description
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?")
_DAY = re.compile(r"(?<!\d)(\d{4})[-/](\d\d?)[-/](\d\d?)(?!\d)")
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_YEAR = re.compile(r"[12]\d{3}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED_MONTH = re.compile(r"\b(" + "|".join(_MONTHS) + r")[a-z]{0,6}\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,4}")


def one_line(value: object) -> str | None:
    """A string on one line; None where there is none, or too long a one."""
    if not isinstance(value, str) or len(value) > 10 * _LONGEST:
        return None
    line = " ".join(_UNPRINTABLE.sub(" ", value).split())
    return line if 0 < len(line) <= _LONGEST else None


def names(value: object) -> str | None:
    """One name or several, as strings or as records with a `name`, with commas between them."""
    values = value if isinstance(value, list) else [value]
    named = (each.get("name") if isinstance(each, Mapping) else each for each in values[:_MOST])
    lines = dict.fromkeys(line for each in named if (line := one_line(each)))
    return one_line(", ".join(lines))


def tags(value: object) -> tuple[str, ...]:
    """Tags as a list, or as one string with commas or blanks between them."""
    if isinstance(value, str):
        value = value.split("," if "," in value else None)
    if not isinstance(value, list):
        return ()
    lines = (one_line(each) for each in value[:_MOST])
    return tuple(dict.fromkeys(tag for line in lines if line and (tag := line.removeprefix("#"))))


def iso_date(value: object) -> str | None:
    """The date or moment that a string names, in ISO 8601; None where that is not sure."""
    line = one_line(value)
    if line is None:
        return None
    try:
        if found := _MOMENT.fullmatch(line):
            return datetime.fromisoformat(found.group()).isoformat()
        if found := _DAY.search(line):
            year, month, day = map(int, found.groups())
        elif _MONTH.fullmatch(line) or _YEAR.fullmatch(line):
            return line
        else:
            # 1 May 2024, or May 1st, 2024
            named = _NAMED_MONTH.search(line)
            numbers = _NUMBER.findall(line)
            days = [int(number) for number in numbers if len(number) <= 2]
            years = [int(number) for number in numbers if len(number) == 4]
            if named is None or len(days) != 1 or len(years) != 1:
                return None
            year, month, day = years[0], 1 + _MONTHS.index(named[1].lower()), days[0]
        return date(year, month, day).isoformat()
    except ValueError:
        return None
