from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.rtf import read
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, OmissionReason

_STYLES = (
    rb"{\stylesheet{Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}"
    rb"{\s3\sbasedon2 Mine;}{\s4 Title;}{\*\cs10 heading 9;}}"
)


def _read(body: bytes, *options: str) -> Content:
    data = rb"{\rtf1\ansi\ansicpg1252\deff0" + body + b"}"
    return read(SourceFile("a.rtf", data, (), frozenset(options)))


def _hidden(content: Content) -> dict[str, OmissionReason]:
    return {content.text[one.start : one.end]: one.reason for one in content.omissions}


def test_paragraphs_line_breaks_and_signs() -> None:
    content = _read(
        rb"\pard One\emdash two\line three\tab four\par"
        b"\nFi\nve \\{\\\\\\}\\~\\_x\\-y\\par \\ldblquote a\\rdblquote"
    )
    assert content.text == "One—two\nthree\tfour\n\nFive {\\}\u00a0-xy\n\n“a”"


def test_headings_are_known_by_style_or_outline_level() -> None:
    content = _read(
        _STYLES + rb"\pard\s4 Book\par\pard\s1 Rivers\par\pard\plain Flow.\par\pard\s3 Elbe\par"
        rb"\pard\outlinelevel2 Deep\par\pard\s10 No heading\par"
    )
    assert [one.heading_path for one in content.sections] == [
        *(("Book",), ("Rivers",), ("Rivers", "Elbe"), ("Rivers", "Elbe", "Deep")),
    ]
    assert content.title == "Book"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"caf\u233?s", "cafés"),
        (rb"\uc2 \u20013\'d6\'d0!", "中!"),
        (rb"\u-10179?\u-8704?", "\U0001f600"),
        (rb"{\fonttbl{\f1\fcharset204 Arial;}}\f1 \'cf\'f0\'e8", "При"),
        (rb"{\fonttbl{\f1\fcharset128 Mincho;}}\f1 \'83A\'83C", "アイ"),
        (rb"{\fonttbl{\f1\fcharset2 Symbol;}}\f1 \'61", "α"),
        (rb"{\fonttbl{\f1\fcharset2 Wingdings;}}\f1 \u-3844?", "✓"),
        (rb"\'81!", "\ufffd!"),
        (rb"\mac \'8e", "é"),
    ],
)
def test_letters_are_read_in_their_code_page(body: bytes, text: str) -> None:
    assert _read(body).text == text


def test_tables_have_a_line_for_each_row() -> None:
    content = _read(
        rb"\pard Before\par\trowd\cellx1\cellx2\pard\intbl a\par b\cell c\cell\row"
        rb"\trowd\pard\intbl d\cell e\cell\row\pard\par\trowd\pard\intbl f\cell g\cell\row"
        rb"\pard After\par"
    )
    assert content.text == "Before\n\n| a b | c |\n| d | e |\n\n| f | g |\n\nAfter"
    assert BlockKind.TABLE in {block.kind for block in content.blocks}


def test_a_table_in_a_cell_is_told_in_one_line() -> None:
    content = _read(
        rb"\trowd\pard\intbl a\cell\pard\intbl\itap2 b\nestcell c\nestcell"
        rb"{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}\pard\intbl\itap2 d\nestcell"
        rb"{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}\pard\intbl end\cell\row\pard"
    )
    assert content.text == "| a | b, c; d; end |"


def test_lists_have_the_marks_that_the_program_wrote() -> None:
    content = _read(
        rb"{\listtext\pard 1.\tab}\ls1\ilvl0 one\par{\pntext\'b7\tab}\ilvl1 two\par\pard three\par"
    )
    assert content.text == "1. one\n  - two\n\nthree"


def test_notes_and_text_boxes_stand_after_their_paragraph() -> None:
    content = _read(
        rb"One{\super\chftn}{\footnote\pard{\super\chftn} Below.\par More.}, two"
        rb"{\shp{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt\pard In the box\par}}{\shprslt In the box}}"
        rb"\par Three{\footnote\ftnalt End.}\par"
    )
    assert content.text.split("\n\n") == [
        *("One[1], two", "[1] Below.\nMore.", "In the box", "Three[2]", "[2] End."),
    ]


def test_comments_are_left_out_unless_asked_for() -> None:
    body = rb"Text{\*\atnid A}{\*\atnauthor Ada}\chatn{\*\annotation\pard Why?}.\par"
    assert _read(body).text == "Text."
    assert _read(body, "comments").text == "Text.\n\n[comment by Ada: Why?]"


