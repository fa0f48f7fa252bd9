"""Pages of Chinese and Japanese whose lines run downwards, from right to left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from pincite.reading.pdf.sheet import Sheet
from pincite.reading.pdf.words import Word, is_single

_DOWNWARDS = 3  # quarters: read like a line that is turned to run down the page
_FEWEST_STEPS = 8  # from one character to the one below


def as_lines(words: list[Word], sheet: Sheet) -> list[Word]:
    """The words as they are, or, where the lines run downwards, turned so as to be read."""
    if not _run_downwards(words):
        return words
    return [_turned(word, sheet) if word.look.turn == 0 else word for word in words]


def _run_downwards(words: Sequence[Word]) -> bool:
    down = beside = 0
    for one, other in pairwise(words):
        if is_single(one.text) and is_single(other.text) and one.look.turn == 0:
            is_below = abs(one.left - other.left) < one.size / 2 < one.bottom - other.bottom
            down += is_below
            beside += not is_below
    return down >= _FEWEST_STEPS and down > 2 * beside


def _turned(word: Word, sheet: Sheet) -> Word:
    """The word as read, each character as wide and as high as its line is."""
    left, bottom, right, top = sheet.as_read(word.rectangle, _DOWNWARDS)
    across, up = (left + right) / 2, (bottom + top) / 2
    half = word.size / 2
    return replace(
        word,
        left=round(min(left, across - half), 1),
        bottom=round(min(bottom, up - half), 1),
        right=round(max(right, across + half), 1),
        top=round(max(top, up + half), 1),
        base=round(up - half, 1),
        look=replace(word.look, turn=_DOWNWARDS),
    )
