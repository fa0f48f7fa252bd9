from __future__ import annotations

import pytest

from office_files import package
from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.sheets import read_workbook
from pincite.reading.source_file import SourceFile
from pincite.records import Content, OmissionReason
from small_memory import read_in_small_memory

_NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"'
    for prefix in ("office", "table", "text", "style", "meta")
)


def ods(*sheets: str, styles: str = "", **parts: str) -> bytes:
    content = (
        f"<office:document-content {_NAMES}>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{''.join(sheets)}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    return package(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": content,
            **{f"{name}.xml": part for name, part in parts.items()},
        }
    )


def sheet(*rows: str, name: str = "Data", style: str = "") -> str:
    return (
        f'<table:table table:name="{name}" table:style-name="{style}">{"".join(rows)}</table:table>'
    )


def row(*cells: str, repeated: int | str = 1) -> str:
    repeats = f'table:number-rows-repeated="{repeated}"'
    return f"<table:table-row {repeats}>{''.join(cells)}</table:table-row>"


def cell(text: str = "", *, repeated: int | str = 1, value: str = "") -> str:
    inner = f"<text:p>{text}</text:p>" if text else ""
    return (
        f'<table:table-cell table:number-columns-repeated="{repeated}" {value}>{inner}'
        "</table:table-cell>"
    )


def workbook(data: bytes) -> Content:
    return read_workbook(SourceFile("a.ods", data))


def test_sheets_and_rows_are_read_as_they_show() -> None:
    content = workbook(
        ods(
            sheet(row(cell("Item"), cell("Price")), row(cell("Tea"), cell("$3.50"))),
            sheet(row(cell("x")), name="Other"),
        )
    )
    assert content.type == "ods"
    assert content.text == "Data\n\nItem | Price\nItem: Tea; Price: $3.50\n\nOther\n\nx"
    assert content.metadata.pages == 2


def test_empty_rows_and_cells_that_repeat_are_counted() -> None:
    data = ods(
        sheet(
            row(cell(repeated=16_384), repeated=9),
            row(cell(repeated=2), cell("a"), cell(repeated=16_000)),
            row(repeated=1_048_000),
        )
    )
    content = workbook(data)
    assert content.text == "Data\n\na"
    assert content.places[-1].row == 10


def test_cells_and_rows_that_repeat_are_read_so_often() -> None:
    content = workbook(ods(sheet(row(cell("a", repeated=2), cell("1"), repeated=2))))
    assert content.text == "Data\n\na | a | 1\na | a | 1"


def test_dates_are_written_as_iso_8601_says() -> None:
    value = 'office:value-type="date" office:date-value="{}"'
    content = workbook(
        ods(
            sheet(
                row(cell("1. May", value=value.format("2024-05-01"))),
                row(cell("noon", value=value.format("2024-05-01T12:00:00"))),
                row(cell("no date", value=value.format("garbage"))),
            )
        )
    )
    assert content.text == "Data\n\n2024-05-01\n2024-05-01 12:00:00\nno date"


def test_lines_and_spans_of_a_cell_are_one_line() -> None:
    spans = "one<text:s/><text:span>two</text:span> three</text:p><text:p>four"
    assert workbook(ods(sheet(row(cell(spans))))).text == "Data\n\none two three four"


def test_comments_in_cells_are_left_out() -> None:
    noted = cell("seen").replace(
        "<text:p>", "<office:annotation><text:p>secret</text:p></office:annotation><text:p>", 1
    )
    assert workbook(ods(sheet(row(noted)))).text == "Data\n\nseen"


def test_hidden_sheets_are_kept_but_marked() -> None:
    styles = "".join(
        f'<style:style style:name="{name}"><style:table-properties table:display="{shown}"/>'
        "</style:style>"
        for name, shown in (("ta1", "true"), ("ta2", "false"))
    )
    content = workbook(
        ods(
            sheet(row(cell("a")), style="ta1"),
            sheet(row(cell("b")), name="Secret", style="ta2"),
            styles=styles,
        )
    )
    assert content.text == "Data\n\na\n\nSheet 2 (hidden)\n\nSecret\n\nb"
    assert [one.reason for one in content.omissions] == [OmissionReason.HIDDEN] * 2


def test_what_the_file_says_about_itself_is_kept() -> None:
    meta = (
        f'<office:document-meta {_NAMES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        "<dc:title>Budget</dc:title><meta:initial-creator>Ann</meta:initial-creator>"
        "<meta:creation-date>2024-05-01T10:00:00</meta:creation-date>"
        "<meta:keyword>money</meta:keyword></office:meta></office:document-meta>"
    )
    content = workbook(ods(sheet(row(cell("a"))), meta=meta))
    assert content.title == "Budget"
    assert content.metadata.author == "Ann"
    assert content.metadata.date == "2024-05-01T10:00:00"
    assert content.metadata.tags == ("money",)


def test_a_few_bytes_do_not_become_billions_of_cells() -> None:
    repeated = "99999999999999999999"
    data = ods(sheet(*[row(cell("a", repeated=repeated), repeated=repeated)] * 3))
    text = read_in_small_memory("pincite.reading.office.sheets", "read_workbook", "a.ods", data)
    assert 1_000 < len(text) < 10_000_000


def test_an_encrypted_file_is_refused_by_name() -> None:
    data = package(
        {
            "content.xml": b"\x00\x01garbage",
            "META-INF/manifest.xml": "<manifest:encryption-data/>",
        }
    )
    with pytest.raises(FileUnreadable, match="password"):
        workbook(data)


def test_no_text_is_empty() -> None:
    with pytest.raises(FileEmpty):
        workbook(ods(sheet(row(cell()))))
