"""HTML → a tree of elements, with limits; and the walk over it that every step takes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lxml import etree

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.web.html.visibility import Look, Visibility

DEEPEST = 2_000  # elements inside each other; the parser gives up at 2,048, without the rest

# The parser compares each attribute of an element with all others. What parts attributes, and
# their names from their values, is counted with the value behind it; each can be read in one way
# only, so that a long tag is looked at once.
_MOST_ATTRIBUTES = 500
_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_OVERFILLED = re.compile(
    rf"""<[A-Za-z](?:[^<>"'\s/=]*(?:{_QUOTED}|[\s/=]+(?:{_QUOTED}|(?![\s/="']))))"""
    f"{{{2 * _MOST_ATTRIBUTES}}}"
)

_MOST_COMPLAINTS = 100

# Elements that hold no text of the page.
_WITHOUT_TEXT = frozenset(
    (
        *("head", "title", "meta", "link", "base", "script", "style", "template", "svg"),
        *("iframe", "frame", "object", "embed", "applet", "video", "audio", "canvas", "map"),
        *("select", "option", "datalist", "textarea", "input", "meter", "progress", "noembed"),
        *("annotation", "annotation-xml", "rp"),
    )
)
_WITHOUT_SCRIPTS = frozenset(("noscript", "noframes"))


class Step(NamedTuple):
    """One step of a walk: an element opens, or a stretch of text is met, or an element closes."""

    kind: str  # "start", "text" or "end"
    element: etree._Element
    look: Look
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed page; `is_cut` where it is nested so deeply that the parser gave up on the rest."""

    root: etree._Element
    is_cut: bool

    @property
    def body(self) -> etree._Element:
        """The body of the page, or all of it where there is none."""
        body = self.root.find("body")
        return self.root if body is None else body


def parse_html(text: str) -> Tree:
    """The page as a tree; nothing outside is fetched. FileEmpty where there is no element."""
    if _OVERFILLED.search(text):
        raise FileUnreadable(f"has an element with more than {_MOST_ATTRIBUTES} attributes")
    parser = etree.HTMLParser(
        encoding="utf-8",
        no_network=True,
        recover=True,
        huge_tree=True,  # else text or a picture of more than 10 MB would end the page
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    # Without any element the parser returns None, whatever its type says.
    if not isinstance(root, etree._Element):
        raise FileEmpty("holds no text")
    # The parser keeps its first 100 complaints only; with fewer than that none were lost.
    complaints = parser.error_log
    limit_met = any(one.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for one in complaints)
    return Tree(root, limit_met or (len(complaints) >= _MOST_COMPLAINTS and _is_too_deep(root)))


def walk(
    root: etree._Element,
    visibility: Visibility,
    left_out: Container[etree._Element] = frozenset(),
    *,
    with_noscript: bool = False,
) -> Iterator[Step]:
    """All of the tree that has text to show, in order; what is left out is passed over whole."""
    events = etree.iterwalk(root, events=("start", "end"))
    looks = [visibility.outer(root)]
    passed_over: etree._Element | None = None
    for event, element in events:
        if event == "start":
            look = visibility.look(element, looks[-1])
            tag = element.tag
            if (
                look.is_out
                or tag in _WITHOUT_TEXT
                or element in left_out
                or (tag in _WITHOUT_SCRIPTS and not with_noscript)
            ):
                passed_over = element
                events.skip_subtree()
                continue
            looks.append(look)
            yield Step("start", element, look)
            if element.text:
                yield Step("text", element, look, element.text)
            continue
        if element is passed_over:
            passed_over = None
        else:
            yield Step("end", element, looks.pop())
        if element.tail and element is not root:
            yield Step("text", element, looks[-1], element.tail)


def _is_too_deep(root: etree._Element) -> bool:
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth >= DEEPEST:
            return True
    return False
