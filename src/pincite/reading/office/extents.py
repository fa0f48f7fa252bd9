"""How large the grids of a workbook are, found out before the library that reads it lays them out.

A sheet with one cell at A1 and one at XFD1048576 is a few hundred bytes, but 17 billion cells once
it is laid out as a grid; that ends the process rather than raise an error. For the formats see
ECMA-376 part 1, 18.3.1 (xlsx) and [MS-XLSB] 2.1.4; for that of old workbooks `xls.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.errors import FileUnreadable

MOST_CELLS = 4_000_000  # of one grid; each takes 32 bytes even where it is empty
MOST_FILLED = 2_500_000  # each takes 40 bytes more while a sheet is read

_FURTHEST_COUNT = 100_000  # bytes into a part

# A row or a cell: where it stands, and whether it holds nothing. Attributes may have ">" in them;
# a dozen are in use, and each takes memory.
_XLSX_OPENING = rb"<(?:[^\s<>/:=\"']+:)?"
_XLSX_OTHER = rb"(?:\s+(?!r[\s=])[^\s=>\"'/]+\s*=\s*(?:\"[^\"]*\"|'[^']*')){0,99}"
_XLSX_PLACE = rb"\s+r\s*=\s*[\"']([A-Za-z]{0,3})(\d{1,7})[\"']"
_XLSX_TAG = re.compile(
    rb"%b(row|c)%b(?:%b%b)?\s*(/?)>" % (_XLSX_OPENING, _XLSX_OTHER, _XLSX_PLACE, _XLSX_OTHER)
)
_XLSX_ANY_TAG = re.compile(_XLSX_OPENING + rb"(?:row|c)(?=[\s/>])")
_XLSX_ROWS, _XLSX_COLUMNS = 1_048_576, 16_384  # of the largest sheet

_Column = bytes | int
"""Its letters, or where these are not given its number from 0."""

_XLSX_TEXTS = re.compile(rb"<(?:\w{1,20}:)?sst\s[^>]*?\suniqueCount\s*=\s*[\"'](\d{1,30})[\"']")

_XLSB_ROW = 0
_XLSB_CELLS = range(2, 12)  # with a value; 1 is a cell that only has a format
_XLSB_END = 0x92


@dataclass(slots=True)
class Extent:
    """The smallest rectangle around all cells met so far, and their number."""

    filled: int = 0
    top: int = 1 << 32
    bottom: int = -1
    left: int = 1 << 32
    right: int = -1

    def add(self, row: int, column: int) -> None:
        """Take in one cell."""
        self.filled += 1
        self.top = min(self.top, row)
        self.bottom = max(self.bottom, row)
        self.left = min(self.left, column)
        self.right = max(self.right, column)

    @property
    def cells(self) -> int:
        """How many cells the grid has, empty ones too."""
        return (self.bottom - self.top + 1) * (self.right - self.left + 1) if self.filled else 0

    @property
    def is_too_large(self) -> bool:
        """Whether laying out the grid would take too much memory."""
        return self.cells > MOST_CELLS or self.filled > MOST_FILLED


def xlsx_extent(sheet: bytes) -> Extent:
    """The extent of a worksheet in XML; FileUnreadable where it cannot be told."""
    extent = Extent()
    columns: set[_Column] = set()
    column: _Column = -1
    row, tags = -1, 0
    for tag in _XLSX_TAG.finditer(sheet):
        tags += 1
        kind, letters, digits, is_empty = tag.groups()
        if kind == b"row":
            row = int(digits) - 1 if digits else row + 1
            column = -1
            continue
        column = letters or _number(column) + 1
        if is_empty:
            continue
        columns.add(column)
        extent.filled += 1
        row_of_cell = int(digits) - 1 if digits else row
        if not extent.top <= row_of_cell <= extent.bottom:
            extent.top = min(extent.top, row_of_cell)
            extent.bottom = max(extent.bottom, row_of_cell)
    numbers = [_number(one) for one in columns]
    extent.left = min(numbers, default=0)
    extent.right = max(numbers, default=0)
    # A tag that we cannot read may still say something to the library that lays out the grid.
    is_read = tags == len(_XLSX_ANY_TAG.findall(sheet))
    if not is_read or extent.bottom >= _XLSX_ROWS or extent.right >= _XLSX_COLUMNS:
        raise FileUnreadable("is damaged: it has cells that stand nowhere")
    return extent


def _number(column: _Column) -> int:
    if isinstance(column, int):
        return column
    number = 0
    for letter in column.upper():
        number = number * 26 + letter - 64
    return number - 1


def promised_texts(part: bytes) -> int:
    """How many texts a part in XML says it holds that all sheets share; 0 if it says nothing."""
    found = _XLSX_TEXTS.search(part, 0, _FURTHEST_COUNT)
    return int(found.group(1)) if found else 0


def xlsb_extent(sheet: bytes) -> Extent:
    """The extent of a worksheet in records of variable length."""
    extent = Extent()
    row = 0
    for kind, payload in _xlsb_records(sheet):
        if kind == _XLSB_END:
            break
        if kind == _XLSB_ROW and len(payload) >= 4:
            row = int.from_bytes(payload[:4], "little")
        elif kind in _XLSB_CELLS and len(payload) >= 4:
            extent.add(row, int.from_bytes(payload[:4], "little"))
    return extent


def _xlsb_records(sheet: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(sheet):
        kind, at = _variable(sheet, at, longest=2)
        size, at = _variable(sheet, at, longest=4)
        yield kind, sheet[at : at + size]
        at += size


def _variable(data: bytes, at: int, *, longest: int) -> tuple[int, int]:
    """A number of seven bits per byte, the highest bit of which says that another follows."""
    value = 0
    for number, byte in enumerate(data[at : at + longest]):
        value |= (byte & 0x7F) << 7 * number
        at += 1
        if byte < 0x80:
            break
    return value, at
