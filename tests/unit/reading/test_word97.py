from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compound_files import compound_file
from pincite.errors import FileUnreadable
from pincite.reading.office.compound import read
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, OmissionReason

_TEXT_AT = 2_048
_PAGE = 512
_IN_TABLE = struct.pack("<HB", 0x2416, 1)
_ENDS_ROW = _IN_TABLE + struct.pack("<HB", 0x2417, 1)
_HIDDEN = struct.pack("<HB", 0x083C, 1)
_DELETED = struct.pack("<HB", 0x0800, 1)

Formats = Sequence[tuple[int, int, int, bytes]]
"""Start and end of stretches of the text, a style, and changes of format."""


def word(
    text: str,
    *,
    paragraphs: Formats = (),
    characters: Formats = (),
    lengths: Mapping[int, int] | None = None,
    **changes: int,
) -> dict[str, bytes]:
    """The streams of a document whose text lies in one piece of two bytes for each character."""
    encoded = text.encode("utf-16-le")
    count = len(encoded) // 2
    stream = bytearray(_TEXT_AT) + encoded
    stream += bytes(-len(stream) % _PAGE)
    pages = []
    for formats, is_paragraph in ((characters, False), (paragraphs, True)):
        pages.append(len(stream) // _PAGE)
        stream += _page(formats, is_paragraph=is_paragraph)
    plan = struct.pack("<BIIIHIH", 2, 16, 0, count, 0, changes.get("place", _TEXT_AT), 0)
    table = plan.ljust(100, b"\0")
    table += b"".join(struct.pack("<III", 0, 0xFFFFFFFF, page) for page in pages)
    struct.pack_into("<HH", stream, 0, 0xA5EC, changes.get("version", 0xC1))
    struct.pack_into("<H", stream, 0x0A, changes.get("flags", 0x0200))
    struct.pack_into("<I", stream, 0x4C, changes.get("body", count))
    for place, length in (lengths or {}).items():
        struct.pack_into("<I", stream, place, length)
    struct.pack_into("<II", stream, 0x01A2, 0, changes.get("plan", len(plan)))
    struct.pack_into("<II", stream, 0xFA, 100, 12)
    struct.pack_into("<II", stream, 0x102, 112, 12)
    return {"WordDocument": bytes(stream), "1Table": table}


def _page(formats: Formats, *, is_paragraph: bool) -> bytes:
    """A page that says how stretches of the text are formatted."""
    edges = [_TEXT_AT + 2 * start for start, *_ in formats]
    edges += [_TEXT_AT + 2 * formats[-1][1]] if formats else [0]
    page = bytearray(_PAGE)
    struct.pack_into(f"<{len(edges)}I", page, 0, *edges)
    end = _PAGE - 2
    for number, (_, _, style, changes) in enumerate(formats):
        if is_paragraph:
            body = struct.pack("<H", style) + changes
            body += b"\0" * (1 - len(body) % 2)  # one less than an even number of bytes
            body = bytes([(len(body) + 1) // 2]) + body
        else:
            body = bytes([len(changes)]) + changes
        end = (end - len(body)) // 2 * 2
        page[end : end + len(body)] = body
        page[4 * len(edges) + number * (13 if is_paragraph else 1)] = end // 2
    page[-1] = len(formats)
    return bytes(page)


def document(text: str, **options: object) -> Content:
    return read(SourceFile("a.doc", compound_file(word(text, **options))))  # type: ignore[arg-type]


def test_paragraphs_are_read() -> None:
    content = document("First one.\rSecond – “quoted”\x0bline.\r\rThird 😀.\r")
    assert content.type == "doc"
    assert content.text == "First one.\n\nSecond – “quoted”\nline.\n\nThird 😀."


def test_text_in_several_pieces_is_put_in_order() -> None:
    streams = word("world\r")
    stream = streams["WordDocument"] + "Grüße, ".encode("cp1252")
    place = (len(streams["WordDocument"]) * 2) | 0x40000000
    plan = struct.pack("<BI3I", 2, 28, 0, 7, 13)
    plan += struct.pack("<HIHHIH", 0, place, 0, 0, _TEXT_AT, 0)
    changes = struct.pack("<BH3s", 1, 3, b"abc")  # comes before, and is skipped
    stream_with_length = bytearray(stream)
    struct.pack_into("<I", stream_with_length, 0x4C, 13)
    struct.pack_into("<II", stream_with_length, 0x01A2, 200, len(changes + plan))
    table = streams["1Table"].ljust(200, b"\0") + changes + plan
    data = compound_file({"WordDocument": bytes(stream_with_length), "1Table": table})
    assert read(SourceFile("a.doc", data)).text == "Grüße, world"


def test_paragraphs_in_the_styles_of_headings_are_headings() -> None:
    content = document(
        "Title\rText\rPart\r", paragraphs=[(0, 6, 1, b""), (6, 11, 0, b""), (11, 16, 2, b"")]
    )
    assert [section.heading_path for section in content.sections] == [
        ("Title",),
        ("Title", "Part"),
    ]


def test_paragraphs_in_lists_are_items() -> None:
    listed = struct.pack("<HB", 0x260A, 1) + struct.pack("<HH", 0x460B, 4)
    content = document("• typed\rdeeper\r\uf0b7\r", paragraphs=[(0, 8, 0, b""), (8, 15, 0, listed)])
    assert content.text == "- typed\n  - deeper"
    assert {block.kind for block in content.blocks} == {BlockKind.ITEM}


def test_tables_are_read_row_by_row() -> None:
    content = document(
        "a\rb\x07\x07c\x07\x07d\x07\x07Text\r",
        paragraphs=[
            *((0, 2, 0, _IN_TABLE), (2, 4, 0, _IN_TABLE), (4, 5, 0, _IN_TABLE)),
            *((5, 7, 0, _IN_TABLE), (7, 8, 0, _ENDS_ROW), (8, 10, 0, _IN_TABLE)),
            *((10, 11, 0, _ENDS_ROW), (11, 16, 0, b"")),
        ],
    )
    assert content.text == "| a b |  | c |\n| d |\n\nText"


def test_only_the_results_of_fields_are_read() -> None:
    link = "See \x13 HYPERLINK \x13 inner \x14 x \x15 \x14the page\x15 now\x13 PAGE \x15.\r"
    assert document(link).text == "See the page now."


def test_hidden_text_is_kept_but_marked_and_deleted_text_is_not_read() -> None:
    content = document(
        "Seen secret gone.\r", characters=[(5, 12, 0, _HIDDEN), (12, 16, 0, _DELETED)]
    )
    assert content.text == "Seen secret ."
    (omission,) = content.omissions
    assert omission.reason is OmissionReason.HIDDEN
    assert content.text[omission.start : omission.end] == "secret "


def test_a_hidden_heading_is_no_heading() -> None:
    content = document(
        "Secret\rText\r",
        paragraphs=[(0, 7, 1, b""), (7, 12, 0, b"")],
        characters=[(0, 7, 0, _HIDDEN)],
    )
    assert content.sections[0].heading_path == ()


def test_footnotes_and_boxes_are_read_but_headers_and_comments_are_not() -> None:
    text = "Body\rNote\rHead\rComment\rEnd\rBox\r"
    content = document(text, body=5, lengths={0x50: 5, 0x54: 5, 0x58: 0, 0x5C: 8, 0x60: 4, 0x64: 4})
    assert content.text == "Body\n\nNote\n\nEnd\n\nBox"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flags": 0x0300}, "password"),
        ({"version": 0x65}, "before 1997"),
        ({"flags": 0}, "missing"),
        ({"plan": 0}, "damaged"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(changes: dict[str, int], message: str) -> None:
    with pytest.raises(FileUnreadable, match=message):
        document("Text\r", **changes)


@settings(max_examples=300)
@given(st.data())
def test_damage_anywhere_is_told_in_words(data: st.DataObject) -> None:
    streams = word(
        "Title\rSome text\x07\x07more\r",
        paragraphs=[(0, 6, 1, b""), (6, 16, 0, _IN_TABLE), (16, 17, 0, _ENDS_ROW)],
        characters=[(6, 10, 0, _HIDDEN)],
    )
    for name, stream in streams.items():
        changed = bytearray(stream)
        for _ in range(data.draw(st.integers(0, 6))):
            at = data.draw(st.integers(0, len(changed) - 1))
            changed[at] = data.draw(st.integers(0, 255))
        streams[name] = bytes(changed[: data.draw(st.integers(0, len(changed)))])
    try:
        read(SourceFile("a.doc", compound_file(streams)))
    except FileUnreadable:
        return
