"""Files of old Office programs: workbooks, documents and messages in compound files."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings, strategies as st

from compound_files import compound_file
from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.office.compound import read
from pincite.reading.office.ole import OleContainer
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, OmissionReason
from small_memory import read_in_small_memory


def compound(streams: dict[str, bytes]) -> Content:
    return read(SourceFile("a.xls", compound_file(streams)))


def _record(kind: int, payload: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(payload)) + payload


def label(row: int, column: int, text: str) -> bytes:
    return _record(
        0x204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode("latin-1")
    )


def number(row: int, column: int, value: float) -> bytes:
    return _record(0x203, struct.pack("<HHHd", row, column, 0, value))


def workbook(
    *cells: bytes,
    dimensions: bytes = struct.pack("<IIHHH", 0, 1, 0, 1, 0),
    sheet_name: bytes = struct.pack("<BB", 4, 0) + b"Data",
) -> bytes:
    """The stream of an old workbook with one sheet."""
    begin = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0x600))
    end = _record(0x0A)
    place = len(begin) + len(_record(0x85, bytes(6) + sheet_name)) + len(end)
    named = _record(0x85, struct.pack("<IBB", place, 0, 0) + sheet_name)
    sheet = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0x600))
    return begin + named + end + sheet + _record(0x200, dimensions) + b"".join(cells) + end


_CELLS = (label(0, 0, "Name"), label(0, 1, "Age"), label(1, 0, "Ann"), number(1, 1, 30))


def test_an_old_workbook_is_read() -> None:
    content = compound({"Workbook": workbook(*_CELLS)})
    assert content.type == "xls"
    assert content.text == "Data\n\nName | Age\nName: Ann; Age: 30"
    assert [place.row for place in content.places] == [None, 1, 2]


def test_a_workbook_larger_than_many_sectors_is_read() -> None:
    cells = [label(row, 0, f"text {row} " + "x" * 200) for row in range(2_000)]
    assert compound({"Workbook": workbook(*cells)}).text.count("text ") == 2_000


def test_a_workbook_that_lies_about_its_size_is_read_in_little_memory() -> None:
    said = struct.pack("<IIHHH", 0, 0xFFFFFFFF, 0, 0xFFFF, 0)
    data = compound_file({"Workbook": workbook(*_CELLS, dimensions=said)})
    text = read_in_small_memory("pincite.reading.office.compound", "read", "a.xls", data)
    assert text == "Data\n\nName | Age\nName: Ann; Age: 30\n"


def test_a_workbook_of_cells_far_apart_is_refused_in_little_memory() -> None:
    data = compound_file({"Workbook": workbook(label(0, 0, "a"), label(65_535, 255, "b"))})
    text = read_in_small_memory("pincite.reading.office.compound", "read", "a.xls", data)
    assert text.startswith("unreadable: has sheets that span 16,777,216 cells")


def test_a_reader_that_panics_is_caught() -> None:
    with pytest.raises(FileUnreadable, match="damaged") as raised:
        compound({"Workbook": workbook()[:20] + _record(0x85, b"abc") + _record(0x0A)})
    assert type(raised.value.__cause__).__name__ == "PanicException"


def _properties(*properties: tuple[int, int, bytes]) -> bytes:
    """The stream in which a file says things about itself: number, kind and value of each."""
    values = b""
    places = b""
    start = 8 + 8 * len(properties)
    for one, kind, value in properties:
        places += struct.pack("<II", one, start + len(values))
        values += struct.pack("<I", kind) + value
    section = struct.pack("<II", start + len(values), len(properties)) + places + values
    return bytes(44) + struct.pack("<I", 48) + section


def _text(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


_MAY_2024 = (133_590_240_000_000_000).to_bytes(8, "little")  # 100 ns from 1601


def test_what_the_file_says_about_itself_is_kept() -> None:
    said = _properties(
        (1, 2, struct.pack("<I", 1_251)),
        (2, 0x1E, _text("Отчёт\0".encode("cp1251"))),
        (4, 0x1F, struct.pack("<I", 4) + "Ann\0".encode("utf-16-le")),
        (5, 0x1E, _text(b"a; b\0")),
        (12, 0x40, _MAY_2024),
        (13, 0x40, bytes(8)),
    )
    content = compound({"Workbook": workbook(*_CELLS), "\x05SummaryInformation": said})
    assert content.title == "Отчёт"
    assert content.metadata.author == "Ann"
    assert content.metadata.tags == ("a", "b")
    assert content.metadata.date == "2024-05-01T08:00:00+00:00"
    assert content.metadata.modified is None
    assert content.metadata.pages == 1


@pytest.mark.parametrize("said", [b"", _properties((2, 0x1E, b"\xff\xff\xff\xff"))])
def test_what_the_file_says_badly_does_no_harm(said: bytes) -> None:
    content = compound({"Workbook": workbook(*_CELLS), "\x05SummaryInformation": said})
    assert (content.title, content.metadata.date) == (None, None)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ("EncryptedPackage", "is encrypted with a password; save it without one to index it"),
        (
            "PowerPoint Document",
            "is an old PowerPoint presentation (.ppt); save it as .pptx to index it",
        ),
        ("Anything else", "is an OLE container of a kind that cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(stream: str, message: str) -> None:
    with pytest.raises(FileUnreadable) as raised:
        compound({stream: b"x"})
    assert str(raised.value) == message


@settings(max_examples=200)
@given(st.data())
def test_damage_anywhere_is_told_in_words(data: st.DataObject) -> None:
    whole = bytearray(compound_file({"Workbook": b"x" * 5_000, "a/b": b"y" * 100}))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    length = data.draw(st.integers(0, len(whole)))
    try:
        container = OleContainer(bytes(whole[:length]))
        read_sizes = [len(container.read(name)) for name in container.names()]
    except FileUnreadable:
        return
    assert all(size <= length for size in read_sizes)


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
def test_a_document_that_cannot_be_read_says_why(changes: dict[str, int], message: str) -> None:
    with pytest.raises(FileUnreadable, match=message):
        document("Text\r", **changes)


@settings(max_examples=300)
@given(st.data())
def test_damage_in_a_document_is_told_in_words(data: st.DataObject) -> None:
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


_NOON = 133_590_384_000_000_000  # 100 ns from 1601


def folder(
    texts: dict[int, str], numbers: dict[int, int] | None = None, *, path: str = ""
) -> dict[str, bytes]:
    """The streams of a message, or of a part of it: texts and numbers by their properties."""
    header = bytes(8 if path else 32)
    fixed = b"".join(
        struct.pack("<HHIQ", 3, one, 0, value) for one, value in (numbers or {}).items()
    )
    streams = {
        f"{path}__substg1.0_{one:04X}001F": text.encode("utf-16-le") for one, text in texts.items()
    }
    return {f"{path}__properties_version1.0": header + fixed, **streams}


def recipient(number: int, name: str, address: str, role: int = 1) -> dict[str, bytes]:
    return folder(
        {0x3001: name, 0x3003: address},
        {0x0C15: role},
        path=f"__recip_version1.0_#{number:08X}/",
    )


def attachment(number: int, name: str, *, kind: str = "", hidden: bool = False) -> dict[str, bytes]:
    return folder(
        {0x3707: name, 0x370E: kind},
        {0x7FFE: int(hidden)},
        path=f"__attach_version1.0_#{number:08X}/",
    )


_SENDER = {0x0C1A: "Ann Lee", 0x0C1F: "ann@example.org"}


def message(*parts: dict[str, bytes]) -> Content:
    streams = {name: data for part in parts for name, data in part.items()}
    return read(SourceFile("a.msg", compound_file(streams)))


def test_a_message_says_who_wrote_to_whom_and_when() -> None:
    content = message(
        folder(
            {0x0037: "Pumps", 0x1000: "They leak.\r\n\r\nAll of them.\r\n", **_SENDER},
            {0x0039: _NOON},
        ),
        recipient(0, "Bob", "bob@example.org"),
        recipient(1, "cy@example.org", "cy@example.org"),
        recipient(2, "Dee", "/O=EXCHANGE/CN=DEE", role=2),
        recipient(3, "Eve", "eve@example.org", role=3),
    )
    assert content.type == "msg"
    assert content.title == "Pumps"
    assert content.text == (
        "From: Ann Lee <ann@example.org>\nTo: Bob <bob@example.org>, cy@example.org\nCc: Dee\n"
        "Date: 2024-05-01 12:00:00 UTC\n\nThey leak.\n\nAll of them."
    )
    assert content.metadata.author == "Ann Lee"
    assert content.metadata.date == "2024-05-01T12:00:00+00:00"


def test_the_date_of_the_mail_itself_goes_first() -> None:
    headers = "From: Ann\r\nDate: Fri, 23 Dec 2022 12:08:48 -0600\r\n\r\n"
    content = message(folder({0x007D: headers, 0x1000: "x"}, {0x0039: _NOON}))
    assert content.text == "Date: Fri, 23 Dec 2022 12:08:48 -0600\n\nx"
    assert content.metadata.date == "2022-12-23T12:08:48-06:00"


@pytest.mark.parametrize("said", ["Date: yesterday\r\n\r\n", "\0\xff", "Date: =?x?=\r\n"])
def test_a_date_that_makes_no_sense_is_left_out(said: str) -> None:
    content = message(folder({0x007D: said, 0x1000: "x"}, {0x0039: 2**63}))
    assert content.text == "x"
    assert content.metadata.date is None


def html_message(page: bytes, code_page: int = 65_001) -> Sequence[dict[str, bytes]]:
    return (
        folder({0x0037: "S"}, {0x3FDE: code_page}),
        {"__substg1.0_10130102": page},
    )


def test_the_html_is_read_where_there_is_no_plain_text() -> None:
    page = "<p>Grüße</p><ul><li>one</li></ul>"
    assert message(*html_message(page.encode())).text == "Grüße\n\n- one"
    assert message(*html_message(page.encode("cp1252"), 1_252)).text == "Grüße\n\n- one"


def test_the_html_is_read_where_the_plain_text_is_only_a_hint() -> None:
    page = b"<p>" + b"All of the long story. " * 9 + b"</p>"
    content = message(*html_message(page), folder({0x1000: "See the HTML."}))
    assert content.text.startswith("All of the long story.")


def test_texts_of_one_byte_for_each_character_are_read() -> None:
    streams = folder({}, {0x3FFD: 1_251, 0x3FDE: 1_251})
    streams["__substg1.0_0037001E"] = "Привет".encode("cp1251")
    streams["__substg1.0_1000001E"] = "Мир".encode("cp1251")
    content = message(streams)
    assert (content.title, content.text) == ("Привет", "Мир")


def test_attachments_are_named() -> None:
    content = message(
        folder({0x1000: "Look"}),
        attachment(0, "a.pdf"),
        attachment(1, "logo.png", hidden=True),
        attachment(2, "b.docx"),
    )
    assert content.text == "Look\n\nAttachments: a.pdf, b.docx"


def test_encrypted_messages_are_refused_by_name() -> None:
    pgp = (folder(_SENDER), attachment(0, "x", kind="application/pgp-encrypted"))
    smime = (folder({0x001A: "IPM.Note.SMIME", **_SENDER}), attachment(0, "smime.p7m"))
    for parts in (pgp, smime):
        with pytest.raises(FileUnreadable, match="encrypted"):
            message(*parts)


def test_a_message_that_says_nothing_is_empty() -> None:
    with pytest.raises(FileEmpty):
        message(folder({}))


@given(st.binary(max_size=200), st.binary(max_size=60), st.sampled_from(["1000", "1013", "007D"]))
def test_broken_properties_do_no_harm(properties: bytes, text: bytes, name: str) -> None:
    streams = {
        "__properties_version1.0": properties,
        f"__substg1.0_{name}001F": text,
        "__substg1.0_10130102": text,
        "__recip_version1.0_#00000000/__properties_version1.0": properties,
        "__recip_version1.0_#00000000/__substg1.0_3001001F": text,
    }
    try:
        content = read(SourceFile("a.msg", compound_file(streams)))
    except FileUnreadable:
        return
    assert content.text.strip()
