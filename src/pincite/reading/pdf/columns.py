"""Segments of a page → the columns they stand in, in reading order.

A column begins where several segments begin at the same distance from the left, and nothing
crosses the gutter before it for some lines. Whether what stands on both sides are two columns to
be read one after the other, or the cells of a table to be read row by row, is told by the order
in which the file draws them and by how much text is in them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pincite.reading.pdf.lines import Segment

_SAME_EDGE = 1.0  # points
_MOST_EDGES = 15  # looked at, those where most segments begin
_GUTTER = 0.75  # in sizes of the type
_FEWEST_ROWS = 3
_MOST_SEGMENTS = 1_000  # of a page with more, a drawing or a huge table, the rows are read
_DEEPEST = 8  # columns within columns

_PROSE = 15  # letters in a segment, on average, of a column of text
_FILLED = 0.6  # of a column's width, by a line of text
_MANY_ROWS = 15  # a list of short lines with this many is no table of names and values
_ALIGNED = 0.7  # share of the rows of one side that have a partner on the other
_NUMBER = re.compile(r"[-–+(]?[$€£¥]?\s*[\d.,:%/]+\)?%?")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff]")


@dataclass(frozen=True, slots=True)
class _Zone:
    """A stretch of the page with a gutter through it."""

    top: float
    bottom: float
    left: list[Segment]
    right: list[Segment]


def columns_of(segments: Sequence[Segment], depth: int = 0) -> list[list[Segment]]:
    """Groups of segments to be read one after the other."""
    if depth > _DEEPEST or not 2 * _FEWEST_ROWS <= len(segments) <= _MOST_SEGMENTS:
        return [list(segments)] if segments else []
    zones = [zone for zone in _zones(segments) if _are_columns(zone)]
    if not zones:
        return [list(segments)]
    zone = max(zones, key=lambda one: (len(one.left) + len(one.right), -len(one.left)))
    inside = {id(segment) for segment in (*zone.left, *zone.right)}
    outside = [segment for segment in segments if id(segment) not in inside]
    above = [segment for segment in outside if segment.base >= zone.top]
    below = [segment for segment in outside if segment.base < zone.top]
    sides = [zone.left, zone.right]
    if _is_right_to_left(segments):
        sides.reverse()
    return [column for part in (above, *sides, below) for column in columns_of(part, depth + 1)]


def _zones(segments: Sequence[Segment]) -> Iterator[_Zone]:
    """Stretches that a gutter runs through, with enough rows on both sides of it."""
    gutter = _GUTTER * median(segment.size for segment in segments)
    for edge in _edges(segments):
        middle = edge - gutter / 2  # signs may hang out a little on either side
        crossing = sorted(one.base for one in segments if one.left < middle < one.right)
        left: dict[int, list[Segment]] = {}
        right: dict[int, list[Segment]] = {}
        for segment in segments:
            side = left if segment.right <= middle else right
            if segment.right <= middle or segment.left >= middle:
                side.setdefault(bisect_left(crossing, segment.base), []).append(segment)
        for band in left.keys() & right.keys():
            if _overlap(left[band], right[band]):
                bases = [one.base for one in (*left[band], *right[band])]
                yield _Zone(max(bases), min(bases), left[band], right[band])


def _edges(segments: Sequence[Segment]) -> list[float]:
    """Where most segments begin; not the first place, which has nothing before it."""
    lefts = sorted(segment.left for segment in segments)
    found: list[tuple[int, float]] = []
    start = 0
    for index in range(1, len(lefts) + 1):
        if index == len(lefts) or lefts[index] - lefts[index - 1] > _SAME_EDGE:
            if start and index - start >= _FEWEST_ROWS:
                found.append((index - start, lefts[start]))
            start = index
    return sorted(edge for _, edge in sorted(found, reverse=True)[:_MOST_EDGES])


def _overlap(left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    """Whether both sides have some rows, and most of one side's height is shared."""
    if min(len(_rows(left)), len(_rows(right))) < _FEWEST_ROWS:
        return False
    tops = max(one.base for one in left), max(one.base for one in right)
    bottoms = min(one.base for one in left), min(one.base for one in right)
    shared = min(tops) - max(bottoms)
    return shared >= 0.5 * min(tops[0] - bottoms[0], tops[1] - bottoms[1])


def _rows(segments: Sequence[Segment]) -> set[int]:
    """The heights at which there is text, in points."""
    return {round(segment.base) for segment in segments}


def _are_columns(zone: _Zone) -> bool:
    rows = min(len(_rows(zone.left)), len(_rows(zone.right)))
    turns = _turns(zone)
    is_aligned = _is_aligned(zone)
    is_prose = _is_prose(zone.left) and _is_prose(zone.right)
    if turns <= max(2, rows // 4):  # one side is drawn after the other
        return is_prose or not is_aligned or (rows >= _MANY_ROWS and not _is_numeric(zone))
    if turns <= rows // 2:  # drawn block by block
        return is_prose and not is_aligned
    # Drawn line by line across the gutter, as recognised text is.
    return is_prose and turns >= rows and _fills(zone.left) and _fills(zone.right)


def _turns(zone: _Zone) -> int:
    """How often the drawing changes from one side to the other."""
    drawn = sorted(
        [(segment.order, False) for segment in zone.left]
        + [(segment.order, True) for segment in zone.right]
    )
    return sum(one[1] != other[1] for one, other in pairwise(drawn))


def _is_prose(segments: Sequence[Segment]) -> bool:
    return sum(segment.letters for segment in segments) >= _PROSE * len(segments)


def _fills(segments: Sequence[Segment]) -> bool:
    width = max(one.right for one in segments) - min(one.left for one in segments)
    return sum(one.right - one.left >= _FILLED * width for one in segments) * 2 >= len(segments)


def _is_aligned(zone: _Zone) -> bool:
    heights = _rows(zone.left)
    near = {height + step for height in heights for step in (-1, 0, 1)}
    right = _rows(zone.right)
    return len(right & near) >= _ALIGNED * len(right)


def _is_numeric(zone: _Zone) -> bool:
    words = [word.text for segment in zone.right for word in segment.words]
    return sum(bool(_NUMBER.fullmatch(word)) for word in words) * 2 >= len(words)


def _is_right_to_left(segments: Sequence[Segment]) -> bool:
    words = [word.text for segment in segments for word in segment.words]
    return sum(bool(_RIGHT_TO_LEFT.search(word)) for word in words) * 2 > len(words)
