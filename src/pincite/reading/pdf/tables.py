"""Lines of a column → the tables among them, told by cells that stand below each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from pincite.reading.pdf.blocks import Row
from pincite.reading.pdf.lines import Line
from pincite.reading.pdf.marks import is_mark
from pincite.reading.pdf.words import Word

_FEWEST_ROWS = 3
_MOST_BETWEEN = 2  # lines of one cell between two rows: a heading in the table, a longer cell
_NEXT_LINE = 1.6  # in sizes of the type, from one line of a cell to the next
_PROSE = 50  # letters of a line that runs across columns: no row, and no heading of columns
_FARTHEST = 3.2  # in sizes of the type, from one row to the next
_TYPICAL = 0.6  # of the most cells that a row has: rows with fewer head several columns
_CROSSED = 0.1  # share of the rows that may cross the gap between two columns
_NARROWEST = 0.4  # such a gap, in sizes of the type
_LONGEST_CELL = 60  # letters, on average; longer ones are paragraphs side by side
_SIGN_BEFORE = re.compile(r"[$€£¥(]{1,2}|[A-Z]{0,2}[$€£]")
_SIGN_AFTER = re.compile(r"[)%]{1,2}")

Gaps = list[tuple[float, float]]
"""Between columns: where each gap begins and ends, from the left."""


@dataclass(frozen=True, slots=True)
class Table:
    """The lines from `start` to before `end` are a table with these rows."""

    start: int
    end: int
    rows: list[Row]


def tables_among(lines: Sequence[Line]) -> list[Table]:
    """Tables, in order; the lines between them are none."""
    tables = []
    for start, end in _candidates(lines):
        for first, after in _without_prose(lines, start, end):
            table = _table(lines, first, after)
            if table is not None:
                tables.append(table)
    return tables


def _table(lines: Sequence[Line], start: int, end: int) -> Table | None:
    gaps = _gaps(lines[start:end])
    rows = [_row(line, gaps) for line in lines[start:end]]
    if not gaps or not _is_table(rows):
        return None
    after = _with_rest(lines, end, gaps)
    return Table(start, after, rows + [_row(line, gaps) for line in lines[end:after]])


def _without_prose(lines: Sequence[Line], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch in parts, where lines of text run across its columns."""
    gaps = _gaps(lines[start:end])
    for index in range(start, end):
        if gaps and _runs_across(lines[index], gaps):
            yield from _trimmed(lines, start, index)
            start = index + 1
    yield from _trimmed(lines, start, end)


def _runs_across(line: Line, gaps: Gaps) -> bool:
    is_long = len(line.cells) == 1 and len(line.text) >= _PROSE
    return is_long and line.left < gaps[0][0] and line.right > gaps[0][1]


def _trimmed(lines: Sequence[Line], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch from its first to its last row of several cells, if there is any."""
    several = [index for index in range(start, end) if len(lines[index].cells) > 1]
    if several:
        yield several[0], several[-1] + 1


def _with_rest(lines: Sequence[Line], end: int, gaps: Gaps) -> int:
    """After the lines that go on with a cell of the last row, other than its first."""
    while end < len(lines) and len(lines[end].cells) == 1:
        line, last = lines[end], lines[end - 1]
        is_near = 0 < last.base - line.base <= _NEXT_LINE * line.size
        if not is_near or line.size != last.size or line.left < gaps[0][1] - line.size / 2:
            break
        end += 1
    return end


def _candidates(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Stretches of lines with several cells each, few of one cell between them."""
    start = last = None
    for index, line in enumerate(lines):
        if start is not None and last is not None:
            too_far = lines[index - 1].base - line.base > _FARTHEST * line.size
            if too_far or index - last > _MOST_BETWEEN + 1 or _is_heading(line, lines[last]):
                yield start, last + 1
                start = last = None
        if len(line.cells) > 1:
            start = index if start is None else start
            last = index
    if start is not None and last is not None:
        yield start, last + 1


def _is_heading(line: Line, row: Line) -> bool:
    """Whether a line of one cell stands out from the rows before it."""
    stands_out = line.size > row.size or (line.style.bold and not row.style.bold)
    return stands_out and len(line.cells) == 1


def _gaps(lines: Sequence[Line]) -> Gaps:
    """Where hardly any row has anything, between the first column and the last."""
    most = max(len(line.cells) for line in lines)
    rows = [line for line in lines if len(line.cells) >= max(2, _TYPICAL * most)]
    size = median(line.size for line in rows)
    edges = sorted(
        edge
        for line in rows
        for cell in _cells(line)
        for edge in ((min(word.left for word in cell), 1), (max(word.right for word in cell), -1))
    )
    allowed = int(_CROSSED * len(rows))
    gaps: Gaps = []
    open_cells, free_since = 0, None
    for place, change in edges:
        open_cells += change
        if change < 0 and open_cells <= allowed and free_since is None:
            free_since = place
        elif change > 0 and open_cells > allowed and free_since is not None:
            if place - free_since >= _NARROWEST * size:
                gaps.append((free_since, place))
            free_since = None
    return gaps


def _cells(line: Line) -> list[list[Word]]:
    """The cells of a line, a sign of currency or the like put to its number."""
    cells: list[list[Word]] = []
    before: list[Word] = []
    for cell in line.cells:
        text = "".join(word.text for word in cell)
        if _SIGN_BEFORE.fullmatch(text):
            before += cell
        elif cells and not before and _SIGN_AFTER.fullmatch(text):
            cells[-1] = [*cells[-1], *cell]
        else:
            cells.append([*before, *cell])
            before = []
    return [*cells, before] if before else cells


def _row(line: Line, gaps: Gaps) -> Row:
    """The cells by column; one that spans several columns stands in its first."""
    row: Row = [[] for _ in range(len(gaps) + 1)]
    for cell in _cells(line):
        begin = min(word.left for word in cell)
        column = sum((start + end) / 2 <= begin for start, end in gaps)
        row[column].extend(cell)
    if line.is_right_to_left:
        row.reverse()
    return row


def _is_table(rows: Sequence[Row]) -> bool:
    """Whether enough rows have enough cells, and the cells are neither prose nor a list's marks."""
    full = [row for row in rows if sum(bool(cell) for cell in row) > 1]
    is_wide = len(full) == 2 and all(cell for row in full for cell in row) and len(rows[0]) > 3
    if len(full) < _FEWEST_ROWS and not is_wide:
        return False
    cells = [cell for row in full for cell in row if cell]
    if sum(len(word.text) for cell in cells for word in cell) > _LONGEST_CELL * len(cells):
        return False
    firsts = [next(cell for cell in row if cell) for row in full]
    lists = sum(is_mark(cell[0].text) and len(cell) == 1 for cell in firsts)
    return lists * 2 < len(firsts) or len(rows[0]) > 2
