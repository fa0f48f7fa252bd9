"""OpenDocument texts and slides: as they show, and what they hide."""

from __future__ import annotations

import pytest

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.opendocument import read_text
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, OmissionReason
from word_files import open_file, open_parts, zipped


def _read(
    body: str, *options: str, kind: str = "text", styles: str = "", meta: str = ""
) -> Content:
    data = open_file(body, kind=kind, styles=styles, meta=meta)
    return read_text(SourceFile("a.odt", data, (), frozenset(options)))


def _hidden(content: Content) -> dict[str, OmissionReason]:
    return {content.text[one.start : one.end]: one.reason for one in content.omissions}


def _style(name: str, family: str, properties: str = "", parent: str = "") -> str:
    return (
        f'<style:style style:name="{name}" style:family="{family}" '
        f'style:parent-style-name="{parent}">{properties}</style:style>'
    )


def test_headings_paragraphs_and_line_breaks() -> None:
    content = _read(
        '<text:h text:outline-level="1">Rivers</text:h>'
        "<text:p>They\n   <text:span>flow</text:span>.<text:line-break/>Always.</text:p>"
        '<text:h text:outline-level="2">Elbe</text:h><text:p>a<text:s text:c="3"/>b<text:tab/>c'
        "</text:p>"
    )
    assert content.text == "Rivers\n\nThey flow.\nAlways.\n\nElbe\n\na   b\tc"
    assert [one.heading_path for one in content.sections] == [("Rivers",), ("Rivers", "Elbe")]
    assert content.title == "Rivers"


def test_the_title_is_the_paragraph_in_its_style() -> None:
    styles = _style("Title", "paragraph") + _style("P1", "paragraph", parent="Title")
    content = _read(
        '<text:p text:style-name="P1">The book</text:p><text:p>a</text:p>',
        styles=styles,
        meta="<dc:title>Other</dc:title>",
    )
    assert content.title == "The book"


def test_lists_have_their_marks_and_depth() -> None:
    styles = (
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" '
        'style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" '
        'style:num-format="A" style:num-prefix="(" style:num-suffix=")"/>'
        '<text:list-level-style-number text:level="3" style:num-format="i" '
        'text:display-levels="2"/></text:list-style>'
    )
    deepest = "<text:list><text:list-item><text:p>d</text:p></text:list-item></text:list>"
    inner = (
        "<text:list><text:list-item><text:p>b</text:p></text:list-item>"
        f"<text:list-item><text:p>c</text:p><text:p>more</text:p>{deepest}</text:list-item>"
        "</text:list>"
    )
    content = _read(
        f'<text:list text:style-name="L1"><text:list-item><text:p>a</text:p>{inner}'
        "</text:list-item></text:list><text:p>between</text:p>"
        '<text:list text:style-name="L1" text:continue-numbering="true"><text:list-item>'
        "<text:p>e</text:p></text:list-item></text:list>"
        "<text:list><text:list-item><text:p>f</text:p></text:list-item></text:list>",
        styles=styles,
    )
    assert content.text.split("\n") == [
        *("1. a", "  (A) b", "  (B) c", "", "more", "", "    ii.i d", "", "between", ""),
        *("2. e", "- f"),
    ]


def _cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


def test_tables_have_a_line_for_each_row() -> None:
    wide = _cell("wide", 'table:number-columns-spanned="2"') + "<table:covered-table-cell/>"
    empty = '<table:table-cell table:number-columns-repeated="1000000000"/>'
    content = _read(
        f"<table:table><table:table-header-rows><table:table-row>{_cell('a')}{wide}"
        f"</table:table-row></table:table-header-rows><table:table-row>{_cell('b')}{_cell('c')}"
        f"{_cell('d')}{empty}</table:table-row></table:table>"
    )
    first, second = content.text.splitlines()
    assert first == "| a | wide |  |"
    assert second.startswith("| b | c | d |")
    assert len(second) < 500
    assert [block.kind for block in content.blocks] == [BlockKind.TABLE]


def test_tables_in_repeated_cells_come_to_an_end() -> None:
    opening = '<table:table><table:table-row><table:table-cell table:number-columns-repeated="60">'
    closing = "</table:table-cell></table:table-row></table:table>"
    content = _read(opening * 50 + "<text:p>x</text:p>" + closing * 50)
    assert content.text == "x"


def test_a_table_in_a_cell_and_a_table_that_only_arranges_text() -> None:
    def table(*cells: str) -> str:
        row = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
        return f"<table:table><table:table-row>{row}</table:table-row></table:table>"

    inner = table("<text:p>b</text:p>", "<text:p>c</text:p>")
    content = _read(table("<text:p>a</text:p>", inner) + table("<text:h>Box</text:h>"))
    assert content.text == "| a | b, c |\n\nBox"
    assert content.sections[-1].heading_path == ("Box",)


