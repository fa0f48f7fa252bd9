"""Tables: each line can be understood alone, and each row is a place."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileEmpty
from pincite.reading.data.table import Row, RowWriter, read
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content


def table(data: str | bytes, path: str = "a.csv") -> Content:
    return read(SourceFile(path, data.encode() if isinstance(data, str) else data))


def lines(data: str, path: str = "a.csv") -> list[str]:
    return table(data, path).text.split("\n")


def csv_of(rows: Sequence[Sequence[str]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def test_rows_say_what_their_cells_are_and_keep_their_numbers() -> None:
    content = table("name,city,age\n\nAnn,Rome,30\nBob,,25\n")
    assert content.text.split("\n") == [
        "name | city | age",
        "name: Ann; city: Rome; age: 30",
        "name: Bob; age: 25",
    ]
    assert [place.row for place in content.places] == [1, 3, 4]
    assert {block.kind for block in content.blocks} == {BlockKind.TABLE}


LINES = {
    "rows without a header are cells between bars": (
        "Ann,30,Rome\nBob,25,Oslo",
        ["Ann | 30 | Rome", "Bob | 25 | Oslo"],
    ),
    "a caption above the header stays as it is": (
        "Cups,,\nTeam,Place,Won\nBlues,STL,1",
        ["Cups", "Team | Place | Won", "Team: Blues; Place: STL; Won: 1"],
    ),
    "years may be names of columns": (
        ",2022,2023\nSales,5,6\nCosts,4,3",
        ["2022 | 2023", "Sales; 2022: 5; 2023: 6", "Costs; 2022: 4; 2023: 3"],
    ),
    "years that go on below are data": (
        "Ann,2022,Rome\nBob,2023,Oslo\nEva,2021,Bonn",
        ["Ann | 2022 | Rome", "Bob | 2023 | Oslo", "Eva | 2021 | Bonn"],
    ),
    "a form of two columns has no header": (
        "Name,Ann\nCity,Rome",
        ["Name | Ann", "City | Rome"],
    ),
    "each table has a header of its own": (
        "Name,City,Age\nAnn,Rome,30\n,,\nTeam,Coach,Won\nBlues,Bo,1",
        [
            *("Name | City | Age", "Name: Ann; City: Rome; Age: 30", ""),
            *("Team | Coach | Won", "Team: Blues; Coach: Bo; Won: 1"),
        ],
    ),
    "a header holds over an empty row": (
        ",Sales,Costs\n,,\nNorth,5,4\n,,\nTotal,5,4",
        ["Sales | Costs", "North; Sales: 5; Costs: 4", "", "Total; Sales: 5; Costs: 4"],
    ),
    "a header does not hold for columns it has not": (
        "Name,Age\nAnn,30\n,\nx,1,2",
        ["Name | Age", "Name: Ann; Age: 30", "", "x | 1 | 2"],
    ),
    "words alone head what follows": (
        "Item,2022,2023\nAssets,,\nCash,5,6",
        ["Item | 2022 | 2023", "Assets", "Item: Cash; 2022: 5; 2023: 6"],
    ),
    "a second row of names tells columns apart": (
        "Who,Count,Results,\n,,Accuracy,Time\nBlind,5,34%,9 sec",
        [
            *("Who | Count | Results", "Accuracy | Time"),
            "Who: Blind; Count: 5; Results Accuracy: 34%; Time: 9 sec",
        ],
    ),
    "a row whose first cell is empty is data": (
        "Region,City,Mood\n,Oslo,good\nSouth,Rome,bad",
        ["Region | City | Mood", "City: Oslo; Mood: good", "Region: South; City: Rome; Mood: bad"],
    ),
    "commas in numbers do not part cells": (
        "1,5;2,5;3,5\n4,5;5,5;6,5\n",
        ["1,5 | 2,5 | 3,5", "4,5 | 5,5 | 6,5"],
    ),
    "a declared delimiter is believed": ("sep=;\r\na,b;c\r\n1;2\r\n", ["a,b | c", "a,b: 1; c: 2"]),
    "a list with some commas is not parted": (
        "Lorem, ipsum\ndolor sit\namet\nsed, do, eiusmod\ntempor\n",
        ["Lorem, ipsum", "dolor sit", "amet", "sed, do, eiusmod", "tempor"],
    ),
    "a quoted cell may hold anything": (
        'name,said\nAnn,"one, ""two""\nthree"\nBob,no\n',
        ["name | said", 'Ann | one, "two" three', "Bob | no"],
    ),
    "a quote that is never closed swallows nothing": (
        'a,b\n1,2\n3,"four\n5,6\n',
        ["a | b", "a: 1; b: 2", 'a: 3; b: "four', "a: 5; b: 6"],
    ),
    "quoted line breaks before an unclosed quote stay quoted": (
        'a,"x\ny"\nb,"z\nc,w\n',
        ["a | x y", 'b | "z', "c | w"],
    ),
    "rows may have different lengths": (
        "a,b\n1,2,3\n4\n5,6\n",
        ["a | b", "a: 1; b: 2; 3", "4", "a: 5; b: 6"],
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_a_table_is_read_as_people_read_it(case: str) -> None:
    data, expected = LINES[case]
    assert lines(data) == expected


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = [("name", "height", "city"), ("Ann", "1.5", "Rome")]
    data = "\n".join(map(delimiter.join, rows))
    assert lines(data)[1] == "name: Ann; height: 1.5; city: Rome"


def test_a_tsv_is_parted_at_tabs_only() -> None:
    assert lines("a,b\t1\nc,d\t2\n", "a.tsv") == ["a,b | 1", "c,d | 2"]
    assert table("a\tb\n", "a.tsv").type == "tsv"


@pytest.mark.parametrize("value", ["-3.5", "1,200", "$500,000", "40%", "(12)", "2024-05-01"])
def test_what_is_a_value_is_no_name_of_a_column(value: str) -> None:
    found = lines(csv_of([("a", value, "c"), ("d", "2022-01-01", "f")]))
    assert found[1] == "d | 2022-01-01 | f"


def test_long_names_of_columns_are_shortened_in_rows_and_paragraphs_are_none() -> None:
    found = lines(f"Name,Why did you {'x' * 200},Age\nAnn,so,30")
    assert "x" * 200 in found[0]
    assert len(found[1]) < 130
    assert lines(f"Name,{'word ' * 100},Age\nAnn,so,30")[1] == "Ann | so | 30"


def test_nothing_to_read_is_empty() -> None:
    for data in ("", "  \n", ",,,\n,,,\n"):
        with pytest.raises(FileEmpty):
            table(data)


def test_what_is_too_much_is_left_out_and_said_so() -> None:
    content = table("1,2\n" + "a,b," * 100_001)
    assert content.metadata.notes == ("only the first 200,000 cells of each row were read",)
    content = table("word,number\n" + "x" * 1_000 + ",1\n" + f"{'y' * 999_000},2\n" * 10)
    assert content.metadata.notes == ("only the first 8 rows were read",)
    assert len(content.text) < 5_100_000


def test_a_writer_ends_where_its_cells_or_characters_do() -> None:
    rows = [Row(1, ("abc", "d")), Row(2, ("efg", "h")), Row(3, ("i", "j"))]
    writer = RowWriter(cells=4)
    assert (writer.rows(rows), writer.is_full) == (2, True)
    assert writer.content("csv").text == "abc | d\nefg | h"
    writer = RowWriter(characters=9)
    assert (writer.rows(rows), writer.is_full) == (2, True)
    assert writer.content("csv").text == "abc | d\nef"
    writer = RowWriter(cells=6, characters=19)
    assert (writer.rows(rows), writer.is_full) == (3, False)


_CELL = st.text(alphabet="ab1 $-é", max_size=4).map(lambda text: " ".join(text.split()))


@given(st.lists(st.lists(_CELL, max_size=5), min_size=1, max_size=12))
def test_no_cell_is_lost_and_each_row_is_one_line(rows: list[list[str]]) -> None:
    if not any(cell for row in rows for cell in row):
        return
    writer = RowWriter()
    writer.rows(Row(number, tuple(cells)) for number, cells in enumerate(rows, start=1))
    content = writer.content("csv")
    found = {one.row: content.text[one.start : one.end] for one in content.places if one.row}
    assert sorted(found) == [number for number, row in enumerate(rows, start=1) if any(row)]
    for number, line in found.items():
        assert "\n" not in line
        assert all(cell in line for cell in rows[number - 1])
