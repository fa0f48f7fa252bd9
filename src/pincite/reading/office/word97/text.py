"""The text of an old Word document, put together from the pieces it is stored in.

Word saved in a hurry: what was typed last lies at the end of the file, and a table says in which
order the pieces make up the text. See [MS-DOC] 2.4.1.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from pincite.errors import FileUnreadable
from pincite.reading.office.ole import OleContainer

_SIGNATURE = 0xA5EC
_FIRST_VERSION = 0xC1  # Word 97
_FLAGS = 0x0A
_ENCRYPTED = 0x0100
_SECOND_TABLE = 0x0200
_LENGTHS = 0x4C  # of the text, footnotes, headers, macros, comments, endnotes, boxes, header boxes
_PIECES = 0x01A2
_COMPRESSED = 0x40000000  # one byte for each character


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int  # in the text
    end: int
    offset: int  # in the file
    width: int  # bytes for each character


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many characters each part of the text has, in the order in which they follow."""

    body: int
    footnotes: int
    headers: int
    macros: int
    comments: int
    endnotes: int
    boxes: int
    header_boxes: int


class WordText:
    """All text of a document, and where each character lies in the file."""

    def __init__(self, container: OleContainer) -> None:
        self.stream = container.read("WordDocument")
        signature, version = self._unpack("<HH", 0)
        (flags,) = self._unpack("<H", _FLAGS)
        if signature != _SIGNATURE or version < _FIRST_VERSION:
            raise FileUnreadable(
                "is a Word document from before 1997; save it as .docx to index it"
            )
        if flags & _ENCRYPTED:
            raise FileUnreadable("is encrypted with a password; save it without one to index it")
        self.table = container.read("1Table" if flags & _SECOND_TABLE else "0Table")
        self.lengths = Lengths(*self._unpack("<8I", _LENGTHS))
        self._pieces = self._read_pieces()
        self._starts = [piece.start for piece in self._pieces]
        self.text = "".join(map(self._decoded, self._pieces))

    def stretch(self, place: int) -> bytes:
        """The part of the table stream that the header points to from this place."""
        offset, size = self._unpack("<II", place)
        return self.table[offset : offset + size]

    def offset_of(self, position: int) -> int:
        """Where in the file a character of the text lies."""
        piece = self._pieces[max(bisect_right(self._starts, position) - 1, 0)]
        return piece.offset + (position - piece.start) * piece.width

    def _unpack(self, layout: str, place: int) -> tuple[int, ...]:
        try:
            return struct.unpack_from(layout, self.stream, place)
        except struct.error as error:
            raise FileUnreadable("is damaged: it is cut off") from error

    def _read_pieces(self) -> list[_Piece]:
        plan = _piece_plan(self.stretch(_PIECES))
        count = (len(plan) - 4) // 12
        if count < 1:
            raise FileUnreadable("is damaged: the table of its text is missing")
        edges = struct.unpack_from(f"<{count + 1}I", plan)
        pieces: list[_Piece] = []
        length = 0
        for number, (start, end) in enumerate(pairwise(edges)):
            (place,) = struct.unpack_from("<I", plan, 4 * (count + 1) + 8 * number + 2)
            is_compressed = bool(place & _COMPRESSED)
            offset = place & (_COMPRESSED - 1)
            length += end - start
            # Each character takes a byte of its own, so there cannot be more of them than bytes.
            if start > end or start != (pieces[-1].end if pieces else 0):
                raise FileUnreadable("is damaged: the table of its text is not in order")
            if length > len(self.stream):
                raise FileUnreadable("is damaged: the table of its text makes no sense")
            width = 1 if is_compressed else 2
            pieces.append(_Piece(start, end, offset // 2 if is_compressed else offset, width))
        return pieces

    def _decoded(self, piece: _Piece) -> str:
        """As many characters as the piece should have, whatever is left of it.

        Positions count the two halves of rare characters, so these stay apart for now.
        """
        count = piece.end - piece.start
        raw = self.stream[piece.offset : piece.offset + count * piece.width]
        if piece.width == 1:
            text = raw.decode("cp1252", "replace")
        else:
            halves = struct.unpack_from(f"<{len(raw) // 2}H", raw)
            text = "".join(map(chr, halves))
        return text.ljust(count, "\0")


def whole(text: str) -> str:
    """The text with the halves of characters put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _piece_plan(plan: bytes) -> bytes:
    """The table of pieces, which comes after changes of format that it may refer to."""
    at = 0
    while at + 5 <= len(plan) and plan[at] == 1:
        at += 3 + int.from_bytes(plan[at + 1 : at + 3], "little")
    if plan[at : at + 1] != b"\x02":
        return b""
    size = int.from_bytes(plan[at + 1 : at + 5], "little")
    return plan[at + 5 : at + 5 + size]
