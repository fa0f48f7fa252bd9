"""The text of an old Word document → its Content: headings, paragraphs, items and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from pincite.reading.office.ole import OleContainer
from pincite.reading.office.runs import tidy, visible_text
from pincite.reading.office.word97.formats import Format, character_formats, paragraph_formats
from pincite.reading.office.word97.text import WordText, whole
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


def read_word97(container: OleContainer) -> Content:
    """Read a document: its body, then footnotes, endnotes and text boxes.

    Hidden text is kept, but marked. Deleted text, headers and comments are left out.
    """
    text = WordText(container)
    reader = _Reader(text)
    reader.read(0, text.lengths.body)
    at = text.lengths.body
    for length, is_read in (
        (text.lengths.footnotes, True),
        (text.lengths.headers, False),
        (text.lengths.macros, False),
        (text.lengths.comments, False),
        (text.lengths.endnotes, True),
        (text.lengths.boxes, True),
    ):
        if is_read:
            reader.read(at, at + length)
        at += length
    return reader.writer.content("doc")


class _Reader:
    """Writes stretches of one document's text."""

    def __init__(self, text: WordText) -> None:
        self.writer = Writer()
        self._text = text
        self._paragraphs = paragraph_formats(text)
        self._characters = character_formats(text)
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
                self._end_cell(looks)
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

    def _end_cell(self, looks: Format) -> None:
        if looks.ends_row:
            self._rows.append(self._cells)
            self._cells = []
        else:
            self._cells.append(" ".join(self._cell))
        self._cell = []

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
        return whole("".join(parts).translate(_MEANINGS))
