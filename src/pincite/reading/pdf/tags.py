"""Headings that the file itself marks as such: those of a tagged PDF."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pincite.reading.pdf.pdfium import Handle, raw, utf16

_HEADING = re.compile(r"H([1-6])")
_MOST_STEPS = 1_000_000  # through the structure of one document; headings beyond are not known
_FEW = 200  # parts of an element: all of them are looked at
_MISSES = 100  # parts of other pages in a row: those of this page are over
_BACK = 20  # parts before the last one of the page before, to begin with


class TaggedHeadings:
    """Asks for the headings of one page after the other.

    The structure of a page is given as that of the document with what stands on other pages left
    out, so a long document has many empty parts on every page. They are in reading order mostly:
    the parts of a page are looked for where those of the page before ended.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._reached = 0

    def on(self, page: Handle) -> dict[int, int]:
        """Marked content of the page that is a heading → its level."""
        if self._steps > _MOST_STEPS:
            return {}
        tree = raw.FPDF_StructTree_GetForPage(page)
        if not tree:
            return {}
        try:
            return self._headings(tree)
        finally:
            raw.FPDF_StructTree_Close(tree)

    def _headings(self, tree: Handle) -> dict[int, int]:
        levels: dict[int, int] = {}
        count = raw.FPDF_StructTree_CountChildren(tree)
        waiting = [(raw.FPDF_StructTree_GetChildAtIndex(tree, index), 0) for index in range(count)]
        while waiting and self._steps <= _MOST_STEPS:
            element, level = waiting.pop()
            if not element:
                continue
            if found := _HEADING.fullmatch(utf16(raw.FPDF_StructElement_GetType, element)):
                level = int(found[1])
            if level:
                levels.update((mark, level) for mark in self._marks(element))
            waiting.extend((child, level) for child in self._children(element))
        return levels

    def _marks(self, element: Handle) -> Iterator[int]:
        for index in range(min(raw.FPDF_StructElement_CountChildren(element), _FEW)):
            mark = raw.FPDF_StructElement_GetChildMarkedContentID(element, index)
            if mark >= 0:
                yield mark

    def _children(self, element: Handle) -> list[Handle]:
        count = raw.FPDF_StructElement_CountChildren(element)
        if count <= _FEW:
            return self._children_in(element, range(count), misses=count)
        first = max(self._reached - _BACK, 0)
        found = self._children_in(element, range(first, count), misses=_MISSES)
        return found or self._children_in(element, range(count), misses=_MISSES)

    def _children_in(self, element: Handle, places: range, *, misses: int) -> list[Handle]:
        """Children at these places, up to where so many in a row are missing after the first."""
        found: list[Handle] = []
        missed = 0
        for index in places:
            self._steps += 1
            child = raw.FPDF_StructElement_GetChildAtIndex(element, index)
            if child:
                found.append(child)
                missed = 0
                if places.stop > _FEW:
                    self._reached = index
            elif found:
                missed += 1
                if missed > misses:
                    break
        return found
