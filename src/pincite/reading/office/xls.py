"""Workbooks of Excel before 2007, made safe for the library that reads them.

It believes what a file says of sizes, its own and those of its container, and sets memory aside
accordingly. So the stream of records is looked through here, and put into a container of our own.
See [MS-XLS] 2.1.4 and [MS-CFB].
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pincite.errors import FileUnreadable
from pincite.reading.office.extents import MOST_CELLS, MOST_FILLED, Extent
from pincite.reading.office.ole import SIGNATURE

_SHEET_END = 0x0A
_DIMENSIONS = 0x200
_CELLS = frozenset(
    (0x02, 0x03, 0x04, 0x05, 0x06, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x206, 0x27E, 0x406)
)
_CELLS_IN_A_ROW = 0xBD

_SECTOR = 4_096
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STREAM, _ROOT = 2, 5


def clean_xls(stream: bytes) -> bytes:
    """A workbook that holds the same stream; FileUnreadable where its grids would be too large.

    All sheets are laid out at once, so they count together.
    """
    mended = bytearray(stream)
    total = filled = 0
    extent = Extent()
    for start, kind, payload in _records(stream):
        if kind == _DIMENSIONS:
            mended[start : start + len(payload)] = bytes(len(payload))
        elif kind == _SHEET_END:
            total, filled, extent = total + extent.cells, filled + extent.filled, Extent()
        else:
            _take(extent, kind, payload)
    total += extent.cells
    if total > MOST_CELLS or filled + extent.filled > MOST_FILLED:
        raise FileUnreadable(
            f"has sheets that span {total:,} cells, too many to read; "
            "save the sheets that matter as CSV"
        )
    return _container("Workbook", bytes(mended))


def _records(stream: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Where each record's payload starts, its kind, and the payload."""
    at = 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        yield at + 4, kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def _take(extent: Extent, kind: int, payload: bytes) -> None:
    """Take in the cells of a record."""
    if kind in _CELLS and len(payload) >= 4:
        extent.add(*struct.unpack_from("<HH", payload))
    elif kind == _CELLS_IN_A_ROW and len(payload) >= 6:
        row, first = struct.unpack_from("<HH", payload)
        (last,) = struct.unpack_from("<H", payload, len(payload) - 2)
        extent.add(row, first)
        extent.add(row, max(first, last))


def _container(name: str, stream: bytes) -> bytes:
    """A container with a single stream: a table of sectors, a directory, then the stream."""
    size = max(len(stream), _SECTOR)  # smaller streams would have to be kept in another way
    stream_sectors = -(-size // _SECTOR)
    table_sectors = -(-(stream_sectors + 1) * 4 // (_SECTOR - 4))
    directory = table_sectors
    first = directory + 1
    chain = [*range(first + 1, first + stream_sectors), _END]
    table = struct.pack(
        f"<{table_sectors + 1 + stream_sectors}I", *[_TABLE] * table_sectors, _END, *chain
    )
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIII",
        *(SIGNATURE, b"", 0x3E, 4, 0xFFFE, 12, 6, b"", 1, table_sectors),
        *(directory, 0, _SECTOR, _END, 0, _END, 0),
    )
    places = [*range(table_sectors), *[_FREE] * (109 - table_sectors)]
    # The root has no sectors of its own, but must name one.
    entries = _entry("Root Entry", _ROOT, child=1, first=directory, size=0)
    entries += _entry(name, _STREAM, child=_FREE, first=first, size=size)
    return b"".join(
        (
            (header + struct.pack("<109I", *places)).ljust(_SECTOR, b"\0"),
            table.ljust(table_sectors * _SECTOR, b"\xff"),
            entries.ljust(_SECTOR, b"\0"),
            stream.ljust(stream_sectors * _SECTOR, b"\0"),
        )
    )


def _entry(name: str, kind: int, *, child: int, first: int, size: int) -> bytes:
    wide = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII36xIQ", wide, len(wide) + 2, kind, 1, _FREE, _FREE, child, first, size
    )
