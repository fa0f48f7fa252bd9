"""How stretches of an old Word document are formatted, by where they lie in the file.

Formats are kept in pages of 512 bytes, each for some stretches of the file; a table lists them.
See [MS-DOC] 2.9.31 (characters), 2.9.174 (paragraphs) and 2.2.5.1 (the single changes).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.reading.office.word97.text import WordText

_CHARACTER_PAGES = 0xFA
_PARAGRAPH_PAGES = 0x0102
_PAGE = 512
_DELETED, _HIDDEN = 0x0800, 0x083C
_IN_TABLE, _ENDS_ROW = 0x2416, 0x2417
_LIST, _LIST_LEVEL = 0x460B, 0x260A
_NO_LIST = (0, 0xF801)
_TABLE_LAYOUT = 0xD608
_SIZES = (1, 1, 2, 4, 2, 2, None, 3)  # of a change's operand, by its highest three bits


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


def paragraph_formats(text: WordText) -> Formats:
    """The formats of paragraphs."""
    return Formats(_found(text, _PARAGRAPH_PAGES, entry_size=13))


def character_formats(text: WordText) -> Formats:
    """The formats of characters, those that hide them."""
    return Formats(_found(text, _CHARACTER_PAGES, entry_size=1))


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
