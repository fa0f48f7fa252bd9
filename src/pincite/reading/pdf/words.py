"""A page → its words, each with its box, its type and what may hide it.

pdfium puts the page's characters in the order they are drawn and tells blanks from gaps. Asking for
each character costs a call of about a microsecond each time, so words are cut out of the whole text
first, and boxes are asked for by the word.

There are three sets of coordinates:

- *pdfium's*: points in the page's own space, before it is cropped and turned.
- *as shown*: points from the lower left corner of the visible page. Boxes are given in these.
- *as read*: as shown, turned so that a line of text runs from left to right and the next line
  stands below. The same as shown, unless the text itself is turned or runs downwards.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from pincite.reading.pdf.pdfium import Handle, address, raw
from pincite.records import Box, OmissionReason

_MOST_CHARACTERS = 200_000  # of one page; the rest of a page with more is not read

# Characters of scripts that are written without blanks are words by themselves: a line of them
# would be one word that no citation could point into.
_SINGLE = "\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_BROKEN = "\ufffe"  # pdfium's sign for a hyphen at the end of a line
_WORD = re.compile(rf"[^\s\x00-\x1f\x7f{_BROKEN}{_SINGLE}]+{_BROKEN}?|{_BROKEN}|(?!\s)[{_SINGLE}]")
_IS_SINGLE = re.compile(f"[{_SINGLE}]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_ALEFS = "اأإآٱ"
_LAM = "ل"
_A_WHOLE_WORD = 5  # letters for one sign

_MOST_UNLIKE = 2.0  # times as large: letters that differ more are not of one word (initials)
_NO_OWN_BLANKS = 0.75  # share of blanks that are but gaps: the text has none of its own
_LOOSE = 0.35  # times the size: less between letters of a scan's text is no blank
_RAISED = 0.6  # times the size: as far as the letters of one word may be raised or lowered

Rectangle = tuple[float, float, float, float]
"""Left, bottom, right, top."""

# Many words share their edges: the same number many times costs memory once.
_TENTHS = tuple(tenth / 10 for tenth in range(20_000))

# Farther than any page reaches. Files can make numbers that are larger, or none at all (NaN).
_FAR = 1_000_000.0

_BOLD_NAME = re.compile(r"bold|black|heavy|demi|cmb|sfbx|-medi\b", re.IGNORECASE)
_FORCE_BOLD = 1 << 18  # among a font's flags (PDF 32000-1, table 123)
_LONGEST_NAME = 128

_ONLY_STROKED = (raw.FPDF_TEXTRENDERMODE_STROKE, raw.FPDF_TEXTRENDERMODE_STROKE_CLIP)
_STROKED = (
    *_ONLY_STROKED,
    *(raw.FPDF_TEXTRENDERMODE_FILL_STROKE, raw.FPDF_TEXTRENDERMODE_FILL_STROKE_CLIP),
)
# From the baseline, in sizes of the type: what a line takes up whatever letters are in it, and
# where the next lines are, whatever the font says of its letters.
_BELOW, _ABOVE = 0.2, 0.7
_LOWEST, _HIGHEST = 0.35, 0.9
_UNLIKELY = 2.0  # times the size: no letter of an ordinary font takes up so much
_QUARTER = math.pi / 2

_TINY = 1.0  # points
_CLEAR = 10  # of 255: less opaque than this nobody sees
_PALE = 230  # of 255 in each of red, green and blue

_DOWNWARDS = 3  # quarters: read like a line that is turned to run down the page
_FEWEST_STEPS = 8  # from one character to the one below


@dataclass(slots=True)
class Word:
    """Letters without a blank between them. The rectangle is as read (see `sheet`)."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    base: float  # of the letters, as high as `bottom` to `top`
    look: Look
    order: int  # its place among the page's words as drawn
    glued: bool  # nothing parts it from the word drawn before
    omitted: OmissionReason | None

    @property
    def style(self) -> Style:
        """Its type."""
        return self.look.style

    @property
    def size(self) -> float:
        """Of its type, in points."""
        return self.look.style.size

    @property
    def rectangle(self) -> Rectangle:
        """Left, bottom, right, top, as read."""
        return self.left, self.bottom, self.right, self.top


def is_single(character: str) -> bool:
    """Whether this is a character of a script without blanks."""
    return character >= "\u3000" and bool(_IS_SINGLE.match(character))


