from __future__ import annotations

import struct
from collections.abc import Iterable

import pytest

from office_files import Cell, SheetXml, core_properties, package, relations, xlsx
from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.sheets import read_workbook
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, OmissionReason
from small_memory import read_in_small_memory

Rows = dict[int, tuple[Cell, ...]]


def workbook(data: bytes) -> Content:
    return read_workbook(SourceFile("a.xlsx", data))


def one_sheet(rows: str) -> Content:
    return workbook(xlsx(SheetXml("Data", rows)))


def test_each_sheet_is_a_page_under_its_name() -> None:
    content = workbook(
        xlsx(SheetXml("Sales", {1: ("a", "b")}), SheetXml("Costs & more", {1: ("c", "d")}))
    )
    assert content.text == "Sales\n\na | b\n\nCosts & more\n\nc | d"
    assert [section.heading_path for section in content.sections] == [("Sales",), ("Costs & more",)]
    assert [place.page for place in content.places] == [1, 1, 2, 2]
    assert content.metadata.pages == 2
    assert [block.kind for block in content.blocks] == [BlockKind.HEADING, BlockKind.TABLE] * 2


def test_rows_keep_the_numbers_that_the_spreadsheet_shows() -> None:
    content = workbook(xlsx(SheetXml("S", {3: (None, "x"), 4: (None, "y"), 1_000: ("z",)})))
    rows = {content.text[one.start : one.end]: one.row for one in content.places}
    assert rows == {"S": None, "x": 3, "y": 4, "z": 1_000}


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('<c r="A1"><v>0.30000000000000004</v></c>', "0.3"),
        ('<c r="A1" t="b"><v>1</v></c>', "TRUE"),
        ('<c r="A1" s="1"><v>45413</v></c>', "2024-05-01"),
        ('<c r="A1" s="3"><v>45413.4375</v></c>', "2024-05-01 10:30"),
        ('<c r="A1" s="2"><v>0.4375</v></c>', "10:30:00"),
        ('<c r="A1" t="str"><f>A2</f><v>text</v></c>', "text"),
        ('<c r="A1" t="inlineStr"><is><t>two\nlines  here</t></is></c>', "two lines here"),
    ],
)
def test_cells_are_written_as_people_read_them(cell: str, shown: str) -> None:
    assert one_sheet(f'<row r="1">{cell}</row>').text == f"Data\n\n{shown}"


def test_errors_and_formulas_without_a_result_are_nothing() -> None:
    cells = '<c r="A1" t="e"><v>#N/A</v></c><c r="B1"><f>1+1</f></c><c r="C1"><v>7</v></c>'
    assert one_sheet(f'<row r="1">{cells}</row>').text == "Data\n\n7"
    with pytest.raises(FileEmpty):
        one_sheet('<row r="1"><c r="B1"><f>1+1</f></c></row>')


def test_hidden_sheets_are_kept_but_marked() -> None:
    content = workbook(
        xlsx(
            SheetXml("Shown", {1: ("a",)}),
            SheetXml("Secret", {1: ("b", "c"), 2: ("d", "e")}, state="hidden"),
            SheetXml("Deep", {1: ("f",)}, state="veryHidden"),
        )
    )
    assert content.text == (
        "Shown\n\na\n\nSheet 2 (hidden)\n\nSecret\n\nb | c\nd | e\n\nSheet 3 (hidden)\n\nDeep\n\nf"
    )
    hidden = [content.text[one.start : one.end] for one in content.omissions]
    assert hidden == ["Secret", "b | c", "\n", "d | e", "Deep", "f"]
    assert {one.reason for one in content.omissions} == {OmissionReason.HIDDEN}


def test_empty_sheets_have_no_heading_but_count() -> None:
    content = workbook(xlsx(SheetXml("Empty", {}), SheetXml("Full", {1: ("a",)})))
    assert content.text == "Full\n\na"
    assert content.places[0].page == 2
    assert content.metadata.pages == 2


def test_a_cell_merged_downwards_holds_for_all_its_rows() -> None:
    rows: Rows = {1: ("Region", "City", "Sales"), 2: ("North", "Oslo", 1), 3: (None, "Bergen", 2)}
    content = workbook(xlsx(SheetXml("S", rows, merged=["A2:A3"])))
    assert content.text.endswith("Region: North; City: Bergen; Sales: 2")


