"""Words → segments (words side by side) → lines (segments at one height) → columns, all as read.

A column begins where several segments begin at the same distance from the left, and nothing crosses
the gutter before it for some lines. Whether what stands on both sides are two columns to be read
one after the other, or the cells of a table to be read row by row, is told by the order in which
the file draws them and by how much text is in them.

Headers, footers and page numbers that run through a document are left out of its text. A line runs
if it stands at the same height in the margin of at least four pages that are about half of the
document, or of at least eight that are half of a part of it; the numbers in it are the same on each
page or count the pages. A page's first or last line runs at any height if it counts the pages. The
first appearance stays in the text, so that its words can be found; mere page numbers go altogether,
even where there are only two pages.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median

from pincite.reading.pdf.words import Sheet, Style, Word, is_single

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

_SAME_EDGE = 1.0  # points
_MOST_EDGES = 15  # looked at, those where most segments begin
_GUTTER = 0.75  # in sizes of the type
_FEWEST_ROWS = 3
_MOST_SEGMENTS = 1_000  # of a page with more, a drawing or a huge table, the rows are read
_DEEPEST = 8  # columns within columns

_PROSE = 15  # letters in a segment, on average, of a column of text
_FILLED = 0.6  # of a column's width, by a line of text
_MANY_ROWS = 15  # a list of short lines with this many is no table of names and values
_ALIGNED = 0.7  # share of the rows of one side that have a partner on the other
_FIGURE = re.compile(r"[-–+(]?[$€£¥]?\s*[\d.,:%/]+\)?%?")
_HEBREW_OR_ARABIC = re.compile("[\u0590-\u08ff]")

_MARGIN = 0.12  # of the page's height, above and below
_RUNNING_HEIGHT = 6.0  # points
_FEWEST_PAGES = 4
_FEWEST_OF_A_PART = 8
_EVERY_OTHER = 0.45  # of the pages, as headers differ on left and right pages
_RELIABLE = 0.8  # of the steps from page to page that must count or stay
_LONGEST_NUMBER = 40  # letters of a line that only numbers the page
_NUMBER = re.compile(r"\d{1,6}")
_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|pg|p|seite|s|página|pagina|pág|str|стр)\b\W*)?#"
    r"(?:\W{0,3}(?:of|von|de|sur|di|из|out of)?\W{0,3}#)?\W*",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2}")


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
            self._text = " ".join(_cell_text(cell) for cell in self.cells)
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
        # A raised note mark belongs to the line below it.
        if tallest is None or (
            abs(tallest.base - segment.base) > _SAME_HEIGHT * max(tallest.size, segment.size)
        ):
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


def _line(row: list[Segment], sheet: Sheet) -> Line:
    row.sort(key=lambda segment: segment.left)
    words = [word for segment in row for word in segment.words]
    # How many letters there are in words that run to the left, and in all.
    to_left = sum(len(word.text) for word in words if _RIGHT_TO_LEFT.search(word.text))
    letters = sum(len(word.text) for word in words if _LETTER.search(word.text))
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


def _cell_text(words: Sequence[Word]) -> str:
    """Words of one line as they are written, blanks between them."""
    parts: list[str] = []
    for at, word in enumerate(words):
        if at and is_blank_between(words[at - 1], word):
            parts.append(" ")
        parts.append(word.text)
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Zone:
    """A stretch of the page with a gutter through it."""

    top: float
    bottom: float
    left: list[Segment]
    right: list[Segment]


def columns_of(segments: Sequence[Segment], depth: int = 0) -> list[list[Segment]]:
    """Groups of segments to be read one after the other."""
    if depth > _DEEPEST or not 2 * _FEWEST_ROWS <= len(segments) <= _MOST_SEGMENTS:
        return [list(segments)] if segments else []
    zones = [zone for zone in _zones(segments) if _are_columns(zone)]
    if not zones:
        return [list(segments)]
    zone = max(zones, key=lambda one: (len(one.left) + len(one.right), -len(one.left)))
    inside = {id(segment) for segment in (*zone.left, *zone.right)}
    outside = [segment for segment in segments if id(segment) not in inside]
    above = [segment for segment in outside if segment.base >= zone.top]
    below = [segment for segment in outside if segment.base < zone.top]
    sides = [zone.left, zone.right]
    words = [word.text for segment in segments for word in segment.words]
    if sum(bool(_HEBREW_OR_ARABIC.search(word)) for word in words) * 2 > len(words):
        sides.reverse()
    return [column for part in (above, *sides, below) for column in columns_of(part, depth + 1)]


def _zones(segments: Sequence[Segment]) -> Iterator[_Zone]:
    """Stretches that a gutter runs through, with enough rows on both sides of it."""
    gutter = _GUTTER * median(segment.size for segment in segments)
    # Where most segments begin; not the first place, which has nothing before it.
    lefts = sorted(segment.left for segment in segments)
    found: list[tuple[int, float]] = []
    start = 0
    for index in range(1, len(lefts) + 1):
        if index == len(lefts) or lefts[index] - lefts[index - 1] > _SAME_EDGE:
            if start and index - start >= _FEWEST_ROWS:
                found.append((index - start, lefts[start]))
            start = index
    for edge in sorted(edge for _, edge in sorted(found, reverse=True)[:_MOST_EDGES]):
        middle = edge - gutter / 2  # signs may hang out a little on either side
        crossing = sorted(one.base for one in segments if one.left < middle < one.right)
        left: dict[int, list[Segment]] = {}
        right: dict[int, list[Segment]] = {}
        for segment in segments:
            side = left if segment.right <= middle else right
            if segment.right <= middle or segment.left >= middle:
                side.setdefault(bisect_left(crossing, segment.base), []).append(segment)
        for band in left.keys() & right.keys():
            if _share_height(left[band], right[band]):
                bases = [one.base for one in (*left[band], *right[band])]
                yield _Zone(max(bases), min(bases), left[band], right[band])


def _share_height(left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    """Whether both sides have some rows, and most of one side's height is shared."""
    if min(len(_rows(left)), len(_rows(right))) < _FEWEST_ROWS:
        return False
    tops = max(one.base for one in left), max(one.base for one in right)
    bottoms = min(one.base for one in left), min(one.base for one in right)
    shared = min(tops) - max(bottoms)
    return shared >= 0.5 * min(tops[0] - bottoms[0], tops[1] - bottoms[1])


