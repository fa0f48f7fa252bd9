"""Filters, and what a question itself asks for → filters that both agree with."""

from __future__ import annotations

from dataclasses import replace

from pincite.records import Filters, Understood
from pincite.text.dates import day_span


def narrowed(filters: Filters, understood: Understood) -> Filters:
    """The filters with the question's own dates; neither lets through more."""
    since = [one for one in (filters.since, understood.since) if one is not None]
    until = [one for one in (filters.until, understood.until) if one is not None]
    return replace(
        filters,
        since=max(since, key=_first_day, default=None),
        until=min(until, key=_last_day, default=None),
    )


def containing(filters: Filters, phrase: str) -> Filters:
    """The filters, with only what has this phrase; what allows nothing still allows nothing."""
    required = filters.phrases
    return replace(filters, phrases=(*(required or ()), phrase) if required != () else ())


def _first_day(written: str) -> str:
    return (day_span(written) or ("", ""))[0]


def _last_day(written: str) -> str:
    return (day_span(written) or ("", ""))[1]
