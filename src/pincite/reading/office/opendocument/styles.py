"""What the styles of an OpenDocument file say: titles, lists, and what is not to be seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.reading.office.figures import Figures, written
from pincite.reading.office.look import Look, is_white
from pincite.reading.office.opendocument.names import (
    DRAW,
    FORMAT,
    PRESENTATION,
    STYLE,
    TEXT,
    Element,
    number,
)

_LONGEST_CHAIN = 50
_DEEPEST_LIST = 10
_POINTS = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)pt")
_FIGURES = {"1": Figures.ARABIC, "a": Figures.LETTERS, "i": Figures.ROMAN}


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How one level of a list is marked; without figures it has bullets."""

    figures: str = ""
    before: str = ""
    after: str = ""
    start: int = 1
    shown: int = 1  # how many levels its numbers have

    def mark(self, counts: list[int]) -> str:
        """What stands before the item that is counted like this, level by level."""
        figures = _FIGURES.get(self.figures.lower())
        if figures is None:
            return "-"
        text = ".".join(written(count, figures) for count in counts[-self.shown :])
        text = text.upper() if self.figures.isupper() else text
        return f"{self.before}{text}{self.after}".strip()


class Styles:
    """The styles of one file, each with those that it is based on."""

    def __init__(self, *roots: Element | None) -> None:
        self._styles: dict[tuple[str, str], Element] = {}
        self._lists: dict[str, dict[int, ListLevel]] = {}
        self._looks: dict[tuple[str, str], Look] = {}
        for root in (one for one in roots if one is not None):
            for style in root.iter(STYLE + "style"):
                key = (style.get(STYLE + "family", ""), style.get(STYLE + "name", ""))
                self._styles[key] = style
            for one in root.iter(TEXT + "list-style"):
                self._lists[one.get(STYLE + "name", "")] = dict(_levels(one))

    def look(self, family: str, name: str) -> Look:
        """How text in this style looks."""
        key = (family, name)
        if key not in self._looks:
            look = Look()
            for style in self._chain(family, name):
                look = look.over(_look(style))
            self._looks[key] = look
        return self._looks[key]

    def is_title(self, name: str) -> bool:
        """Whether paragraphs in this style are the document's title."""
        chain = self._chain("paragraph", name)
        return any(style.get(STYLE + "name") == "Title" for style in chain)

    def is_filled(self, shape: Element) -> bool:
        """Whether a shape is filled with something."""
        names = (
            ("graphic", shape.get(DRAW + "style-name", "")),
            ("presentation", shape.get(PRESENTATION + "style-name", "")),
        )
        for family, name in names:
            for style in self._chain(family, name):
                fill = _property(style, "graphic-properties", DRAW + "fill")
                if fill is not None:
                    return fill != "none"
        return False

    def is_hidden_page(self, name: str) -> bool:
        """Whether a slide in this style is left out when the presentation is given."""
        chain = self._chain("drawing-page", name)
        wanted = PRESENTATION + "visibility"
        said = (_property(style, "drawing-page-properties", wanted) for style in chain)
        return next((one for one in said if one), "visible") == "hidden"

    def list_level(self, name: str, depth: int) -> ListLevel:
        """How a list in this style is marked at a depth, which counts from 0."""
        return self._lists.get(name, {}).get(min(depth, _DEEPEST_LIST - 1) + 1, ListLevel())

    def _chain(self, family: str, name: str) -> Iterator[Element]:
        seen: set[str] = set()
        while name and name not in seen and len(seen) < _LONGEST_CHAIN:
            seen.add(name)
            style = self._styles.get((family, name))
            if style is None:
                return
            yield style
            name = style.get(STYLE + "parent-style-name", "")


def _levels(style: Element) -> Iterator[tuple[int, ListLevel]]:
    for one in style.iter(TEXT + "list-level-style-number"):
        yield (
            number(one, TEXT + "level", otherwise=1, most=_DEEPEST_LIST),
            ListLevel(
                one.get(STYLE + "num-format", ""),
                one.get(STYLE + "num-prefix", "")[:10],
                one.get(STYLE + "num-suffix", "")[:10],
                number(one, TEXT + "start-value", otherwise=1, most=100_000),
                max(number(one, TEXT + "display-levels", otherwise=1, most=_DEEPEST_LIST), 1),
            ),
        )


def _look(style: Element) -> Look:
    hidden = _property(style, "text-properties", TEXT + "display")
    size = _POINTS.fullmatch(_property(style, "text-properties", FORMAT + "font-size") or "")
    return Look(
        None if hidden is None else hidden == "none",
        _property(style, "text-properties", FORMAT + "color"),
        float(size.group(1)) if size else None,
        _is_shaded(style),
    )


def _is_shaded(style: Element) -> bool | None:
    for kind in ("text-properties", "paragraph-properties", "table-cell-properties"):
        colour = _property(style, kind, FORMAT + "background-color")
        if colour not in (None, "transparent"):
            return not is_white(colour)
    return None


def _property(style: Element, kind: str, name: str) -> str | None:
    properties = style.find(STYLE + kind)
    return None if properties is None else properties.get(name)
