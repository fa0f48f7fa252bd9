from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.reading.data.rows import Row, RowWriter
from pincite.records import Content, OmissionReason


def written(*rows: Sequence[str], first: int = 1) -> list[str]:
    """The lines that rows become; an empty row parts tables."""
    writer = RowWriter()
    writer.rows(Row(number, tuple(cells)) for number, cells in enumerate(rows, start=first))
    return writer.content("csv").text.split("\n")


def placed(content: Content) -> list[tuple[int | None, str]]:
    return [(place.row, content.text[place.start : place.end]) for place in content.places]


def test_each_row_below_a_header_says_what_its_cells_are() -> None:
    assert written(("Name", "City", "Age"), ("Ann", "Rome", "30"), ("Bob", "", "25")) == [
        "Name | City | Age",
        "Name: Ann; City: Rome; Age: 30",
        "Name: Bob; Age: 25",
    ]


def test_rows_without_a_header_are_cells_between_bars() -> None:
    assert written(("Ann", "30", "Rome"), ("Bob", "25", "Oslo")) == [
        "Ann | 30 | Rome",
        "Bob | 25 | Oslo",
    ]


def test_a_caption_above_the_header_stays_as_it_is() -> None:
    assert written(("Cups",), ("Team", "Place", "Won"), ("Blues", "STL", "1")) == [
        "Cups",
        "Team | Place | Won",
        "Team: Blues; Place: STL; Won: 1",
    ]


def test_years_may_be_names_of_columns() -> None:
    lines = written(("", "2022", "2023"), ("Sales", "5", "6"), ("Costs", "4", "3"))
    assert lines[1:] == ["Sales; 2022: 5; 2023: 6", "Costs; 2022: 4; 2023: 3"]


def test_years_that_go_on_below_are_data() -> None:
    lines = written(("Ann", "2022", "Rome"), ("Bob", "2023", "Oslo"), ("Eva", "2021", "Bonn"))
    assert lines[1] == "Bob | 2023 | Oslo"


def test_a_form_of_two_columns_has_no_header() -> None:
    assert written(("Name", "Ann"), ("City", "Rome"))[1] == "City | Rome"


def test_two_columns_with_numbers_have_one() -> None:
    assert written(("Name", "Age"), ("Ann", "30"))[1] == "Name: Ann; Age: 30"


def test_each_table_of_a_sheet_has_its_own_header() -> None:
    lines = written(
        ("Name", "City", "Age"),
        ("Ann", "Rome", "30"),
        (),
        ("Team", "Coach", "Won"),
        ("Blues", "Bo", "1"),
    )
    assert lines == [
        "Name | City | Age",
        "Name: Ann; City: Rome; Age: 30",
        "",
        "Team | Coach | Won",
        "Team: Blues; Coach: Bo; Won: 1",
    ]


def test_a_header_holds_over_an_empty_row() -> None:
    lines = written(("", "Sales", "Costs"), (), ("North", "5", "4"), (), ("Total", "5", "4"))
    assert lines == [
        "Sales | Costs",
        "North; Sales: 5; Costs: 4",
        "",
        "Total; Sales: 5; Costs: 4",
    ]


def test_a_header_does_not_hold_for_columns_it_has_not() -> None:
    lines = written(("Name", "Age"), ("Ann", "30"), (), ("x", "1", "2"))
    assert lines[-1] == "x | 1 | 2"


def test_words_alone_in_the_first_column_head_what_follows() -> None:
    lines = written(("Item", "2022", "2023"), ("Assets",), ("Cash", "5", "6"))
    assert lines[1:] == ["Assets", "Item: Cash; 2022: 5; 2023: 6"]


def test_a_second_row_of_names_tells_columns_apart() -> None:
    lines = written(
        ("Who", "Count", "Results", ""),
        ("", "", "Accuracy", "Time"),
        ("Blind", "5", "34%", "9 sec"),
    )
    assert lines[-1] == "Who: Blind; Count: 5; Results Accuracy: 34%; Time: 9 sec"


