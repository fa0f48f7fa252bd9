"""How the letters of a text object look: type, direction, colour, and whether that hides them."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from pincite.reading.pdf.pdfium import Handle, address, raw
from pincite.reading.pdf.sheet import Sheet, tenths
from pincite.records import OmissionReason

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
        return Look(
            style=self._style(size, bold=bold),
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
        return tenths(base), tenths(low), tenths(high), is_likely

    def _style(self, size: float, *, bold: bool) -> Style:
        key = (round(size, 1), bold)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = Style(*key)
        return style

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
