"""Tables as text (CSV, TSV) and rows of any table → lines of text, each understood alone.

Spreadsheets and tables in files are long, and a chunk holds a few of their rows. So each row below
a header is written with the header's words: "Name: Ann; City: Rome". Each row is a place.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from pincite.reading.encoding import decode_filled
from pincite.reading.source_file import SourceFile
from pincite.reading.writer import Run, Writer
from pincite.records import Content, Metadata, OmissionReason

_DELIMITERS = "\t;|,"  # where several fit, the one that is rarer in texts
_NO_DELIMITER = "\x1f"  # of a list, which has commas here and there
_END = "\0"  # is in no text, so it tells whether a quote was left open at the end
_MOST_COLUMNS = 200_000
_SAMPLE = 65_536  # characters looked at to find out what parts the cells
_SAMPLE_ROWS = 100
# Excel's own way to say it, in a first line that it does not show.
_DECLARED = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)

_MOST_ROWS = 500_000  # those of ten characters would reach the limit of characters
MOST_CELLS = 2_000_000  # empty ones too
MOST_CHARACTERS = 5_000_000

_LONGEST_LABEL = 80  # characters; the header's own row says the rest
_LONGEST_HEADER_CELL = 300  # what is longer is a paragraph
_LOOKED_AT = 50  # rows below a header, to judge it
_WIDEST_GAP = 2  # empty rows over which a header still holds for the rows below

_PERIOD = re.compile(r"(?:19|20)\d\d|\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_VALUE = re.compile(
    r"[-+−–(]?\s?[$€£¥₹%]?\s?\d[\d.,'’\s]*(?:[eE][-+]?\d+)?\s?[%$€£¥₹]?\)?"
    r"|\d\d?:\d\d(?::\d\d)?(?:\.\d+)?|TRUE|FALSE|[-—–]|" + _PERIOD.pattern,
    re.IGNORECASE,
)


# The limit is one for all of Python and small; our own limits are those of rows.
csv.field_size_limit(1 << 30)


def read(file: SourceFile) -> Content:
    """Read a table; its rows count from 1, as a spreadsheet would show them."""
    kind = "tsv" if file.suffix == ".tsv" else "csv"
    text = decode_filled(file.data)
    declared = _DECLARED.match(text)
    if declared:
        delimiter = declared.group(1)
        text = text[declared.end() :]
    else:
        delimiter = "\t" if kind == "tsv" else _delimiter(text[:_SAMPLE])
    writer = RowWriter()
    notes: dict[str, None] = {}
    last = writer.rows(_rows(_records(text, delimiter), notes))
    if writer.is_full:
        notes[f"only the first {last:,} rows were read"] = None
    return writer.content(kind, metadata=Metadata(notes=tuple(notes)))


def _rows(records: Iterable[list[str]], notes: dict[str, None]) -> Iterator[Row]:
    for number, cells in enumerate(records, start=1):
        if len(cells) > _MOST_COLUMNS:
            notes[f"only the first {_MOST_COLUMNS:,} cells of each row were read"] = None
        yield Row(number, tuple(map(one_line, cells[:_MOST_COLUMNS])))


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """The cells of each row. From a quote on that is never closed, quotes are plain characters."""
    rows = csv.reader(chain(_lines_of_file(text), [_END]), delimiter=delimiter)
    lines_before = 0
    for cells in rows:
        if cells == [_END]:
            return
        if cells and cells[-1].endswith(_END):  # it has swallowed all the rest
            unread = islice(_lines_of_file(text), lines_before, None)
            yield from csv.reader(unread, delimiter=delimiter, quoting=csv.QUOTE_NONE)
            return
        yield cells
        lines_before = rows.line_num


def _lines_of_file(text: str) -> Iterator[str]:
    return io.StringIO(text, newline="")


def _delimiter(sample: str) -> str:
    """The character that parts most rows into the same number of cells."""
    best = max(_DELIMITERS, key=lambda delimiter: _regularity(sample, delimiter))
    return best if _regularity(sample, best) >= 0.5 else _NO_DELIMITER


def _regularity(sample: str, delimiter: str) -> float:
    """From 0 to 1: the share of rows that have the commonest number of cells above one."""
    rows = csv.reader(_lines_of_file(sample), delimiter=delimiter)
    widths = [len(cells) for cells in islice(rows, _SAMPLE_ROWS) if cells]
    parted = Counter(width for width in widths if width > 1)
    return max(parted.values(), default=0) / max(len(widths), 1)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its number as a spreadsheet shows it, and its cells as texts of one line each."""

    number: int
    cells: tuple[str, ...]
    spread: tuple[str, ...] | None = None  # the cells, those merged sideways filled all along

    @property
    def used(self) -> list[int]:
        """The columns in which there is anything."""
        return [column for column, cell in enumerate(self.cells) if cell]


