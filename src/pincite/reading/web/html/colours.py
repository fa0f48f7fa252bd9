"""Colours as styles name them → red, green and blue."""

from __future__ import annotations

import re

Colour = tuple[int, int, int]

_NAMED: dict[str, Colour] = {
    **{"white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240)},
    **{"whitesmoke": (245, 245, 245), "ghostwhite": (248, 248, 255), "black": (0, 0, 0)},
    **{"silver": (192, 192, 192), "gray": (128, 128, 128), "grey": (128, 128, 128)},
    **{"red": (255, 0, 0), "maroon": (128, 0, 0), "yellow": (255, 255, 0), "lime": (0, 255, 0)},
    **{"green": (0, 128, 0), "aqua": (0, 255, 255), "blue": (0, 0, 255), "navy": (0, 0, 128)},
}
_HEX = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})(?:[0-9a-f]{2}|[0-9a-f])?")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*[\d.%]+\s*)?\)")
_CLEAR = re.compile(r"(?:rgb|hsl)a?\([^()]{1,60}[,/]\s{0,9}0?(?:\.0{0,9})?%?\s{0,9}\)")
_FAINTEST = 12  # of 255: the difference that a reader can make out


def colour_of(value: str) -> Colour | None:
    """The colour a style or attribute names; None where it is another kind of value."""
    value = value.strip().lower()
    if value in _NAMED:
        return _NAMED[value]
    if found := _HEX.fullmatch(value):
        digits = found[1] if len(found[1]) == 6 else "".join(2 * digit for digit in found[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := _RGB.fullmatch(value):
        return int(found[1]), int(found[2]), int(found[3])
    return None


def is_transparent(value: str) -> bool:
    """Whether a colour lets everything through."""
    return value == "transparent" or _CLEAR.fullmatch(value) is not None


def look_alike(one: Colour, other: Colour) -> bool:
    """Whether text in one colour on a ground of the other cannot be read."""
    return all(abs(first - second) <= _FAINTEST for first, second in zip(one, other, strict=True))
