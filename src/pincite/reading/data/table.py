"""Tables as text (CSV, TSV) → Content: each line can be understood alone, each row is a place."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from pincite.reading.data.rows import Row, RowWriter, one_line
from pincite.reading.encoding import decode_filled
from pincite.reading.source_file import SourceFile
from pincite.records import Content, Metadata

# The limit is one for all of Python and small; our own limits are those of rows.
csv.field_size_limit(1 << 30)

_DELIMITERS = "\t;|,"  # where several fit, the one that is rarer in texts
_NO_DELIMITER = "\x1f"  # of a list, which has commas here and there
_END = "\0"  # is in no text, so it tells whether a quote was left open at the end
_MOST_COLUMNS = 200_000
_SAMPLE = 65_536  # characters looked at to find out what parts the cells
_SAMPLE_ROWS = 100
# Excel's own way to say it, in a first line that it does not show.
_DECLARED = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)


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
    rows = csv.reader(chain(_lines(text), [_END]), delimiter=delimiter)
    lines_before = 0
    for cells in rows:
        if cells == [_END]:
            return
        if cells and cells[-1].endswith(_END):  # it has swallowed all the rest
            unread = islice(_lines(text), lines_before, None)
            yield from csv.reader(unread, delimiter=delimiter, quoting=csv.QUOTE_NONE)
            return
        yield cells
        lines_before = rows.line_num


def _lines(text: str) -> Iterator[str]:
    return io.StringIO(text, newline="")


def _delimiter(sample: str) -> str:
    """The character that parts most rows into the same number of cells."""
    best = max(_DELIMITERS, key=lambda delimiter: _regularity(sample, delimiter))
    return best if _regularity(sample, best) >= 0.5 else _NO_DELIMITER


def _regularity(sample: str, delimiter: str) -> float:
    """From 0 to 1: the share of rows that have the commonest number of cells above one."""
    rows = csv.reader(_lines(sample), delimiter=delimiter)
    widths = [len(cells) for cells in islice(rows, _SAMPLE_ROWS) if cells]
    parted = Counter(width for width in widths if width > 1)
    return max(parted.values(), default=0) / max(len(widths), 1)
