"""Numbers as lists count them: in figures, letters or Roman numerals."""

from __future__ import annotations

from enum import StrEnum

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_HIGHEST_ROMAN = 3_999
_MOST_LETTERS = 10


class Figures(StrEnum):
    """The ways to write a number."""

    ARABIC = "1"
    LETTERS = "a"
    ROMAN = "i"


def written(count: int, figures: Figures) -> str:
    """A number in lower case; in Arabic figures where the others do not go so far."""
    if figures is Figures.LETTERS and 0 < count <= 26 * _MOST_LETTERS:
        times, letter = divmod(count - 1, 26)
        return chr(ord("a") + letter) * (times + 1)
    if figures is Figures.ROMAN and 0 < count <= _HIGHEST_ROMAN:
        return _roman(count)
    return str(count)


def _roman(count: int) -> str:
    text = ""
    for worth, figure in _ROMAN:
        text += figure * (count // worth)
        count %= worth
    return text
