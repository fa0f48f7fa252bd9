"""The outline of a PDF: its bookmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pincite.reading.pdf.pdfium import Handle, address, raw, utf16

_MOST_ENTRIES = 10_000
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """A bookmark: its words, how deep it is (from 1) and the page it leads to (from 1)."""

    title: str
    level: int
    page: int


def outline_of(document: Handle) -> list[Entry]:
    """The bookmarks in order, however they are tangled; those that lead nowhere are left out."""
    entries = []
    for bookmark, level in _bookmarks(document):
        destination = raw.FPDFBookmark_GetDest(document, bookmark)
        if not destination:
            action = raw.FPDFBookmark_GetAction(bookmark)
            destination = raw.FPDFAction_GetDest(document, action) if action else None
        page = raw.FPDFDest_GetDestPageIndex(document, destination) if destination else -1
        title = " ".join(utf16(raw.FPDFBookmark_GetTitle, bookmark).split())
        if title and page >= 0:
            entries.append(Entry(title, level, page + 1))
    return entries


def _bookmarks(document: Handle) -> Iterator[tuple[Handle, int]]:
    """Each bookmark once with its depth, children after their parent."""
    met: set[bytes] = set()
    waiting = [(raw.FPDFBookmark_GetFirstChild(document, None), 1)]
    while waiting and len(met) < _MOST_ENTRIES:
        bookmark, level = waiting.pop()
        if not bookmark or address(bookmark) in met:
            continue
        met.add(address(bookmark))
        yield bookmark, level
        waiting.append((raw.FPDFBookmark_GetNextSibling(document, bookmark), level))
        if level < _DEEPEST:
            waiting.append((raw.FPDFBookmark_GetFirstChild(document, bookmark), level + 1))
