"""Lines with boxes → blocks of text in the order a reader takes them.

Recognition finds lines, and pieces of lines, but not what belongs together. Columns are told from
tables by how full they are: the lines of a column reach from edge to edge, the cells of a table do
not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from pincite.converting.wire import Line

_DEEPEST = 3  # columns in columns; a page has no more than eight
_MOST_LINES = 5_000  # of a page that is looked at for columns
_PLACES = 60  # across a page where a gap between columns is looked for
_FEWEST_LINES = 4  # in a column
_NARROWEST = 8.0  # heights of a line; what is narrower is a cell, not a column
_FULLEST_TABLE = 0.6  # of a column's width; fuller lines are running text

_CELL_GAP = 1.0  # heights of a line between two cells of one row
_PARAGRAPH = 1.3  # times as far as lines mostly stand apart: the next paragraph
_TIGHTEST = 1.15  # heights of a line between two paragraphs, from middle to middle
_WIDEST_SET = 2.2  # heights of a line; no text is set wider apart
_END_OF_TABLE = 4.0  # heights of a line between two tables
_SIZE_CHANGE = 1.5  # a line so much higher than its neighbour is a heading of it
_UPRIGHT = 1.5  # times as high as wide: a line that runs downwards


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph as lines, or a table as rows of cells."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def is_table(self) -> bool:
        """Whether the rows have cells."""
        return any(len(row) > 1 for row in self.rows)


Row = tuple[Line, ...]
"""Lines that stand beside each other, from left to right."""


def blocks_of(lines: Sequence[Line]) -> Iterator[Block]:
    """The page's paragraphs and tables in reading order."""
    downwards = [line for line in lines if runs_downwards(line)]
    if 2 * len(downwards) > len(lines):
        # Chinese and Japanese may be written in lines that run downwards, from right to left.
        yield Block(tuple((one.text,) for one in sorted(lines, key=lambda one: -one.right)))
        return
    across = [line for line in lines if not runs_downwards(line)]
    for part in _columns(across, _DEEPEST if len(across) <= _MOST_LINES else 0):
        yield from _blocks(list(_rows(part)))
    for line in downwards:  # a note up the margin belongs to nothing around it
        yield Block(((line.text,),))


def runs_downwards(line: Line) -> bool:
    """Whether a line of more than two characters is much higher than wide."""
    return len(line.text) > 2 and line.height > _UPRIGHT * line.width


def _columns(lines: Sequence[Line], depth: int) -> Iterator[Sequence[Line]]:
    """The lines column by column; what reaches over several columns parts them above and below."""
    best = _best_split(lines) if depth else None
    if best is None:
        yield lines
        return
    for slab in best:
        for column in slab:
            yield from _columns(column, depth - 1 if len(slab) > 1 else 0)


_Slab = tuple[list[Line], ...]
"""A stretch of the page from edge to edge: one column, or two."""


