"""One look over a whole page before it is written: what is content, which tables hold data."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from pincite.reading.web.html.furniture import Held, is_furniture
from pincite.reading.web.html.tables import TableShape
from pincite.reading.web.html.tree import Step, Tree, walk
from pincite.reading.web.html.visibility import Visibility

_CONTENT_TAGS = frozenset(("main", "article"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LIKE_HEADINGS = _HEADINGS | {"summary", "dt", "legend"}
_LEAST_SHARE = 3  # the main part has at least one third of the page's text, or it is not the main
_LEAST_ARTICLE = 2  # an <article> may be a comment or a teaser: at least a half
_FURNITURE_AT_MOST = 10  # a tenth of the text must remain, or the furniture was the content


@dataclass(slots=True)
class Survey:
    """What was found on a page."""

    furniture: set[etree._Element] = field(default_factory=set)
    data: set[etree._Element] = field(default_factory=set)  # tables, and rows of other tables
    mains: list[tuple[etree._Element, int]] = field(default_factory=list)  # characters kept
    articles: list[tuple[etree._Element, int]] = field(default_factory=list)
    first_h1: etree._Element | None = None
    has_heading: bool = False
    text: int = 0
    kept: int = 0

    @property
    def furniture_is_content(self) -> bool:
        """Whether next to nothing is left without what looks like furniture."""
        return self.kept * _FURNITURE_AT_MOST < self.text


def survey(tree: Tree, visibility: Visibility, *, with_noscript: bool, is_page: bool) -> Survey:
    """Walk over the body once, and count on the way up. Only web pages have furniture."""
    surveyor = _Surveyor(is_page=is_page)
    for step in walk(tree.body, visibility, with_noscript=with_noscript):
        surveyor.take(step)
    return surveyor.found


def main_part(found: Survey, body: etree._Element) -> etree._Element:
    """The element that holds the content; the body where none surely does."""
    if found.furniture_is_content:
        return body
    for candidates, share in ((found.mains, _LEAST_SHARE), (found.articles, _LEAST_ARTICLE)):
        if len(candidates) == 1:
            element, kept = candidates[0]
            if kept * share >= found.kept:
                return element
    return body


class _Surveyor:
    def __init__(self, *, is_page: bool) -> None:
        self.found = Survey()
        self._is_page = is_page
        self._held = [Held()]
        self._tables: list[TableShape] = []
        self._links = 0

    def take(self, step: Step) -> None:
        """One step of the walk."""
        if step.kind == "text" and step.look.omitted is None:
            self._count(step.text)
        elif step.kind == "text":
            return
        elif step.kind == "start":
            self._open(step.element)
        else:
            self._close(step.element)

    def _count(self, text: str) -> None:
        length = len(text.strip())
        held = self._held[-1]
        held.text += length
        held.kept += length
        if self._tables:
            self._tables[-1].text += length
        if self._links:
            held.links += length

    def _open(self, element: etree._Element) -> None:
        tag, outer = element.tag, self._held[-1]
        is_content = tag in _CONTENT_TAGS or element.get("role") in ("main", "article")
        self._held.append(
            Held(
                has_content=is_content or tag == "h1",
                has_navigation=tag == "nav",
                in_content=outer.in_content or is_content,
                in_heading=outer.in_heading or tag in _LIKE_HEADINGS,
            )
        )
        if tag == "a":
            self._links += 1
        elif tag == "h1" and self.found.first_h1 is None:
            self.found.first_h1 = element
        elif tag == "table":
            self._tables.append(TableShape(element))
        if self._tables:
            self._tables[-1].open(element)

    def _close(self, element: etree._Element) -> None:
        held = self._held.pop()
        self.found.has_heading |= element.tag in _HEADINGS and held.text > 0
        if element.tag == "a":
            self._links -= 1
        elif element.tag == "table":
            self._close_table(element)
        elif element.tag == "tr" and self._tables:
            self._tables[-1].close_row(element)
        if self._is_page and is_furniture(element, held):
            self.found.furniture.add(element)
            held.kept = 0
        elif held.in_content:
            self._note_content(element, held)
        outer = self._held[-1]
        outer.text += held.text
        outer.links += held.links
        outer.kept += held.kept
        outer.has_content |= held.has_content
        outer.has_navigation |= held.has_navigation
        self.found.text, self.found.kept = outer.text, outer.kept

    def _close_table(self, element: etree._Element) -> None:
        shape = self._tables.pop()
        self.found.data.update([element] if shape.holds_data() else shape.rows)
        if self._tables:
            self._tables[-1].close_inner(shape)

    def _note_content(self, element: etree._Element, held: Held) -> None:
        if element.tag == "main" or element.get("role") == "main":
            self.found.mains.append((element, held.kept))
        elif element.tag == "article":
            self.found.articles.append((element, held.kept))
