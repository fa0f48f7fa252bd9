"""Makes the containers of old Office files (OLE, "compound files") in memory."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

_SECTOR = 512
_MINI_SECTOR = 64
_SMALL = 4_096  # smaller streams lie in the mini stream
_END_OF_CHAIN = 0xFFFFFFFE
_FREE = 0xFFFFFFFF
_FAT_SECTOR = 0xFFFFFFFD


def compound_file(streams: Mapping[str, bytes]) -> bytes:
    """A compound file that holds the streams; "a/b" is a stream in a storage."""
    entries = _entries(streams)
    sectors = _Sectors()
    mini_stream = b""
    mini_fat: list[int] = []
    for entry in entries:
        if entry.kind == 2 and len(entry.data) < _SMALL:
            entry.first = len(mini_fat) if entry.data else _END_OF_CHAIN
            mini_stream += _padded(entry.data, _MINI_SECTOR)
            mini_fat += _chain(len(mini_fat), -(-len(entry.data) // _MINI_SECTOR))
        elif entry.kind == 2:
            entry.first = sectors.add(entry.data)
    entries[0].data = mini_stream
    entries[0].first = sectors.add(mini_stream)
    mini_fat_first = sectors.add(b"".join(struct.pack("<I", link) for link in mini_fat))
    mini_fat_count = -(-len(mini_fat) * 4 // _SECTOR)
    directory = sectors.add(b"".join(entry.packed() for entry in entries))
    return sectors.file(directory, mini_fat_first, mini_fat_count)


@dataclass
class _Entry:
    name: str
    kind: int  # 1: storage, 2: stream, 5: root
    data: bytes = b""
    first: int = _END_OF_CHAIN
    child: int = _FREE
    right: int = _FREE

    def packed(self) -> bytes:
        name = self.name.encode("utf-16-le")
        return struct.pack(
            "<64sHBBIII16sI8s8sIQ",
            *(name, len(name) + 2, self.kind, 1, _FREE, self.right, self.child),
            *(b"", 0, b"", b"", self.first, 0 if self.kind == 1 else len(self.data)),
        )


def _entries(streams: Mapping[str, bytes]) -> list[_Entry]:
    """The directory: each storage points to its first child, each entry to its next sibling."""
    entries = [_Entry("Root Entry", 5)]
    numbers = {"": 0}
    for path, data in streams.items():
        names = path.split("/")
        for depth in range(1, len(names) + 1):
            whole = "/".join(names[:depth])
            if whole in numbers:
                continue
            is_stream = depth == len(names)
            parent = entries[numbers["/".join(names[: depth - 1])]]
            kind = 2 if is_stream else 1
            entry = _Entry(names[depth - 1], kind, data if is_stream else b"", right=parent.child)
            numbers[whole] = parent.child = len(entries)
            entries.append(entry)
    return entries


@dataclass
class _Sectors:
    data: bytes = b""
    fat: list[int] = field(default_factory=list)

    def add(self, data: bytes) -> int:
        if not data:
            return _END_OF_CHAIN
        first = len(self.fat)
        self.data += _padded(data, _SECTOR)
        self.fat += _chain(first, -(-len(data) // _SECTOR))
        return first

    def file(self, directory: int, mini_fat: int, mini_fat_count: int) -> bytes:
        count = 1
        while (len(self.fat) + count) * 4 > count * _SECTOR:
            count += 1
        fat_sectors = range(len(self.fat), len(self.fat) + count)
        fat = [*self.fat, *[_FAT_SECTOR] * count]
        fat += [_FREE] * (count * _SECTOR // 4 - len(fat))
        header = struct.pack(
            "<8s16sHHHHH6sIIIIIIIII",
            *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, count),
            *(directory, 0, _SMALL, mini_fat, mini_fat_count, _END_OF_CHAIN, 0),
        )
        locations = [*fat_sectors, *[_FREE] * (109 - count)]
        return (
            header
            + struct.pack("<109I", *locations)
            + self.data
            + struct.pack(f"<{len(fat)}I", *fat)
        )


def _chain(first: int, count: int) -> list[int]:
    return [*range(first + 1, first + count), _END_OF_CHAIN] if count else []


def _padded(data: bytes, size: int) -> bytes:
    return data + b"\0" * (-len(data) % size)
