"""A page → its words, each with its box, its type and what may hide it.

pdfium puts the page's characters in the order they are drawn and tells blanks from gaps. Asking
for each character costs a call of about a microsecond each time, so words are cut out of the
whole text first, and boxes are asked for by the word.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from pincite.reading.pdf.looks import Look, Looks, Style
from pincite.reading.pdf.pdfium import Handle, raw
from pincite.reading.pdf.sheet import Rectangle, Sheet, tenths
from pincite.records import OmissionReason

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
        return tenths(first[0] - offset), look.bottom, tenths(last[2] - offset), look.top

    def _as_read(self, area: Rectangle, look: Look) -> Rectangle:
        """An area of pdfium's as read, as high at least as its line is."""
        shown = self._sheet.as_read(self._sheet.shown(area), look.turn)
        left, bottom, right, top = (tenths(edge) for edge in shown)
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
            text = self._as_written(text, start)
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

    def _as_written(self, text: str, start: int) -> str:
        """Letters of one sign that pdfium gives the wrong way round, set right.

        It turns a line that runs to the left letter by letter, and so turns what one sign
        stands for as well: the letters lam and alef, or a whole word given as its meaning.
        """
        areas = [self._letter(start + index) for index in range(len(text))]
        parts = []
        for _, group in groupby(range(len(text)), key=areas.__getitem__):
            letters = "".join(text[index] for index in group)
            joined = len(letters) == 2 and letters[0] in _ALEFS and letters[1] == _LAM
            parts.append(letters[::-1] if joined or len(letters) >= _A_WHOLE_WORD else letters)
        return "".join(parts)


def _union(areas: Sequence[Rectangle]) -> Rectangle:
    lefts, bottoms, rights, tops = zip(*areas, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _are_near(areas: Sequence[Rectangle], sizes: Sequence[float], at: int) -> bool:
    """Whether a letter has the size of the one before, and stands less than half of it away."""
    one, other = areas[at - 1], areas[at]
    smaller, larger = sorted(sizes[at - 1 : at + 1])
    apart = max(other[0] - one[2], one[0] - other[2], other[1] - one[3], one[1] - other[3])
    return apart <= larger / 2 and larger <= _MOST_UNLIKE * smaller
