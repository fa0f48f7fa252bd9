"""The shapes of a slide in the order in which people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from pincite.reading.office.pptx.names import CHOICE, DRAWING, SLIDE, Element
from pincite.records import OmissionReason

TITLES = ("title", "ctrTitle")
# What stands on every slide: number, date, header, footer.
_MARGINS = ("sldNum", "dt", "hdr", "ftr")
_KINDS = tuple(SLIDE + name for name in ("sp", "pic", "graphicFrame", "grpSp", "cxnSp"))


@dataclass(frozen=True, slots=True)
class Area:
    """Where a shape stands, in units of 1/914,400 inch from the top left corner."""

    left: int
    top: int
    width: int
    height: int

    @property
    def bottom(self) -> int:
        """Where it ends."""
        return self.top + self.height

    def is_outside(self, width: int, height: int) -> bool:
        """Whether nothing of it lies on a slide of this size."""
        is_beside = self.left + self.width <= 0 or self.left >= width
        return is_beside or self.bottom <= 0 or self.top >= height


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that is no group, with what of it matters for reading."""

    element: Element
    placeholder: str | None  # its role on the slide; None if it is a free shape
    index: int  # of the placeholder among its like
    area: Area | None  # None if the layout decides
    omitted: OmissionReason | None


def shapes_of(slide: Element, *, width: int, height: int) -> list[Shape]:
    """All shapes of a slide with groups dissolved: title, other placeholders, free shapes.

    Free shapes above all placeholders come before them.
    """
    tree = slide.find(f"{SLIDE}cSld/{SLIDE}spTree")
    found = [] if tree is None else list(_in_order(tree))
    shown = [_judged(one, width, height) for one in found if one.placeholder not in _MARGINS]
    titles = [one for one in shown if one.placeholder in TITLES]
    others = [one for one in shown if one.placeholder not in TITLES]
    placed = sorted((one for one in others if one.placeholder), key=lambda one: one.index)
    free = [one for one in others if not one.placeholder]
    top = min((one.area.top for one in placed if one.area), default=None)
    above = [one for one in free if _is_above(one, top)]
    below = [one for one in free if not _is_above(one, top)]
    dissolved = map(_dissolved, chain(titles, above, placed, below))
    return list(chain.from_iterable(dissolved))


def _is_above(shape: Shape, top: int | None) -> bool:
    return top is not None and shape.area is not None and shape.area.bottom <= top


def _judged(shape: Shape, width: int, height: int) -> Shape:
    """The shape, marked where nothing of it lies on the slide."""
    is_outside = shape.area is not None and width and shape.area.is_outside(width, height)
    if is_outside and shape.omitted is None:
        return replace(shape, omitted=OmissionReason.OFF_PAGE)
    return shape


def _dissolved(shape: Shape) -> Iterator[Shape]:
    """The shape, or what a group holds. XML is not parsed any deeper than this may go."""
    if shape.element.tag != SLIDE + "grpSp":
        yield shape
        return
    for one in _in_order(shape.element):
        yield from _dissolved(replace(one, omitted=shape.omitted or one.omitted))


def _in_order(tree: Element) -> list[Shape]:
    """The shapes directly in a tree or group: bands from top to bottom, each from left to right."""
    shapes = [_shape(element) for element in _elements(tree)]
    placed = sorted((one for one in shapes if one.area), key=_top)
    band: list[Shape] = []
    ordered = [one for one in shapes if not one.area]
    middle = 0
    for shape in placed:
        if band and _top(shape) >= middle:
            ordered += sorted(band, key=_left)
            band = []
        if not band and shape.area:
            middle = shape.area.top + shape.area.height // 2
        band.append(shape)
    return ordered + sorted(band, key=_left)


def _top(shape: Shape) -> int:
    return shape.area.top if shape.area else 0


def _left(shape: Shape) -> int:
    return shape.area.left if shape.area else 0


def _elements(tree: Element) -> Iterator[Element]:
    for one in tree:
        if one.tag in _KINDS:
            yield one
        elif one.tag == CHOICE + "AlternateContent":
            offered = next(iter(one), None)  # the first is the best one
            yield from () if offered is None else _elements(offered)


def _shape(element: Element) -> Shape:
    about = next(element.iterchildren(*_about_names()), None)
    name = None if about is None else about.find(SLIDE + "cNvPr")
    role = None if about is None else about.find(f"{SLIDE}nvPr/{SLIDE}ph")
    is_hidden = name is not None and name.get("hidden") in ("1", "true")
    return Shape(
        element,
        placeholder=None if role is None else role.get("type", "obj"),
        index=_number(role.get("idx")) if role is not None else 0,
        area=_area(element),
        omitted=OmissionReason.HIDDEN if is_hidden else None,
    )


def _about_names() -> Iterable[str]:
    return (SLIDE + f"nv{kind}Pr" for kind in ("Sp", "Pic", "GraphicFrame", "GrpSp", "CxnSp"))


def _area(element: Element) -> Area | None:
    frames = ("spPr", "grpSpPr", "xfrm")
    frame = next(element.iterchildren(*(SLIDE + name for name in frames)), None)
    if frame is not None and frame.tag != SLIDE + "xfrm":
        frame = frame.find(DRAWING + "xfrm")
    offset = None if frame is None else frame.find(DRAWING + "off")
    size = None if frame is None else frame.find(DRAWING + "ext")
    if offset is None or size is None:
        return None
    return Area(
        *(_number(offset.get(one)) for one in ("x", "y")),
        *(_number(size.get(one)) for one in ("cx", "cy")),
    )


def _number(digits: str | None) -> int:
    try:
        return int(digits or 0)
    except ValueError:
        return 0