def test_notes_stand_after_their_paragraph_and_comments_only_if_asked_for() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Below."
        "</text:p></text:note-body></text:note>"
    )
    comment = (
        "<office:annotation><dc:creator>Ada</dc:creator><text:p>Why?</text:p></office:annotation>"
    )
    body = f"<text:p>Text{note}{comment}, more</text:p>"
    assert _read(body).text == "Text[1], more\n\n[1] Below."
    assert _read(body, "comments").text.endswith("[1] Below.\n\n[comment by Ada: Why?]")


def test_deleted_text_is_read_only_if_asked_for() -> None:
    def region(name: str, deed: str, text: str = "") -> str:
        info = "<office:change-info><dc:creator>Ada</dc:creator></office:change-info>"
        return (
            f'<text:changed-region text:id="{name}"><text:{deed}>{info}{text}</text:{deed}>'
            "</text:changed-region>"
        )

    body = (
        f"<text:tracked-changes>{region('c1', 'deletion', '<text:p>not </text:p>')}"
        f"{region('c2', 'insertion')}</text:tracked-changes><text:p>It is "
        '<text:change text:change-id="c1"/><text:change-start text:change-id="c2"/>very '
        '<text:change-end text:change-id="c2"/>so.</text:p>'
    )
    assert _read(body).text == "It is very so."
    asked = _read(body, "tracked-changes").text
    assert asked == "It is [deleted by Ada: not ][inserted by Ada: very ]so."


_HIDING = (
    _style("T1", "text", '<style:text-properties text:display="none"/>')
    + _style("T2", "text", '<style:text-properties fo:color="#ffffff"/>')
    + _style("T3", "text", '<style:text-properties fo:font-size="0.5pt"/>')
    + _style("T4", "text", parent="T1")
    + _style("P1", "paragraph", '<style:paragraph-properties fo:background-color="#000000"/>')
    + _style("C1", "table-cell", '<style:table-cell-properties fo:background-color="#000000"/>')
    + _style("G1", "graphic", '<style:graphic-properties draw:fill="solid"/>')
)


@pytest.mark.parametrize(
    ("unseen", "reason"),
    [
        ('<text:span text:style-name="T1">Unseen</text:span>', OmissionReason.HIDDEN),
        ('<text:span text:style-name="T4">Unseen</text:span>', OmissionReason.HIDDEN),
        ('<text:span text:style-name="T2">Unseen</text:span>', OmissionReason.WHITE),
        ('<text:span text:style-name="T3">Unseen</text:span>', OmissionReason.TINY),
        ('<text:hidden-text text:string-value="Unseen"/>', OmissionReason.HIDDEN),
        ('<text:hidden-paragraph text:is-hidden="true"/>Unseen', OmissionReason.HIDDEN),
    ],
)
def test_what_is_not_seen_is_kept_and_flagged(unseen: str, reason: OmissionReason) -> None:
    content = _read(f"<text:p>Seen</text:p><text:p>{unseen}</text:p>", styles=_HIDING)
    assert content.text == "Seen\n\nUnseen"
    assert _hidden(content) == {"Unseen": reason}


def test_hidden_sections_are_flagged_and_their_headings_head_nothing() -> None:
    hidden = '<text:section text:display="none"><text:h>Secret</text:h></text:section>'
    content = _read(f"{hidden}<text:p>Seen</text:p>")
    assert _hidden(content) == {"Secret": OmissionReason.HIDDEN}
    assert content.sections[0].heading_path == ()


def test_white_text_is_seen_on_a_coloured_ground() -> None:
    white = '<text:span text:style-name="T2">Seen</text:span>'
    cell = _cell(white, 'table:style-name="C1"')
    on_colour = (
        f'<text:p text:style-name="P1">{white}</text:p>',
        f"<table:table><table:table-row>{cell}{_cell('b')}</table:table-row></table:table>",
        f'<draw:frame draw:style-name="G1"><draw:text-box><text:p>{white}</text:p></draw:text-box>'
        "</draw:frame>",
        '<text:p><text:hidden-text text:is-hidden="false" text:string-value="Seen"/></text:p>',
    )
    for body in on_colour:
        assert _read(body, styles=_HIDING).omissions == ()


