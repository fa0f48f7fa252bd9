"""Word documents of 1997 to 2003 → Content: headings, paragraphs, items and tables.

Word saved in a hurry: what was typed last lies at the end of the file, and a table says in which
order the pieces make up the text, see [MS-DOC] 2.4.1. Formats are kept in pages of 512 bytes, each
for some stretches of the file; a table lists them. See [MS-DOC] 2.9.31 (characters), 2.9.174
(paragraphs) and 2.2.5.1 (the single changes).
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import itemgetter

from pincite.errors import FileUnreadable
from pincite.reading.office.formatting import tidy, visible_text
from pincite.reading.office.ole import OleContainer
from pincite.reading.writer import Run, Writer
from pincite.records import Content, OmissionReason

_PARAGRAPH = re.compile(r"[^\r\x07\x0c]*[\r\x07\x0c]?")
_CELL_END = "\x07"
_FIELD_BEGIN, _FIELD_RESULT = "\x13", "\x14"
_FIELD = re.compile(r"[\x13-\x15]")
_MEANINGS = str.maketrans(
    {"\x0b": "\n", "\x1e": "-", "\x1f": "\xad", "\xa0": " ", "\t": " "}
    | dict.fromkeys("\0\x01\x02\x03\x04\x05\x06\x08\x0e\x0f\x10\x11\x12", "")
)
_BULLET = re.compile(r"[•▪‣◦·\uf0b7\uf0a7](?:\s+|$)")  # typed, or of a font of symbols
_LAST_HEADING = 9

_SIGNATURE = 0xA5EC
_FIRST_VERSION = 0xC1  # Word 97
_FLAGS = 0x0A
_ENCRYPTED = 0x0100
_SECOND_TABLE = 0x0200
_LENGTHS = 0x4C  # of the text, footnotes, headers, macros, comments, endnotes, boxes, header boxes
_ARE_READ = (True, True, False, False, False, True, True, False)
_PIECES = 0x01A2
_COMPRESSED = 0x40000000  # one byte for each character

_CHARACTER_PAGES = 0xFA
_PARAGRAPH_PAGES = 0x0102
_PAGE = 512
_DELETED, _HIDDEN = 0x0800, 0x083C
_IN_TABLE, _ENDS_ROW = 0x2416, 0x2417
_LIST, _LIST_LEVEL = 0x460B, 0x260A
_NO_LIST = (0, 0xF801)
_TABLE_LAYOUT = 0xD608
_SIZES = (1, 1, 2, 4, 2, 2, None, 3)  # of a change's operand, by its highest three bits


def read_word97(container: OleContainer) -> Content:
    """Read a document: its body, then footnotes, endnotes and text boxes.

    Hidden text is kept, but marked. Deleted text, headers and comments are left out.
    """
    text = WordText(container)
    reader = _Reader(text)
    at = 0
    for length, is_read in zip(text.lengths, _ARE_READ, strict=True):
        if is_read:
            reader.read(at, at + length)
        at += length
    return reader.writer.content("doc")


class _Reader:
    """Writes stretches of one document's text."""

    def __init__(self, text: WordText) -> None:
        self.writer = Writer()
        self._text = text
        # The formats of paragraphs
        self._paragraphs = Formats(_found(text, _PARAGRAPH_PAGES, entry_size=13))
        # The formats of characters, those that hide them
        self._characters = Formats(_found(text, _CHARACTER_PAGES, entry_size=1))
        self._fields: list[bool] = []  # those that are open: whether we are in their code
        self._rows: list[list[str]] = []
        self._cells: list[str] = []
        self._cell: list[str] = []  # the paragraphs of one cell

    def read(self, start: int, end: int) -> None:
        """Write the paragraphs between two positions of the text."""
        self._fields.clear()
        for found in _PARAGRAPH.finditer(self._text.text, start, end):
            if found.group():
                self._paragraph(found.start(), found.group())
        self._end_table()

    def _paragraph(self, start: int, said: str) -> None:
        looks = self._paragraphs.at(self._text.offset_of(start + len(said) - 1))
        runs = tidy(self._runs(start, said.rstrip("\r\x07\x0c")))
        if looks.in_table or said.endswith(_CELL_END):
            self._cell.append(visible_text(runs))
            if said.endswith(_CELL_END):
                if looks.ends_row:
                    self._rows.append(self._cells)
                    self._cells = []
                else:
                    self._cells.append(" ".join(self._cell))
                self._cell = []
            return
        self._end_table()
        is_seen = all(run.omitted is None for run in runs)
        if 1 <= looks.style <= _LAST_HEADING and is_seen:
            self.writer.heading(runs, looks.style)
        elif looks.depth is not None and runs:
            self.writer.item(runs, depth=looks.depth)
        elif runs and (bullet := _BULLET.match(runs[0].text)):
            rest = tidy([replace(runs[0], text=runs[0].text[bullet.end() :]), *runs[1:]])
            self.writer.item(rest) if rest else None
        else:
            self.writer.paragraph(runs)

    def _end_table(self) -> None:
        rows = [*self._rows, self._cells]
        if any(cell for row in rows for cell in row):
            self.writer.table(rows)
        self._rows, self._cells, self._cell = [], [], []

    def _runs(self, start: int, said: str) -> Iterator[Run]:
        """The paragraph cut up where text begins or ends to be hidden, less what was deleted."""
        if self._characters.are_plain:
            yield Run(self._shown(said))
            return
        places = range(start, start + len(said))
        formats = (self._characters.at(self._text.offset_of(place)) for place in places)
        for looks, alike in groupby(zip(formats, said, strict=True), key=itemgetter(0)):
            text = self._shown("".join(character for _, character in alike))
            if not looks.is_deleted:
                yield Run(text, omitted=OmissionReason.HIDDEN if looks.is_hidden else None)

    def _shown(self, said: str) -> str:
        """The text without the code of fields (links, page numbers), but with their results."""
        parts = []
        at = 0
        for found in _FIELD.finditer(said):
            parts.append("" if any(self._fields) else said[at : found.start()])
            at = found.end()
            if found.group() == _FIELD_BEGIN:
                self._fields.append(True)
            elif self._fields and found.group() == _FIELD_RESULT:
                self._fields[-1] = False
            elif self._fields:
                self._fields.pop()
        parts.append("" if any(self._fields) else said[at:])
        # The text with the halves of characters put together
        text = "".join(parts).translate(_MEANINGS)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int  # in the text
    end: int
    offset: int  # in the file
    width: int  # bytes for each character


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
        self.lengths = self._unpack("<8I", _LENGTHS)
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
        # The table of pieces, which comes after changes of format that it may refer to.
        plan = self.stretch(_PIECES)
        at = 0
        while at + 5 <= len(plan) and plan[at] == 1:
            at += 3 + int.from_bytes(plan[at + 1 : at + 3], "little")
        size = int.from_bytes(plan[at + 1 : at + 5], "little")
        plan = plan[at + 5 : at + 5 + size] if plan[at : at + 1] == b"\x02" else b""
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


