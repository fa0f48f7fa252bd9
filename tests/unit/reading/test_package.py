"""Packages of Office files: what is in the archive decides, and nothing in it does harm."""

from __future__ import annotations

import io
import struct
import zlib
from zipfile import ZIP_BZIP2, ZipFile

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileUnreadable
from pincite.reading.office.package import checked_office, read
from pincite.reading.source_file import SourceFile
from pincite.reading.xml_safely import check_xml, parse_xml
from pincite.reading.zipped import SafeZip, checked
from word_files import (
    content_types,
    open_file,
    open_parts,
    paragraph,
    word_file,
    word_parts,
    zipped,
)

_ENTRY = b"PK\x01\x02"
_END = b"PK\x05\x06"
_DOCTYPE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


def _read_as(name: str, data: bytes) -> str:
    return read(SourceFile(name, data)).type


def test_what_is_inside_decides_not_the_name() -> None:
    assert _read_as("a.xlsx", word_file(paragraph("Hello"))) == "docx"
    assert _read_as("a.docx", open_file("<text:p>Hello</text:p>")) == "odt"


@pytest.mark.parametrize(
    "main",
    [
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
        "application/xml",
    ],
)
def test_a_word_file_is_known_by_its_type_or_else_by_its_parts(main: str) -> None:
    parts = {**word_parts(paragraph("Hello")), "[Content_Types].xml": content_types(main)}
    assert _read_as("a.docm", zipped(parts)) == "docx"


def test_an_open_document_without_its_type_is_known_by_its_manifest() -> None:
    parts = open_parts("<text:p>Hello</text:p>")
    del parts["mimetype"]
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry '
        'm:full-path="/" m:media-type="application/vnd.oasis.opendocument.text"/></m:manifest>'
    )
    assert _read_as("a.odt", zipped({**parts, "META-INF/manifest.xml": manifest})) == "odt"
    with pytest.raises(FileUnreadable, match="of a kind"):
        _read_as("a.odt", zipped(parts))


@pytest.mark.parametrize(
    "parts", [{}, {"a.txt": "Hello"}, {"[Content_Types].xml": content_types("application/x")}]
)
def test_other_archives_are_refused_with_advice(parts: dict[str, str]) -> None:
    with pytest.raises(FileUnreadable, match="unpack it"):
        _read_as("a.zip", zipped(parts))


def test_a_missing_main_part_is_said_in_words() -> None:
    parts = word_parts(paragraph("Hello"))
    del parts["word/document.xml"]
    with pytest.raises(FileUnreadable, match="the part that holds its text is missing"):
        _read_as("a.docx", zipped(parts))


@pytest.mark.parametrize("name", ["[Content_Types].xml", "word/document.xml"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_in_any_part_is_refused(name: str, encoding: str) -> None:
    parts = word_parts(paragraph("Hello"))
    parts[name] = f"<!-- a -->\n<?b c?>{_DOCTYPE}{parts[name]!s}".encode(encoding)
    for refuse in (lambda data: _read_as("a.docx", data), checked_office):
        with pytest.raises(FileUnreadable, match="document type"):
            refuse(zipped(parts))


def test_a_document_type_may_be_named_but_define_nothing() -> None:
    named = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://127.0.0.1:1/>svg11.dtd"><svg/>'
    assert parse_xml(named.encode()).tag == "svg"
    with pytest.raises(FileUnreadable, match="document type"):
        parse_xml(f"{_DOCTYPE}<a>&x;</a>".encode())
    checked_office(zipped({"media/a.svg": named, "media/b.png": b"\x89PNG"}))
    with pytest.raises(FileUnreadable, match="document type"):
        checked_office(zipped({"media/a.svg": f"{_DOCTYPE}<svg/>"}))
    with pytest.raises(FileUnreadable, match="document type"):  # another library would parse it
        check_xml(b"<!DOCTYPE a [<!ELEMENT a ANY>]><a/>")
    check_xml(b"<a><![CDATA[<!DOCTYPE a>]]></a>")


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [("utf-8", "utf-8"), ("utf-16", "utf-16"), ("windows-1252", "cp1252"), ("UTF-16", "utf-8")],
)
def test_xml_is_read_in_its_encoding_and_a_false_claim_does_no_harm(
    encoding: str, codec: str
) -> None:
    data = f'<?xml version="1.0" encoding="{encoding}"?><a>é</a>'.encode(codec)
    assert parse_xml(data).text == "é"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'<?xml version="1.0" encoding="utf-7"?><a/>', "encoding"),
        (b'<?xml version="1.0" encoding="no-such-thing"?><a/>', "encoding"),
        (b"<a>" * 5_000 + b"</a>" * 5_000, "nested too deeply"),
        (b"", "is damaged"),
        (b"<a></b>", "is damaged"),
        (b"\xff\xfe\xff", "is damaged"),
        (b"<a>&x;</a>", "is damaged"),
        (b"<a>\xff</a>", "is damaged"),
    ],
)
def test_xml_that_cannot_be_read_is_refused_in_words(data: bytes, message: str) -> None:
    with pytest.raises(FileUnreadable, match=message):
        parse_xml(data)


