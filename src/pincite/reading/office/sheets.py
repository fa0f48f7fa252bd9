"""Spreadsheets → Content: each sheet is a page under a heading, each row a place.

Excel's formats are read by calamine, OpenDocument by `opendocument.py`. How large the grids of a
workbook are is found out before calamine lays them out: a sheet with one cell at A1 and one at
XFD1048576 is a few hundred bytes, but 17 billion cells as a grid; that ends the process rather than
raise an error. See ECMA-376 part 1, 18.3.1 (xlsx) and [MS-XLSB] 2.1.4.

Of workbooks before 2007 calamine believes what they say of sizes, their own and those of their
container, and sets memory aside accordingly. So the stream of records is looked through here, and
put into a container of our own. See [MS-XLS] 2.1.4 and [MS-CFB].
"""

from __future__ import annotations

import io
import re
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import chain
from types import MappingProxyType

from python_calamine import (
    CalamineError,
    CalamineSheet,
    PasswordError,
    SheetVisibleEnum,
    load_workbook,
)

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.data.table import Row, RowWriter, Sheet, one_line
from pincite.reading.office.office_parts import OfficeParts
from pincite.reading.office.ole import SIGNATURE
from pincite.reading.office.opendocument import open_facts, open_sheets
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run
from pincite.records import Content, Metadata, OmissionReason

_Value = int | float | str | bool | time | date | datetime | timedelta
_Range = tuple[tuple[int, int], tuple[int, int]]
ENCRYPTED = "is encrypted with a password; save it without one to index it"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}sheet"
_XLSB_SHEET = b"\x81\x01"  # the record that a sheet in the binary format begins with

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

_SHEET_END = 0x0A
_DIMENSIONS = 0x200
_CELLS = frozenset(
    (0x02, 0x03, 0x04, 0x05, 0x06, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x206, 0x27E, 0x406)
)
_CELLS_IN_A_ROW = 0xBD

_SECTOR = 4_096
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STREAM, _ROOT = 2, 5


def read_workbook(file: SourceFile) -> Content:
    """Read a workbook of any make; rows are numbered as its own program shows them."""
    if not file.data.startswith(b"PK"):
        return _content("xls", _excel_sheets(file.data))
    parts = OfficeParts(file.data)
    if parts.archive.has("content.xml"):
        return _content("ods", open_sheets(parts.archive), *open_facts(parts.archive))
    kind = "xlsb" if parts.archive.has("xl/workbook.bin") else "xlsx"
    # What the sheets are called that lie in the parts; nothing of the binary format.
    workbook = parts.main("xl/workbook.xml")
    names = {}
    if not workbook.endswith(".bin"):
        targets = {one.identifier: one.part for one in parts.relations(workbook)}
        names = {
            targets.get(sheet.get(_RELATION, ""), ""): sheet.get("name", "")
            for sheet in parts.parsed(workbook).iter(_SHEET)
        }
    # The sheets of an Excel package that must not be laid out, by their names.
    too_large = {}
    for part in parts.archive.names():
        data = parts.archive.read(part)
        # How many texts it says it holds that all sheets share. Memory is set aside for as many;
        # each takes a few bytes.
        found = _XLSX_TEXTS.search(data, 0, _FURTHEST_COUNT)
        if found and int(found.group(1)) > len(data):
            raise FileUnreadable("is damaged: it says that it holds more texts than it does")
        if (extent := _extent(part, data)) and extent.is_too_large:
            if part not in names:
                raise FileUnreadable(f"cannot be read: one of its sheets {_spans(extent)}")
            too_large[names[part]] = extent
    sheets = _excel_sheets(file.data, too_large=too_large)
    return _content(kind, sheets, *parts.facts())


def _content(
    kind: str,
    sheets: Iterable[Sheet],
    title: str | None = None,
    metadata: Metadata | None = None,
) -> Content:
    writer = RowWriter()
    notes: list[str] = []
    number = 0
    for number, sheet in enumerate(sheets, start=1):
        writer.page = number
        was_full = writer.is_full
        last = 0 if was_full else _write(writer, sheet, number)
        if sheet.problem or was_full:
            notes.append(f'sheet "{sheet.name}" {sheet.problem or "was not read"}')
        elif writer.is_full:
            notes.append(f'only the first {last:,} rows of sheet "{sheet.name}" were read')
    metadata = replace(metadata or Metadata(), pages=number, notes=tuple(notes))
    try:
        return writer.content(kind, title=title, metadata=metadata)
    except FileEmpty:
        if notes:
            raise FileUnreadable(f"cannot be read: {notes[0]}") from None
        raise


