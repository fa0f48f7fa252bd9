"""Tables: those that hold data become rows of cells, those that only lay out a page do not."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

_LONGEST_CELL = 250  # characters, on average; cells with more are columns of a page
_MOST_COLUMNS = 200
_MOST_REPEATED = 100_000  # characters of cells that reach over several rows, in one table
_LONGEST_REPEATED = 100
_SIGNS_BEFORE = frozenset(("$", "€", "£", "¥", "(", "$(", "-", "−", "–", "—"))
_SIGNS_BEHIND = frozenset((")", "%", ")%"))
_SPAN = re.compile(r"\s*(\d{1,4})\s*")
_PARTS_OF_PAGES = frozenset(
    ("h1", "h2", "h3", "h4", "main", "article", "section", "form", "nav", "pre", "hr")
)
# What makes a row of a page of what would be a row of data else.
_PARTS_OF_ROWS = frozenset(("ul", "ol", "dl", "blockquote", "table"))


@dataclass(slots=True)
class _RowShape:
    element: etree._Element
    text: int  # characters of the table before the row
    cells: int = 0
    has_parts: bool = False


@dataclass(slots=True)
class TableShape:
    """What a table is made of, noted while it is walked over."""

    element: etree._Element
    cells: int = 0
    widest: int = 0
    has_header: bool = False
    has_table: bool = False
    has_parts: bool = False
    text: int = 0  # characters so far
    rows: list[etree._Element] = field(default_factory=list)  # that hold data, whatever the others
    _row: _RowShape | None = None

    def open(self, element: etree._Element) -> None:
        """An element begins inside of the table, but of no table inside of it."""
        tag = element.tag
        if tag == "tr":
            self._row = _RowShape(element, self.text)
        elif tag in ("td", "th"):
            self._open_cell(is_header=tag == "th")
        elif tag in ("thead", "caption"):
            self.has_header = True
        elif tag in _PARTS_OF_PAGES:
            self.has_parts = True
            self._part_row()
        elif tag in _PARTS_OF_ROWS:
            self._part_row()

    def close_row(self, row: etree._Element) -> None:
        """A row ends."""
        shape, self._row = self._row, None
        if shape is None or shape.element is not row or shape.cells < 2 or shape.has_parts:
            return
        if 0 < self.text - shape.text <= _LONGEST_CELL * shape.cells:
            self.rows.append(row)

    def close_inner(self, inner: TableShape) -> None:
        """A table inside of this one ends."""
        self.has_table = True
        self.text += inner.text
        self._part_row()

    def holds_data(self) -> bool:
        """Whether all of its rows and columns mean something."""
        if self.element.get("role") in ("presentation", "none") or self.has_table:
            return False
        if self.widest < 2:
            return False
        if self.has_header:
            return True
        return not self.has_parts and self.text <= _LONGEST_CELL * self.cells

    def _open_cell(self, *, is_header: bool) -> None:
        self.cells += 1
        self.has_header |= is_header
        if self._row is not None:
            self._row.cells += 1
            self.widest = max(self.widest, self._row.cells)

    def _part_row(self) -> None:
        if self._row is not None:
            self._row.has_parts = True


def tidied(rows: list[list[str]]) -> list[list[str]]:
    """The rows without empty columns; signs that have columns of their own join their numbers."""
    width = max(map(len, rows), default=0)
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    columns = [list(column) for column in zip(*padded, strict=True)]
    kept: list[list[str]] = []
    before: list[str] | None = None  # signs of the next column
    for column in columns:
        held = {cell for cell in column if cell}
        if held and held <= _SIGNS_BEHIND and kept and before is None:
            kept[-1] = _side_by_side(kept[-1], column)
        elif held and held <= _SIGNS_BEFORE and before is None and column is not columns[-1]:
            before = column
        elif held:
            kept.append(_side_by_side(before, column) if before else column)
            before = None
    kept += [before] if before else []
    return [list(row) for row in zip(*kept, strict=True)]


def _side_by_side(left: list[str], right: list[str]) -> list[str]:
    return [one + other for one, other in zip(left, right, strict=True)]


@dataclass(slots=True)
class Rows:
    """A data table as it grows: rows of the same columns, as far as its spans tell."""

    rows: list[list[str]] = field(default_factory=list)
    _reaching: dict[int, tuple[int, str]] = field(default_factory=dict)  # column: rows left, text
    _room: int = _MOST_REPEATED

    def open_row(self) -> None:
        """The next row begins."""
        self.rows.append([])

    def close_row(self) -> None:
        """The row ends; cells that reach into it from above are put at its end too."""
        if self.rows:
            self._fill_from_above()

    def add(self, text: str, cell: etree._Element) -> None:
        """The next cell of the row, which may reach over several columns and rows."""
        if not self.rows:
            self.open_row()
        self._fill_from_above()
        if len(self.rows[-1]) >= _MOST_COLUMNS:  # rather another line than one without end
            self.open_row()
        row = self.rows[-1]
        column = len(row)
        width = min(_span(cell, "colspan"), _MOST_COLUMNS - column)
        row.extend([text, *[""] * (width - 1)])
        height = _span(cell, "rowspan")
        if height > 1:
            for number in range(width):
                self._reaching[column + number] = (height - 1, "" if number else text)

    def _fill_from_above(self) -> None:
        row = self.rows[-1]
        while (reached := self._reaching.pop(len(row), None)) is not None:
            height, text = reached
            if height > 1:
                self._reaching[len(row)] = (height - 1, text)
            is_repeated = len(text) <= min(_LONGEST_REPEATED, self._room)
            self._room -= len(text) if is_repeated else 0
            row.append(text if is_repeated else "")


def _span(cell: etree._Element, attribute: str) -> int:
    found = _SPAN.fullmatch(cell.get(attribute, ""))
    return max(int(found[1]), 1) if found else 1
