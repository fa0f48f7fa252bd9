"""Spreadsheets → Content: each sheet is a page under a heading, each row a place.

Excel's formats are read by calamine, OpenDocument by `ods.py`.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from pincite.reading.data.rows import Row, RowWriter, Sheet, one_line
from pincite.reading.office.extents import Extent, promised_texts, xlsb_extent, xlsx_extent
from pincite.reading.office.ods import open_facts, open_sheets
from pincite.reading.office.office_parts import OfficeParts
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run
from pincite.records import Content, Metadata, OmissionReason

_Value = int | float | str | bool | time | date | datetime | timedelta
_Range = tuple[tuple[int, int], tuple[int, int]]
ENCRYPTED = "is encrypted with a password; save it without one to index it"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}sheet"
_XLSB_SHEET = b"\x81\x01"  # the record that a sheet in the binary format begins with


def read_workbook(file: SourceFile) -> Content:
    """Read a workbook of any make; rows are numbered as its own program shows them."""
    if not file.data.startswith(b"PK"):
        return _content("xls", _excel_sheets(file.data))
    parts = OfficeParts(file.data)
    if parts.archive.has("content.xml"):
        return _content("ods", open_sheets(parts.archive), *open_facts(parts.archive))
    kind = "xlsb" if parts.archive.has("xl/workbook.bin") else "xlsx"
    sheets = _excel_sheets(file.data, too_large=_too_large(parts))
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


def _too_large(parts: OfficeParts) -> dict[str, Extent]:
    """The sheets of an Excel package that must not be laid out, by their names."""
    found = {}
    names = _names_of_parts(parts)
    for part in parts.archive.names():
        data = parts.archive.read(part)
        # Memory is set aside for as many as it says; each takes a few bytes.
        if promised_texts(data) > len(data):
            raise FileUnreadable("is damaged: it says that it holds more texts than it does")
        if (extent := _extent(part, data)) and extent.is_too_large:
            if part not in names:
                raise FileUnreadable(f"cannot be read: one of its sheets {_spans(extent)}")
            found[names[part]] = extent
    return found


def _names_of_parts(parts: OfficeParts) -> dict[str, str]:
    """What the sheets are called that lie in the parts; nothing of the binary format."""
    workbook = parts.main("xl/workbook.xml")
    if workbook.endswith(".bin"):
        return {}
    targets = {one.identifier: one.part for one in parts.relations(workbook)}
    return {
        targets.get(sheet.get(_RELATION, ""), ""): sheet.get("name", "")
        for sheet in parts.parsed(workbook).iter(_SHEET)
    }


def _extent(part: str, data: bytes) -> Extent | None:
    if part.endswith(".bin") and data.startswith(_XLSB_SHEET):
        return xlsb_extent(data)
    return xlsx_extent(data) if b"sheetData" in data else None


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