def _write(writer: RowWriter, sheet: Sheet, number: int) -> int:
    """Write a sheet that has anything in it; returns the number of the last row written."""
    rows = iter(sheet.rows)
    first = next(rows, None)
    if first is None:
        return 0
    if not sheet.is_hidden:
        writer.heading(one_line(sheet.name), 1)
        return writer.rows(chain([first], rows))
    # A heading is repeated above all that follows it, so none is made of hidden words.
    writer.heading(f"Sheet {number} (hidden)", 1)
    writer.paragraph([Run(one_line(sheet.name), omitted=OmissionReason.HIDDEN)])
    return writer.rows(chain([first], rows), omitted=OmissionReason.HIDDEN)


def _extent(part: str, data: bytes) -> Extent | None:
    if part.endswith(".bin") and data.startswith(_XLSB_SHEET):
        return _xlsb_extent(data)
    return _xlsx_extent(data) if b"sheetData" in data else None


def _spans(extent: Extent) -> str:
    return f"spans {extent.cells:,} cells, too many to read; save it as CSV to index it"


def _excel_sheets(
    data: bytes, too_large: Mapping[str, Extent] = MappingProxyType({})
) -> Iterator[Sheet]:
    """The sheets in their order, one at a time: each is laid out in full."""
    with _problems_in_words():
        workbook = load_workbook(io.BytesIO(data))
        known = workbook.sheets_metadata
    for sheet in known:
        is_hidden = sheet.visible != SheetVisibleEnum.Visible
        if sheet.name in too_large:
            yield Sheet(sheet.name, problem=_spans(too_large[sheet.name]))
            continue
        try:
            with _problems_in_words():
                rows = _rows(workbook.get_sheet_by_name(sheet.name))
        except FileUnreadable as error:
            yield Sheet(sheet.name, problem=str(error))
        else:
            yield Sheet(sheet.name, rows, is_hidden)


def _rows(sheet: CalamineSheet) -> Iterator[Row]:
    """The rows with anything in them."""
    left = sheet.start[1] if sheet.start else 0
    merged = _Merged(sheet.merged_cell_ranges or (), left)
    for at, values in enumerate(sheet.iter_rows()):
        cells = [_text(value) for value in values]
        if any(cells):
            merged.fill_down(at, cells)
            yield Row(at + 1, tuple(cells), merged.spread(at, cells))


class _Merged:
    """Cells that are merged: only the first of them holds the text."""

    def __init__(self, ranges: Iterable[_Range], left: int) -> None:
        self._down: dict[int, list[_Range]] = defaultdict(list)
        self._across: dict[int, list[_Range]] = defaultdict(list)
        self._held: dict[int, tuple[int, str]] = {}  # column → its last row, and the text
        for (top, first), (bottom, last) in ranges:
            place = (top, first - left), (bottom, last - left)
            if top < bottom and first == last:
                self._down[top].append(place)
            elif top == bottom and first < last:
                self._across[top].append(place)

    def fill_down(self, row: int, cells: list[str]) -> None:
        """Give each row below a cell that is merged with it the cell's text."""
        for (_, column), (bottom, _) in self._down.get(row, ()):
            if 0 <= column < len(cells):
                self._held[column] = bottom, cells[column]
        for column, (bottom, text) in self._held.items():
            if row <= bottom and not cells[column]:
                cells[column] = text

    def spread(self, row: int, cells: Sequence[str]) -> tuple[str, ...] | None:
        """The row with the text of each cell that is merged sideways in all of its columns."""
        if row not in self._across:
            return None
        filled = list(cells)
        for (_, first), (_, last) in self._across[row]:
            for column in range(max(first, 0), min(last + 1, len(cells))):
                filled[column] = cells[max(first, 0)]
        return tuple(filled)


