"""Lengths in styles, as far as they decide whether text can be seen."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"([-+]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))\s*(px|pt|em|rem|%|vw|vh|ex|ch|)")
# Pixels that one of each unit has, about.
_PIXELS = {"px": 1.0, "pt": 1.3, "em": 16.0, "rem": 16.0, "%": 0.16, "vw": 12.0, "vh": 8.0}
_SMALLEST_READ = 1.0  # pixels; what is larger can be made out
_FAR = -900.0  # pixels beyond the edge; -9999px is customary


def is_tiny(size: str) -> bool:
    """Whether a font of this size is too small to be seen."""
    pixels = _pixels(size)
    return pixels is not None and pixels <= _SMALLEST_READ


def is_nothing(length: str) -> bool:
    """Whether the length is zero."""
    return _pixels(length) == 0


def is_far_off(length: str) -> bool:
    """Whether what is moved by this much is beyond the edge of every screen."""
    pixels = _pixels(length)
    return pixels is not None and pixels <= _FAR


def _pixels(length: str) -> float | None:
    found = _LENGTH.fullmatch(length.strip())
    return float(found[1]) * _PIXELS.get(found[2] or "px", 8.0) if found else None