def test_backslashes_part_folders_too() -> None:
    data = zipped({"word/a.xml": "<a/>"}).replace(b"word/a.xml", b"word\\a.xml")
    assert SafeZip(data).read("word/a.xml") == b"<a/>"


def _announcing(entries: int, data: bytes) -> bytes:
    changed = bytearray(data)
    struct.pack_into("<HH", changed, data.rfind(_END) + 8, entries, entries)
    return bytes(changed)


def _with_larger_end_record(entries: int) -> bytes:
    data = zipped({"a": "b"})
    start = data.rfind(_END)
    size, offset = struct.unpack_from("<LL", data, start + 12)
    larger = struct.pack(
        "<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, offset
    )
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start, 1)
    return data[:start] + larger + locator + data[start:]


def _encrypted() -> bytes:
    data = bytearray(zipped({"a": "secret"}))
    data[data.find(_ENTRY) + 8] |= 1
    return bytes(data)


def _packed_by_bzip() -> bytes:
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_BZIP2) as archive:
        archive.writestr("a", "b" * 100)
    return made.getvalue()


def _too_large_together() -> bytes:
    data = bytearray(zipped({str(number): zlib.compress(b"", 0) for number in range(60)}))
    at = data.find(_ENTRY)
    while at >= 0:
        struct.pack_into("<LL", data, at + 20, 4_000_000, 4_000_000)
        at = data.find(_ENTRY, at + 4)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped({"bomb.xml": bytes(5_000_000)}), "like a zip bomb"),
        (_too_large_together(), "more than 200 MB"),
        (_announcing(60_000, zipped({"a": ""})), "more than 10,000 parts"),
        (_announcing(1, zipped({str(at): "" for at in range(10_001)})), "more than 10,000 parts"),
        (_with_larger_end_record(1_000_000), "more than 10,000 parts"),
        (zipped([("a", "1"), ("a", "2")]), "two parts of the same name"),
        (zipped({"a/../../b": ""}), "points outside"),
        (zipped({"/etc/passwd": ""}), "points outside"),
        (zipped({"C:/a": ""}), "points outside"),
        (zipped({"..\\a": ""}), "points outside"),
        (_encrypted(), "encrypted part"),
        (_packed_by_bzip(), "packed in a way"),
    ],
)
def test_an_archive_that_cannot_be_trusted_is_refused_in_words(data: bytes, message: str) -> None:
    with pytest.raises(FileUnreadable, match=message):
        SafeZip(data)


def test_an_archive_with_the_larger_end_record_or_dots_in_names_is_read() -> None:
    assert SafeZip(_with_larger_end_record(1)).read("a") == b"b"
    assert SafeZip(zipped({"..a/b": ""})).names() == ["..a/b"]


@pytest.mark.parametrize("size", [0, 4_999])
def test_a_part_that_is_larger_than_it_says_is_refused(size: int) -> None:
    data = bytearray(zipped({"a": b"x" * 5_000}))
    entry = data.find(_ENTRY)
    struct.pack_into("<L", data, entry + 24, size)
    struct.pack_into("<L", data, entry + 16, zlib.crc32(b"x" * size))
    with pytest.raises(FileUnreadable, match="larger than it says"):
        SafeZip(bytes(data)).read("a")
    with pytest.raises(FileUnreadable, match="larger than it says"):
        checked(bytes(data))


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
