"""Reading order: columns one after the other, tables row by row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pytest

from pincite.records import BlockKind, Content
from unit.reading.pdf.make_pdf import Page, content_of, lines, pdf, text

_LEFT = [
    "The left column of this page",
    "has some lines of text, which",
    "are read one after the other",
    "before the right one is read.",
]
_RIGHT = [
    "The right column is beside it",
    "and must not be mixed up with",
    "the lines that stand at its left",
    "hand side, at any price at all.",
]
_IN_ORDER = ["\n".join(_LEFT), "\n".join(_RIGHT)]
_TABLE = [
    ("Name", "Quantity", "Price"),
    ("Apples", "3", "1.20"),
    ("Pears", "12", "0.80"),
    ("Plums", "5", "2.10"),
]
_ROWS = "\n".join(f"| {' | '.join(row)} |" for row in _TABLE)


def read(*drawn: str) -> Content:
    return content_of(pdf(Page(drawn)))


def blocks(content: Content) -> list[str]:
    return [content.text[block.start : block.end] for block in content.blocks]


@pytest.mark.parametrize("order", ["columns", "rows", "right first"])
def test_a_column_is_read_to_its_end_before_the_next(order: str) -> None:
    left, right = lines(_LEFT, 72, 700), lines(_RIGHT, 320, 700)
    drawn = {
        "columns": [*left, *right],
        "rows": [*chain.from_iterable(zip(left, right, strict=True))],
        "right first": [*right, *left],
    }
    assert blocks(read(*drawn[order])) == _IN_ORDER


def test_what_stands_across_the_columns_parts_them() -> None:
    across = "A line that runs across both of the columns of this page, wide as they are"
    content = read(
        *lines(_LEFT, 72, 740),
        *lines(_RIGHT, 320, 740),
        *lines([across], 72, 600),
        *lines(_LEFT, 72, 500),
        *lines(_RIGHT, 320, 500),
    )
    assert blocks(content) == [*_IN_ORDER, across, *_IN_ORDER]


def test_a_gutter_as_narrow_as_a_letter_parts_columns() -> None:
    left = lines(["Lorem ipsum dolor si"] * 4, 72, 700, size=10, font="F3")
    right = lines(["Nonumy eirmod tempor"] * 4, 72 + 20 * 6 + 10, 700, size=10, font="F3")
    content = read(*left, *right)
    assert [line for line in content.text.split("\n") if line] == [
        *["Lorem ipsum dolor si"] * 4,
        *["Nonumy eirmod tempor"] * 4,
    ]


def test_columns_of_hebrew_are_read_from_the_right() -> None:
    left = [text("שורה בצד שמאל של הדף הזה"[::-1], 40, 700 - 16 * at, font="U") for at in range(4)]
    right = [
        text("שורה בצד ימין של הדף הזה"[::-1], 340, 700 - 16 * at, font="U") for at in range(4)
    ]
    first = read(*left, *right).text.split("\n")[0]
    assert "ימין" in first


def cells(table: Sequence[Sequence[str]]) -> list[str]:
    """The words of each cell where they stand, row by row."""
    return [
        text(cell, 72 + 150 * column, 700 - 16 * at)
        for at, row in enumerate(table)
        for column, cell in enumerate(row)
        if cell
    ]


def test_a_table_is_read_row_by_row_and_each_word_has_its_place() -> None:
    by_rows = cells(_TABLE)
    by_columns = [drawn for column in range(3) for drawn in by_rows[column::3]]
    for drawn in (by_rows, by_columns):
        content = read(*drawn)
        assert content.text == _ROWS
        assert [block.kind for block in content.blocks] == [BlockKind.TABLE]
        placed = [content.text[place.start : place.end] for place in content.places]
        assert placed == [cell for row in _TABLE for cell in row]


def test_an_empty_cell_stays_empty_and_a_sign_of_currency_with_its_number() -> None:
    table = [("Name", "Left", "Right"), ("a", "", "2"), ("b", "3", ""), ("c", "5", "6")]
    assert "| a |  | 2 |\n| b | 3 |  |" in read(*cells(table)).text
    sums = [
        drawn
        for at, name in enumerate(("Sales", "Costs", "Profit"))
        for drawn in (
            text(name, 72, 700 - 16 * at),
            text("$", 200, 700 - 16 * at),
            text("1,200", 230, 700 - 16 * at),
        )
    ]
    assert "| Costs | $ 1,200 |" in read(*sums).text


def test_wide_blanks_in_a_few_lines_make_no_table() -> None:
    content = read(
        text("Dear Sir or Madam,", 72, 700),
        text("12 May 2024", 400, 700),
        *lines(["thank you for your letter, which came today."], 72, 660),
    )
    assert all(block.kind is BlockKind.PARAGRAPH for block in content.blocks)
    assert "|" not in content.text


def test_text_in_another_direction_follows_the_page() -> None:
    stamp = text("stamped on the side", 30, 300, matrix="0 1 -1 0")
    assert blocks(read(stamp, *lines(_LEFT, 72, 700))) == ["\n".join(_LEFT), "stamped on the side"]