def page_words(page: Handle, sheet: Sheet) -> tuple[list[Word], bool]:
    """The words of a page in the order they are drawn, and whether these are all there are."""
    text_page = raw.FPDFText_LoadPage(page)
    if not text_page:
        return [], False
    try:
        is_all = raw.FPDFText_CountChars(text_page) <= _MOST_CHARACTERS
        return _Words(text_page, sheet).all(), is_all
    finally:
        raw.FPDFText_ClosePage(text_page)


class _Words:
    """Cuts the words out of one page's text."""

    def __init__(self, text_page: Handle, sheet: Sheet) -> None:
        self._page = text_page
        self._sheet = sheet
        self._looks = Looks(text_page, sheet)
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._pointers = [ctypes.pointer(edge) for edge in self._edges]
        self._area = raw.FS_RECTF()
        self._text = self._all_text()
        self._runs_to_left = bool(_RIGHT_TO_LEFT.search(self._text))
        self._words: list[Word] = []
        self._starts: list[int] = []  # of the words, in the text
        self._after = -1  # where the last word ends

    def all(self) -> list[Word]:
        """In the order they are drawn."""
        for match in _WORD.finditer(self._text):
            start, end = match.span()
            look = self._looks.of((start + end) // 2)  # not of a note's mark before or after it
            area = self._whole(start, end, look)
            if area is not None:
                self._add(start, end, area, look)
            else:
                self._add_parts(start, end)
        self._join_recognised()
        return self._words

    def _all_text(self) -> str:
        """The page's characters, one for each of pdfium's."""
        count = min(raw.FPDFText_CountChars(self._page), _MOST_CHARACTERS)
        if count <= 0:
            return ""
        buffer = (ctypes.c_ushort * (count + 1))()
        given = raw.FPDFText_GetText(self._page, 0, count, buffer) - 1
        text = bytes(buffer)[: 2 * given].decode("utf-16-le", "replace")
        if len(text) == count:
            return text
        # Some characters have no letter, or one beyond the first plane: asked for one by one.
        codes = (raw.FPDFText_GetUnicode(self._page, index) for index in range(count))
        return "".join(_BROKEN if code == 2 else chr(min(code, 0x10FFFF)) for code in codes)

    def _whole(self, start: int, end: int, look: Look) -> Rectangle | None:
        """Where a word stands, as read; None where its letters may stand apart."""
        if self._runs_to_left and _RIGHT_TO_LEFT.search(self._text, start, end):
            return None  # its signs may stand at the line's other end
        if not look.straight:
            areas = self._areas(start, end)
            return self._as_read(areas[0], look) if len(areas) == 1 else None
        first, last = self._letter(start), self._letter(end - 1)
        size = look.style.size
        height, other = first[3] - first[1], last[3] - last[1]
        is_one = (
            0 <= last[2] - first[0] <= size * (end - start)
            and abs(last[1] - first[1]) <= _RAISED * size
            and height <= _MOST_UNLIKE * other <= _MOST_UNLIKE**2 * height
        )
        if not is_one:
            return None
        if self._sheet.quarters:
            return self._as_read((first[0], first[1], last[2], first[3]), look)
        offset = self._sheet.visible[0]
        return _tenths(first[0] - offset), look.bottom, _tenths(last[2] - offset), look.top

    def _as_read(self, area: Rectangle, look: Look) -> Rectangle:
        """An area of pdfium's as read, as high at least as its line is."""
        shown = self._sheet.as_read(self._sheet.shown(area), look.turn)
        left, bottom, right, top = (_tenths(edge) for edge in shown)
        if look.bottom <= top and bottom <= look.top:
            size = look.style.size
            bottom = min(max(bottom, look.bottom - size / 2), look.bottom)
            top = max(min(top, look.top + size / 2), look.top)
        return left, bottom, right, top

    def _add_parts(self, start: int, end: int) -> None:
        """A word in parts, where its letters do not stand side by side."""
        areas = [_union(self._areas(at, at + 1) or [self._letter(at)]) for at in range(start, end)]
        looks = [self._looks.of(at) for at in range(start, end)]
        sizes = [look.style.size for look in looks]
        first = 0
        for at in range(1, len(areas) + 1):
            if at == len(areas) or not _are_near(areas, sizes, at):
                look = looks[(first + at) // 2]
                area = self._as_read(_union(areas[first:at]), look)
                self._add(start + first, start + at, area, look)
                first = at

    def _areas(self, start: int, end: int) -> list[Rectangle]:
        """What the letters cover, part by part as they are drawn."""
        left, top, right, bottom = self._edges
        areas = []
        for index in range(raw.FPDFText_CountRects(self._page, start, end - start)):
            raw.FPDFText_GetRect(self._page, index, *self._pointers)
            areas.append((left.value, bottom.value, right.value, top.value))
        return areas

    def _letter(self, index: int) -> Rectangle:
        """What a letter takes up in its line, if that is straight."""
        area = self._area
        raw.FPDFText_GetLooseCharBox(self._page, index, area)
        return area.left, area.bottom, area.right, area.top

    def _add(self, start: int, end: int, area: Rectangle, look: Look) -> None:
        text = self._text[start:end].replace(_BROKEN, "-")
        if self._runs_to_left and _RIGHT_TO_LEFT.search(text):
            # Letters of one sign that pdfium gives the wrong way round, set right. It turns a line
            # that runs to the left letter by letter, and so turns what one sign stands for as well:
            # the letters lam and alef, or a whole word given as its meaning.
            areas = [self._letter(start + index) for index in range(len(text))]
            parts = []
            for _, group in groupby(range(len(text)), key=areas.__getitem__):
                letters = "".join(text[index] for index in group)
                joined = len(letters) == 2 and letters[0] in _ALEFS and letters[1] == _LAM
                parts.append(letters[::-1] if joined or len(letters) >= _A_WHOLE_WORD else letters)
            text = "".join(parts)
        left, bottom, right, top = area
        base = look.base if bottom <= look.base <= top else bottom
        order, glued = len(self._words), start == self._after
        self._words.append(
            Word(text, left, bottom, right, top, base, look, order, glued, look.suspicion)
        )
        self._starts.append(start)
        self._after = end

    def _join_recognised(self) -> None:
        """Undo blanks that pdfium found in the loosely set, invisible text of a scan.

        Only where that text has blanks of its own: then a mere gap is none.
        """
        words, starts = self._words, self._starts
        unseen = sum(word.omitted is OmissionReason.INVISIBLE for word in words)
        if unseen * 2 <= len(words):
            return
        blanks = [at for at in range(1, len(words)) if self._text[starts[at] - 1] == " "]
        found = [at for at in blanks if raw.FPDFText_IsGenerated(self._page, starts[at] - 1) == 1]
        if len(found) > _NO_OWN_BLANKS * len(blanks):
            return
        for at in found:
            word = words[at]
            gap = word.left - words[at - 1].right
            word.glued = gap < _LOOSE * word.size


def _union(areas: Sequence[Rectangle]) -> Rectangle:
    lefts, bottoms, rights, tops = zip(*areas, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _are_near(areas: Sequence[Rectangle], sizes: Sequence[float], at: int) -> bool:
    """Whether a letter has the size of the one before, and stands less than half of it away."""
    one, other = areas[at - 1], areas[at]
    smaller, larger = sorted(sizes[at - 1 : at + 1])
    apart = max(other[0] - one[2], one[0] - other[2], other[1] - one[3], one[1] - other[3])
    return apart <= larger / 2 and larger <= _MOST_UNLIKE * smaller


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page: its number from 1, its size as shown, and how it lies in pdfium's space."""

    number: int
    visible: Rectangle  # in pdfium's coordinates
    quarters: int = 0  # clockwise, by which the page is turned when shown

    @property
    def width(self) -> float:
        """As shown."""
        left, bottom, right, top = self.visible
        return top - bottom if self.quarters % 2 else right - left

    @property
    def height(self) -> float:
        """As shown."""
        left, bottom, right, top = self.visible
        return right - left if self.quarters % 2 else top - bottom

    def shown(self, rectangle: Rectangle) -> Rectangle:
        """A rectangle of pdfium's, as shown."""
        left, bottom, right, top = rectangle
        x_low, y_low, x_high, y_high = self.visible
        placed = left - x_low, bottom - y_low, right - x_low, top - y_low
        return _page_turned(placed, self.quarters, x_high - x_low, y_high - y_low)

    def as_read(self, shown: Rectangle, turn: int) -> Rectangle:
        """A rectangle as shown → as read, for text turned so many quarters anticlockwise."""
        return _page_turned(shown, turn, self.width, self.height)

    def box(self, read: Rectangle, turn: int) -> Box:
        """A rectangle as read, in tenths of a point → the box to be given out."""
        if turn == 0:
            return Box(self.number, *read)
        sides = (self.height, self.width) if turn % 2 else (self.width, self.height)
        return Box(self.number, *map(_tenths, _page_turned(read, 4 - turn, *sides)))


def _page_turned(rectangle: Rectangle, quarters: int, width: float, height: float) -> Rectangle:
    """Where a rectangle on a page of this size lies once the page is turned clockwise."""
    left, bottom, right, top = rectangle
    match quarters:
        case 0:
            return rectangle
        case 1:
            return bottom, width - right, top, width - left
        case 2:
            return width - right, height - top, width - left, height - bottom
        case _:
            return height - top, left, height - bottom, right


def _tenths(points: float) -> float:
    """Rounded to tenths of a point; what is too far to be told is far away."""
    points = within_reach(points)
    index = int(points * 10 + 0.5)
    return _TENTHS[index] if 0 <= index < len(_TENTHS) and points > 0 else round(points, 1)


def within_reach(points: float) -> float:
    """The same, or a place far away for what is farther still, or no number at all."""
    return points if -_FAR < points < _FAR else _FAR


def sheet_of(page: Handle, number: int) -> Sheet:
    """How a page that pdfium has loaded is shown."""
    visible = raw.FS_RECTF()
    if not raw.FPDF_GetPageBoundingBox(page, visible):
        width, height = raw.FPDF_GetPageWidthF(page), raw.FPDF_GetPageHeightF(page)
        return Sheet(number, (0.0, 0.0, width, height))
    edges = (visible.left, visible.bottom, visible.right, visible.top)
    return Sheet(number, edges, raw.FPDFPage_GetRotation(page) % 4)


def bounds_of(thing: Handle) -> Rectangle:
    """Where an object on a page lies, in pdfium's coordinates."""
    edges = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(thing, *edges)
    left, bottom, right, top = (edge.value for edge in edges)
    return left, bottom, right, top


@dataclass(frozen=True, slots=True)
class Style:
    """The type of some letters."""

    size: float  # in points
    bold: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What the letters of one text object have in common."""

    style: Style
    turn: int  # quarters anticlockwise, as shown
    base: float  # height of the baseline, as read
    bottom: float  # of what its line takes up, as read
    top: float
    suspicion: OmissionReason | None  # may be hidden; `hidden` looks at what lies beneath
    mark: int  # of the marked content it belongs to; -1 if none
    straight: bool  # neither turned nor mirrored in pdfium's coordinates: its band is known


_NO_LOOK = Look(Style(0.0, bold=False), 0, 0.0, 0.0, 0.0, None, -1, straight=False)


class Looks:
    """Looks of the text objects of one page, each asked for once."""

    def __init__(self, text_page: Handle, sheet: Sheet) -> None:
        self._page = text_page
        self._sheet = sheet
        self._looks: dict[bytes, Look] = {}
        self._bold: dict[bytes, bool] = {}
        self._styles: dict[tuple[float, bool], Style] = {}
        self._matrix = raw.FS_MATRIX()
        self._area = raw.FS_RECTF()
        self._colour = [ctypes.c_uint() for _ in range(4)]
        self._pointers = [ctypes.pointer(part) for part in self._colour]

    def of(self, index: int) -> Look:
        """The look of the character with this index."""
        thing = raw.FPDFText_GetTextObject(self._page, index)
        key = address(thing)
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = self._look(thing, index)
        return look

    def _look(self, thing: Handle, index: int) -> Look:
        matrix = self._matrix
        if not thing or not raw.FPDFText_GetMatrix(self._page, index, matrix):
            return _NO_LOOK
        if not all(map(math.isfinite, (matrix.a, matrix.b, matrix.c, matrix.d))):
            return _NO_LOOK
        size = self._size(index)
        turn = (round(math.atan2(matrix.b, matrix.a) / _QUARTER) - self._sheet.quarters) % 4
        base, bottom, top, is_likely = self._band(size, turn)
        mode = raw.FPDFTextObj_GetTextRenderMode(thing)
        bold = mode == raw.FPDF_TEXTRENDERMODE_FILL_STROKE or self._is_bold(thing)
        key = (round(size, 1), bold)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = Style(*key)
        return Look(
            style=style,
            turn=turn,
            base=base,
            bottom=bottom,
            top=top,
            suspicion=self._suspicion(thing, mode, size),
            mark=raw.FPDFPageObj_GetMarkedContentID(thing),
            straight=is_likely and matrix.b == 0 == matrix.c and matrix.a > 0 < matrix.d,
        )

    def _size(self, index: int) -> float:
        """The size of the type; the letter's own height where a font has sizes of its own."""
        matrix = self._matrix
        nominal: float = raw.FPDFText_GetFontSize(self._page, index)
        size = nominal * math.hypot(matrix.c, matrix.d)
        raw.FPDFText_GetLooseCharBox(self._page, index, self._area)
        height: float = self._area.top - self._area.bottom
        return height if height > _UNLIKELY * size else size

    def _band(self, size: float, turn: int) -> tuple[float, float, float, bool]:
        """Baseline, bottom and top of a line as read, and whether the letters stand in it."""
        matrix, area = self._matrix, self._area
        point = self._sheet.shown((matrix.e, matrix.f, matrix.e, matrix.f))
        base = self._sheet.as_read(point, turn)[1]
        shown = self._sheet.shown((area.left, area.bottom, area.right, area.top))
        _, bottom, _, top = self._sheet.as_read(shown, turn)
        low = min(max(bottom, base - _LOWEST * size), base - _BELOW * size)
        high = max(min(top, base + _HIGHEST * size), base + _ABOVE * size)
        is_likely = bottom - size <= base <= top
        return _tenths(base), _tenths(low), _tenths(high), is_likely

    def _is_bold(self, thing: Handle) -> bool:
        font = raw.FPDFTextObj_GetFont(thing)
        key = address(font)
        if key not in self._bold:
            name = ctypes.create_string_buffer(_LONGEST_NAME)
            raw.FPDFFont_GetBaseFontName(font, name, _LONGEST_NAME)
            forced = raw.FPDFFont_GetFlags(font) & _FORCE_BOLD
            self._bold[key] = bool(forced or _BOLD_NAME.search(name.value.decode("latin-1")))
        return self._bold[key]

    def _suspicion(self, thing: Handle, mode: int, size: float) -> OmissionReason | None:
        if size < _TINY:
            return OmissionReason.TINY
        if mode in (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP):
            return OmissionReason.INVISIBLE
        inks = []
        if mode not in _ONLY_STROKED:
            inks.append(self._ink(thing, raw.FPDFPageObj_GetFillColor))
        if mode in _STROKED:
            inks.append(self._ink(thing, raw.FPDFPageObj_GetStrokeColor))
        return None if None in inks else inks[0]

    def _ink(self, thing: Handle, ask: Callable[..., int]) -> OmissionReason | None:
        """What is suspicious about one of the colours of some letters."""
        if not ask(thing, *self._pointers):
            return None
        *colours, opacity = (part.value for part in self._colour)
        if opacity < _CLEAR:
            return OmissionReason.INVISIBLE
        return OmissionReason.WHITE if min(colours) >= _PALE else None


def as_lines(words: list[Word], sheet: Sheet) -> list[Word]:
    """The words as they are, or, where the lines run downwards, turned so as to be read."""
    down = beside = 0
    for one, other in pairwise(words):
        if is_single(one.text) and is_single(other.text) and one.look.turn == 0:
            is_below = abs(one.left - other.left) < one.size / 2 < one.bottom - other.bottom
            down += is_below
            beside += not is_below
    if not (down >= _FEWEST_STEPS and down > 2 * beside):
        return words
    return [_turned(word, sheet) if word.look.turn == 0 else word for word in words]


def _turned(word: Word, sheet: Sheet) -> Word:
    """The word as read, each character as wide and as high as its line is."""
    left, bottom, right, top = sheet.as_read(word.rectangle, _DOWNWARDS)
    across, up = (left + right) / 2, (bottom + top) / 2
    half = word.size / 2
    return replace(
        word,
        left=round(min(left, across - half), 1),
        bottom=round(min(bottom, up - half), 1),
        right=round(max(right, across + half), 1),
        top=round(max(top, up + half), 1),
        base=round(up - half, 1),
        look=replace(word.look, turn=_DOWNWARDS),
    )
