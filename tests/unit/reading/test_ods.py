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


def dated(text: str, value: str) -> str:
    return cell(text, value=f'office:value-type="date" office:date-value="{value}"')


def test_sheets_rows_and_cells_are_read_as_they_show() -> None:
    spans = "one<text:s/><text:span>two</text:span> three</text:p><text:p>four"
    comment = "<office:annotation><text:p>secret</text:p></office:annotation>"
    content = workbook(
        ods(
            sheet(row(cell("Item"), cell("Price")), row(cell("Tea"), cell("$3.50"))),
            sheet(row(cell(spans)), row(cell("a", repeated=2), repeated=2), name="Other"),
            sheet(row(cell("seen").replace("<text:p>", f"{comment}<text:p>", 1)), name="Noted"),
            sheet(row(dated("noon", "2024-05-01T12:00:00")), row(dated("x", "junk")), name="Dates"),
        )
    )
    assert content.type == "ods"
    assert content.text.split("\n\n") == [
        *("Data", "Item | Price\nItem: Tea; Price: $3.50"),
        *("Other", "one two three four\na | a\na | a", "Noted", "seen"),
        *("Dates", "2024-05-01 12:00:00\nx"),
    ]
    assert content.metadata.pages == 4
    with pytest.raises(FileEmpty):
        workbook(ods(sheet(row(cell()))))


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


def test_a_damaged_or_encrypted_file_is_refused_by_name() -> None:
    data = package({"mimetype": "x", "content.xml": f"<office:document-content {_NAMES}><a>"})
    with pytest.raises(FileUnreadable, match="damaged"):
        workbook(data)
    data = package(
        {
            "content.xml": b"\x00\x01garbage",
            "META-INF/manifest.xml": "<manifest:encryption-data/>",
        }
    )
    with pytest.raises(FileUnreadable, match="password"):
        workbook(data)
