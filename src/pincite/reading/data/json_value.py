"""JSON text → its value, whatever is done to hurt: depth, numbers beyond all bounds, NaN."""

from __future__ import annotations

import json

_MOST_DIGITS = 1_000  # of a whole number; Python takes quadratic time for more, and then refuses


def json_value(text: str) -> object:
    """The value the text stands for; ValueError where it is not JSON, or nested too deeply.

    Numbers that are too long stay text.
    """
    try:
        value: object = json.loads(text, parse_int=_whole_number)
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    return value


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits
