"""Blocks → the text, with the place of each word and what is left out of what is embedded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from pincite.reading.pdf.blocks import PageBlock, Row
from pincite.reading.pdf.lines import Line, is_blank_between
from pincite.reading.pdf.sheet import Sheet
from pincite.reading.pdf.words import Word
from pincite.reading.writer import Run, Writer
from pincite.records import BlockKind, OmissionReason

_BLANK = Run(" ")
_NEXT_LINE = Run("\n")
_BETWEEN_CELLS = Run("  ")  # of a line that is no row of a table
_FAR = 2.0  # times the size: a gap that a reader would not take for a blank

_BROKEN = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}[-\u2010\u00ad]$")
_LETTERS = re.compile(r"[^\W\d_]+")
_SIGNS = "()[]{}<>.,;:!?\"'“”‘’«»…"
_LONG = 4  # letters: two words as long as this are hardly the halves of another


def write_blocks(blocks: Sequence[PageBlock]) -> Writer:
    """All blocks, in order; each is emptied, as a long document would not fit in memory twice."""
    writer = Writer()
    known = _Vocabulary(blocks)
    for block in blocks:
        match block.kind:
            case BlockKind.HEADING:
                writer.heading(_runs(block.lines, known), block.level)
            case BlockKind.ITEM:
                writer.item(_runs(block.lines, known), mark="")
            case BlockKind.TABLE:
                sheet = block.lines[0].sheet
                writer.table_of_runs(_row_runs(row, sheet) for row in block.rows)
            case _:
                writer.paragraph(_runs(block.lines, known))
        block.lines.clear()
        block.rows.clear()
    return writer


class _Vocabulary:
    """Which of the words that line ends break stand elsewhere in the document, whole or not."""

    def __init__(self, blocks: Sequence[PageBlock]) -> None:
        breaks = [
            (before, after)
            for block in blocks
            for one, other in pairwise(block.lines)
            if (before := _start_of_word(one)) and (after := _rest_of_word(other))
        ]
        wanted: set[str] = set()
        for before, after in breaks:
            wanted.update((before, after, before + after, f"{before}-{after}"))
        self._known = set(self._found(blocks, wanted)) if wanted else set()

    def _found(self, blocks: Sequence[PageBlock], wanted: set[str]) -> Iterator[str]:
        for block in blocks:
            is_broken = False
            for line in block.lines:
                words = line.words[1:] if is_broken else line.words
                is_broken = bool(_start_of_word(line))
                for word in words[:-1] if is_broken else words:
                    plain = word.text.strip(_SIGNS).casefold()
                    if plain in wanted:
                        yield plain

    def is_compound(self, first: str, rest: str) -> bool:
        """Whether two parts at a line's end keep the hyphen between them."""
        if f"{first}-{rest}" in self._known:
            return True
        both = first in self._known and rest in self._known
        return both and min(len(first), len(rest)) >= _LONG and first + rest not in self._known


def _start_of_word(line: Line) -> str:
    """The part of a word that a hyphen breaks off at the end of a line; empty if none is."""
    last = line.cells[-1][-1]
    found = _BROKEN.search(last.text) if last.omitted is None else None
    return found[0][:-1].casefold() if found else ""


def _rest_of_word(line: Line) -> str:
    """What a line begins with if it may be the rest of a word, which goes on in lower case."""
    first = line.cells[0][0].text
    found = _LETTERS.match(first) if first[0].islower() else None
    return found[0].casefold() if found else ""


def _runs(lines: Sequence[Line], known: _Vocabulary) -> list[Run]:
    """Every line with its end, which is left out where it breaks a word."""
    runs: list[Run] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        runs += _line_runs(line)
        start, rest = _start_of_word(line), _rest_of_word(following) if following else ""
        if not start or not rest:
            runs.append(_NEXT_LINE)
        elif known.is_compound(start, rest):
            runs.append(Run("\n", omitted=OmissionReason.HYPHEN))
        else:
            last = runs.pop()
            runs.append(replace(last, text=last.text[:-1]))
            runs.append(Run(last.text[-1] + "\n", omitted=OmissionReason.HYPHEN))
    return runs


def _line_runs(line: Line) -> list[Run]:
    runs: list[Run] = []
    for at, cell in enumerate(line.cells):
        if at:
            before, after = line.cells[at - 1][-1], cell[0]
            gap = max(after.left - before.right, before.left - after.right)
            runs.append(_BETWEEN_CELLS if gap > _FAR * line.size else _BLANK)
        runs += _cell_runs(cell, line.sheet)
    return runs


def _cell_runs(words: Sequence[Word], sheet: Sheet) -> list[Run]:
    runs: list[Run] = []
    before: Word | None = None
    for word in words:
        if before is not None and is_blank_between(before, word):
            hidden = before.omitted if before.omitted is word.omitted else None
            runs.append(Run(" ", omitted=hidden) if hidden else _BLANK)
        box = sheet.box(word.rectangle, word.look.turn)
        runs.append(Run(word.text, sheet.number, box, omitted=word.omitted))
        before = word
    return runs


def _row_runs(row: Row, sheet: Sheet) -> list[Run]:
    runs = [Run("| ")]
    for at, cell in enumerate(row):
        if at:
            runs.append(Run(" | "))
        runs += _cell_runs(cell, sheet)
    return [*runs, Run(" |")]
