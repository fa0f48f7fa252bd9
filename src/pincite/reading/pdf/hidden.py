"""Which words of a page nobody sees: invisible, white on white, tiny, outside the page.

Words that look suspicious are judged by what is drawn on their page: images and filled shapes.
Invisible letters over a page that is one large image are the text somebody recognised in a scan:
they stand for what the reader sees. Pale letters are seen on dark ground only; where something is
drawn beneath them, the page is rendered, small and without colours, and looked at.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pincite.reading.pdf.pdfium import Handle, raw
from pincite.reading.pdf.words import Rectangle, Sheet, Word, bounds_of, within_reach
from pincite.records import OmissionReason

_SCAN = 0.5  # of the page covered by images: it is one scan with its recognised text
_PICTURE = 0.3  # of the page covered by images: with no text, it needs recognising
_MOST_RENDERED = 60  # pages of a document; beyond that, what lies on something counts as seen
_MOST_PAIRS = 2_000_000  # of words and shapes of one page, to be looked at one by one
_LONGEST_SIDE = 1_000  # pixels of a rendered page
_MOST_PIXELS = 100  # of a word that are looked at, across and down
_WHITE = 0xFFFFFFFF
_DARK = 200  # of 255: ground on which pale letters are seen
_SEEN = 0.15  # of the pixels of a word that must be dark

_MOST_THINGS = 20_000  # looked at on one page
_DEEPEST = 4  # forms within forms
_PAPER = 230  # of 255 in each of red, green and blue: a shape paler than this hides nothing
_GRID = 24  # a page is looked at in so many strips each way

Matrix = tuple[float, float, float, float, float, float]
_AS_IT_IS: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class HiddenWords:
    """Judges the pages of one document."""

    recognised: int = 0  # letters that stand for what is seen in a scan
    seen: int = 0  # other letters that are not hidden
    scans: list[int] = field(default_factory=list)  # pages that need recognising
    _rendered: int = 0

    def judge(self, page: Handle, sheet: Sheet, words: Sequence[Word]) -> None:
        """Set `omitted` of each word of the page to what hides it."""
        suspects = [word for word in words if word.omitted is not None]
        if words and not suspects and _are_all_on_page(words, sheet):
            self.seen += sum(len(word.text) for word in words)
            return
        drawn = _drawn_on(page, sheet) if suspects or not words else []
        is_scan = bool(drawn) and _image_share(drawn, sheet) >= _SCAN
        pale = [word for word in suspects if word.omitted is OmissionReason.WHITE]
        self._judge_pale(page, sheet, pale, drawn)
        shapes = drawn if len(suspects) * len(drawn) <= _MOST_PAIRS else []
        for word in words:
            is_unseen = word.omitted is OmissionReason.INVISIBLE
            recognised = is_scan and is_unseen
            if recognised or (is_unseen and _is_traced(_shown(word, sheet), shapes)):
                word.omitted = None
            left, bottom, right, top = _shown(word, sheet)
            is_within = 0 <= (left + right) / 2 <= sheet.width
            if not is_within or not 0 <= (bottom + top) / 2 <= sheet.height:
                word.omitted = OmissionReason.OFF_PAGE
            self.recognised += len(word.text) * recognised
            self.seen += len(word.text) * (word.omitted is None and not recognised)
        if all(word.omitted for word in words):
            drawn = drawn or _drawn_on(page, sheet)
            if _image_share(drawn, sheet) >= _PICTURE:
                self.scans.append(sheet.number)

    def _judge_pale(
        self, page: Handle, sheet: Sheet, words: list[Word], drawn: Sequence[Drawn]
    ) -> None:
        too_many = len(words) * len(drawn) > _MOST_PAIRS
        above = [word for word in words if too_many or _lies_on(_shown(word, sheet), drawn)]
        if not above:
            return
        self._rendered += 1
        picture = _render(page, sheet) if self._rendered <= _MOST_RENDERED else None
        for word in above:
            if picture is None or picture.is_dark(_shown(word, sheet)):
                word.omitted = None


def _shown(word: Word, sheet: Sheet) -> Rectangle:
    if word.look.turn == 0:
        return word.rectangle
    box = sheet.box(word.rectangle, word.look.turn)
    return box.left, box.bottom, box.right, box.top


def _are_all_on_page(words: Sequence[Word], sheet: Sheet) -> bool:
    """Whether no edge of any word reaches over the page's."""
    return (
        all(word.look.turn == 0 for word in words)
        and min(word.left for word in words) >= 0
        and min(word.bottom for word in words) >= 0
        and max(word.right for word in words) <= sheet.width
        and max(word.top for word in words) <= sheet.height
    )


def _lies_on(area: Rectangle, drawn: Sequence[Drawn]) -> bool:
    across, up = (area[0] + area[2]) / 2, (area[1] + area[3]) / 2
    return any(
        left <= across <= right and bottom <= up <= top
        for left, bottom, right, top in (one.area for one in drawn)
    )


def _is_traced(area: Rectangle, drawn: Sequence[Drawn]) -> bool:
    """Whether the letters are drawn as shapes as well, as charts do, the text being for copying."""
    left, bottom, right, top = area
    slack = top - bottom
    return any(
        not one.is_image
        and left - slack < one.area[0] < one.area[2] < right + slack
        and bottom - slack < one.area[1] < one.area[3] < top + slack
        and one.area[2] - one.area[0] > (right - left) / 2
        for one in drawn
    )