def test_hidden_text_in_a_table_stands_after_it() -> None:
    secret = _cell('<text:span text:style-name="T1">Unseen</text:span> seen')
    row = f"<table:table-row>{secret}{_cell('b')}</table:table-row>"
    content = _read(f"<table:table>{row}</table:table>", styles=_HIDING)
    assert content.text == "| seen | b |\n\nUnseen"
    assert _hidden(content) == {"Unseen": OmissionReason.HIDDEN}


def test_shapes_and_forms_are_read() -> None:
    control = '<draw:control draw:control="c1"/>'
    box = "<draw:frame><draw:text-box><text:p>In the box</text:p></draw:text-box></draw:frame>"
    form = '<form:form><form:fixed-text form:id="c1" form:label="Name"/></form:form>'
    content = _read(
        f"<office:forms>{form}</office:forms><text:p>Fill in: {control}</text:p>"
        f"<text:p>Look {box}here</text:p>"
    )
    assert content.text == "Fill in: Name\n\nLook here\n\nIn the box"


def test_formulas_are_read_as_they_were_typed() -> None:
    parts = open_parts(
        '<text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>.</text:p>'
    )
    parts["Object 1/content.xml"] = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mi>E</mi>'
        "<annotation>E = m c^2</annotation></semantics></math>"
    )
    assert read_text(SourceFile("a.odt", zipped(parts))).text == "So E = m c^2."


def test_metadata_is_what_the_file_says_about_itself() -> None:
    content = _read(
        "<text:p>a</text:p>",
        meta="<dc:title>A title</dc:title><meta:initial-creator>Ada</meta:initial-creator>"
        "<dc:creator>Bob</dc:creator><meta:creation-date>2024-05-01T10:00:00.123456789"
        "</meta:creation-date><dc:date>2024-06-01T10:00:00</dc:date><dc:language>de-DE"
        "</dc:language><meta:keyword>one</meta:keyword><meta:keyword>two words</meta:keyword>",
    )
    assert content.title == "A title"
    assert content.metadata.author == "Ada"
    assert content.metadata.date == "2024-05-01"
    assert content.metadata.modified == "2024-06-01T10:00:00"
    assert content.metadata.language == "de-DE"
    assert content.metadata.tags == ("one", "two words")


def test_encrypted_files_are_refused_in_words() -> None:
    parts = open_parts("<text:p>a</text:p>")
    parts["META-INF/manifest.xml"] = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<m:file-entry m:full-path="content.xml"><m:encryption-data/></m:file-entry></m:manifest>'
    )
    parts["content.xml"] = b"\x93noise"
    with pytest.raises(FileUnreadable, match="is encrypted"):
        read_text(SourceFile("a.odt", zipped(parts)))


def _slide(title: str, text: str, notes: str = "", style: str = "") -> str:
    return (
        f'<draw:page draw:style-name="{style}"><draw:frame presentation:class="title">'
        f"<draw:text-box><text:p>{title}</text:p></draw:text-box></draw:frame><draw:frame>"
        f"<draw:text-box><text:list><text:list-item><text:p>{text}</text:p></text:list-item>"
        "</text:list></draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box>"
        f"<text:p>{notes}</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
    )


def test_slides_are_pages_under_their_titles_with_their_notes() -> None:
    slides = _slide("First<text:line-break/>slide", "point", "Say it.") + _slide("Second", "more")
    content = _read(slides, kind="presentation")
    assert content.type == "odp"
    assert content.text == "First\nslide\n\n- point\n\nNotes: Say it.\n\nSecond\n\n- more"
    assert [one.heading_path for one in content.sections] == [("First slide",), ("Second",)]
    assert {one.page for one in content.places} == {1, 2}
    assert content.metadata.pages == 2


def test_hidden_slides_are_flagged() -> None:
    hidden = '<style:drawing-page-properties presentation:visibility="hidden"/>'
    style = f'<style:style style:name="dp1" style:family="drawing-page">{hidden}</style:style>'
    slides = _slide("Seen", "a") + _slide("Secret", "b", style="dp1")
    content = _read(slides, kind="presentation", styles=style)
    assert _hidden(content) == {"Secret": OmissionReason.HIDDEN, "b": OmissionReason.HIDDEN}
    assert [one.heading_path for one in content.sections] == [("Seen",)]


def test_files_that_cannot_be_read_say_why() -> None:
    with pytest.raises(FileEmpty):
        _read("<text:p/>")
    with pytest.raises(FileUnreadable, match="no text body"):
        _read("<text:p>a</text:p>", kind="chart")
    with pytest.raises(FileUnreadable, match="nested too deeply"):
        _read("<text:section>" * 5_000 + "</text:section>" * 5_000)
    with pytest.raises(FileUnreadable, match=r"no part content\.xml"):
        read_text(SourceFile("a.odt", zipped({"mimetype": "x"})))
