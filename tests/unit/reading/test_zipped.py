from __future__ import annotations

import io
import struct
import zlib
from zipfile import ZIP_BZIP2, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import FileUnreadable
from pincite.reading.zipped import SafeZip, checked
from word_files import zipped

_ENTRY = b"PK\x01\x02"
_END = b"PK\x05\x06"


def test_reads_the_parts_of_an_archive() -> None:
    archive = SafeZip(zipped({"a.xml": "<a/>", "folder/": "", "folder/b.bin": b"\0\1"}))

    assert archive.names() == ["a.xml", "folder/b.bin"]
    assert archive.read("folder/b.bin") == b"\0\1"
    assert archive.has("a.xml")
    assert not archive.has("c.xml")


def test_backslashes_part_folders_too() -> None:
    data = zipped({"word/a.xml": "<a/>"}).replace(b"word/a.xml", b"word\\a.xml")

    assert SafeZip(data).read("word/a.xml") == b"<a/>"


def test_a_missing_part_is_named() -> None:
    with pytest.raises(FileUnreadable, match="no part word/document"):
        SafeZip(zipped({"a": ""})).read("word/document.xml")


def test_a_bomb_is_refused_before_it_expands() -> None:
    with pytest.raises(FileUnreadable, match="like a zip bomb"):
        SafeZip(zipped({"bomb.xml": bytes(5_000_000)}))


def test_many_parts_that_are_too_large_together_are_refused() -> None:
    noise = zlib.compress(b"", 0)
    data = bytearray(zipped({str(number): noise for number in range(60)}))
    at = data.find(_ENTRY)
    while at >= 0:
        struct.pack_into("<LL", data, at + 20, 4_000_000, 4_000_000)
        at = data.find(_ENTRY, at + 4)

    with pytest.raises(FileUnreadable, match="more than 200 MB"):
        SafeZip(bytes(data))


def test_an_archive_in_an_archive_stays_packed() -> None:
    inner = zipped({"bomb.xml": bytes(5_000_000)})

    assert SafeZip(zipped({"inner.zip": inner})).read("inner.zip") == inner


def _with_end_record(data: bytes, *, entries: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into("<HH", changed, data.rfind(_END) + 8, entries, entries)
    return bytes(changed)


def test_an_archive_that_announces_too_many_parts_is_refused() -> None:
    with pytest.raises(FileUnreadable, match="more than 10,000 parts"):
        SafeZip(_with_end_record(zipped({"a": ""}), entries=60_000))


def test_an_archive_that_hides_how_many_parts_it_has_is_refused() -> None:
    data = zipped({str(number): "" for number in range(10_001)})

    with pytest.raises(FileUnreadable, match="more than 10,000 parts"):
        SafeZip(_with_end_record(data, entries=1))


def test_a_million_parts_are_refused_by_the_larger_end_record() -> None:
    data = zipped({"a": ""})
    start = data.rfind(_END)
    larger = struct.pack(
        "<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1_000_000, 1_000_000, start - 30, 30
    )
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start, 1)

    with pytest.raises(FileUnreadable, match="more than 10,000 parts"):
        SafeZip(data[:start] + larger + locator + data[start:])


def test_an_archive_with_the_larger_end_record_is_read() -> None:
    data = zipped({"a": "b"})
    start = data.rfind(_END)
    size, offset = struct.unpack_from("<LL", data, start + 12)
    larger = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, size, offset)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start, 1)

    assert SafeZip(data[:start] + larger + locator + data[start:]).read("a") == b"b"


def test_two_parts_of_one_name_are_refused() -> None:
    with pytest.raises(FileUnreadable, match="two parts of the same name"):
        SafeZip(zipped([("a", "1"), ("a", "2")]))


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/etc/passwd", "C:/a", "..\\a", "a/.."])
def test_names_that_point_outside_are_refused(name: str) -> None:
    with pytest.raises(FileUnreadable, match="points outside"):
        SafeZip(zipped({name: ""}))


@pytest.mark.parametrize("name", ["a..b", "..a/b", "a.../b"])
def test_dots_in_names_are_no_harm(name: str) -> None:
    assert SafeZip(zipped({name: ""})).names() == [name]


def test_encrypted_parts_are_refused() -> None:
    data = bytearray(zipped({"a": "secret"}))
    data[data.find(_ENTRY) + 8] |= 1

    with pytest.raises(FileUnreadable, match="encrypted part"):
        SafeZip(bytes(data))


def test_other_ways_of_packing_are_refused() -> None:
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_BZIP2) as archive:
        archive.writestr("a", "b" * 100)

    with pytest.raises(FileUnreadable, match="packed in a way"):
        SafeZip(made.getvalue())


@pytest.mark.parametrize("size", [0, 4_000, 4_999])
def test_a_part_that_is_larger_than_it_says_is_refused(size: int) -> None:
    data = bytearray(zipped({"a": b"x" * 5_000}))
    entry = data.find(_ENTRY)
    struct.pack_into("<L", data, entry + 24, size)
    struct.pack_into("<L", data, entry + 16, zlib.crc32(b"x" * size))

    with pytest.raises(FileUnreadable, match="larger than it says"):
        SafeZip(bytes(data)).read("a")
    with pytest.raises(FileUnreadable, match="larger than it says"):
        checked(bytes(data))


def test_a_damaged_part_is_refused() -> None:
    data = zipped({"a": b"x" * 5_000, "b": b"y"})
    start = data.index(b"a") + 1

    with pytest.raises(FileUnreadable, match="is damaged"):
        SafeZip(data[:start] + b"\xff" * 10 + data[start + 10 :]).read("a")


@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 400))
def test_whatever_is_broken_is_said_in_words(noise: bytes, start: int, length: int) -> None:
    data = zipped({"word/a.xml": "<a/>" * 20, "b": b"\0" * 50})
    broken = data[:start] + noise + data[start + length :]
    try:
        archive = SafeZip(broken)
        contents = [archive.read(name) for name in archive.names()]
    except FileUnreadable:
        return
    assert all(isinstance(content, bytes) for content in contents)
