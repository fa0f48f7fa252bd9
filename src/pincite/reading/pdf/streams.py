"""The compressed streams of a PDF, measured before pdfium unfolds them.

Where memory does not suffice pdfium ends the process, and nobody learns why. Images are left out:
they may well be large, and are unfolded only where somebody looks at a page.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator

from pincite.errors import FileUnreadable

_LARGEST = 100_000_000  # bytes of one stream
_MOST_WORK = 500_000_000  # bytes of all of them, packed and unpacked
_DEEPEST = 3  # streams that are packed several times
_BLOCK = 1 << 16
_STREAM = re.compile(rb"stream\r?\n")
_IMAGE = re.compile(rb"/Subtype\s{0,9}/Image\b")
_LONGEST_DICTIONARY = 1_000  # bytes looked at before a stream


def refuse_bombs(data: bytes) -> None:
    """FileUnreadable where a stream would unfold beyond what any text needs."""
    work = _Work()
    for stream in _STREAM.finditer(data):
        start = stream.end()
        if _is_packed(data[start : start + 2]) and not _is_image(data, stream.start()):
            _measure(data, start, work)


class _Work:
    """Counts what passes through, and refuses to count for ever."""

    def __init__(self) -> None:
        self._left = _MOST_WORK

    def counted(self, blocks: Iterable[bytes], most: int) -> Iterator[bytes]:
        """The same blocks, up to so many bytes of them."""
        left = most
        for block in blocks:
            left -= len(block)
            self._left -= len(block)
            if min(left, self._left) < 0:
                raise FileUnreadable(
                    f"holds a part that would unpack to more than {_LARGEST // 1_000_000} MB, "
                    "like a zip bomb"
                )
            yield block


def _measure(data: bytes, start: int, work: _Work) -> None:
    """Unpack a stream, again where what comes out is packed as well, and keep nothing of it."""
    for times in range(1, _DEEPEST + 1):
        blocks = work.counted(_slices(data, start), len(data))
        for _ in range(times):
            blocks = work.counted(_unpacked(blocks), _LARGEST)
        first = next(blocks, b"")
        for _ in blocks:
            pass
        if not _is_packed(first[:2]):
            return


def _slices(data: bytes, start: int) -> Iterator[bytes]:
    return (data[at : at + _BLOCK] for at in range(start, len(data), _BLOCK))


def _unpacked(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """What comes out, up to where the data ends or is damaged."""
    unpacker = zlib.decompressobj()
    for packed in blocks:
        rest = packed
        while rest and not unpacker.eof:
            try:
                block = unpacker.decompress(rest, _BLOCK)
            except zlib.error:
                return
            rest = unpacker.unconsumed_tail
            if block:
                yield block
        if unpacker.eof:
            return


def _is_packed(beginning: bytes) -> bool:
    """Whether data begins as zlib's does (RFC 1950, 2.2)."""
    is_deflate = len(beginning) == 2 and beginning[0] & 0x0F == 8 and beginning[0] < 0x80
    return is_deflate and int.from_bytes(beginning) % 31 == 0


def _is_image(data: bytes, end: int) -> bool:
    """Whether the dictionary that ends here is that of an image."""
    furthest = max(end - _LONGEST_DICTIONARY, 0)
    start = max(data.rfind(b" obj", furthest, end), furthest)
    return _IMAGE.search(data, start, end) is not None
