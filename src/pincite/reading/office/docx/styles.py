"""What Word's styles say about a paragraph or a run: headings, lists, what is hidden."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pincite.reading.office.docx.names import Element, W, child, number, switch, value
from pincite.reading.office.look import Look, is_white
from pincite.reading.office.style_names import is_title_name, level_by_name

_LIST_NAME = re.compile(r"list(?: bullet| number| continue)? ?([2-5])", re.IGNORECASE)
_NO_HEADING = 9  # the outline level that Word gives to body text
_LONGEST_CHAIN = 50
_DEEPEST = 8  # level of a list


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Which list a paragraph belongs to, at which of its levels, and how deep that looks."""

    list_id: str
    level: int
    depth: int


_Chain = list[tuple[str, Element | None]]


class Styles:
    """The styles of one document, each with those that it is based on."""

    def __init__(self, root: Element | None) -> None:
        found = () if root is None else root.iter(W + "style")
        self._styles = {value(style, "styleId") or "": style for style in found}
        self._default = next(
            (
                name
                for name, style in self._styles.items()
                if value(style, "type") == "paragraph" and value(style, "default") in ("1", "true")
            ),
            "",
        )
        self._looks: dict[str, Look] = {}
        self._chains: dict[str, _Chain] = {}

    def paragraph_look(self, properties: Element | None) -> Look:
        """How the runs of a paragraph look where they do not say otherwise."""
        style = self._look_of_style(self._paragraph_style(properties))
        return Look(is_shaded=is_shaded(properties)).over(style)

    def run_look(self, properties: Element | None, around: Look) -> Look:
        """How a run looks in a paragraph that looks like `around`."""
        if properties is None:
            return around
        style = value(child(properties, "rStyle"))
        inherited = self._look_of_style(style).over(around) if style else around
        return _look(properties).over(inherited)

    def heading_level(self, properties: Element | None) -> int | None:
        """The level of a heading, from 1; None of other paragraphs."""
        outline = number(child(properties, "outlineLvl"))
        if outline is not None:
            return outline + 1 if 0 <= outline < _NO_HEADING else None
        for name, style in self._chain(self._paragraph_style(properties)):
            outline = number(child(style, "pPr", "outlineLvl"))
            if outline is not None:
                return outline + 1 if 0 <= outline < _NO_HEADING else None
            if level := level_by_name(name):
                return level
        return 1 if self.is_title(properties) else None

    def is_title(self, properties: Element | None) -> bool:
        """Whether the paragraph is the document's title."""
        style = self._paragraph_style(properties)
        return any(is_title_name(name) for name, _ in self._chain(style))

    def list_place(self, properties: Element | None) -> ListPlace | None:
        """The list a paragraph is in; None where it is in none."""
        chain = self._chain(self._paragraph_style(properties))
        sources = [child(properties, "numPr"), *(child(one, "pPr", "numPr") for _, one in chain)]
        list_id = next((found for one in sources if (found := value(child(one, "numId")))), "0")
        if list_id == "0":
            return None
        levels = (number(child(one, "ilvl")) for one in sources)
        level = next((min(max(found, 0), _DEEPEST) for found in levels if found is not None), 0)
        named = (match for name, _ in chain if (match := _LIST_NAME.fullmatch(name)))
        depth = level or next((int(match.group(1)) - 1 for match in named), 0)
        return ListPlace(list_id, level, depth)

    def _paragraph_style(self, properties: Element | None) -> str:
        return value(child(properties, "pStyle")) or self._default

    def _look_of_style(self, style: str) -> Look:
        if style not in self._looks:
            look = Look()
            for _, one in self._chain(style):
                look = look.over(_look(child(one, "rPr")))
                look = look.over(Look(is_shaded=is_shaded(child(one, "pPr"))))
            self._looks[style] = look
        return self._looks[style]

    def _chain(self, style: str) -> _Chain:
        """A style and those it is based on, with their names; one that is not there has its id."""
        if style not in self._chains:
            self._chains[style] = self._chain_from(style)
        return self._chains[style]

    def _chain_from(self, style: str) -> _Chain:
        chain: _Chain = []
        seen: set[str] = set()
        while style and style not in seen and len(seen) < _LONGEST_CHAIN:
            seen.add(style)
            one = self._styles.get(style)
            chain.append((value(child(one, "name")) or style, one))
            style = value(child(one, "basedOn")) or ""
        return chain


def is_shaded(properties: Element | None) -> bool | None:
    """Whether something other than the white of the paper lies under a run, paragraph or cell."""
    highlight = value(child(properties, "highlight"))
    if highlight is not None and highlight not in ("none", "white"):
        return True
    shading = child(properties, "shd")
    if shading is None:
        return None
    if value(shading) not in (None, "clear", "nil"):  # a pattern
        return True
    fill = value(shading, "fill") or "auto"
    return fill != "auto" and not is_white(fill)


def _look(properties: Element | None) -> Look:
    half_points = number(child(properties, "sz"))
    return Look(
        switch(child(properties, "vanish")),
        value(child(properties, "color")),
        None if half_points is None else half_points / 2,
        is_shaded(properties),
    )
