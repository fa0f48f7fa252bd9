"""The shape of a table in an OpenDocument file."""

from __future__ import annotations

from collections.abc import Iterator

from pincite.reading.office.opendocument.names import TABLE, Element, number
from pincite.reading.xml_safely import tag_of

_MOST_COLUMNS = 63
_LONGEST_CELL = 1_000  # characters; what is longer is laid out in a table, but is no table
_GROUPS = tuple(TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group"))
_CELL = TABLE + "table-cell"
_COVERED = TABLE + "covered-table-cell"  # by a neighbour that takes more than one


def rows_of(table: Element) -> Iterator[list[Element]]:
    """The cells of each row, covered ones among them; empty ones as often as they are repeated."""
    for one in table:
        if one.tag in _GROUPS:
            yield from rows_of(one)
        elif one.tag == TABLE + "table-row":
            yield list(_cells(one))[:_MOST_COLUMNS]


def is_layout(rows: list[list[Element]]) -> bool:
    """Whether the table only arranges text on the page: a box around it, or long columns of it."""
    return all(len(row) <= 1 for row in rows) or any(
        map(_is_long, (c for row in rows for c in row))
    )


def is_covered(cell: Element) -> bool:
    """Whether a neighbour covers the cell."""
    return tag_of(cell) == _COVERED


def _cells(row: Element) -> Iterator[Element]:
    """A cell with something in it stands once, or tables in repeated cells would know no end."""
    repeated = TABLE + "number-columns-repeated"
    for cell in row.iterchildren(_CELL, _COVERED):
        times = 1 if len(cell) else number(cell, repeated, otherwise=1, most=_MOST_COLUMNS)
        yield from [cell] * times


def _is_long(cell: Element) -> bool:
    length = 0
    for text in cell.itertext():
        length += len(text)
        if length > _LONGEST_CELL:
            return True
    return False