def _text(value: _Value) -> str:
    """A cell as people read it; errors such as #N/A are empty already."""
    if isinstance(value, str):
        return one_line(value) if value else ""
    if isinstance(value, float):
        return f"{value:.15g}"  # Excel's own precision: 0.1 + 0.2 is 0.3
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds" if value.second else "minutes")
    return str(value)  # whole numbers; dates and times as ISO 8601 says them


@contextmanager
def _problems_in_words() -> Iterator[None]:
    try:
        yield
    except PasswordError as error:
        raise FileUnreadable(ENCRYPTED) from error
    except (CalamineError, OSError) as error:
        raise FileUnreadable("is damaged, or not a workbook that can be read") from error
    except BaseException as error:
        # A panic in Rust is none of Python's errors, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise FileUnreadable("is damaged: its cells cannot be read") from error


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


def _xlsx_extent(sheet: bytes) -> Extent:
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


def _xlsb_extent(sheet: bytes) -> Extent:
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


def clean_xls(stream: bytes) -> bytes:
    """A workbook that holds the same stream; FileUnreadable where its grids would be too large.

    All sheets are laid out at once, so they count together.
    """
    mended = bytearray(stream)
    total = filled = 0
    extent = Extent()
    for start, kind, payload in _records(stream):
        if kind == _DIMENSIONS:
            mended[start : start + len(payload)] = bytes(len(payload))
        elif kind == _SHEET_END:
            total, filled, extent = total + extent.cells, filled + extent.filled, Extent()
        else:
            _take(extent, kind, payload)
    total += extent.cells
    if total > MOST_CELLS or filled + extent.filled > MOST_FILLED:
        raise FileUnreadable(
            f"has sheets that span {total:,} cells, too many to read; "
            "save the sheets that matter as CSV"
        )
    return _container("Workbook", bytes(mended))


def _records(stream: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Where each record's payload starts, its kind, and the payload."""
    at = 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        yield at + 4, kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def _take(extent: Extent, kind: int, payload: bytes) -> None:
    """Take in the cells of a record."""
    if kind in _CELLS and len(payload) >= 4:
        extent.add(*struct.unpack_from("<HH", payload))
    elif kind == _CELLS_IN_A_ROW and len(payload) >= 6:
        row, first = struct.unpack_from("<HH", payload)
        (last,) = struct.unpack_from("<H", payload, len(payload) - 2)
        extent.add(row, first)
        extent.add(row, max(first, last))


def _container(name: str, stream: bytes) -> bytes:
    """A container with a single stream: a table of sectors, a directory, then the stream."""
    size = max(len(stream), _SECTOR)  # smaller streams would have to be kept in another way
    stream_sectors = -(-size // _SECTOR)
    table_sectors = -(-(stream_sectors + 1) * 4 // (_SECTOR - 4))
    directory = table_sectors
    first = directory + 1
    chain = [*range(first + 1, first + stream_sectors), _END]
    table = struct.pack(
        f"<{table_sectors + 1 + stream_sectors}I", *[_TABLE] * table_sectors, _END, *chain
    )
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIII",
        *(SIGNATURE, b"", 0x3E, 4, 0xFFFE, 12, 6, b"", 1, table_sectors),
        *(directory, 0, _SECTOR, _END, 0, _END, 0),
    )
    places = [*range(table_sectors), *[_FREE] * (109 - table_sectors)]
    # The root has no sectors of its own, but must name one.
    entries = _entry("Root Entry", _ROOT, child=1, first=directory, size=0)
    entries += _entry(name, _STREAM, child=_FREE, first=first, size=size)
    return b"".join(
        (
            (header + struct.pack("<109I", *places)).ljust(_SECTOR, b"\0"),
            table.ljust(table_sectors * _SECTOR, b"\xff"),
            entries.ljust(_SECTOR, b"\0"),
            stream.ljust(stream_sectors * _SECTOR, b"\0"),
        )
    )


def _entry(name: str, kind: int, *, child: int, first: int, size: int) -> bytes:
    wide = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII36xIQ", wide, len(wide) + 2, kind, 1, _FREE, _FREE, child, first, size
    )
