"""The shape of a table in a Word document: its rows, merged cells, and what it is used for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pincite.reading.office.docx.names import Element, W, child, number, switch, value
from pincite.reading.office.docx.styles import is_shaded

_MOST_COLUMNS = 63  # Word's own limit
_LONGEST_CELL = 1_000  # characters; what is longer is laid out in a table, but is no table
_PLAIN_STYLES = (None, "TableNormal", "TableGrid")
_WRAPPERS = tuple(W + name for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo"))


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell, how many columns it takes, and whether it only goes on from the one above."""

    element: Element
    span: int
    is_continued: bool
    is_shaded: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A row, and how many columns it leaves free before its first cell."""

    cells: tuple[Cell, ...]
    free: int
    is_heading: bool  # shown again at the top of every page


def rows_of(table: Element, *, on_shade: bool) -> list[Row]:
    """The rows of a table; `on_shade` says that it stands on a coloured ground itself."""
    properties = child(table, "tblPr")
    # A table style may colour any of the cells; which, is not for us to find out.
    styled = value(child(properties, "tblStyle")) not in _PLAIN_STYLES
    shaded = on_shade or styled or bool(is_shaded(properties))
    return [_row(row, shaded=shaded) for row in _within(table, W + "tr")]


def is_layout(rows: list[Row]) -> bool:
    """Whether the table only arranges text on the page: a box around it, or long columns of it."""
    cells = [cell for row in rows for cell in row.cells]
    return len(cells) == len(rows) or any(map(_is_long, cells))


def _row(row: Element, *, shaded: bool) -> Row:
    properties = child(row, "trPr")
    return Row(
        cells=tuple(_cell(cell, shaded=shaded) for cell in _within(row, W + "tc")),
        free=_columns(number(child(properties, "gridBefore")), fewest=0),
        is_heading=bool(switch(child(properties, "tblHeader"))),
    )


def _cell(cell: Element, *, shaded: bool) -> Cell:
    properties = child(cell, "tcPr")
    merged = child(properties, "vMerge")
    merged_across = child(properties, "hMerge")
    return Cell(
        cell,
        span=_columns(number(child(properties, "gridSpan")), fewest=1),
        is_continued=any(
            one is not None and value(one) in (None, "continue") for one in (merged, merged_across)
        ),
        is_shaded=shaded or bool(is_shaded(properties)),
    )


def _columns(said: int | None, *, fewest: int) -> int:
    return min(max(said or fewest, fewest), _MOST_COLUMNS)


def _within(element: Element, wanted: str) -> Iterator[Element]:
    """The rows or cells in it, also those that a content control is put around."""
    for one in element:
        if one.tag == wanted:
            yield one
        elif one.tag in _WRAPPERS:
            yield from _within(one, wanted)


def _is_long(cell: Cell) -> bool:
    length = 0
    for text in cell.element.iter(W + "t"):
        length += len(text.text or "")
        if length > _LONGEST_CELL:
            return True
    return False
