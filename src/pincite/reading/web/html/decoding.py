"""The bytes of a page → its text, whatever the page says about its own encoding.

UTF-8 that decodes without a fault is UTF-8: no other encoding looks like it by chance, and pages
that were saved or converted keep the declaration they once had.
"""

from __future__ import annotations

import codecs
import re

from pincite.reading.encoding import decode

# What pages call encodings → what browsers take it for (https://encoding.spec.whatwg.org).
_LABELS = {
    **dict.fromkeys(("utf-8", "utf8", "unicode-1-1-utf-8"), "utf_8"),
    **dict.fromkeys(
        ("iso-8859-1", "iso8859-1", "latin1", "latin-1", "l1", "us-ascii", "ascii", "windows-1252"),
        "cp1252",
    ),
    **dict.fromkeys(("cp1252", "x-cp1252", "ansi_x3.4-1968", "iso_8859-1"), "cp1252"),
    **{f"windows-125{page}": f"cp125{page}" for page in (0, 1, 3, 4, 5, 6, 7, 8)},
    **{f"cp125{page}": f"cp125{page}" for page in (0, 1, 3, 4, 5, 6, 7, 8)},
    **{f"iso-8859-{part}": f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{"latin2": "iso8859_2", "latin-2": "iso8859_2", "latin9": "iso8859_15"},
    **{"iso-8859-9": "cp1254", "latin5": "cp1254", "iso-8859-8-i": "iso8859_8"},
    **dict.fromkeys(("iso-8859-11", "tis-620", "windows-874"), "cp874"),
    **{"koi8-r": "koi8_r", "koi8-u": "koi8_u", "ibm866": "cp866", "cp866": "cp866"},
    **{"macintosh": "mac_roman", "x-mac-roman": "mac_roman", "x-mac-cyrillic": "mac_cyrillic"},
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"), "cp932"),
    **{"euc-jp": "euc_jp", "x-euc-jp": "euc_jp", "iso-2022-jp": "iso2022_jp"},
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "x-gbk", "gb_2312-80", "cp936"), "gb18030"),
    **{"big5": "big5hkscs", "big5-hkscs": "big5hkscs", "cp950": "big5hkscs"},
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601", "windows-949", "cp949"), "cp949"),
}
for _codec in set(_LABELS.values()):
    codecs.lookup(_codec)  # loads its module now: where files are read, nothing can be opened

_DECLARED_WITHIN = 8_192  # bytes; browsers look at 1,024, some pages begin with long comments
_DECLARATION = re.compile(
    rb"""<meta\s[^<>]{0,500}?charset\s{0,10}=\s{0,10}["']?\s{0,10}([\w.:-]{1,40})"""
    rb"""|^\s{0,100}<\?xml\s[^<>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ESCAPE = b"\x1b$"  # what ISO-2022-JP begins a stretch of Japanese with; it is ASCII otherwise
_STRAY_NULS = 0.01  # of all bytes; with more it is UTF-16, or no text at all


def decode_html(data: bytes, charset: str | None = None) -> str:
    """The text of a page; `charset` is what the outside (a mail's header) says of it.

    FileUnreadable where the data is no text.
    """
    return decode_labelled(data, charset or _declared(data))


def decode_labelled(data: bytes, label: str | None) -> str:
    """The text of data that is said to be in the encoding of that name, if it can be."""
    if data.startswith(_MARKS):
        return decode(data)
    if b"\0" in data:
        if data.count(b"\0") > _STRAY_NULS * len(data):
            return decode(data)
        data = data.replace(b"\0", b"")
    codec = _LABELS.get((label or "").strip().lower(), "utf_8")
    candidates = (codec, "utf_8") if codec == "iso2022_jp" and _ESCAPE in data else ("utf_8", codec)
    for candidate in candidates:
        try:
            return data.decode(candidate)
        except UnicodeDecodeError:
            continue
    return decode(data)


def _declared(data: bytes) -> str | None:
    found = _DECLARATION.search(data[:_DECLARED_WITHIN])
    return (found[1] or found[2]).decode("ascii", "replace") if found else None