def _best_split(lines: Sequence[Line]) -> list[_Slab] | None:
    """The slabs of the best place to split at; None where no place makes columns."""
    if len(lines) < 2 * _FEWEST_LINES:
        return None
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    step = (right - left) / _PLACES
    best: list[_Slab] | None = None
    most = 0
    for place in range(_PLACES // 6, _PLACES - _PLACES // 6 + 1):
        slabs = _split_at(left + place * step, lines)
        in_columns = sum(len(side) for slab in slabs if len(slab) > 1 for side in slab)
        if in_columns > most:
            best, most = slabs, in_columns
    return best


def _split_at(x: float, lines: Sequence[Line]) -> list[_Slab]:
    """Slabs between the lines that cross `x`; those where both sides are columns have two parts."""
    slabs: list[_Slab] = []
    crossing: list[Line] = []
    beside: list[Line] = []

    def close() -> None:
        if beside:
            sides = (
                [one for one in beside if one.right <= x],
                [one for one in beside if one.left >= x],
            )
            if all(_is_column(side) for side in sides):
                if crossing:
                    slabs.append((crossing.copy(),))
                slabs.append(sides)
                crossing.clear()
            else:
                crossing.extend(beside)
            beside.clear()

    for line in sorted(lines, key=lambda one: one.middle):
        if line.left < x < line.right:
            close()
            crossing.append(line)
        else:
            beside.append(line)
    close()
    if crossing:
        slabs.append((crossing,))
    return slabs


def _is_column(lines: Sequence[Line]) -> bool:
    """Whether the lines fill their part of the page as running text does."""
    if len(lines) < _FEWEST_LINES:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    if width < _NARROWEST * median(line.height for line in lines):
        return False
    # A side may be several columns, whose lines then stand beside each other.
    filled = [sum(line.width for line in row) for row in _rows(lines)]
    return len(filled) >= _FEWEST_LINES and median(filled) > _FULLEST_TABLE * width


def _rows(lines: Sequence[Line]) -> Iterator[Row]:
    """Lines put together that stand at the same height, from top to bottom."""
    row: list[Line] = []
    for line in sorted(lines, key=lambda one: one.middle):
        if row and not _beside(row[-1], line):
            yield tuple(sorted(row, key=lambda one: one.left))
            row = []
        row.append(line)
    if row:
        yield tuple(sorted(row, key=lambda one: one.left))


def _beside(one: Line, other: Line) -> bool:
    return abs(one.middle - other.middle) < min(one.height, other.height) / 2


def _blocks(rows: Sequence[Row]) -> Iterator[Block]:
    """Rows put together to paragraphs and tables, from top to bottom."""
    cells = [_cells(row) for row in rows]
    usual = _usual_step(cells)
    start = 0
    for at in range(1, len(cells) + 1):
        if at == len(cells) or _parts(cells[at - 1], cells[at], usual):
            yield _block(cells[start:at])
            start = at


def _usual_step(rows: Sequence[Row]) -> float:
    """How far lines mostly stand apart, from middle to middle."""
    steps = [_middle(below) - _middle(above) for above, below in pairwise(rows)]
    widest = _WIDEST_SET * median(map(_height, rows)) if rows else 0.0
    return min(median(steps), widest) if steps else widest


def _parts(above: Row, below: Row, usual: float) -> bool:
    """Whether a new block begins between two rows."""
    smaller, higher = sorted((_height(above), _height(below)))
    step = _middle(below) - _middle(above)
    if len(above) > 1 and len(below) > 1:
        return step > _END_OF_TABLE * smaller
    return (
        (len(above) > 1) != (len(below) > 1)
        or step > max(_PARAGRAPH * usual, _TIGHTEST * smaller)
        or higher > _SIZE_CHANGE * smaller
    )


def _height(row: Row) -> float:
    return max(line.height for line in row)


def _middle(row: Row) -> float:
    return fmean(line.middle for line in row)


def _cells(row: Row) -> Row:
    """The row's lines, those a blank apart joined."""
    joined: list[Line] = []
    for line in row:
        if joined and line.left - joined[-1].right < _CELL_GAP * min(
            line.height, joined[-1].height
        ):
            joined[-1] = _joined(joined[-1], line)
        else:
            joined.append(line)
    return tuple(joined)


def _joined(one: Line, other: Line) -> Line:
    return Line(
        f"{one.text} {other.text}",
        one.left,
        min(one.top, other.top),
        max(one.right, other.right),
        max(one.bottom, other.bottom),
        min(one.confidence, other.confidence),
    )


def _block(rows: Sequence[Row]) -> Block:
    """A table where several rows have cells; otherwise a row of cells is one line."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return Block(tuple((" ".join(cell.text for cell in row),) for row in rows))
    edges = _column_edges(rows)
    return Block(tuple(_in_columns(row, edges) for row in rows))


def _column_edges(rows: Sequence[Row]) -> list[float]:
    """Where a table's columns part: in the gaps that no cell reaches into."""
    spans = sorted((cell.left, cell.right) for row in rows for cell in row)
    columns = [spans[0]]
    for left, right in spans[1:]:
        if left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return [(one[1] + other[0]) / 2 for one, other in pairwise(columns)]


def _in_columns(row: Row, edges: Sequence[float]) -> tuple[str, ...]:
    cells = [""] * (len(edges) + 1)
    for cell in row:
        column = sum(edge < cell.left for edge in edges)
        cells[column] = f"{cells[column]} {cell.text}".strip()
    return tuple(cells)
