"""What is drawn on a page beside its text: images and filled shapes, as shown."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pincite.reading.pdf.pdfium import Handle, raw
from pincite.reading.pdf.sheet import Rectangle, Sheet, bounds_of, within_reach

_MOST_THINGS = 20_000  # looked at on one page
_DEEPEST = 4  # forms within forms
_PAPER = 230  # of 255 in each of red, green and blue: a shape paler than this hides nothing
_GRID = 24  # a page is looked at in so many strips each way


@dataclass(frozen=True, slots=True)
class Drawn:
    """Where something is drawn that text may lie on."""

    area: Rectangle
    is_image: bool


def drawn_on(page: Handle, sheet: Sheet) -> list[Drawn]:
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


def image_share(drawn: list[Drawn], sheet: Sheet) -> float:
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


Matrix = tuple[float, float, float, float, float, float]
_AS_IT_IS: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


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