def test_a_row_below_the_header_whose_first_cell_is_empty_is_data() -> None:
    lines = written(("Region", "City", "Mood"), ("", "Oslo", "good"), ("South", "Rome", "bad"))
    assert lines[1] == "City: Oslo; Mood: good"


def test_names_over_merged_columns_belong_to_each_of_them() -> None:
    writer = RowWriter()
    spread = ("", "2022", "2022", "2023", "2023")
    writer.rows(
        [
            Row(1, ("", "2022", "", "2023", ""), spread),
            Row(2, ("Region", "Q1", "Q2", "Q1", "Q2")),
            Row(3, ("North", "1", "2", "3", "4")),
        ]
    )
    assert writer.content("xlsx").text.endswith(
        "Region: North; 2022 Q1: 1; 2022 Q2: 2; 2023 Q1: 3; 2023 Q2: 4"
    )


def test_long_names_of_columns_are_shortened_in_rows() -> None:
    lines = written(("Name", "Why did you " + "x" * 200, "Age"), ("Ann", "so", "30"))
    assert "x" * 200 in lines[0]
    assert len(lines[1]) < 130


def test_a_paragraph_is_no_name_of_a_column() -> None:
    lines = written(("Name", "word " * 100, "Age"), ("Ann", "so", "30"))
    assert lines[1] == "Ann | so | 30"


def test_places_carry_the_numbers_of_rows() -> None:
    writer = RowWriter()
    writer.rows([Row(3, ("a", "b")), Row(4, ("c",)), Row(7, ("d",))])
    assert placed(writer.content("xlsx")) == [(3, "a | b"), (4, "c"), (7, "d")]


def test_omitted_rows_are_marked_whole() -> None:
    writer = RowWriter()
    writer.rows([Row(1, ("a", "b")), Row(2, ("c", "1"))], omitted=OmissionReason.HIDDEN)
    content = writer.content("xlsx")
    kept = content.text
    for omission in reversed(content.omissions):
        kept = kept[: omission.start] + kept[omission.end :]
    assert kept == ""


def test_cells_beyond_the_limit_are_left_out() -> None:
    writer = RowWriter(cells=4)
    assert writer.rows([Row(number, ("a", "b")) for number in (1, 2, 3)]) == 2
    assert writer.is_full
    assert writer.content("csv").text == "a | b\na | b"


def test_characters_beyond_the_limit_are_left_out() -> None:
    writer = RowWriter(characters=5)
    assert writer.rows([Row(1, ("abc",)), Row(2, ("defg",)), Row(3, ("h",))]) == 2
    assert writer.is_full
    assert writer.content("csv").text == "abc\nde"


def test_a_writer_that_just_holds_all_rows_is_not_full() -> None:
    writer = RowWriter(cells=2, characters=2)
    assert writer.rows([Row(1, ("a",)), Row(2, ("b",))]) == 2
    assert not writer.is_full


_CELL = st.text(alphabet="ab1 $-é", max_size=4).map(lambda text: " ".join(text.split()))


@given(st.lists(st.lists(_CELL, max_size=5), min_size=1, max_size=12))
def test_no_cell_is_lost_and_each_row_is_one_line(rows: list[list[str]]) -> None:
    if not any(cell for row in rows for cell in row):
        return
    writer = RowWriter()
    writer.rows(Row(number, tuple(cells)) for number, cells in enumerate(rows, start=1))
    content = writer.content("csv")
    lines = {row: text for row, text in placed(content) if row}
    assert sorted(lines) == [number for number, row in enumerate(rows, start=1) if any(row)]
    for number, line in lines.items():
        assert "\n" not in line
        assert all(cell in line for cell in rows[number - 1])


@pytest.mark.parametrize("value", ["3", "-3.5", "1,200", "$500,000", "40%", "(12)", "2024-05-01"])
def test_what_is_a_value_is_no_name_of_a_column(value: str) -> None:
    assert written(("a", value, "c"), ("d", "2022-01-01", "f"))[1] == "d | 2022-01-01 | f"
