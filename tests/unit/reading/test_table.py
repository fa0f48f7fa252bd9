from __future__ import annotations

import pytest

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.data.table import read
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content
from small_memory import read_in_small_memory


def table(data: bytes | str, path: str = "a.csv") -> Content:
    return read(SourceFile(path, data.encode() if isinstance(data, str) else data))


def lines(data: bytes | str, path: str = "a.csv") -> list[str]:
    return table(data, path).text.split("\n")


def test_rows_say_what_their_cells_are() -> None:
    assert lines("name,age\nAnn,30\nBob,25\n") == [
        "name | age",
        "name: Ann; age: 30",
        "name: Bob; age: 25",
    ]


def test_rows_are_numbered_as_a_spreadsheet_would() -> None:
    content = table("name,age\n\nAnn,30\nBob,25\n")
    assert [place.row for place in content.places] == [1, 3, 4]


def test_a_table_is_one_block() -> None:
    assert [block.kind for block in table("a,b\n1,2\n3,4").blocks] == [BlockKind.TABLE]


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
def test_the_delimiter_is_found(delimiter: str) -> None:
    text = delimiter.join(("name", "height", "city"))
    text += "\n" + delimiter.join(("Ann", "1.5", "Rome"))
    assert lines(text)[1] == "name: Ann; height: 1.5; city: Rome"


def test_commas_in_numbers_do_not_part_cells_of_a_semicolon_file() -> None:
    assert lines("1,5;2,5;3,5\n4,5;5,5;6,5\n") == ["1,5 | 2,5 | 3,5", "4,5 | 5,5 | 6,5"]


def test_a_declared_delimiter_is_believed_and_its_line_is_no_row() -> None:
    content = table("sep=;\r\na,b;c\r\n1;2\r\n")
    assert content.text == "a,b: 1; c: 2".join(["a,b | c\n", ""])
    assert content.places[0].row == 1


def test_a_list_with_some_commas_is_not_parted() -> None:
    text = "Lorem, ipsum\ndolor sit\namet\nsed, do, eiusmod\ntempor\n"
    assert lines(text) == text.strip().split("\n")


def test_a_tsv_is_parted_at_tabs_only() -> None:
    assert lines("a,b\t1\nc,d\t2\n", "a.tsv") == ["a,b | 1", "c,d | 2"]
    assert table("a\tb\n", "a.tsv").type == "tsv"


def test_a_quoted_cell_may_hold_delimiters_quotes_and_line_breaks() -> None:
    content = table('name,said\nAnn,"one, ""two""\nthree"\nBob,no\n')
    assert content.text.split("\n") == ["name | said", 'Ann | one, "two" three', "Bob | no"]
    assert [place.row for place in content.places] == [1, 2, 3]


def test_a_quote_that_is_never_closed_swallows_nothing() -> None:
    assert lines('a,b\n1,2\n3,"four\n5,6\n7,8\n')[2:] == [
        'a: 3; b: "four',
        "a: 5; b: 6",
        "a: 7; b: 8",
    ]


def test_quoted_line_breaks_before_an_unclosed_quote_stay_quoted() -> None:
    assert lines('a,"x\ny"\nb,"z\nc,w\n') == ["a | x y", 'b | "z', "c | w"]


def test_rows_may_have_different_lengths() -> None:
    assert lines("a,b\n1,2,3\n4\n5,6\n") == ["a | b", "a: 1; b: 2; 3", "4", "a: 5; b: 6"]


def test_any_encoding_is_read() -> None:
    text = "Ort,Größe\nKöln,5\n"
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        assert lines(text.encode(encoding))[1] == "Ort: Köln; Größe: 5"


def test_nothing_to_read_is_empty() -> None:
    for data in (b"", b"\n\n", b"  \n", b",,,\n,,,\n"):
        with pytest.raises(FileEmpty):
            table(data)


def test_binary_data_is_refused() -> None:
    with pytest.raises(FileUnreadable):
        table(b"a,b\n\x00\x01\x02\x03")


def test_a_row_of_a_hundred_thousand_cells_is_read() -> None:
    header = ",".join(f"c{number}" for number in range(100_000))
    content = table(f"{header}\n" + ",".join(["1"] * 100_000))
    assert content.text.endswith("c99999: 1")


def test_cells_beyond_two_hundred_thousand_are_left_out_and_said_so() -> None:
    content = table("1,2\n" + "a,b," * 100_001)
    assert content.metadata.notes == ("only the first 200,000 cells of each row were read",)


def test_more_rows_than_fit_are_cut_and_said_so() -> None:
    content = table("word,number\n" + "x" * 1_000 + ",1\n" + f"{'y' * 999_000},2\n" * 10)
    assert content.metadata.notes == ("only the first 8 rows were read",)
    assert len(content.text) < 5_100_000


def test_one_line_of_twenty_megabytes_is_survived() -> None:
    for data in (b"a" * 20_000_000, b"," * 20_000_000, b'"' * 19_999_999, b"\n" * 20_000_000):
        text = read_in_small_memory("pincite.reading.data.table", "read", "a.csv", data)
        assert len(text) < 5_100_000
