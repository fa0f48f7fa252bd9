from __future__ import annotations

import pytest

from pincite.reading.office.docx.reader import read_docx
from pincite.reading.source_file import SourceFile
from pincite.records import Content, OmissionReason
from word_files import (
    cells,
    paragraph,
    style,
    styled,
    text_box,
    word_file,
)


def _read(body: str, *options: str, **others: str) -> Content:
    return read_docx(SourceFile("a.docx", word_file(body, **others), (), frozenset(options)))


def _hidden(content: Content) -> dict[str, OmissionReason]:
    return {content.text[one.start : one.end]: one.reason for one in content.omissions}


def _run(inside: str) -> str:
    return f"<w:p><w:r>{inside}</w:r></w:p>"


def test_what_is_no_letter_is_read_as_it_is_shown() -> None:
    shown = (
        "<w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t>"
        '<w:softHyphen/><w:t>e </w:t><w:sym w:font="Wingdings" w:char="F0FC"/>'
        '<w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Mine" w:char="F0AA"/>'
    )

    assert _read(_run(shown)).text == "a\tb\nc-de ✓α"


def test_fields_and_links_show_their_result() -> None:
    def step(name: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{name}"/></w:r>'

    nested = step("begin") + "<w:r><w:t>inner</w:t></w:r>" + step("end")
    field = (
        step("begin")
        + "<w:r><w:instrText>REF x</w:instrText></w:r>"
        + nested
        + step("separate")
        + "<w:r><w:t>page 4</w:t></w:r>"
        + step("end")
    )
    link = "<w:hyperlink><w:r><w:t> here</w:t></w:r></w:hyperlink>"
    simple = '<w:fldSimple w:instr="DATE"><w:r><w:t>, today</w:t></w:r></w:fldSimple>'

    assert _read(f"<w:p>{field}{link}{simple}</w:p>").text == "page 4 here, today"


def test_boxes_are_ticked_or_not() -> None:
    def box(state: str) -> str:
        data = f"<w:ffData><w:checkBox>{state}</w:checkBox></w:ffData>"
        begin = f'<w:fldChar w:fldCharType="begin">{data}</w:fldChar>'
        return f'<w:r>{begin}<w:fldChar w:fldCharType="end"/></w:r>'

    body = f"<w:p>{box('<w:checked/>')}<w:r><w:t>yes </w:t></w:r>{box('')}"

    assert _read(body + "<w:r><w:t>no</w:t></w:r></w:p>").text == "☒ yes ☐ no"


def test_a_field_that_never_ends_does_not_swallow_the_rest() -> None:
    opened = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'

    assert "seen" in _read(f"<w:p>{opened}</w:p>{paragraph('seen')}").text


def test_equations_are_read_as_people_type_them() -> None:
    def text(inside: str) -> str:
        return f"<m:r><m:t>{inside}</m:t></m:r>"

    fraction = f"<m:f><m:num>{text('a+b')}</m:num><m:den>{text('c')}</m:den></m:f>"
    power = f"<m:sSup><m:e>{text('x')}</m:e><m:sup>{text('2')}</m:sup></m:sSup>"
    root = f"<m:rad><m:deg/><m:e>{text('y')}</m:e></m:rad>"
    total = (
        f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{text("i=1")}</m:sub>'
        f"<m:sup>{text('n')}</m:sup><m:e>{text('i')}</m:e></m:nary>"
    )
    brackets = f"<m:d><m:e>{text('z')}</m:e></m:d>"
    body = f"<w:p><m:oMath>{fraction}{power}{root}{brackets}{total}</m:oMath></w:p>"

    assert _read(body).text == "(a+b)/cx^2√(y)(z)∑_(i=1)^n i"


def test_text_in_content_controls_and_unknown_wrappers_is_read() -> None:
    inner = "<w:smartTag><w:r><w:t>one </w:t></w:r></w:smartTag>"
    control = "<w:sdt><w:sdtPr/><w:sdtContent><w:r><w:t>two</w:t></w:r></w:sdtContent></w:sdt>"
    block = f"<w:sdt><w:sdtContent>{paragraph('three')}</w:sdtContent></w:sdt>"

    assert _read(f"<w:p>{inner}{control}</w:p>{block}").text == "one two\n\nthree"


_WHITE = '<w:color w:val="FFFFFF"/>'


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ("<w:vanish/>", OmissionReason.HIDDEN),
        ('<w:vanish w:val="1"/>', OmissionReason.HIDDEN),
        ('<w:rStyle w:val="secret"/>', OmissionReason.HIDDEN),
        (_WHITE, OmissionReason.WHITE),
        ('<w:color w:val="fefefe"/>', OmissionReason.WHITE),
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
        '<w:vanish w:val="false"/>',
        "<w:webHidden/>",
        '<w:color w:val="auto"/>',
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
