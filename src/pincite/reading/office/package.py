"""Zip archives → Content: what is inside decides which reader takes them."""

from __future__ import annotations

import re
from collections.abc import Callable

from pincite.errors import FileUnreadable
from pincite.reading.office.docx import read_docx
from pincite.reading.office.opendocument import read_text
from pincite.reading.office.pptx import read_pptx
from pincite.reading.office.sheets import read_workbook
from pincite.reading.source_file import SourceFile
from pincite.reading.web.epub import read_epub
from pincite.reading.xml_safely import check_xml, parse_xml
from pincite.reading.zipped import SafeZip
from pincite.records import Content

_Reader = Callable[[SourceFile], Content]

_CONTENT_TYPES = "[Content_Types].xml"
_MIME_TYPE = "mimetype"
_MANIFEST = "META-INF/manifest.xml"
# What the content type of a file's main part begins with.
_OFFICE: tuple[tuple[tuple[str, str], _Reader], ...] = (
    (("openxmlformats-officedocument.wordprocessingml.", "ms-word."), read_docx),
    (("openxmlformats-officedocument.presentationml.", "ms-powerpoint."), read_pptx),
    (("openxmlformats-officedocument.spreadsheetml.", "ms-excel."), read_workbook),
)
# The main part's usual name, for files that lie about its type.
_OFFICE_PARTS: tuple[tuple[str, _Reader], ...] = (
    ("word/document.xml", read_docx),
    ("ppt/presentation.xml", read_pptx),
    ("xl/workbook.xml", read_workbook),
    ("xl/workbook.bin", read_workbook),
)
_OPEN_DOCUMENT = re.compile(
    rb"application/(?:vnd\.oasis\.opendocument|x-vnd\.oasis\.opendocument)\.([a-z]+)"
)
_OPEN_DOCUMENT_READERS: dict[bytes, _Reader] = {
    b"text": read_text,
    b"presentation": read_text,
    b"graphics": read_text,
    b"spreadsheet": read_workbook,
}


def read(file: SourceFile) -> Content:
    """Read an Office document, an OpenDocument file or an electronic book."""
    archive = SafeZip(file.data)
    reader = _office_reader(archive) or _open_reader(archive)
    if reader is None:
        raise FileUnreadable("is a zip archive of a kind that cannot be read; unpack it")
    if reader is read_workbook:
        checked_office(file.data)  # whose library unpacks and parses by itself
    return reader(file)


def checked_office(data: bytes) -> None:
    """Refuse a package that would do harm to a library that unpacks and parses it by itself."""
    archive = SafeZip(data)
    for name in archive.names():
        check_xml(archive.read(name))


def _office_reader(archive: SafeZip) -> _Reader | None:
    if not archive.has(_CONTENT_TYPES):
        return None
    types = [one.get("ContentType", "") for one in parse_xml(archive.read(_CONTENT_TYPES))]
    main = [one.removeprefix("application/vnd.") for one in types if ".main" in one]
    for beginnings, reader in _OFFICE:
        if any(one.startswith(beginnings) for one in main):
            return reader
    return next((reader for part, reader in _OFFICE_PARTS if archive.has(part)), None)


def _open_reader(archive: SafeZip) -> _Reader | None:
    """OpenDocument and EPUB say what they are in a part of its own, or should."""
    kind = archive.read(_MIME_TYPE).strip() if archive.has(_MIME_TYPE) else b""
    if kind == b"application/epub+zip" or archive.has("META-INF/container.xml"):
        return read_epub
    if not kind and archive.has(_MANIFEST):
        kind = archive.read(_MANIFEST)
    found = _OPEN_DOCUMENT.search(kind)
    return _OPEN_DOCUMENT_READERS.get(found.group(1)) if found else None
