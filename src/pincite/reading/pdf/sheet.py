"""A page as it is shown, and the ways between the three sets of coordinates we meet.

- *pdfium's*: points in the page's own space, before it is cropped and turned.
- *as shown*: points from the lower left corner of the visible page. Boxes are given in these.
- *as read*: as shown, turned so that a line of text runs from left to right and the next line
  stands below. The same as shown, unless the text itself is turned or runs downwards.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from pincite.reading.pdf.pdfium import Handle, raw
from pincite.records import Box

Rectangle = tuple[float, float, float, float]
"""Left, bottom, right, top."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page: its number from 1, its size as shown, and how it lies in pdfium's space."""

    number: int
    visible: Rectangle  # in pdfium's coordinates
    quarters: int = 0  # clockwise, by which the page is turned when shown

    @property
    def width(self) -> float:
        """As shown."""
        left, bottom, right, top = self.visible
        return top - bottom if self.quarters % 2 else right - left

    @property
    def height(self) -> float:
        """As shown."""
        left, bottom, right, top = self.visible
        return right - left if self.quarters % 2 else top - bottom

    def shown(self, rectangle: Rectangle) -> Rectangle:
        """A rectangle of pdfium's, as shown."""
        left, bottom, right, top = rectangle
        x_low, y_low, x_high, y_high = self.visible
        match self.quarters:
            case 0:
                return left - x_low, bottom - y_low, right - x_low, top - y_low
            case 1:
                return bottom - y_low, x_high - right, top - y_low, x_high - left
            case 2:
                return x_high - right, y_high - top, x_high - left, y_high - bottom
            case _:
                return y_high - top, left - x_low, y_high - bottom, right - x_low

    def as_read(self, shown: Rectangle, turn: int) -> Rectangle:
        """A rectangle as shown → as read, for text turned so many quarters anticlockwise."""
        left, bottom, right, top = shown
        match turn:
            case 0:
                return shown
            case 1:
                return bottom, self.width - right, top, self.width - left
            case 2:
                return (
                    self.width - right,
                    self.height - top,
                    self.width - left,
                    self.height - bottom,
                )
            case _:
                return self.height - top, left, self.height - bottom, right

    def box(self, read: Rectangle, turn: int) -> Box:
        """A rectangle as read, in tenths of a point → the box to be given out."""
        if turn == 0:
            return Box(self.number, *read)
        left, bottom, right, top = read
        match turn:
            case 1:
                corners = self.width - top, left, self.width - bottom, right
            case 2:
                corners = (
                    self.width - right,
                    self.height - top,
                    self.width - left,
                    self.height - bottom,
                )
            case _:
                corners = bottom, self.height - right, top, self.height - left
        return Box(self.number, *map(tenths, corners))


# Many words share their edges: the same number many times costs memory once.
_TENTHS = tuple(tenth / 10 for tenth in range(20_000))


# Farther than any page reaches. Files can make numbers that are larger, or none at all (NaN).
_FAR = 1_000_000.0


def tenths(points: float) -> float:
    """Rounded to tenths of a point; what is too far to be told is far away."""
    points = within_reach(points)
    index = int(points * 10 + 0.5)
    return _TENTHS[index] if 0 <= index < len(_TENTHS) and points > 0 else round(points, 1)


def within_reach(points: float) -> float:
    """The same, or a place far away for what is farther still, or no number at all."""
    return points if -_FAR < points < _FAR else _FAR


def sheet_of(page: Handle, number: int) -> Sheet:
    """How a page that pdfium has loaded is shown."""
    visible = raw.FS_RECTF()
    if not raw.FPDF_GetPageBoundingBox(page, visible):
        width, height = raw.FPDF_GetPageWidthF(page), raw.FPDF_GetPageHeightF(page)
        return Sheet(number, (0.0, 0.0, width, height))
    edges = (visible.left, visible.bottom, visible.right, visible.top)
    return Sheet(number, edges, raw.FPDFPage_GetRotation(page) % 4)


def bounds_of(thing: Handle) -> Rectangle:
    """Where an object on a page lies, in pdfium's coordinates."""
    edges = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(thing, *edges)
    left, bottom, right, top = (edge.value for edge in edges)
    return left, bottom, right, top
