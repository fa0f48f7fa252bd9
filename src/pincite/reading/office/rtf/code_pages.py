"""The encodings that RTF files name by number."""

from __future__ import annotations

import codecs

DEFAULT = "cp1252"
SYMBOLS = 2  # the character set of fonts of pictures

_BY_CHARACTER_SET = {
    **{0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab"},
    **{134: "cp936", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255"},
    **{178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp850"},
}
_BY_PAGE = {
    **{page: f"cp{page}" for page in (437, 737, 775, 850, 852, 855, 857, 860, 861, 862, 863)},
    **{page: f"cp{page}" for page in (864, 865, 866, 869, 874, 932, 936, 949, 950, 1361)},
    **{page: f"cp{page}" for page in range(1250, 1259)},
    **{10000: "mac_roman", 1361: "johab", 65001: "utf_8"},
}
for _name in {*_BY_CHARACTER_SET.values(), *_BY_PAGE.values()}:
    codecs.lookup(_name)  # loads its module now: where files are read, nothing can be opened


def by_character_set(number: int) -> str | None:
    """The encoding of a font's character set; None where the file's own is meant."""
    return _BY_CHARACTER_SET.get(number)


def by_page(number: int) -> str:
    """The encoding of a code page; that of Western Europe where the number is unknown."""
    return _BY_PAGE.get(number, DEFAULT)
