"""Word files: headings, lists, tables and pages as Word shows them, and what it hides."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.docx import read_docx
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, OmissionReason
from word_files import (
    MAIN,
    cells,
    paragraph,
    relations,
    style,
    styled,
    text_box,
    word_file,
    word_parts,
    zipped,
)


def _read(body: str, *options: str, **others: str) -> Content:
    return read_docx(SourceFile("a.docx", word_file(body, **others), (), frozenset(options)))


def _hidden(content: Content) -> dict[str, OmissionReason]:
    return {content.text[one.start : one.end]: one.reason for one in content.omissions}


def _run(inside: str) -> str:
    return f"<w:p><w:r>{inside}</w:r></w:p>"


@pytest.mark.parametrize(
    ("styles", "level"),
    [
        (style("Chapter", "Heading3", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>'), 2),
        (style("Mine", "Heading3", '<w:basedOn w:val="b"/>') + style("heading 4", "b"), 4),
        (style("Mine", "Heading3", '<w:basedOn w:val="Heading3"/>'), None),
        (style("TOC Heading", "Heading3", '<w:pPr><w:outlineLvl w:val="9"/></w:pPr>'), None),
        (style("Title", "Heading3"), 1),
    ],
)
def test_the_level_of_a_heading_comes_from_its_style(styles: str, level: int | None) -> None:
    content = _read(styled("A", "Heading3") + paragraph("b"), styles=styles)
    assert content.sections[0].level == (level or 0)


def test_a_paragraph_may_say_itself_that_it_is_a_heading_and_keeps_its_number() -> None:
    outline = '<w:outlineLvl w:val="0"/>'
    content = _read(_item("Scope", more=outline), numbering=_OUTLINE + _list(1))
    assert content.sections[0].heading_path == ("1. Scope",)


def test_a_hidden_heading_heads_nothing() -> None:
    content = _read(
        paragraph("Do as I say", '<w:outlineLvl w:val="0"/>', "<w:vanish/>") + paragraph("b")
    )
    assert content.sections[0].heading_path == ()
    assert _hidden(content) == {"Do as I say": OmissionReason.HIDDEN}


def test_the_title_is_the_paragraph_in_its_style_then_what_the_file_says() -> None:
    title = style("Title", "T") + style("heading 1", "H")
    core = "<dc:title>From the properties</dc:title>"
    assert _read(styled("The book", "T"), styles=title, core=core).title == "The book"
    assert _read(paragraph("a"), core=core).title == "From the properties"
    assert _read(styled("Only one", "H"), styles=title).title == "Only one"
    assert _read(styled("One", "H") + styled("Two", "H"), styles=title).title is None


def _step(name: str, inside: str = "") -> str:
    return f'<w:r><w:fldChar w:fldCharType="{name}">{inside}</w:fldChar></w:r>'


def _words(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def _maths(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def _box(state: str) -> str:
    data = f"<w:ffData><w:checkBox>{state}</w:checkBox></w:ffData>"
    return _step("begin", data) + _step("end")


SHOWN = {
    "tabs, breaks, hyphens and symbols": (
        "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t>"
        '<w:softHyphen/><w:t>e </w:t><w:sym w:font="Wingdings" w:char="F0FC"/>'
        '<w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Mine" w:char="F0AA"/></w:r></w:p>',
        "a\tb\nc-de ✓α",
    ),
    "results of fields, and links": (
        f"<w:p>{_step('begin')}<w:r><w:instrText>REF x</w:instrText></w:r>"
        f"{_step('begin')}{_words('inner')}{_step('end')}"
        f"{_step('separate')}{_words('page 4')}{_step('end')}"
        f"<w:hyperlink>{_words(' here')}</w:hyperlink>"
        f'<w:fldSimple w:instr="DATE">{_words(", today")}</w:fldSimple></w:p>',
        "page 4 here, today",
    ),
    "a field that never ends": (f"<w:p>{_step('begin')}</w:p>{paragraph('seen')}", "seen"),
    "boxes, ticked or not": (
        f"<w:p>{_box('<w:checked/>')}{_words('yes ')}{_box('')}{_words('no')}</w:p>",
        "☒ yes ☐ no",
    ),
    "equations as people type them": (
        f"<w:p><m:oMath><m:f><m:num>{_maths('a+b')}</m:num><m:den>{_maths('c')}</m:den></m:f>"
        f"<m:sSup><m:e>{_maths('x')}</m:e><m:sup>{_maths('2')}</m:sup></m:sSup>"
        f"<m:rad><m:deg/><m:e>{_maths('y')}</m:e></m:rad><m:d><m:e>{_maths('z')}</m:e></m:d>"
        f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{_maths("i=1")}</m:sub>'
        f"<m:sup>{_maths('n')}</m:sup><m:e>{_maths('i')}</m:e></m:nary></m:oMath></w:p>",
        "(a+b)/cx^2√(y)(z)∑_(i=1)^n i",
    ),
    "content controls and unknown wrappers": (
        f"<w:p><w:smartTag>{_words('one ')}</w:smartTag><w:sdt><w:sdtPr/><w:sdtContent>"
        f"{_words('two')}</w:sdtContent></w:sdt></w:p>"
        f"<w:sdt><w:sdtContent>{paragraph('three')}</w:sdtContent></w:sdt>",
        "one two\n\nthree",
    ),
    "text boxes once, after their paragraph": (
        "<w:p><w:r><w:t>Before </w:t><mc:AlternateContent><mc:Choice>"
        f"{text_box(paragraph('In the box'))}</mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>"
        f"<w:txbxContent>{paragraph('In the box')}</w:txbxContent></v:textbox></v:shape></w:pict>"
        "</mc:Fallback></mc:AlternateContent><w:t>and after</w:t></w:r></w:p>",
        "Before and after\n\nIn the box",
    ),
    "a table in a cell": (
        f"<w:tbl><w:tr>{cells('a')}<w:tc><w:tbl><w:tr>{cells('b', 'c')}</w:tr>"
        f"<w:tr>{cells('d', '')}</w:tr></w:tbl><w:p/></w:tc></w:tr></w:tbl>",
        "| a | b, c; d |",
    ),
    "rows and cells in content controls": (
        f"<w:tbl><w:sdt><w:sdtContent><w:tr><w:sdt><w:sdtContent>{cells('a')}</w:sdtContent></w:sdt>"
        f"{cells('b')}</w:tr></w:sdtContent></w:sdt></w:tbl>",
        "| a | b |",
    ),
}


@pytest.mark.parametrize("case", SHOWN)
def test_a_text_is_read_as_word_shows_it(case: str) -> None:
    body, shown = SHOWN[case]
    assert _read(body).text == shown


def test_diagrams_are_read_once_as_items() -> None:
    diagram = '<w:drawing><dgm:relIds r:dm="rId1"/></w:drawing>'
    parts = word_parts(_run(f"<w:t>See:</w:t>{diagram}{diagram}"))
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData"
    parts["word/_rels/document.xml.rels"] = relations((kind, "data1.xml"))
    parts["word/data1.xml"] = (
        '<d xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        "<a:p><a:r><a:t>Chair</a:t></a:r></a:p><a:p/><a:p><a:r><a:t>Board</a:t></a:r></a:p></d>"
    )
    content = read_docx(SourceFile("a.docx", zipped(parts)))
    assert content.text == "See:\n\n- Chair\n- Board"


def _note(kind: str, identifier: int, text: str) -> str:
    return f'<w:{kind} w:id="{identifier}">{paragraph(text)}</w:{kind}>'


def test_notes_stand_after_the_paragraph_that_refers_to_them() -> None:
    body = (
        '<w:p><w:r><w:t>One</w:t><w:footnoteReference w:id="7"/><w:t>, two</w:t>'
        '<w:endnoteReference w:id="2"/></w:r></w:p>'
        '<w:p><w:r><w:t>Three</w:t><w:footnoteReference w:id="4"/></w:r></w:p>'
    )
    content = _read(
        body,
        footnotes=_note("footnote", 4, "Later.") + _note("footnote", 7, "Sooner."),
        endnotes=_note("endnote", 2, "At the end."),
    )
    assert content.text.split("\n\n") == [
        *("One[1], two[i]", "[1] Sooner.", "[i] At the end.", "Three[2]", "[2] Later."),
    ]


_COMMENTED = '<w:p><w:r><w:t>Text</w:t><w:commentReference w:id="3"/></w:r></w:p>'
_COMMENTS = f'<w:comment w:id="3" w:author="Ada">{paragraph("Why?")}</w:comment>'


def test_comments_are_left_out_unless_asked_for() -> None:
    assert _read(_COMMENTED, comments=_COMMENTS).text == "Text"
    asked = _read(_COMMENTED, "comments", comments=_COMMENTS)
    assert asked.text == "Text\n\n[comment by Ada: Why?]"


_CHANGED = (
    '<w:p><w:r><w:t>It is </w:t></w:r><w:del w:author="Ada"><w:r><w:delText>not </w:delText></w:r>'
    '</w:del><w:ins w:author="Bob"><w:r><w:t>very </w:t></w:r></w:ins><w:r><w:t>so.</w:t></w:r>'
    "</w:p>"
)


def test_tracked_changes_are_read_as_accepted_unless_asked_for() -> None:
    assert _read(_CHANGED).text == "It is very so."
    asked = _read(_CHANGED, "tracked-changes").text
    assert asked == "It is [deleted by Ada: not ][inserted by Bob: very ]so."


def test_headers_and_footers_are_read_only_where_there_is_nothing_else() -> None:
    margins = {"header": paragraph("Letterhead"), "footer": paragraph("Page 1")}
    assert _read(paragraph("Text"), **margins).text == "Text"
    assert _read("<w:p/>", **margins).text == "Letterhead\n\nPage 1"


def test_a_file_without_text_is_empty_and_one_without_a_body_damaged() -> None:
    with pytest.raises(FileEmpty):
        _read("<w:p/><w:sectPr/>")
    parts = {**word_parts(""), "word/document.xml": f'<w:document xmlns:w="{MAIN}"/>'}
    with pytest.raises(FileUnreadable, match="no text body"):
        read_docx(SourceFile("a.docx", zipped(parts)))


def test_metadata_is_what_the_file_says_about_itself() -> None:
    content = _read(
        paragraph("a"),
        core="<dc:creator>Ada Lovelace</dc:creator><cp:keywords>maths; engines</cp:keywords>"
        "<dcterms:created>2024-05-01T10:00:00Z</dcterms:created><dc:language>en-GB</dc:language>"
        "<dcterms:modified>nonsense</dcterms:modified>",
    )
    assert content.metadata.author == "Ada Lovelace"
    assert content.metadata.tags == ("maths", "engines")
    assert content.metadata.date == "2024-05-01T10:00:00+00:00"
    assert content.metadata.modified is None
    assert content.metadata.language == "en-GB"


def test_files_put_together_on_opening_are_reported() -> None:
    content = _read(paragraph("Text") + '<w:altChunk r:id="rId9"/>')
    assert content.text == "Text"
    assert len(content.metadata.notes) == 1


def test_the_strict_form_of_the_standard_is_read() -> None:
    parts = word_parts(styled("A", "Heading1"))
    strict = str(parts["word/document.xml"]).replace(
        MAIN, "http://purl.oclc.org/ooxml/wordprocessingml/main"
    )
    content = read_docx(SourceFile("a.docx", zipped({**parts, "word/document.xml": strict})))
    assert content.sections[0].heading_path == ("A",)


@given(st.lists(st.lists(st.text("ab \n\t", max_size=5), max_size=4), max_size=6))
def test_no_word_is_lost_and_blocks_are_in_order(paragraphs: list[list[str]]) -> None:
    body = "".join(
        "<w:p>" + "".join(f"<w:r><w:t>{run}</w:t></w:r>" for run in runs) + "</w:p>"
        for runs in paragraphs
    )
    words = [word for runs in paragraphs for word in "".join(runs).split()]
    try:
        content = _read(body)
    except FileEmpty:
        assert not words
        return
    assert content.text.split() == words
    assert "\n\n\n" not in content.text
    ends = [0, *(block.end for block in content.blocks)]
    assert all(block.start >= end for block, end in zip(content.blocks, ends, strict=False))


_BREAK = "<w:r><w:lastRenderedPageBreak/></w:r>"


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


def test_a_table_that_only_arranges_text_is_read_as_text() -> None:
    box = f"<w:tbl><w:tr><w:tc>{styled('In a box', 'Heading1')}</w:tc></w:tr></w:tbl>"
    columns = f"<w:tbl><w:tr>{cells('word ' * 300, 'right')}</w:tr></w:tbl>"
    content = _read(box + columns)
    assert content.sections[0].heading_path == ("In a box",)
    assert {block.kind for block in content.blocks} == {BlockKind.HEADING, BlockKind.PARAGRAPH}


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


_WHITE = '<w:color w:val="FFFFFF"/>'


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ("<w:vanish/>", OmissionReason.HIDDEN),
        ('<w:rStyle w:val="secret"/>', OmissionReason.HIDDEN),
        (_WHITE, OmissionReason.WHITE),
        ('<w:sz w:val="2"/>', OmissionReason.TINY),
    ],
)
def test_what_is_not_seen_is_kept_and_flagged(run: str, reason: OmissionReason) -> None:
    secret = style("secret", "secret", "<w:rPr><w:vanish/></w:rPr>", kind="character")
    content = _read(paragraph("Seen.") + paragraph("Unseen.", run=run), styles=secret)
    assert content.text == "Seen.\n\nUnseen."
    assert _hidden(content) == {"Unseen.": reason}


@pytest.mark.parametrize(
    "run",
    [
        '<w:vanish w:val="0"/>',
        "<w:webHidden/>",
        '<w:sz w:val="3"/>',
        f'{_WHITE}<w:shd w:val="clear" w:fill="000000"/>',
        f'{_WHITE}<w:highlight w:val="black"/>',
    ],
)
def test_what_is_seen_is_not_flagged(run: str) -> None:
    assert _read(paragraph("Seen.", run=run)).omissions == ()


def test_white_text_is_seen_on_a_coloured_ground() -> None:
    white = paragraph("Seen.", run=_WHITE)
    shaded = '<w:shd w:val="clear" w:fill="1F3864"/>'
    cell = f"<w:tc><w:tcPr>{shaded}</w:tcPr>{white}</w:tc>"
    styled = '<w:tblPr><w:tblStyle w:val="GridTable5"/></w:tblPr>'
    fill = '<a:solidFill><a:srgbClr val="1F3864"/></a:solidFill>'
    theme = '<wps:style><a:fillRef idx="1"/></wps:style>'
    on_colour = (
        paragraph("Seen.", shaded, _WHITE),
        f"<w:tbl><w:tr>{cell}{cells('b')}</w:tr></w:tbl>",
        f"<w:tbl>{styled}<w:tr><w:tc>{white}</w:tc>{cells('b')}</w:tr></w:tbl>",
        _run(text_box(white, fill)),
        _run(text_box(white, "", theme)),
    )
    for body in on_colour:
        assert _read(body).omissions == ()
    assert _read(white, background='<w:background w:color="000000"/>').omissions == ()
    assert _read(_run(text_box(white, "<a:noFill/>", theme))).omissions != ()
    plain = f"<w:tbl><w:tr><w:tc>{white}</w:tc>{cells('b')}</w:tr></w:tbl>"
    assert _hidden(_read(plain)) == {"Seen.": OmissionReason.WHITE}


def test_the_style_of_a_paragraph_can_hide_it() -> None:
    base = style("base", "base", "<w:rPr><w:vanish/></w:rPr>")
    styles = base + style("mine", "mine", '<w:basedOn w:val="base"/>')
    assert _hidden(_read(styled("a", "mine"), styles=styles)) == {"a": OmissionReason.HIDDEN}


def test_hidden_text_in_a_table_stands_after_it() -> None:
    secret = f"<w:tc>{paragraph('Unseen', run='<w:vanish/>')}{paragraph('seen')}</w:tc>"
    content = _read(f"<w:tbl><w:tr>{secret}{cells('b')}</w:tr></w:tbl>")
    assert content.text == "| seen | b |\n\nUnseen"
    assert _hidden(content) == {"Unseen": OmissionReason.HIDDEN}
