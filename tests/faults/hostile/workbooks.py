"""Workbooks: cells that lie far apart, texts that are promised, sheets that nobody sees."""

from __future__ import annotations

import io
from zipfile import ZipFile

from hostile.case import Case, either, made, read, refused
from hostile.samples import WORDS
from office_files import SheetXml, content_types, package, relations, xlsx
from pincite.records import OmissionReason
from word_files import open_file


def _cells(rows: str) -> bytes:
    return xlsx(SheetXml("Pumps", rows))


def _far(cell: str) -> bytes:
    """A workbook with words in its first cell and this in its last row."""
    return _cells(f'<row r="1">{_text_cell("A1")}</row><row r="1048576">{cell}</row>')


def _text_cell(place: str, text: str = WORDS) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def _shared_strings(said: int, count: int, size: int) -> bytes:
    """A workbook that shares texts: it says so many, has so many, each so long."""
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>' + f'<row r="2">{_text_cell("A2")}</row>'
    with ZipFile(io.BytesIO(_cells(rows))) as archive:
        parts: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    texts = f"<si><t>{'x' * size}</t></si>" * count
    parts["xl/sharedStrings.xml"] = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        f'count="{said}" uniqueCount="{said}">{texts}</sst>'
    )
    parts["xl/_rels/workbook.xml.rels"] = relations(
        ("rId1", "worksheet", "worksheets/sheet1.xml"),
        ("rId2", "sharedStrings", "sharedStrings.xml"),
    )
    return package(parts)


_CASES = (
    refused(
        "far-cell.xlsx",
        "spans [0-9,]+ cells",
        lambda _: _cells(
            f'<row r="1">{_text_cell("A1")}</row><row r="1048576">{_text_cell("XFD1048576")}</row>'
        ),
    ),
    *(
        refused(f"{name}.xlsx", "spans [0-9,]+ cells|stand nowhere", made(_far, far))
        for name, far in (
            ("far-behind-sign", '<c s=">" r="XFD1048576" t="b"><v>1</v></c>'),
            ("far-by-prefix", f'<{"x" * 50}:c xmlns:{"x" * 50}="u" r="XFD1048576"><v>1</v></c>'),
            ("far-twice", '<c r="A1" r="XFD1048576"><v>1</v></c>'),
            ("far-beyond", '<c r="ZZZZZZZ99999999999"><v>1</v></c>'),
            ("far-rows", '<c r="A9999999"><v>1</v></c>'),
            ("far-columns", '<c r="ZZZ1"><v>1</v></c>'),
            ("far-behind-nothing", '<c r="XFC9"/><c r="XFD1048576"/><c t="b"><v>1</v></c>'),
            ("far-row", '<c r="XFD1048576"><v>1</v></c></row><row><c><v>1</v></c>'),
        )
    ),
    either("no-cell-place.xlsx", lambda _: _cells(f'<row r="x">{_text_cell("")}</row>')),
    refused(
        "promised-texts.xlsx", "more texts than it does", lambda _: _shared_strings(10**9, 1, 5)
    ),
    refused("shared-texts.xlsx", ".", lambda _: _shared_strings(50, 50, 300_000)),
    either("missing-text.xlsx", lambda _: _shared_strings(0, 0, 0)),
    read(
        "hidden-sheet.xlsx",
        lambda _: xlsx(
            SheetXml("Pumps", {1: [WORDS]}), SheetXml("Orders", {1: ["Ignore all"]}, "veryHidden")
        ),
        has=WORDS,
        flags=OmissionReason.HIDDEN,
    ),
    either(
        "merged.xlsx", lambda _: xlsx(SheetXml("A", {1: [WORDS]}, merged=["A1:XFD1048576"] * 99))
    ),
    read(
        "formulas.xlsx",
        lambda bait: _cells(
            f'<row r="1">{_text_cell("A1")}<c r="B1"><f>WEBSERVICE("{bait.url}")</f><v>1</v></c>'
            f"<c r=\"C1\"><f>'{bait.path}'!A1</f></c></row>"
        ),
        has=WORDS,
    ),
    either(
        "odd-values.xlsx",
        lambda _: _cells(
            '<row r="1"><c r="A1" s="1"><v>1e308</v></c><c r="B1" s="2"><v>-99999999999</v></c>'
            '<c r="C1" t="d"><v>x</v></c><c r="D1" t="s"><v>-1</v></c></row>'
        ),
    ),
    either(
        "many-rows.xlsx",
        lambda _: _cells(
            "".join(
                f'<row r="{n}">{_text_cell(f"A{n}", f"row {n}")}</row>' for n in range(1, 5_000)
            )
        ),
    ),
    refused(
        "no-workbook.xlsx",
        "missing|cannot be read|damaged",
        lambda _: package(
            {"[Content_Types].xml": content_types("xl/workbook.xml", "ms-excel.sheet")}
        ),
    ),
    read(
        "repeated-rows.ods",
        lambda _: open_file(_repeated(2**31 - 1, 1, WORDS), kind="spreadsheet"),
        has=WORDS,
    ),
    read(
        "repeated-columns.ods",
        lambda _: open_file(_repeated(1, 2**31 - 1, WORDS), kind="spreadsheet"),
        has=WORDS,
    ),
    read(
        "repeated-nothing.ods",
        lambda _: open_file(
            _repeated(2**31 - 1, 2**31 - 1, "") + _repeated(1, 1, WORDS), kind="spreadsheet"
        ),
        has=WORDS,
    ),
)


def _repeated(rows: int, columns: int, text: str) -> str:
    return (
        f'<table:table table:name="A"><table:table-row table:number-rows-repeated="{rows}">'
        f'<table:table-cell table:number-columns-repeated="{columns}"><text:p>{text}</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )


CASES: tuple[Case, ...] = _CASES
