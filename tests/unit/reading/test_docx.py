from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.docx.reader import read_docx
from pincite.reading.source_file import SourceFile
from pincite.records import Content, OmissionReason
from word_files import (
    MAIN,
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


def test_headings_open_sections_by_the_names_of_their_styles() -> None:
    styles = style("heading 1", "berschrift1") + style("heading 2", "berschrift2")
    content = _read(
        styled("Rivers", "berschrift1") + paragraph("They flow.") + styled("Elbe", "berschrift2"),
        styles=styles,
    )

    assert [one.heading_path for one in content.sections] == [("Rivers",), ("Rivers", "Elbe")]
    assert content.text == "Rivers\n\nThey flow.\n\nElbe"


@pytest.mark.parametrize(
    ("styles", "level"),
    [
        ("", 3),
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


def test_the_level_of_a_heading_can_stand_in_the_paragraph() -> None:
    content = _read(paragraph("A", '<w:outlineLvl w:val="0"/>') + paragraph("b"))

    assert content.sections[0].heading_path == ("A",)


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


def test_text_boxes_are_read_once_after_their_paragraph() -> None:
    twice = (
        f"<mc:AlternateContent><mc:Choice>{text_box(paragraph('In the box'))}</mc:Choice>"
        f"<mc:Fallback><w:pict><v:shape><v:textbox><w:txbxContent>{paragraph('In the box')}"
        "</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent>"
    )
    content = _read(f"<w:p><w:r><w:t>Before </w:t>{twice}<w:t>and after</w:t></w:r></w:p>")

    assert content.text == "Before and after\n\nIn the box"


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


def test_a_file_without_text_is_empty() -> None:
    with pytest.raises(FileEmpty):
        _read("<w:p/><w:sectPr/>")


def test_a_file_without_a_body_is_damaged() -> None:
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


def test_what_lies_outside_of_the_file_is_not_touched() -> None:
    parts = word_parts(_run('<w:t>Text</w:t><w:drawing><dgm:relIds r:dm="rId1"/></w:drawing>'))
    kinds = ("image", "attachedTemplate", "oleObject", "styles", "footnotes", "diagramData")
    parts["word/_rels/document.xml.rels"] = relations(
        *((f"http://x/{kind}", "http://127.0.0.1:1/x") for kind in kinds)
    ).replace(" Target=", ' TargetMode="External" Target=')

    assert read_docx(SourceFile("a.docx", zipped(parts))).text == "Text"


def test_parts_that_are_missing_are_done_without() -> None:
    parts = word_parts(styled("A", "Heading1"), styles="")
    del parts["word/styles.xml"]

    assert read_docx(SourceFile("a.docx", zipped(parts))).sections[0].heading_path == ("A",)


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
