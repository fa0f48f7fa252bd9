"""Places as people read them: `notes/paper.md — Section 2 > Method (lines 120–170)`."""

from __future__ import annotations

from pincite.records.documents import Document, DocumentEntry
from pincite.records.places import Locator
from pincite.text.printable import printable
from pincite.text.times import clock_range

# What is counted in them is not called a page.
_PAGES = {
    **dict.fromkeys(("pptx", "odp"), "slide"),
    **dict.fromkeys(("xlsx", "xlsb", "xls", "ods"), "sheet"),
    "ipynb": "cell",
}
# Their lines are those of the file itself, as an editor shows them.
MADE_OF_LINES = frozenset(("md", "txt"))
# Their lines are only those of the text that was taken out of them.
_WITHOUT_LINES = frozenset(("docx", "doc", "odt", "rtf", "html", "epub", "eml", "msg", "xml"))


def cited_file(document: Document | DocumentEntry) -> tuple[str, str]:
    """Path and type of the file a reader would open: the scan, not the text recognised in it."""
    return document.metadata.source or document.path, document.type


def place_cited(path: str, kind: str, heading_path: tuple[str, ...], locator: Locator) -> str:
    """Path, headings and place of a stretch of a document."""
    headings = f" — {' > '.join(heading_path)}" if heading_path else ""
    return printable(f"{path}{headings}") + f" ({where(kind, locator)})"


def where(kind: str, locator: Locator) -> str:
    """The place as people look it up: `page 3`, `00:01:05–00:01:48`, `rows 2–9`, `lines 7–9`."""
    lines = _range("line", locator.line_start, locator.line_end)
    if locator.time_start is not None:
        end = locator.time_start if locator.time_end is None else locator.time_end
        times = clock_range(locator.time_start, end)
        return f"{times}, {lines}" if kind in MADE_OF_LINES else times
    if locator.row_start is not None:
        return _range("row", locator.row_start, locator.row_end)
    if locator.page_start is not None:
        return _range(page_name(kind), locator.page_start, locator.page_end)
    return f"{lines} of its text" if kind in _WITHOUT_LINES else lines


def page_name(kind: str) -> str:
    """What the pages of such a document are called."""
    return _PAGES.get(kind, "page")


def _range(unit: str, first: int, last: int | None) -> str:
    """`line 7` or `lines 7–9`."""
    return f"{unit} {first}" if last in (None, first) else f"{unit}s {first}–{last}"
