"""pdfium's C functions, and opening a PDF with them. The library has no types: only we import it.

A PDF's compressed streams are measured before pdfium unfolds them: where memory does not suffice
pdfium ends the process, and nobody learns why. Images are left out: they may well be large, and are
unfolded only where somebody looks at a page.
"""

from __future__ import annotations

import codecs
import ctypes
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pypdfium2 import raw as raw  # type: ignore[import-untyped]

from pincite.errors import FileUnreadable
from pincite.reading.source_file import SourceFile
from pincite.text.passwords import ways_to_write

Handle = Any
"""A pointer that only pdfium can follow: a document, a page, an object on a page."""

_LOOKED_FOR_HEADER = 1_024  # bytes, as PDF programs do

_LARGEST = 100_000_000  # bytes of one stream
_MOST_WORK = 500_000_000  # bytes of all of them, packed and unpacked
_DEEPEST = 3  # streams that are packed several times
_BLOCK = 1 << 16
_STREAM = re.compile(rb"stream\r?\n")
_IMAGE = re.compile(rb"/Subtype\s{0,9}/Image\b")
_LONGEST_DICTIONARY = 1_000  # bytes looked at before a stream


# Where this runs no file can be opened any more, so what is loaded late is loaded now.
for _encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1", "cp1250", "cp1251"):
    codecs.lookup(_encoding)


def address(handle: Handle) -> bytes:
    """Tells handles apart; quicker than asking for the address as a number."""
    return bytes(handle)


def utf16(function: Callable[..., int], *arguments: Any, most: int = 65_536) -> str:  # noqa: ANN401 — handles
    """What one of the functions says that fill a buffer with UTF-16, up to so many bytes."""
    size = function(*arguments, None, 0)
    if size <= 2 or size > most:  # the terminator alone, or more than anything we ask for has
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    function(*arguments, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace")


@contextmanager
def opened(file: SourceFile) -> Iterator[Handle]:
    """The document as pdfium knows it, closed at the end."""
    document = _open(file)
    try:
        yield document
    finally:
        raw.FPDF_CloseDocument(document)


def _open(file: SourceFile) -> Handle:
    if b"%PDF-" not in file.data[:_LOOKED_FOR_HEADER]:
        raise FileUnreadable("is damaged: it does not begin like a PDF")
    # FileUnreadable where a stream would unfold beyond what any text needs
    data = file.data
    work = _Work()
    for stream in _STREAM.finditer(data):
        start = stream.end()
        if _is_packed(data[start : start + 2]) and not _is_image(data, stream.start()):
            _measure(data, start, work)
    error = raw.FPDF_ERR_UNKNOWN
    for password in ways_to_write(file.passwords):
        document = raw.FPDF_LoadMemDocument64(file.data, len(file.data), password)
        if document:
            return document
        error = raw.FPDF_GetLastError()
        if error != raw.FPDF_ERR_PASSWORD:
            break
    passwords = len(file.passwords)
    if error == raw.FPDF_ERR_PASSWORD and passwords:
        reason = f"is encrypted, and none of the {passwords} passwords given opens it"
    elif error == raw.FPDF_ERR_PASSWORD:
        reason = "is encrypted; give its password with `pincite index update --passwords FILE`"
    elif error == raw.FPDF_ERR_SECURITY:
        reason = "is encrypted in a way that cannot be read; save it without encryption"
    else:
        reason = "is damaged and cannot be opened; save it anew with another program"
    raise FileUnreadable(reason)


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
        blocks = work.counted(
            (data[at : at + _BLOCK] for at in range(start, len(data), _BLOCK)), len(data)
        )
        for _ in range(times):
            blocks = work.counted(_unpacked(blocks), _LARGEST)
        first = next(blocks, b"")
        for _ in blocks:
            pass
        if not _is_packed(first[:2]):
            return


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
