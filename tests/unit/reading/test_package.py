from __future__ import annotations

import pytest

from pincite.errors import FileUnreadable
from pincite.reading.office.package import checked_office, read
from pincite.reading.source_file import SourceFile
from word_files import (
    content_types,
    open_file,
    open_parts,
    paragraph,
    word_file,
    word_parts,
    zipped,
)

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
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/xml",
        "text/plain",
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


@pytest.mark.parametrize("name", ["[Content_Types].xml", "_rels/.rels", "word/document.xml"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_in_any_part_is_refused(name: str, encoding: str) -> None:
    parts = word_parts(paragraph("Hello"))
    parts[name] = f"{_DOCTYPE}{parts[name]!s}".encode(encoding)

    with pytest.raises(FileUnreadable, match="document type"):
        _read_as("a.docx", zipped(parts))
    with pytest.raises(FileUnreadable, match="document type"):
        checked_office(zipped(parts))


def test_pictures_may_name_their_document_type() -> None:
    svg = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd"><svg/>'
    checked_office(zipped({"media/a.svg": svg, "media/b.png": b"\x89PNG"}))

    with pytest.raises(FileUnreadable, match="document type"):
        checked_office(zipped({"media/a.svg": f"{_DOCTYPE}<svg/>"}))
