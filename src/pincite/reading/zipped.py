"""Zip archives from strangers: judged by their directory before anything in them expands."""

from __future__ import annotations

import copy
import io
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pincite.errors import FileUnreadable

_MOST_ENTRIES = 10_000
_MOST_BYTES = 200_000_000  # of all parts together, unpacked
_HIGHEST_RATIO = 200  # of unpacked to packed; text reaches 20, empty spreadsheets 100
_RATIO_COUNTS_FROM = 1_000_000  # bytes; what is smaller does no harm
_BLOCK = 1_000_000  # bytes unpacked at a time where only their number matters

# The records at the end of an archive; their layout is in PKWARE's APPNOTE.TXT, 4.3.14 to 4.3.16.
_END = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\x05\x06"
_LONGEST_COMMENT = 65_535
_LOCATOR_SIZE = 20
_LOCATOR_SIGNATURE = b"PK\x06\x07"
_END_64 = struct.Struct("<4sQ2H2L4Q")
_END_64_SIGNATURE = b"PK\x06\x06"
_ENTRY_SIGNATURE = b"PK\x01\x02"

_ENCRYPTED = 0x01 | 0x40 | 0x2000  # flag bits: the part, strongly, the directory itself
_OUTSIDE = re.compile(r"/|[A-Za-z]:|(?:.*/)?\.\.(?:/|$)", re.DOTALL)

# Whatever `zipfile` lets through from broken input.
_DAMAGE = (
    *(BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError, struct.error),
    *(OSError, ValueError, OverflowError),
)


class SafeZip:
    """A zip archive in memory that keeps what its directory promises, or is FileUnreadable."""

    def __init__(self, data: bytes) -> None:
        promised = _promised_entries(data)
        with _damage_in_words():
            self._zip = ZipFile(io.BytesIO(data))
        entries = self._zip.infolist()
        if len(entries) != promised:
            raise FileUnreadable("is damaged: its directory is not complete")
        # Some writers on Windows part folders with backslashes.
        self._entries = {entry.filename.replace("\\", "/"): entry for entry in entries}
        if len(self._entries) < len(entries):
            raise FileUnreadable("holds two parts of the same name")
        for name, entry in self._entries.items():
            _check_entry(name, entry)
        if sum(entry.file_size for entry in entries) > _MOST_BYTES:
            raise FileUnreadable(f"holds more than {_MOST_BYTES // 1_000_000} MB when unpacked")

    def names(self) -> list[str]:
        """The parts in the archive's order, with forward slashes; folders are left out."""
        return [name for name in self._entries if not name.endswith("/")]

    def has(self, name: str) -> bool:
        """Whether there is a part of exactly this name."""
        return name in self._entries

    def read(self, name: str) -> bytes:
        """One part, unpacked; FileUnreadable where it is missing, damaged or not as it says."""
        if name not in self._entries:
            raise FileUnreadable(f"is damaged: it has no part {name}")
        return b"".join(self._blocks(name))

    def measure(self) -> None:
        """Unpack everything once without keeping it: no part is larger than it says."""
        for name in self.names():
            for _ in self._blocks(name):
                pass

    def _blocks(self, name: str) -> Iterator[bytes]:
        """A part, some of it at a time, and not a byte more than the directory says."""
        entry = self._entries[name]
        # `zipfile` would stop at the promised size without a word, and takes a checksum over that.
        # So it is promised one byte more, and the checksum is ours.
        unchecked = copy.copy(entry)
        unchecked.file_size += 1
        del unchecked.CRC
        checksum = size = 0
        with _damage_in_words(), self._zip.open(unchecked) as part:
            while block := part.read(_BLOCK):
                size += len(block)
                checksum = zlib.crc32(block, checksum)
                if size > entry.file_size:
                    raise FileUnreadable("holds a part that is larger than it says")
                yield block
        if checksum != entry.CRC:
            raise FileUnreadable("is damaged: a part of it has the wrong checksum")


def checked(data: bytes) -> None:
    """Refuse an archive that would do harm to a library that unpacks it by itself."""
    SafeZip(data).measure()


def _promised_entries(data: bytes) -> int:
    """How many parts the archive says it has, found without looking at any of them.

    This reads the same records as `zipfile` does, which goes by the directory's size and would
    build a million entries before it could be asked how many there are.
    """
    end = data.rfind(_END_SIGNATURE, max(0, len(data) - _LONGEST_COMMENT - _END.size))
    if end < 0 or end + _END.size > len(data):
        raise FileUnreadable("is damaged: the end of it is missing")
    entries, size = _END.unpack_from(data, end)[4:6]
    directory_end = end
    end_64 = end - _LOCATOR_SIZE - _END_64.size
    has_locator = end_64 >= 0 and data.startswith(_LOCATOR_SIGNATURE, end - _LOCATOR_SIZE)
    if has_locator and data.startswith(_END_64_SIGNATURE, end_64):
        entries, size = _END_64.unpack_from(data, end_64)[7:9]
        directory_end = end_64
    start = directory_end - size
    if start < 0:
        raise FileUnreadable("is damaged: its directory is not complete")
    if max(entries, data.count(_ENTRY_SIGNATURE, start, directory_end)) > _MOST_ENTRIES:
        raise FileUnreadable(f"holds more than {_MOST_ENTRIES:,} parts")
    return int(entries)


def _check_entry(name: str, entry: ZipInfo) -> None:
    if _OUTSIDE.match(name):
        raise FileUnreadable("holds a part whose name points outside of it")
    if entry.flag_bits & _ENCRYPTED:
        raise FileUnreadable("holds an encrypted part; save it without a password")
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise FileUnreadable("is packed in a way that cannot be read; save it again")
    ratio = entry.file_size / max(entry.compress_size, 1)
    if entry.file_size > _RATIO_COUNTS_FROM and ratio > _HIGHEST_RATIO:
        raise FileUnreadable(
            f"holds a part that would unpack to {ratio:,.0f} times its size, like a zip bomb"
        )


@contextmanager
def _damage_in_words() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise FileUnreadable("is damaged: it cannot be unpacked") from error
