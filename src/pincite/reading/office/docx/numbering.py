"""The numbers that Word shows before headings and items, which stand nowhere in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pincite.reading.office.docx.names import Element, W, child, number, switch, value
from pincite.reading.office.docx.styles import ListPlace
from pincite.reading.office.figures import Figures, written

BULLET = "-"
_PLACEHOLDER = re.compile(r"%([1-9])")
_HIGHEST = 100_000  # what a counter may say; a longer list is no list
_LONGEST_MARK = 40
_FIGURES = {
    "lowerLetter": Figures.LETTERS,
    "upperLetter": Figures.LETTERS,
    "lowerRoman": Figures.ROMAN,
    "upperRoman": Figures.ROMAN,
}


@dataclass(frozen=True, slots=True)
class _Level:
    """How one level of a list is numbered."""

    style: str = "decimal"
    pattern: str = ""
    start: int = 1
    is_plain: bool = False  # all numbers in it are Arabic, whatever the levels above say


class Numbering:
    """Counts the lists of one document; to be asked once for each paragraph, in order."""

    def __init__(self, root: Element | None) -> None:
        definitions = [] if root is None else list(root.iter(W + "abstractNum"))
        self._levels = {value(one, "abstractNumId") or "": _levels(one) for one in definitions}
        linked = {value(child(one, "styleLink")): one for one in definitions}
        for one in definitions:
            source = linked.get(value(child(one, "numStyleLink")) or "")
            if source is not None:
                self._levels[value(one, "abstractNumId") or ""] = _levels(source)
        self._lists = {} if root is None else {value(one, "numId"): one for one in _lists(root)}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def mark(self, place: ListPlace) -> str:
        """What stands before the next paragraph at this place: "2.1.", "-", or nothing."""
        one = self._lists.get(place.list_id)
        definition = value(child(one, "abstractNumId")) or ""
        levels = self._levels.get(definition, {})
        level = levels.get(place.level)
        if one is None or level is None:
            return BULLET
        counts = self._counts.setdefault(definition, {})
        if place.list_id not in self._begun:
            self._begun.add(place.list_id)
            counts.update(_overridden(one))
        counts[place.level] = min(counts.get(place.level, level.start - 1) + 1, _HIGHEST)
        for deeper in [depth for depth in counts if depth > place.level]:
            del counts[deeper]
        if level.style == "bullet":
            return BULLET
        return _PLACEHOLDER.sub(_filler(levels, counts, level), level.pattern)[:_LONGEST_MARK]


def _lists(root: Element) -> Iterable[Element]:
    return root.iterchildren(W + "num")


def _levels(definition: Element) -> dict[int, _Level]:
    return {
        number(one, "ilvl") or 0: _Level(
            style=value(child(one, "numFmt")) or "decimal",
            pattern=(value(child(one, "lvlText")) or "").strip()[:_LONGEST_MARK],
            start=_or(number(child(one, "start")), 1),
            is_plain=bool(switch(child(one, "isLgl"))),
        )
        for one in definition.iterchildren(W + "lvl")
    }


def _overridden(one: Element) -> dict[int, int]:
    """The counts that a list begins anew with, one below the first number."""
    found = {
        number(each, "ilvl") or 0: number(child(each, "startOverride"))
        for each in one.iterchildren(W + "lvlOverride")
    }
    return {depth: start - 1 for depth, start in found.items() if start is not None}


def _filler(
    levels: dict[int, _Level], counts: dict[int, int], level: _Level
) -> Callable[[re.Match[str]], str]:
    def fill(found: re.Match[str]) -> str:
        depth = int(found.group(1)) - 1
        of_depth = levels.get(depth, _Level())
        style = "decimal" if level.is_plain else of_depth.style
        return _written(counts.get(depth, of_depth.start), style)

    return fill


def _written(count: int, style: str) -> str:
    if style in ("bullet", "none"):
        return ""
    if style == "decimalZero":
        return f"{count:02}"
    text = written(count, _FIGURES.get(style, Figures.ARABIC))
    return text.upper() if style.startswith("upper") else text


def _or(found: int | None, otherwise: int) -> int:
    return otherwise if found is None else found