def test_a_cell_merged_sideways_names_all_its_columns() -> None:
    rows: Rows = {
        1: (None, "2022", None, "2023", None),
        2: ("Region", "Q1", "Q2", "Q1", "Q2"),
        3: ("North", 1, 2, 3, 4),
    }
    content = workbook(xlsx(SheetXml("S", rows, merged=["B1:C1", "D1:E1"])))
    assert "2022 Q2: 2; 2023 Q1: 3" in content.text


def test_what_the_file_says_about_itself_is_kept() -> None:
    properties = core_properties(
        title="Budget",
        creator="Ann",
        created="2024-05-01T10:00:00Z",
        modified="2024-06-01T10:00:00Z",
        keywords="money; plan",
    )
    content = workbook(xlsx(SheetXml("S", {1: ("a",)}), properties=properties))
    assert content.title == "Budget"
    assert content.metadata.author == "Ann"
    assert content.metadata.date == "2024-05-01T10:00:00+00:00"
    assert content.metadata.modified == "2024-06-01T10:00:00+00:00"
    assert content.metadata.tags == ("money", "plan")


_FAR = (
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
)


def test_a_sheet_with_cells_far_apart_is_left_out_and_said_so() -> None:
    content = workbook(xlsx(SheetXml("Far", _FAR), SheetXml("Near", {1: ("a",)})))
    assert content.text == "Near\n\na"
    assert content.metadata.notes == (
        'sheet "Far" spans 17,179,869,184 cells, too many to read; save it as CSV to index it',
    )


def test_a_workbook_of_cells_far_apart_is_refused_in_little_memory() -> None:
    oddly_spelt = _FAR.replace(' r="', " s='1'\n r = \"").replace("<c ", "<c\t")
    data = xlsx(SheetXml("Far", oddly_spelt))
    said = read_in_small_memory("pincite.reading.office.sheets", "read_workbook", "a.xlsx", data)
    assert said.startswith('unreadable: cannot be read: sheet "Far" spans')


def test_cells_that_only_have_a_format_do_not_count() -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576" s="1"/></row>'
    assert one_sheet(rows).text == "Data\n\n1"


def test_a_damaged_sheet_is_left_out_and_said_so() -> None:
    content = workbook(xlsx(SheetXml("Bad", "<row><c></row>"), SheetXml("Good", {1: ("a",)})))
    assert content.text == "Good\n\na"
    assert content.metadata.notes[0].startswith('sheet "Bad" is damaged')


def test_nothing_but_a_damaged_sheet_is_unreadable_not_empty() -> None:
    with pytest.raises(FileUnreadable, match="Bad") as raised:
        workbook(xlsx(SheetXml("Bad", "<row><c></row>")))
    assert not isinstance(raised.value, FileEmpty)


def _xlsb_record(kind: int, payload: bytes = b"") -> bytes:
    head = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return head + bytes([len(payload)]) + payload


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb(cells: Iterable[tuple[int, int, str]]) -> bytes:
    """A workbook in Excel's binary format with one sheet."""
    sheet = _xlsb_record(0x81) + _xlsb_record(0x94, bytes(16)) + _xlsb_record(0x91)
    for row, column, text in cells:
        sheet += _xlsb_record(0, struct.pack("<I13x", row))
        sheet += _xlsb_record(6, struct.pack("<II", column, 0) + _wide(text))
    sheet += _xlsb_record(0x92) + _xlsb_record(0x82)
    bundle = struct.pack("<II", 0, 1) + _wide("rId1") + _wide("Data")
    book = _xlsb_record(0x83) + _xlsb_record(0x8F) + _xlsb_record(0x9C, bundle)
    book += _xlsb_record(0x90) + _xlsb_record(0x84)
    return package(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
            'content-types"><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.'
            'binary.macroEnabled.main"/></Types>',
            "_rels/.rels": relations(("rId1", "officeDocument", "xl/workbook.bin")),
            "xl/workbook.bin": book,
            "xl/_rels/workbook.bin.rels": relations(("rId1", "worksheet", "worksheets/sheet1.bin")),
            "xl/worksheets/sheet1.bin": sheet,
        }
    )


def test_the_binary_format_is_read() -> None:
    content = workbook(xlsb([(1, 0, "a"), (1, 1, "b"), (4, 0, "c")]))
    assert content.type == "xlsb"
    assert content.text == "Data\n\na | b\n\nc"
    assert [place.row for place in content.places] == [None, 2, 5]


def test_cells_far_apart_in_the_binary_format_are_refused() -> None:
    data = xlsb([(0, 0, "a"), (1_048_575, 16_383, "b")])
    said = read_in_small_memory("pincite.reading.office.sheets", "read_workbook", "a.xlsb", data)
    assert "spans 17,179,869,184 cells" in said
