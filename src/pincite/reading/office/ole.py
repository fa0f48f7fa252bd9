"""The container of old Office files (OLE, "compound file"): streams in folders, all in one file.

Such a file is a small file system, see [MS-CFB]. One made by an attacker has loops in it, and
streams that are said to be larger than all of it: here nothing is followed further than the file
has sectors. What a file says about itself stands in a stream of numbered properties ([MS-OLEPS]).
"""

from __future__ import annotations

import codecs
import struct
import sys
from array import array
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pincite.errors import FileUnreadable
from pincite.reading import facts
from pincite.records import Metadata

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_HEADER = struct.Struct("<30xHH10xII4xII4xI")
_HEADER_SIZE = 512
_FIRST_TABLES = 76  # where the header lists the first 109 sectors of the table
_SECTOR_SIZES = {9: 512, 12: 4_096}  # by the power of two that the header gives
_LAST_SECTOR = 0xFFFFFFFA  # higher numbers have other meanings: free, end of a chain

_ENTRY = struct.Struct("<64sHB1xIII36xIQ")
_FOLDER, _STREAM, _ROOT = 1, 2, 5
_MOST_ENTRIES = 20_000

_PROPERTIES = "\x05SummaryInformation"
_CODE_PAGE, _TITLE, _AUTHOR, _KEYWORDS, _CREATED, _SAVED = 1, 2, 4, 5, 12, 13
_TEXT, _WIDE_TEXT, _TIME, _SHORT = 0x1E, 0x1F, 0x40, 0x02
_MOST_PROPERTIES = 100
_LONGEST = 2_000  # bytes of a text
_NO_AUTHORS = ("openpyxl", "python-docx", "Apache POI")
_BEGINNING_OF_TIME = datetime(1601, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    kind: int
    left: int
    right: int
    child: int
    first: int  # sector
    size: int


class OleContainer:
    """A container in memory; FileUnreadable where it is damaged."""

    def __init__(self, data: bytes) -> None:
        if len(data) < _HEADER_SIZE or not data.startswith(SIGNATURE):
            raise FileUnreadable("is damaged: it is cut off")
        shift, mini_shift, tables, directory, cutoff, mini_table, more = _HEADER.unpack_from(data)
        if shift not in _SECTOR_SIZES or mini_shift != 6:
            raise FileUnreadable("is damaged: its first page makes no sense")
        self._data = data
        self._sector = _SECTOR_SIZES[shift]
        self._mini_sector = 1 << mini_shift
        self._cutoff = cutoff
        self._table = self._read_table(min(tables, len(data) // self._sector), more)
        self._entries = _entries(self._chain(directory, None))
        self._mini_table = _numbers(self._chain(mini_table, None))
        root = self._entries[0]
        self._mini_data = self._chain(root.first, root.size)
        self._paths = _paths(self._entries)

    def has(self, name: str) -> bool:
        """Whether there is a stream of this name; "a/b" is one in a folder."""
        return name.lower() in self._paths

    def names(self) -> list[str]:
        """The names of all streams, in small letters."""
        return list(self._paths)

    def read(self, name: str) -> bytes:
        """A stream, or as much as there is of it; FileUnreadable where it is missing."""
        entry = self._paths.get(name.lower())
        if entry is None:
            raise FileUnreadable(f"is damaged: its part {name} is missing")
        if entry.size >= self._cutoff:
            return self._chain(entry.first, entry.size)
        parts = []
        at = entry.first
        for _ in range(-(-entry.size // self._mini_sector)):
            if at >= len(self._mini_table):
                break
            parts.append(self._mini_data[at * self._mini_sector : (at + 1) * self._mini_sector])
            at = self._mini_table[at]
        return b"".join(parts)[: entry.size]

    def _chain(self, first: int, size: int | None) -> bytes:
        """The sectors from the first one on, as many as the size needs, each at most once."""
        most = len(self._table) if size is None else -(-size // self._sector)
        parts = []
        at = first
        for _ in range(min(most, len(self._table))):
            if at >= len(self._table):
                break
            parts.append(self._sector_at(at))
            at = self._table[at]
        return b"".join(parts)[:size]

    def _sector_at(self, number: int) -> bytes:
        return self._data[(number + 1) * self._sector : (number + 2) * self._sector]

    def _read_table(self, count: int, more: int) -> array[int]:
        """Which sector follows each sector: a table that is itself spread over sectors."""
        places = _numbers(self._data[_FIRST_TABLES:_HEADER_SIZE])
        while more < _LAST_SECTOR and len(places) < count:
            further = _numbers(self._sector_at(more))
            if len(further) < 2:
                break
            more = further.pop()
            places += further
        table = array("I")
        for place in places[:count]:
            if place < _LAST_SECTOR:
                table += _numbers(self._sector_at(place))
        return table[: len(self._data) // self._sector]


def _numbers(data: bytes) -> array[int]:
    numbers = array("I")
    numbers.frombytes(data[: len(data) // 4 * 4])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _entries(directory: bytes) -> list[_Entry]:
    count = len(directory) // _ENTRY.size
    if not count:
        raise FileUnreadable("is damaged: its directory is missing")
    if count > _MOST_ENTRIES:
        raise FileUnreadable(f"holds more than {_MOST_ENTRIES:,} parts")
    entries = []
    for number in range(count):
        name, length, kind, left, right, child, first, size = _ENTRY.unpack_from(
            directory, number * _ENTRY.size
        )
        text = name[: max(min(length, 64) - 2, 0)].decode("utf-16-le", "replace")
        # The upper half of a size is often garbage in files with small sectors.
        entries.append(_Entry(text, kind, left, right, child, first, size & 0xFFFFFFFF))
    return entries


def _paths(entries: list[_Entry]) -> dict[str, _Entry]:
    """The streams by their paths. Each storage's children form a binary tree."""
    found: dict[str, _Entry] = {}
    seen: set[int] = set()
    to_see = [(entries[0].child, "")]
    while to_see:
        number, folder = to_see.pop()
        if number >= len(entries) or number in seen:
            continue
        seen.add(number)
        entry = entries[number]
        path = f"{folder}{entry.name.lower()}"
        to_see += [(entry.right, folder), (entry.left, folder)]
        if entry.kind == _STREAM:
            found.setdefault(path, entry)
        elif entry.kind == _FOLDER:
            to_see.append((entry.child, f"{path}/"))
    return found


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
