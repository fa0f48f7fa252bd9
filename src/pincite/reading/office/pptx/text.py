"""The text of a shape → its paragraphs, with bullets and depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pincite.reading.office.pptx.names import CHOICE, DRAWING, MATH, Element

_DEEPEST = 8
_NUMBERS_OF_SLIDES = "slidenum"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """What one paragraph says, and how it is marked as an item of a list."""

    text: str
    mark: str = ""  # "- " or "2. "; empty if it is no item
    depth: int = 0


def paragraphs_of(body: Element, *, is_list: bool = False) -> list[Paragraph]:
    """The paragraphs of a text body; `is_list` where they are items unless they say otherwise."""
    elements = [one for one in body.iterchildren(DRAWING + "p") if text_of(one).strip()]
    # A single paragraph in a box for lists is hardly ever shown as a list.
    is_list = is_list and len(elements) > 1
    counts: dict[int, int] = {}
    found = []
    for element in elements:
        properties = element.find(DRAWING + "pPr")
        depth = _depth(properties)
        mark = _mark(properties, is_list=is_list or depth > 0)
        counts = {level: count for level, count in counts.items() if level <= depth}
        counts[depth] = counts.get(depth, 0) + 1 if mark == "#" else 0
        mark = f"{counts[depth]}. " if mark == "#" else mark
        found.append(Paragraph(text_of(element).strip(), mark, depth if mark else 0))
    return found


def text_of(element: Element) -> str:
    """All that is said in an element, formulas too; breaks are line feeds."""
    return "".join(_pieces(element))


def _pieces(element: Element) -> Iterator[str]:
    for one in element:
        if one.tag in (DRAWING + "t", MATH + "t"):
            yield one.text or ""
        elif one.tag == DRAWING + "br":
            yield "\n"
        elif one.tag == CHOICE + "Fallback" or one.get("type") == _NUMBERS_OF_SLIDES:
            continue
        else:
            yield from _pieces(one)


def _depth(properties: Element | None) -> int:
    level = "0" if properties is None else properties.get("lvl", "0")
    return min(int(level), _DEEPEST) if level.isascii() and level.isdigit() else 0


def _mark(properties: Element | None, *, is_list: bool) -> str:
    """A dash, "#" where the items are numbered, or nothing."""
    if properties is not None:
        if properties.find(DRAWING + "buNone") is not None:
            return ""
        if properties.find(DRAWING + "buAutoNum") is not None:
            return "#"
        if any(properties.find(DRAWING + name) is not None for name in ("buChar", "buBlip")):
            return "- "
    return "- " if is_list else ""
