from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compound_files import compound_file
from pincite.errors import FileUnreadable
from pincite.reading.office.compound import read
from pincite.reading.office.ole import OleContainer
from pincite.reading.source_file import SourceFile
from pincite.records import Content
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