def test_tracked_changes_are_read_as_accepted_unless_asked_for() -> None:
    body = (
        rb"{\*\revtbl{Unknown;}{Ada;}}It is {\deleted\revauthdel1 not }"
        rb"{\revised\revauth1 very }so.\par"
    )
    assert _read(body).text == "It is very so."
    asked = _read(body, "tracked-changes").text
    assert asked == "It is [deleted by Ada: not ][inserted by Ada: very ]so."


_COLOURS = rb"{\colortbl;\red255\green255\blue255;\red0\green0\blue0;}"


@pytest.mark.parametrize(
    ("unseen", "reason"),
    [
        (rb"{\v Unseen}", OmissionReason.HIDDEN),
        (rb"{\cf1 Unseen}", OmissionReason.WHITE),
        (rb"{\fs2 Unseen}", OmissionReason.TINY),
    ],
)
def test_what_is_not_seen_is_kept_and_flagged(unseen: bytes, reason: OmissionReason) -> None:
    content = _read(_COLOURS + rb"Seen\par " + unseen + rb"\par")
    assert content.text == "Seen\n\nUnseen"
    assert _hidden(content) == {"Unseen": reason}


@pytest.mark.parametrize(
    "seen",
    [
        rb"{\v\plain Seen}",
        rb"{\cf2 Seen}",
        rb"{\cf1\highlight2 Seen}",
        rb"{\fs20 Seen}",
    ],
)
def test_what_is_seen_is_not_flagged(seen: bytes) -> None:
    assert _read(_COLOURS + seen).omissions == ()


def test_a_hidden_heading_heads_nothing() -> None:
    content = _read(_STYLES + rb"\pard\s1{\v Secret}\par\pard Seen\par")
    assert content.sections[0].heading_path == ()


def test_what_is_no_text_is_left_out() -> None:
    content = _read(
        rb"{\header Letterhead}{\*\generator Riched20;}{\pict\pngblip 89504e47}"
        rb"{\field{\*\fldinst HYPERLINK http://127.0.0.1}{\fldrslt link}}{\*\unknown secret}"
        rb"{\object{\*\objdata 0105}{\result shown}}{\pict\bin5 a}b{c}"
    )
    assert content.text == "linkshown"


def test_metadata_is_what_the_file_says_about_itself() -> None:
    content = _read(
        rb"{\info{\title A \'e9t\'e9}{\author Ada}{\operator Bob}{\keywords one; two}"
        rb"{\creatim\yr2024\mo5\dy1\hr10\min30}{\revtim\yr2024\mo13\dy1}}Text"
    )
    assert content.text == "Text"
    assert content.title == "A été"
    assert content.metadata.author == "Ada"
    assert content.metadata.tags == ("one", "two")
    assert content.metadata.date == "2024-05-01T10:30:00"
    assert content.metadata.modified is None


def test_a_file_ends_with_its_last_brace_or_where_it_is_cut_off() -> None:
    assert read(SourceFile("a.rtf", rb"{\rtf1 Text}{\rtf1 more}\par more")).text == "Text"
    assert read(SourceFile("a.rtf", rb"{\rtf1{\b Some {\i text")).text == "Some text"


def test_files_that_cannot_be_read_say_why() -> None:
    with pytest.raises(FileEmpty):
        _read(rb"\par")
    with pytest.raises(FileUnreadable, match="nested too deeply"):
        _read(b"{" * 100_000)
    with pytest.raises(FileUnreadable, match="not what its name says"):
        read(SourceFile("a.rtf", b"Hello"))


_BROKEN = (
    *(b"{", b"}", b"\\", b"\\*", b"\\'", b"\\'e9", b"a b", b"\\par", b"\\cell ", b"\\row "),
    *(b"\\u55357 ", b"\\u-9 ", b"\\uc9 ", b"\\bin3 ", b"\\f1", b"\\s1 ", b"{\\footnote "),
    *(b"{\\fonttbl", b"{\\stylesheet", b"{\\colortbl;", b"\\red300", b";", b"\\intbl "),
    *(b"{\\info{\\title", b"{\\listtext ", b"\\v ", b"\\deleted ", b"\xff", b"\n"),
    *(b"\\nestcell ", b"\\nestrow ", b"{\\*\\annotation ", b"{\\shptxt "),
)


@given(st.lists(st.sampled_from(_BROKEN), max_size=40))
def test_whatever_is_broken_is_read_or_refused_in_words(parts: list[bytes]) -> None:
    try:
        content = _read(b"".join(parts), "comments", "tracked-changes")
    except FileUnreadable:
        return
    assert content.text.strip()
    assert all(0 <= one.start < one.end <= len(content.text) for one in content.blocks)