@dataclass(frozen=True, slots=True)
class Format:
    """What of a stretch's format matters for reading."""

    style: int = 0  # of a paragraph; 1 to 9 are headings
    in_table: bool = False
    ends_row: bool = False
    depth: int | None = None  # in a list; None if it is in none
    is_hidden: bool = False
    is_deleted: bool = False  # but the deletion is not accepted yet


_PLAIN = Format()


class Formats:
    """The formats of all stretches of one kind."""

    def __init__(self, found: Iterator[tuple[int, int, Format]]) -> None:
        self._found = sorted(found, key=lambda one: one[:2])
        self._starts = [start for start, _, _ in self._found]

    def at(self, offset: int) -> Format:
        """The format of what lies there in the file."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0 or offset >= self._found[number][1]:
            return _PLAIN
        return self._found[number][2]

    @property
    def are_plain(self) -> bool:
        """Whether there is nothing to tell."""
        return all(one is _PLAIN for _, _, one in self._found)


def _found(text: WordText, table: int, *, entry_size: int) -> Iterator[tuple[int, int, Format]]:
    """Start and end in the file of each stretch, and its format."""
    for page in _pages(text, table):
        count = page[-1]
        entries = 4 * (count + 1)
        if entries + count * entry_size >= _PAGE:
            continue
        edges = struct.unpack_from(f"<{count + 1}I", page)
        for number in range(count):
            place = 2 * page[entries + number * entry_size]
            changes = _PLAIN if not place else _format(page, place, is_paragraph=entry_size > 1)
            yield edges[number], edges[number + 1], changes


def _pages(text: WordText, table: int) -> Iterator[bytes]:
    plan = text.stretch(table)
    count = max(len(plan) - 4, 0) // 8
    if count > len(text.stream) // _PAGE:
        return
    for (number,) in struct.iter_unpack("<I", plan[4 * (count + 1) :][: 4 * count]):
        page = text.stream[(number & 0x3FFFFF) * _PAGE :][:_PAGE]
        if len(page) == _PAGE:
            yield page


def _format(page: bytes, place: int, *, is_paragraph: bool) -> Format:
    size = page[place]
    if not is_paragraph:
        return _changed(page[place + 1 : place + 1 + size], style=0)
    start, size = (place + 1, 2 * size - 1) if size else (place + 2, 2 * page[place + 1])
    style = int.from_bytes(page[start : start + 2], "little")
    return _changed(page[start + 2 : start + size], style=style)


def _changed(changes: bytes, *, style: int) -> Format:
    said = dict(_changes(changes))
    is_listed = said.get(_LIST, 0) not in _NO_LIST
    found = Format(
        style=style,
        in_table=bool(said.get(_IN_TABLE)),
        ends_row=bool(said.get(_ENDS_ROW)),
        depth=min(said.get(_LIST_LEVEL, 0), 8) if is_listed else None,
        is_hidden=said.get(_HIDDEN) == 1,
        is_deleted=said.get(_DELETED) == 1,
    )
    return found if found != _PLAIN else _PLAIN


def _changes(changes: bytes) -> Iterator[tuple[int, int]]:
    """Each change of format with its operand, as a number."""
    at = 0
    while at + 2 < len(changes):
        code = int.from_bytes(changes[at : at + 2], "little")
        at += 2
        size = _SIZES[code >> 13]
        if code == _TABLE_LAYOUT:
            size = 1 + int.from_bytes(changes[at : at + 2], "little")
        elif size is None:
            size = 1 + changes[at]
        yield code, int.from_bytes(changes[at : at + size], "little")
        at += size
