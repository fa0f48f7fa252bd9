"""Words → segments (words side by side) → lines (segments at one height), all as read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from pincite.reading.pdf.looks import Style
from pincite.reading.pdf.sheet import Sheet
from pincite.reading.pdf.words import Word, is_single

# In sizes of the type.
_WIDEST_BLANK = 0.9  # between words of one segment; more may be the gap between columns
_FAR = 2.0  # between segments of a line that runs to the left
_SAME_HEIGHT = 0.45  # between the baselines of a word and of one raised or lowered beside it
_OVERPRINT = 0.6  # how far a word may reach into the one before
_NO_BLANK = 0.12  # less than this between words drawn apart is no blank
_BLANK_BETWEEN_SINGLES = 0.6  # less than this is only spacing, in scripts without blanks

_MOST_PAIRS = 100_000  # of segments of one line that are looked at for overprinting
_ALL_BOLD = 0.9  # share of a line's letters

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_LETTER = re.compile(r"[^\W\d_]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


@dataclass(slots=True)
class Segment:
    """Words side by side on one line, with a blank at most between them."""

    words: list[Word]
    left: float
    right: float
    base: float
    size: float

    @property
    def order(self) -> int:
        """When it was drawn."""
        return self.words[0].order

    @property
    def is_hidden(self) -> bool:
        """Whether nobody sees it."""
        return self.words[0].omitted is not None

    @property
    def letters(self) -> int:
        """How long it is."""
        return sum(len(word.text) for word in self.words)


@dataclass(slots=True)
class Line:
    """Segments of one height, in reading order: one of a text, several of a row of a table."""

    cells: list[list[Word]]
    left: float
    right: float
    base: float
    style: Style  # of most of its letters
    sheet: Sheet
    is_right_to_left: bool = False
    level: int = 0  # of the heading that the file's tags say this is
    is_aside: bool = False  # written in another direction than most of the page
    _text: str = ""

    @property
    def turn(self) -> int:
        """Quarters anticlockwise by which it is turned, as shown."""
        return self.cells[0][0].look.turn

    @property
    def words(self) -> list[Word]:
        """All of it."""
        return [word for cell in self.cells for word in cell]

    @property
    def text(self) -> str:
        """All of it, as written."""
        if not self._text:
            self._text = " ".join(cell_text(cell) for cell in self.cells)
        return self._text

    @property
    def size(self) -> float:
        """Of its type, in points."""
        return self.style.size


def segments_of(words: Iterable[Word]) -> list[Segment]:
    """Words that were drawn one after the other and stand side by side, put together."""
    segments: list[Segment] = []
    for word in words:
        current = segments[-1] if segments else None
        if current is not None and _goes_on(current, word):
            current.words.append(word)
            current.left = min(current.left, word.left)
            current.right = max(current.right, word.right)
            if word.size > current.size:
                current.base, current.size = word.base, word.size
        else:
            segments.append(Segment([word], word.left, word.right, word.base, word.size))
    return segments


def _goes_on(segment: Segment, word: Word) -> bool:
    last = segment.words[-1]
    size = max(last.look.style.size, word.look.style.size)
    if last.omitted is not word.omitted or abs(word.base - last.base) > _SAME_HEIGHT * size:
        return False
    gap = word.left - last.right
    if gap < -_OVERPRINT * size:  # it may stand on the other side, where lines run to the left
        gap = last.left - word.right
    return -_OVERPRINT * size <= gap <= _WIDEST_BLANK * size


def lines_of(segments: Sequence[Segment], sheet: Sheet) -> list[Line]:
    """The segments of one column, from the top, those of one height put together."""
    rows: list[list[Segment]] = []
    tallest: Segment | None = None
    for segment in sorted(segments, key=lambda one: (-one.base, one.left)):
        if tallest is None or not _are_beside(tallest, segment):
            rows.append([])
            tallest = segment
        elif segment.size > tallest.size:
            tallest = segment
        rows[-1].append(segment)
    return [_line(part, sheet) for row in rows for part in _without_overprint(row)]


def _without_overprint(row: list[Segment]) -> list[list[Segment]]:
    """The row as it is, or what is hidden under its words in a row of its own."""
    hidden = [one for one in row if one.is_hidden]
    seen = [one for one in row if not one.is_hidden]
    if not hidden or not seen or len(hidden) * len(seen) > _MOST_PAIRS:
        return [row]
    over = [one for one in hidden if any(_overlap(one, other) for other in seen)]
    beside = [one for one in hidden if not any(_overlap(one, other) for other in seen)]
    return [seen + beside, over] if over else [row]


def _overlap(one: Segment, other: Segment) -> bool:
    return one.left < other.right and other.left < one.right


def _are_beside(one: Segment, other: Segment) -> bool:
    """Whether segments are of one line; a raised note mark belongs to the line below it."""
    return abs(one.base - other.base) <= _SAME_HEIGHT * max(one.size, other.size)


def _line(row: list[Segment], sheet: Sheet) -> Line:
    row.sort(key=lambda segment: segment.left)
    words = [word for segment in row for word in segment.words]
    to_left, letters = _letters_to_left(words)
    # Where directions meet, words of one phrase are drawn in several parts.
    widest = _WIDEST_BLANK if not to_left else _FAR
    cells: list[list[Word]] = []
    reached = 0.0
    for segment in row:
        if cells and segment.left - reached <= widest * segment.size:
            cells[-1].extend(segment.words)
        else:
            cells.append(list(segment.words))
        reached = max(reached, segment.right)
    runs_to_left = to_left * 2 > letters
    for cell in cells:
        cell.sort(key=lambda word: (word.left, word.order))
    if to_left:
        cells = [_both_ways(cell, to_left=runs_to_left) for cell in cells]
    if runs_to_left:
        cells.reverse()
    left, right = min(one.left for one in row), max(one.right for one in row)
    base = max(row, key=lambda one: one.letters).base
    return Line(cells, left, right, base, _main_style(words), sheet, runs_to_left)


def _letters_to_left(words: Sequence[Word]) -> tuple[int, int]:
    """How many letters there are in words that run to the left, and in all."""
    to_left = sum(len(word.text) for word in words if _RIGHT_TO_LEFT.search(word.text))
    letters = sum(len(word.text) for word in words if _LETTER.search(word.text))
    return to_left, letters


def _both_ways(words: list[Word], *, to_left: bool) -> list[Word]:
    """Words from left to right → in reading order, stretches of the other direction turned."""
    if to_left:
        words.reverse()
    against = [_is_against(word, to_left=to_left) for word in words]
    for at, sign in enumerate(against):
        if sign is None:  # goes with what it stands between, or with the line
            following = next((one for one in against[at:] if one is not None), False)
            against[at] = at > 0 and bool(against[at - 1]) and following
    ordered: list[Word] = []
    for is_against, stretch in groupby(zip(words, against, strict=True), key=itemgetter(1)):
        part = [word for word, _ in stretch]
        ordered.extend(reversed(part) if is_against else part)
    return ordered


def _is_against(word: Word, *, to_left: bool) -> bool | None:
    """Whether a word runs against its line; None for signs, which run both ways."""
    if _RIGHT_TO_LEFT.search(word.text):
        return not to_left
    return to_left if _LETTER_OR_DIGIT.search(word.text) else None


def _main_style(words: Sequence[Word]) -> Style:
    """The size of most letters; bold only where hardly any are not."""
    letters: dict[Style, int] = {}
    for word in words:
        letters[word.style] = letters.get(word.style, 0) + len(word.text)
    if len(letters) == 1:
        return words[0].style
    size = max(letters, key=letters.__getitem__).size
    bold = sum(count for style, count in letters.items() if style.bold)
    return Style(size, bold=bold >= _ALL_BOLD * sum(letters.values()))


def is_blank_between(one: Word, other: Word) -> bool:
    """Whether a blank stands between two words that follow each other on a line."""
    if one.omitted is not other.omitted:
        return True
    if is_single(one.text[-1]) and is_single(other.text[0]):
        return _gap(one, other) > _BLANK_BETWEEN_SINGLES * max(one.size, other.size)
    if other.order == one.order + 1:
        return not other.glued
    return _gap(one, other) > _NO_BLANK * max(one.size, other.size)


def _gap(one: Word, other: Word) -> float:
    return max(other.left - one.right, one.left - other.right)


def cell_text(words: Sequence[Word]) -> str:
    """Words of one line as they are written, blanks between them."""
    parts: list[str] = []
    for at, word in enumerate(words):
        if at and is_blank_between(words[at - 1], word):
            parts.append(" ")
        parts.append(word.text)
    return "".join(parts)