@dataclass(frozen=True, slots=True)
class _Picture:
    """A page in shades of grey."""

    pixels: bytes
    stride: int
    width: int
    height: int
    scale: float  # pixels for a point

    def is_dark(self, area: Rectangle) -> bool:
        """Whether some of the area is dark enough for pale letters to be seen."""
        left, bottom, right, top = (edge * self.scale for edge in area)
        first, after = max(int(left), 0), min(int(right) + 1, self.width)
        upper, lower = max(int(self.height - top), 0), min(int(self.height - bottom), self.height)
        dark = total = 0
        for row in range(upper, lower + 1, max((lower - upper) // _MOST_PIXELS, 1)):
            start = row * self.stride
            step = max((after - first) // _MOST_PIXELS, 1)
            line = self.pixels[start + first : start + after : step]
            dark += sum(pixel < _DARK for pixel in line)
            total += len(line)
        return total > 0 and dark >= _SEEN * total


def _render(page: Handle, sheet: Sheet) -> _Picture | None:
    scale = min(1.0, _LONGEST_SIDE / max(sheet.width, sheet.height, 1.0))
    width, height = max(int(sheet.width * scale), 1), max(int(sheet.height * scale), 1)
    bitmap = raw.FPDFBitmap_CreateEx(width, height, raw.FPDFBitmap_Gray, None, 0)
    if not bitmap:
        return None
    try:
        raw.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, _WHITE)
        raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, raw.FPDF_GRAYSCALE)
        stride = raw.FPDFBitmap_GetStride(bitmap)
        pixels = ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        raw.FPDFBitmap_Destroy(bitmap)
    return _Picture(pixels, stride, width, height, scale)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Where something is drawn that text may lie on."""

    area: Rectangle
    is_image: bool


def _drawn_on(page: Handle, sheet: Sheet) -> list[Drawn]:
    """Images and filled shapes of a page."""
    budget = _MOST_THINGS
    drawn: list[Drawn] = []
    for thing, form in _things(page):
        budget -= 1
        if budget < 0:
            break
        kind = raw.FPDFPageObj_GetType(thing)
        is_image = kind == raw.FPDF_PAGEOBJ_IMAGE
        if is_image or kind == raw.FPDF_PAGEOBJ_SHADING or _is_filled(thing, kind):
            area = _moved(bounds_of(thing), form)
            drawn.append(Drawn(sheet.shown(area), is_image))
    return drawn


def _image_share(drawn: list[Drawn], sheet: Sheet) -> float:
    """How much of the page images cover, from 0 to 1."""
    covered: set[tuple[int, int]] = set()
    width, height = max(sheet.width, 1.0) / _GRID, max(sheet.height, 1.0) / _GRID
    for one in drawn:
        if one.is_image:
            left, bottom, right, top = one.area
            columns = range(max(round(left / width), 0), min(round(right / width), _GRID))
            rows = range(max(round(bottom / height), 0), min(round(top / height), _GRID))
            covered.update((column, row) for column in columns for row in rows)
    return len(covered) / _GRID**2


def _things(page: Handle) -> Iterator[tuple[Handle, Matrix]]:
    """The objects of a page and of the forms on it, each with the form's way to the page."""
    waiting: list[tuple[Iterator[Handle], Matrix]] = [
        (_each(page, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject), _AS_IT_IS)
    ]
    while waiting:
        things, form = waiting[-1]
        thing = next(things, None)
        if thing is None:
            waiting.pop()
        elif raw.FPDFPageObj_GetType(thing) != raw.FPDF_PAGEOBJ_FORM:
            yield thing, form
        elif len(waiting) < _DEEPEST:
            inner = _each(thing, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject)
            waiting.append((inner, _after(_matrix_of(thing), form)))


def _each(
    holder: Handle, count: Callable[[Handle], int], get: Callable[[Handle, int], Handle]
) -> Iterator[Handle]:
    for index in range(count(holder)):
        thing = get(holder, index)
        if thing:
            yield thing


def _matrix_of(thing: Handle) -> Matrix:
    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(thing, matrix):
        return _AS_IT_IS
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _after(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    ta, tb, tc, td, te, tf = then
    return (
        *(a * ta + b * tc, a * tb + b * td, c * ta + d * tc, c * tb + d * td),
        *(e * ta + f * tc + te, e * tb + f * td + tf),
    )


def _moved(area: Rectangle, matrix: Matrix) -> Rectangle:
    a, b, c, d, e, f = matrix
    left, bottom, right, top = area
    points = [
        (within_reach(a * x + c * y + e), within_reach(b * x + d * y + f))
        for x, y in ((left, bottom), (right, bottom), (left, top), (right, top))
    ]
    across, up = zip(*points, strict=True)
    return min(across), min(up), max(across), max(up)


def _is_filled(thing: Handle, kind: int) -> bool:
    """Whether this is a shape filled with another colour than paper has."""
    if kind != raw.FPDF_PAGEOBJ_PATH:
        return False
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(thing, mode, stroke)
    if mode.value == raw.FPDF_FILLMODE_NONE:
        return False
    colour = [ctypes.c_uint() for _ in range(4)]
    if not raw.FPDFPageObj_GetFillColor(thing, *colour):
        return True
    red, green, blue, opacity = (part.value for part in colour)
    return opacity > 0 and min(red, green, blue) < _PAPER
