"""The container of old Office files (OLE, "compound file"): streams in folders, all in one file.

Such a file is a small file system ([MS-CFB]), which olefile reads. What a file says about itself
stands in a stream of numbered properties ([MS-OLEPS]).
"""

from __future__ import annotations

import codecs
import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from olefile import OleFileIO

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.records import Metadata

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_PROPERTIES = "\x05SummaryInformation"
_CODE_PAGE, _TITLE, _AUTHOR, _KEYWORDS, _CREATED, _SAVED = 1, 2, 4, 5, 12, 13
_TEXT, _WIDE_TEXT, _TIME, _SHORT = 0x1E, 0x1F, 0x40, 0x02
_MOST_PROPERTIES = 100
_LONGEST = 2_000  # bytes of a text
_NO_AUTHORS = ("openpyxl", "python-docx", "Apache POI")
_BEGINNING_OF_TIME = datetime(1601, 1, 1, tzinfo=UTC)


class OleContainer:
    """A container in memory; FileUnreadable where it is damaged."""

    def __init__(self, data: bytes) -> None:
        with _damage_in_words():
            self._file = OleFileIO(io.BytesIO(data))
            self._paths = {"/".join(path).lower(): path for path in self._file.listdir()}

    def has(self, name: str) -> bool:
        """Whether there is a stream of this name; "a/b" is one in a folder."""
        return name.lower() in self._paths

    def names(self) -> list[str]:
        """The names of all streams, in small letters."""
        return list(self._paths)

    def read(self, name: str) -> bytes:
        """A stream; FileUnreadable where it is missing or damaged."""
        if not self.has(name):
            raise FileUnreadable(f"is damaged: its part {name} is missing")
        with _damage_in_words():
            data: bytes = self._file.openstream(self._paths[name.lower()]).read()
        return data


@contextmanager
def _damage_in_words() -> Iterator[None]:
    try:
        yield
    except (OSError, IndexError, ValueError, RecursionError, struct.error) as error:
        raise FileUnreadable(f"is damaged: its container cannot be read ({error})") from error


def ole_facts(container: OleContainer) -> tuple[str | None, Metadata]:
    """The title and what else the file says about itself."""
    said = _properties(container.read(_PROPERTIES)) if container.has(_PROPERTIES) else {}
    author = facts.one_line(said.get(_AUTHOR))
    return facts.one_line(said.get(_TITLE)), Metadata(
        tags=facts.tags(said.get(_KEYWORDS, "").replace(";", ",")),
        author=author if author not in _NO_AUTHORS else None,
        date=facts.iso_date(said.get(_CREATED)),
        modified=facts.iso_date(said.get(_SAVED)),
    )


def encoding_of(code_page: int) -> str:
    """Python's name for one of Microsoft's code pages; that of Western Europe in doubt."""
    names = {65001: "utf-8", 1200: "utf-16-le", 20127: "ascii", 20866: "koi8-r", 936: "gbk"}
    iso_8859 = code_page - 28590
    name = f"iso8859-{iso_8859}" if 1 <= iso_8859 <= 16 else f"cp{code_page}"
    try:
        return codecs.lookup(names.get(code_page, name)).name
    except LookupError:
        return "cp1252"


def moment(file_time: int) -> str | None:
    """A time in Microsoft's count of 100 nanoseconds from 1601, as ISO 8601 says it."""
    try:
        found = _BEGINNING_OF_TIME + timedelta(microseconds=file_time // 10)
    except OverflowError:
        return None
    # Zero means that there is none; other times of that century are spans of time.
    return found.replace(microsecond=0).isoformat() if found.year > 1900 else None


def _properties(stream: bytes) -> dict[int, str]:
    """The properties that are texts or times, by their numbers."""
    try:
        (section,) = struct.unpack_from("<I", stream, 44)
        (count,) = struct.unpack_from("<I", stream, section + 4)
        count = min(count, _MOST_PROPERTIES)
        places = [struct.unpack_from("<II", stream, section + 8 + 8 * at) for at in range(count)]
        code_page = 1252
        found = {}
        for number, offset in sorted(places):
            kind, size = struct.unpack_from("<II", stream, section + offset)
            start = section + offset + 8
            if number == _CODE_PAGE and kind == _SHORT:
                code_page = size & 0xFFFF
            elif kind == _TEXT:
                text = stream[start : start + min(size, _LONGEST)]
                found[number] = text.decode(encoding_of(code_page), "replace").rstrip("\0")
            elif kind == _WIDE_TEXT:
                text = stream[start : start + min(2 * size, _LONGEST)]
                found[number] = text.decode("utf-16-le", "replace").rstrip("\0")
            elif kind == _TIME:
                (file_time,) = struct.unpack_from("<Q", stream, start - 4)
                found[number] = moment(file_time) or ""
    except struct.error:
        return {}
    return found
