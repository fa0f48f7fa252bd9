from __future__ import annotations

import pytest

from pincite.errors import FileUnreadable
from pincite.reading.office.docx.reader import read_docx
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content
from word_files import (
    cells,
    paragraph,
    style,
    styled,
    word_file,
)

_BREAK = "<w:r><w:lastRenderedPageBreak/></w:r>"


def _read(body: str, *options: str, **others: str) -> Content:
    return read_docx(SourceFile("a.docx", word_file(body, **others), (), frozenset(options)))


def _level(depth: int, style: str, pattern: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{style}"/>'
        f'<w:lvlText w:val="{pattern}"/>{more}</w:lvl>'
    )


def _list(number: int, definition: int = 1, more: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{definition}"/>{more}</w:num>'


def _item(text: str, depth: int = 0, number: int = 1, more: str = "") -> str:
    place = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    return paragraph(text, place + more)


_OUTLINE = (
    '<w:abstractNum w:abstractNumId="1">'
    + _level(0, "decimal", "%1.")
    + _level(1, "lowerLetter", "%2)")
    + _level(2, "upperRoman", "%1.%3", "<w:isLgl/>")
    + _level(3, "bullet", "")
    + "</w:abstractNum>"
)


def test_items_have_the_numbers_that_word_shows() -> None:
    body = "".join(
        _item(text, depth)
        for text, depth in (("a", 0), ("b", 1), ("c", 1), ("d", 2), ("e", 3), ("f", 0), ("g", 1))
    )
    content = _read(body, numbering=_OUTLINE + _list(1))

    assert content.text.splitlines() == [
        *("1. a", "  a) b", "  b) c", "    1.1 d", "      - e", "2. f", "  a) g"),
    ]
    assert {block.kind for block in content.blocks} == {BlockKind.ITEM}


def test_a_list_goes_on_unless_it_starts_anew() -> None:
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    body = _item("a") + paragraph("between") + _item("b") + _item("c", number=2)
    content = _read(body, numbering=_OUTLINE + _list(1) + _list(2, more=anew))

    assert content.text == "1. a\n\nbetween\n\n2. b\n5. c"


def test_a_list_in_a_style_is_as_deep_as_its_name_says() -> None:
    numbered = '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    styles = style("List Number 2", "L", numbered)

    assert _read(styled("a", "L"), styles=styles, numbering=_OUTLINE + _list(1)).text == "  1. a"
    assert _read(styled("a", "L"), styles=styles).text == "  - a"


def test_a_list_without_numbers_is_paragraphs() -> None:
    none = f'<w:abstractNum w:abstractNumId="1">{_level(0, "none", "")}</w:abstractNum>'

    content = _read(_item("a") + _item("b", number=0), numbering=none + _list(1))

    assert [block.kind for block in content.blocks] == [BlockKind.PARAGRAPH] * 2


def test_headings_keep_their_numbers() -> None:
    outline = '<w:outlineLvl w:val="0"/>'
    content = _read(_item("Scope", more=outline), numbering=_OUTLINE + _list(1))

    assert content.sections[0].heading_path == ("1. Scope",)


def _merged(text: str, properties: str) -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def test_tables_have_a_line_for_each_row_and_do_not_repeat_merged_cells() -> None:
    wide = _merged("wide", '<w:gridSpan w:val="2"/>')
    tall, below = _merged("tall", '<w:vMerge w:val="restart"/>'), _merged("", "<w:vMerge/>")
    content = _read(
        f"<w:tbl><w:tr>{tall}{wide}</w:tr><w:tr>{below}{cells('b', 'c')}</w:tr>"
        f'<w:tr><w:trPr><w:gridBefore w:val="2"/></w:trPr>{cells("d")}</w:tr></w:tbl>'
    )

    assert content.text == "| tall | wide |  |\n|  | b | c |\n|  |  | d |"
    assert [block.kind for block in content.blocks] == [BlockKind.TABLE]


def test_a_table_in_a_cell_is_told_in_one_line() -> None:
    inner = f"<w:tbl><w:tr>{cells('b', 'c')}</w:tr><w:tr>{cells('d', '')}</w:tr></w:tbl>"
    content = _read(f"<w:tbl><w:tr>{cells('a')}<w:tc>{inner}<w:p/></w:tc></w:tr></w:tbl>")

    assert content.text == "| a | b, c; d |"


def test_a_table_that_only_arranges_text_is_read_as_text() -> None:
    box = f"<w:tbl><w:tr><w:tc>{styled('In a box', 'Heading1')}</w:tc></w:tr></w:tbl>"
    columns = f"<w:tbl><w:tr>{cells('word ' * 300, 'right')}</w:tr></w:tbl>"
    content = _read(box + columns)

    assert content.sections[0].heading_path == ("In a box",)
    assert {block.kind for block in content.blocks} == {BlockKind.HEADING, BlockKind.PARAGRAPH}


def test_rows_and_cells_in_content_controls_are_found() -> None:
    row = f"<w:tr><w:sdt><w:sdtContent>{cells('a')}</w:sdtContent></w:sdt>{cells('b')}</w:tr>"
    content = _read(f"<w:tbl><w:sdt><w:sdtContent>{row}</w:sdtContent></w:sdt></w:tbl>")

    assert content.text == "| a | b |"


def test_thousands_of_nested_tables_are_refused() -> None:
    deep = "<w:tbl><w:tr><w:tc>" * 5_000 + paragraph("x") + "</w:tc></w:tr></w:tbl>" * 5_000

    with pytest.raises(FileUnreadable, match="nested too deeply"):
        _read(deep)


def test_tables_nested_as_deep_as_is_allowed_are_read() -> None:
    deep = f"<w:tbl><w:tr>{cells('a')}<w:tc>" * 60 + paragraph("x")
    content = _read(deep + "</w:tc></w:tr></w:tbl>" * 60)

    assert content.text.endswith("x |")


def test_absurd_spans_are_cut() -> None:
    wide = _merged("wide", '<w:gridSpan w:val="999999999"/>')

    assert len(_read(f"<w:tbl><w:tr>{wide}{cells('b')}</w:tr></w:tbl>").text) < 1_000


def test_pages_are_those_that_word_last_saw() -> None:
    content = _read(
        f"<w:p><w:r><w:t>one </w:t></w:r>{_BREAK}<w:r><w:t>two</w:t></w:r></w:p>"
        + paragraph("still two")
        + f"<w:p>{_BREAK}<w:r><w:t>three</w:t></w:r></w:p>"
    )

    found = [(content.text[one.start : one.end], one.page) for one in content.places]
    assert found == [("one ", 1), ("two", 2), ("still two", 2), ("three", 3)]
    assert content.metadata.pages == 3


def test_without_marks_there_are_no_pages() -> None:
    broken = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
    content = _read(paragraph("one") + broken + paragraph("two"))

    assert content.places == ()
    assert content.metadata.pages is None


def test_a_table_over_several_pages_shows_its_heading_on_each() -> None:
    def row(first: str, second: str, properties: str = "") -> str:
        cells = "".join(f"<w:tc>{text}</w:tc>" for text in (first, second))
        return f"<w:tr><w:trPr>{properties}</w:trPr>{cells}</w:tr>"

    # Each cell of a row that begins a page says so.
    turned = [f"<w:p>{_BREAK}<w:r><w:t>{text}</w:t></w:r></w:p>" for text in ("c", "3")]
    rows = (
        row(paragraph("Name"), paragraph("Age"), "<w:tblHeader/>")
        + row(paragraph("a"), paragraph("1"))
        + row(*turned)
    )
    content = _read(f"<w:tbl>{rows}</w:tbl>{paragraph('after')}")

    assert content.text == "| Name | Age |\n| a | 1 |\n\n| Name | Age |\n| c | 3 |\n\nafter"
    pages = {content.text[one.start : one.end]: one.page for one in content.places}
    assert pages["| a | 1 |"] == 1
    assert pages["| c | 3 |"] == 2
    assert pages["after"] == 2
