"""Which kind of document a file is: by its name while a folder is looked at, then by its bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from pincite.errors import FileUnreadable


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: the module of `reading/` that reads it, and the names such files have."""

    module: str
    suffixes: tuple[str, ...]
    native: bool = True  # read by a parser not written in Python, which a file could take over
    binary: bool = False  # never plain text


MARKDOWN = Kind("lines.fences", (".md", ".markdown", ".mdown", ".mkd", ".mdx"), native=False)
PLAIN = Kind("lines.plain", (".txt", ".text"), native=False)
HTML = Kind("web.html", (".html", ".htm", ".xhtml"))
PDF = Kind("pdf", (".pdf",), binary=True)
# Zip archives: what is inside decides which.
PACKAGE = Kind(
    "office.package",
    (
        *(".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".xlsx", ".xlsm", ".xlsb"),
        *(".odt", ".ott", ".ods", ".odp", ".epub"),
    ),
    binary=True,
)
# The containers of Office before 2007, and of Outlook; what is inside decides which.
COMPOUND = Kind("office.compound", (".doc", ".xls", ".ppt", ".msg"), binary=True)
RTF = Kind("office.rtf", (".rtf",), native=False)
SUBTITLES = Kind("recordings.subtitles", (".vtt", ".srt", ".sbv"), native=False)
CODE = Kind(
    "code",
    (
        *(".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
        *(".go", ".rs", ".java", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx"),
    ),
)

KINDS = (
    MARKDOWN,
    PLAIN,
    PDF,
    PACKAGE,
    COMPOUND,
    HTML,
    RTF,
    SUBTITLES,
    Kind("web.mail", (".eml",)),
    Kind("data.xml", (".xml",)),
    Kind("data.table", (".csv", ".tsv"), native=False),
    Kind("data.notebook", (".ipynb",), native=False),
    Kind("lines.rst", (".rst",), native=False),
    Kind("lines.org", (".org",), native=False),
    Kind("data.structured", (".json", ".jsonl", ".ndjson"), native=False),
    CODE,
)
_KIND_OF = {suffix: kind for kind in KINDS for suffix in kind.suffixes}

# Files that by custom have no extension and are written for people.
_TEXT_NAMES = frozenset(("readme", "notes", "todo", "changelog", "changes", "news", "history"))

# What nothing else begins with, whatever the file is called.
_SIGNATURES = (
    (re.compile(rb"%PDF-\d"), PDF),
    (re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"), PACKAGE),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), COMPOUND),
    (re.compile(rb"\{\\rtf\d"), RTF),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s{0,100}<(?:!doctype html|html)\b", re.IGNORECASE), HTML),
    (re.compile(rb"(?:\xef\xbb\xbf)?WEBVTT(?:\s|$)"), SUBTITLES),
)

_FURTHEST_HEADER = 1_024  # bytes; as PDF readers do, we let mail headers and the like go first


def kind_by_name(path: str) -> Kind | None:
    """The kind of a file of this name; None if there is none."""
    name = PurePosixPath(path)
    if not name.suffix and name.name.lower() in _TEXT_NAMES:
        return PLAIN
    return _KIND_OF.get(name.suffix.lower())


def kind_of(path: str, data: bytes) -> Kind:
    """The kind of a file with this name and these bytes; the bytes have the last word."""
    named = kind_by_name(path)
    for signature, kind in _SIGNATURES:
        if signature.match(data):
            return kind
    suffix = PurePosixPath(path).suffix
    if named is None:
        raise FileUnreadable(f"is of a kind that cannot be read ({suffix or 'no extension'})")
    if named is PDF and b"%PDF-" in data[:_FURTHEST_HEADER]:
        return PDF
    if named.binary:
        raise FileUnreadable(f"is not what its name says: it does not begin like a {suffix} file")
    return named