def _rows(segments: Sequence[Segment]) -> set[int]:
    """The heights at which there is text, in points."""
    return {round(segment.base) for segment in segments}


def _are_columns(zone: _Zone) -> bool:
    rows = min(len(_rows(zone.left)), len(_rows(zone.right)))
    # How often the drawing changes from one side to the other.
    drawn = sorted(
        [(segment.order, False) for segment in zone.left]
        + [(segment.order, True) for segment in zone.right]
    )
    turns = sum(one[1] != other[1] for one, other in pairwise(drawn))
    heights = _rows(zone.left)
    near = {height + step for height in heights for step in (-1, 0, 1)}
    right = _rows(zone.right)
    is_aligned = len(right & near) >= _ALIGNED * len(right)
    is_prose = _is_prose(zone.left) and _is_prose(zone.right)
    if turns <= max(2, rows // 4):  # one side is drawn after the other
        return is_prose or not is_aligned or (rows >= _MANY_ROWS and not _is_numeric(zone))
    if turns <= rows // 2:  # drawn block by block
        return is_prose and not is_aligned
    # Drawn line by line across the gutter, as recognised text is.
    return is_prose and turns >= rows and _fills(zone.left) and _fills(zone.right)


def _is_prose(segments: Sequence[Segment]) -> bool:
    return sum(segment.letters for segment in segments) >= _PROSE * len(segments)


def _fills(segments: Sequence[Segment]) -> bool:
    width = max(one.right for one in segments) - min(one.left for one in segments)
    return sum(one.right - one.left >= _FILLED * width for one in segments) * 2 >= len(segments)


def _is_numeric(zone: _Zone) -> bool:
    words = [word.text for segment in zone.right for word in segment.words]
    return sum(bool(_FIGURE.fullmatch(word)) for word in words) * 2 >= len(words)


@dataclass(frozen=True, slots=True)
class _Appearance:
    page: int
    height: float
    numbers: tuple[int, ...]
    line: Line


def running_lines(lines: Sequence[Line]) -> set[int]:
    """Identities (`id`) of the lines to be left out; none where most pages have no others."""
    appearances: dict[tuple[str, str], list[_Appearance]] = {}
    for _, page in groupby(lines, key=lambda line: line.sheet.number):
        for place, appearance in _candidates(list(page)):
            pattern = _NUMBER.sub("#", appearance.line.text)
            appearances.setdefault((place, pattern), []).append(appearance)
    running: set[int] = set()
    pages = {line.sheet.number for line in lines}
    for (place, pattern), found in appearances.items():
        running.update(id(one.line) for one in _running(place, pattern, found, len(pages)))
    left = {line.sheet.number for line in lines if id(line) not in running}
    return running if len(left) * 2 >= len(pages) else set()


def _candidates(lines: list[Line]) -> Iterator[tuple[str, _Appearance]]:
    """The lines of a page that stand in its margins, and its first and last."""
    lines.sort(key=_height)
    for line in lines:
        is_outermost = line is lines[0] or line is lines[-1]
        height = _height(line)
        share = height / max(line.sheet.height, 1.0)
        if not is_outermost and _MARGIN <= share <= 1 - _MARGIN:
            continue
        numbers = tuple(int(number) for number in _NUMBER.findall(line.text))
        appearance = _Appearance(line.sheet.number, height, numbers, line)
        if not _MARGIN <= share <= 1 - _MARGIN:
            yield "head" if share > 0.5 else "foot", appearance
        if is_outermost:
            yield "last" if line is lines[0] else "first", appearance


def _height(line: Line) -> float:
    """Above the lower edge, as shown."""
    if line.turn == 0:
        return line.base
    rectangle = (line.left, line.base, line.right, line.base + line.size)
    box = line.sheet.box(rectangle, line.turn)
    return (box.bottom + box.top) / 2


def _running(
    place: str, pattern: str, found: Sequence[_Appearance], count: int
) -> list[_Appearance]:
    if place in ("head", "foot"):
        usual = median(one.height for one in found)
        found = [one for one in found if abs(one.height - usual) <= _RUNNING_HEIGHT]
    elif not any(_agree(found, at, counting=True) for at in range(len(found[0].numbers))):
        return []
    is_number = len(pattern) <= _LONGEST_NUMBER and bool(_PAGE_NUMBER.fullmatch(pattern))
    pages = {one.page for one in found}
    if not _are_enough(pages, count, is_number=is_number):
        return []
    if not all(_agree(found, at) for at in range(len(found[0].numbers))):
        return []
    if is_number or not _LETTERS.search(pattern):
        return list(found)
    return [one for one in found if one.page != min(pages)]


def _are_enough(pages: set[int], count: int, *, is_number: bool) -> bool:
    """Whether a line on these pages runs through the document, or through a part of it."""
    if len(pages) < (2 if is_number else _FEWEST_PAGES):
        return False
    part = max(pages) - min(pages) + 1
    is_part = len(pages) >= _FEWEST_OF_A_PART or is_number
    return len(pages) >= _EVERY_OTHER * (part if is_part else count)


def _agree(found: Sequence[_Appearance], place: int, *, counting: bool = False) -> bool:
    """Whether a number in the line goes with the page or, unless it must, stays the same."""
    steps = [
        (other.page - one.page, other.numbers[place] - one.numbers[place])
        for one, other in pairwise(found)
    ]
    good = sum(number == pages or (number == 0 and not counting) for pages, number in steps)
    return good >= _RELIABLE * len(steps)
