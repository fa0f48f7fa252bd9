"""XML from strangers: no entities of their own, nothing from outside, no endless depth."""

from __future__ import annotations

import codecs
import re
from encodings import normalize_encoding
from encodings.aliases import aliases

from lxml import etree

from pincite.errors import FileUnreadable

_REFUSED = "holds XML with a document type definition that can do harm"
# The encodings that XML files are really in; some others (UTF-7) hide a DOCTYPE from a search.
_ENCODINGS = (
    *("utf_8", "utf_16_le", "utf_16_be", "ascii", "latin_1", "koi8_r"),
    *("shift_jis", "cp932", "euc_jp"),
    *("gb2312", "gbk", "gb18030", "big5", "euc_kr", "cp949"),
    *(f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)),
    *(f"cp125{page}" for page in range(9)),
)
for _encoding in _ENCODINGS:
    codecs.lookup(_encoding)  # loads its module now: where files are read, nothing can be opened
_MARKS = (
    (codecs.BOM_UTF8, "utf_8"),
    (codecs.BOM_UTF16_LE, "utf_16_le"),
    (codecs.BOM_UTF16_BE, "utf_16_be"),
)
# How "<" and "<?" begin in UTF-16 without a mark.
_UNMARKED = ((b"<\0", "utf_16_le"), (b"\0<", "utf_16_be"))
_DECLARATION = re.compile(
    rb"""<\?xml\s[^>]{0,200}?encoding\s{0,20}=\s{0,20}["']([A-Za-z0-9._-]{1,40})["']"""
)
# What may stand before the first element, one after the other.
_PROLOG = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->", re.DOTALL)
# There are two names in it at most.
_DOCTYPE = re.compile(rb"""<!DOCTYPE\b[^\[<>"']*(?:(?:"[^"]*"|'[^']*')[^\[<>"']*){0,9}""")
# Parts of what a document type may define: how elements are made up, but no entity.
_DEFINED = re.compile(
    rb"""<\?.*?\?>|<!--.*?-->|<!(?:ELEMENT|ATTLIST|NOTATION)\s|"[^"]*"|'[^']*'|[^<"'%\[\]]+""",
    re.DOTALL,
)
_DOCTYPE_END = re.compile(rb"\]\s*>")


def parse_xml(data: bytes) -> etree._Element:
    """The root element; FileUnreadable for anything that is not plain, well-formed XML.

    A DOCTYPE may name a document type, which is not fetched, and say how its elements are made up,
    which is not parsed. One that defines entities is refused before anything is parsed.
    """
    text = _without_definitions(_as_utf8(data))
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,  # limits the depth to 256 elements and a text to 10 MB
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        if "xcessive depth" in str(error):
            raise FileUnreadable("is nested too deeply") from error
        raise FileUnreadable("is damaged: a part of it is not well-formed XML") from error


def check_xml(data: bytes) -> None:
    """Refuse any definition in what another library is going to parse; other data passes."""
    # XML in whatever encoding begins like this.
    opening = data[:100].translate(None, b"\0 \t\r\n\xef\xbb\xbf\xfe\xff")
    if opening.startswith(b"<") and _without_definitions(text := _as_utf8(data)) != text:
        raise FileUnreadable(_REFUSED)


def tag_of(element: etree._Element) -> str:
    """The element's name with its namespace in braces."""
    return str(element.tag)


def end_of_run(pattern: re.Pattern[bytes], data: bytes, end: int = 0) -> int:
    """How far the data is made of matches, one after the other. Takes no memory for each."""
    while found := pattern.match(data, end):
        end = found.end()
    return end


def _without_definitions(text: bytes) -> bytes:
    """The text, of whose document type only the name is left."""
    start = end_of_run(_PROLOG, text)
    if not text.startswith(b"<!", start):
        return text
    if named := _DOCTYPE.match(text, start):
        end = named.end()
        if text.startswith(b">", end):
            return text
        if text.startswith(b"[", end):
            defined = end_of_run(_DEFINED, text, end + 1)
            if closed := _DOCTYPE_END.match(text, defined):
                return text[:end] + b">" + text[closed.end() :]
    raise FileUnreadable(_REFUSED)


def _as_utf8(data: bytes) -> bytes:
    """The same text in UTF-8, so that what is checked is what is parsed."""
    encoding = _encoding_of(data)
    if encoding == "utf_8":
        return data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeError as error:
        raise FileUnreadable(f"is damaged: a part of it is not {encoding} text") from error


def _encoding_of(data: bytes) -> str:
    for signature, encoding in (*_MARKS, *_UNMARKED):
        if data.startswith(signature):
            return encoding
    declared = _DECLARATION.match(data)
    if not declared:
        return "utf_8"
    name = normalize_encoding(declared.group(1).decode("ascii")).lower()
    encoding = aliases.get(name, name)
    if encoding.startswith("utf_16"):  # not true, or the declaration could not be read so far
        return "utf_8"
    if encoding not in _ENCODINGS:
        raise FileUnreadable(f"holds XML in an encoding that cannot be read ({name})")
    return encoding