_Table = list[Row]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet of a workbook; only rows with anything in them."""

    name: str
    rows: Iterable[Row] = ()
    is_hidden: bool = False
    problem: str | None = None  # why it could not be read: "spans 17,179,869,184 cells, …"


class RowWriter(Writer):
    """A writer of rows that stops at a limit, and knows whether it did."""

    def __init__(self, *, cells: int = MOST_CELLS, characters: int = MOST_CHARACTERS) -> None:
        super().__init__()
        self.is_full = False  # whether anything had to be left out
        self._last = 0
        self._rows_left = _MOST_ROWS
        self._cells_left = cells
        self._characters_left = characters

    def rows(self, rows: Iterable[Row], *, omitted: OmissionReason | None = None) -> int:
        """Write rows as tables, one for each stretch without empty rows.

        Returns the number of the last row that was written, 0 if there was none.
        """
        self._last = 0
        for table in _labelled(_parted(self._that_fit(rows))):
            self.table_of_runs(self._lines_that_fit(table, omitted))
        return self._last

    def _that_fit(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            self._cells_left -= len(row.cells)
            self._rows_left -= 1
            if self._cells_left < 0 or self._rows_left < 0:
                self.is_full = True
                return
            yield row

    def _lines_that_fit(
        self, lines: Iterable[tuple[int, str]], omitted: OmissionReason | None
    ) -> Iterator[list[Run]]:
        for number, line in lines:
            if len(line) > self._characters_left:
                self.is_full = True
            if self._characters_left <= 0:
                return
            yield [Run(line[: self._characters_left], row=number, omitted=omitted)]
            self._characters_left -= len(line)
            self._last = number


def one_line(cell: str) -> str:
    """The text of a cell without line breaks or needless space."""
    return " ".join(cell.split())


def _parted(rows: Iterable[Row]) -> Iterator[_Table]:
    """The stretches between empty rows; a header that stands apart stays with what it heads."""
    tables: list[_Table] = []
    for row in rows:
        if not any(row.cells):
            continue
        if tables and row.number == tables[-1][-1].number + 1:
            tables[-1].append(row)
        else:
            tables.append([row])
    waiting: _Table = []
    for table in tables:
        # The last row of a short table may be the header of the one after an empty row.
        if waiting and not (
            table[0].number - waiting[-1].number == 2
            and len(waiting[-1].used) >= 2
            and not _has_values(waiting)
            and _has_values(table[:1])
            and set(table[0].used) <= {0, *waiting[-1].used}
        ):
            yield waiting
            waiting = []
        waiting = waiting + table
        if len(waiting) > 3:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _labelled(tables: Iterable[_Table]) -> Iterator[Iterator[tuple[int, str]]]:
    """Each table as lines with their row numbers."""
    labels: Sequence[str] = ()
    columns: set[int] = set()
    last = 0
    for table in tables:
        header = _header_in(table)
        if header is not None:
            labels, data_from = _labels(table, header)
            columns = _columns(table)
        else:
            data_from = 0
            is_near = table[0].number - last <= _WIDEST_GAP + 1
            goes_on = is_near and _columns(table) <= columns and _has_values(table[:_LOOKED_AT])
            labels = labels if goes_on else ()
        last = table[-1].number
        yield _lines(table, labels, data_from)


def _lines(table: _Table, labels: Sequence[str], data_from: int) -> Iterator[tuple[int, str]]:
    for at, row in enumerate(table):
        yield row.number, _line(row, labels if at >= data_from else ())


def _line(row: Row, labels: Sequence[str]) -> str:
    used = row.used
    if not labels or used == [0]:  # alone in the first column stands what heads the next rows
        return " | ".join(row.cells[column] for column in used)
    return "; ".join(_with_label(row.cells[column], column, labels) for column in used)


def _with_label(cell: str, column: int, labels: Sequence[str]) -> str:
    label = labels[column] if column < len(labels) else ""
    return f"{label.rstrip(' :')}: {cell}" if label else cell


def _header_in(table: _Table) -> int | None:
    """Where the header is: the first row that is half full, if it holds names with data below."""
    columns = _columns(table)
    rows = enumerate(islice(table, _LOOKED_AT))
    at = next((at for at, row in rows if len(row.used) * 2 >= len(columns)), None)
    if at is None or at + 1 >= len(table) or len(columns) < 2:
        return None
    below = table[at + 1 : at + 1 + _LOOKED_AT]
    return at if _is_header(table[at], below, len(columns)) else None


def _is_header(row: Row, below: _Table, width: int) -> bool:
    names = [row.cells[column] for column in row.used]
    if len(names) < 2 or len(set(names)) * 2 < len(names):
        return False
    for column in row.used:
        cell = row.cells[column]
        is_period = _PERIOD.fullmatch(cell) is not None
        if len(cell) > _LONGEST_HEADER_CELL or (_VALUE.fullmatch(cell) and not is_period):
            return False
        if is_period and _mostly(_PERIOD, below, column):
            return False
    # Two columns of nothing but words may as well be a form: "Name | Ann", "City | Rome".
    return width > 2 or any(_mostly(_VALUE, below, column) for column in row.used[1:])


def _mostly(pattern: re.Pattern[str], rows: _Table, column: int) -> bool:
    """Whether most of what stands in the column is of that form."""
    cells = [row.cells[column] for row in rows if column < len(row.cells) and row.cells[column]]
    return sum(bool(pattern.fullmatch(cell)) for cell in cells) * 2 > len(cells)


def _labels(table: _Table, header: int) -> tuple[Sequence[str], int]:
    """What each column is called, with the names of groups of columns; and where data begins."""
    labels = list(table[header].cells)
    above = table[header - 1].spread if header else None
    if above is not None and len({name for name in above if name}) > 1:
        pairs = zip_longest(above, labels, fillvalue="")
        labels = [_joined(group, label) for group, label in pairs]
    data_from = header + 1
    if _is_second_header(labels, table[data_from : data_from + 2]):
        groups = table[header].spread or labels
        pairs = zip_longest(groups, table[data_from].cells, fillvalue="")
        labels = [_joined(group, name) if name else group for group, name in pairs]
        data_from += 1
    shortened = [
        label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1].rstrip() + "…"
        for label in labels
    ]
    return shortened, data_from


def _is_second_header(labels: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether the row below a header only tells columns of no name, or of one name, apart."""
    if len(rows) < 2 or rows[0].cells[0] or not rows[1].cells[0] or _has_values(rows[:1]):
        return False
    named = Counter(labels)
    used = (labels[column] if column < len(labels) else "" for column in rows[0].used)
    return any(not label or named[label] > 1 for label in used)


def _has_values(rows: Sequence[Row]) -> bool:
    """Whether any cell holds a number, a date or the like."""
    return any(_VALUE.fullmatch(cell) for row in rows for cell in row.cells if cell)


def _joined(group: str, name: str) -> str:
    return name if group == name else f"{group} {name}".strip()


def _columns(table: _Table) -> set[int]:
    return {column for row in islice(table, _LOOKED_AT) for column in row.used}
