"""Seconds ↔ the way people write them."""

from __future__ import annotations

import re

# Hours may pass 99 in a recording of days; minutes and seconds never 59 where hours stand before.
CLOCK = r"(?:(?:\d{1,3}:[0-5]?\d|\d{1,4}):[0-5]\d(?:[.,]\d{1,3})?)"
_PARTS = re.compile(r"(?:(?:(\d{1,3}):)?(\d{1,4}):)([0-5]\d)(?:[.,](\d{1,3}))?")


def clock(seconds: float) -> str:
    """`01:02:03`; what is less than a second is cut off."""
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def clock_range(start: float, end: float) -> str:
    """`00:01:05–00:01:18`, or `00:01:05` where both ends are in one second."""
    return "–".join(dict.fromkeys((clock(start), clock(end))))


def seconds_of(written: str) -> float | None:
    """What `1:02:03.5`, `62:03` or `00:05` means; None where it is no time."""
    match = _PARTS.fullmatch(written)
    if match is None:
        return None
    hours, minutes, seconds, fraction = match.groups()
    if hours is not None and int(minutes) > 59:
        return None
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole + int((fraction or "0").ljust(3, "0")) / 1000
