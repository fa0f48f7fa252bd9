"""Lines that recognition finds anywhere on a page become text in the order people read it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pincite.converting.layout import Block, blocks_of
from pincite.converting.wire import Line

HEIGHT = 20.0


def line(text: str, left: float, top: float, width: float = 400.0) -> Line:
    return Line(text, left, top, left + width, top + HEIGHT)


def column(prefix: str, count: int, left: float, top: float = 0.0) -> list[Line]:
    return [line(f"{prefix}{number}", left, top + 22 * number) for number in range(count)]


def texts(blocks: list[Block]) -> list[str]:
    return [" ".join(cell for row in block.rows for cell in row if cell) for block in blocks]


def test_lines_that_stand_close_are_one_paragraph_and_a_gap_begins_the_next() -> None:
    page = [line(f"a{n}", 0, 24 * n) for n in range(3)] + [line("b", 0, 110)]
    assert texts(list(blocks_of(page))) == ["a0 a1 a2", "b"]


def test_a_line_of_much_larger_type_stands_by_itself() -> None:
    page = [Line("Title", 0, 0, 200, 40), line("text", 0, 42), line("more", 0, 64)]
    assert texts(list(blocks_of(page))) == ["Title", "text more"]


def test_columns_are_read_one_after_the_other_below_what_reaches_over_both() -> None:
    head, foot = line("head", 0, 0, 900), line("foot", 0, 400, 900)
    page = [foot, *column("r", 10, 500, 100), *column("l", 10, 0, 111), head]
    words = " ".join(texts(list(blocks_of(page)))).split()
    left, right = [f"l{n}" for n in range(10)], [f"r{n}" for n in range(10)]
    assert words == ["head", *left, *right, "foot"]


def test_cells_below_each_other_make_a_table_with_empty_cells_where_nothing_stands() -> None:
    page = [
        *(line("Test", 0, 0, 60), line("Result", 300, 0, 80), line("Flag", 600, 2, 60)),
        *(line("Glucose", 0, 30, 90), line("118", 300, 30, 40), line("HIGH", 600, 31, 60)),
        *(line("HDL", 0, 60, 40), line("48", 302, 61, 30)),
    ]
    (table,) = blocks_of(page)
    assert table.is_table
    assert table.rows == (
        ("Test", "Result", "Flag"),
        ("Glucose", "118", "HIGH"),
        ("HDL", "48", ""),
    )


def test_pieces_of_one_line_are_joined_and_a_single_row_is_no_table() -> None:
    page = [line("Report", 0, 0, 80), line("ID:", 86, 1, 30), line("17", 300, 0, 30)]
    (block,) = blocks_of(page)
    assert block.rows == (("Report ID: 17",),)


def test_lines_that_run_downwards_are_read_from_right_to_left() -> None:
    page = [Line(f"縦書き{n}", 40 * n, 0, 40 * n + 20, 300) for n in range(3)]
    (block,) = blocks_of(page)
    assert block.rows == (("縦書き2",), ("縦書き1",), ("縦書き0",))


coordinates = st.floats(0, 2_000)
sizes = st.floats(0, 500)


@given(st.lists(st.tuples(coordinates, coordinates, sizes, sizes), max_size=60))
def test_no_line_is_lost_or_doubled_wherever_it_stands(
    boxes: list[tuple[float, float, float, float]],
) -> None:
    page = [
        Line(f"w{number}", left, top, left + width, top + height)
        for number, (left, top, width, height) in enumerate(boxes)
    ]
    words = " ".join(texts(list(blocks_of(page)))).split()
    assert sorted(words) == sorted(one.text for one in page)
