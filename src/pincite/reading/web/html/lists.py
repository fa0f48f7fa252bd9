"""Where we are in lists inside of lists, and what the next item begins with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

_DEEPEST = 12  # levels of indentation
_LISTS = frozenset(("ul", "ol", "menu", "dir", "dl"))
_ITEMS = frozenset(("li", "dt", "dd"))
_NUMBER = re.compile(r"\s*(-?\d{1,9})\s*")


@dataclass(slots=True)
class _List:
    element: etree._Element
    number: int | None = None  # of the next item, where items have numbers
    letters: str = ""


class Lists:
    """The lists and items we are in, the innermost last."""

    def __init__(self) -> None:
        self._lists: list[_List] = []
        self._items: list[tuple[etree._Element, int, str]] = []  # with depth and mark

    @property
    def in_item(self) -> bool:
        """Whether what is written belongs to an item."""
        return bool(self._items)

    def open(self, element: etree._Element) -> None:
        """An element opens; lists and items are noted."""
        tag = str(element.tag)
        if tag in _LISTS:
            self._lists.append(_opened(element, tag))
        elif tag in _ITEMS:
            depth = min(max(len(self._lists) - 1, 0), _DEEPEST)
            self._items.append((element, depth, self._mark(element, tag)))

    def close(self, element: etree._Element) -> None:
        """An element closes; items and lists end with it."""
        if self._items and self._items[-1][0] is element:
            self._items.pop()
        elif self._lists and self._lists[-1].element is element:
            self._lists.pop()

    def place(self) -> tuple[int, str]:
        """Depth and mark for the next block of the item; only the first has a real mark."""
        element, depth, mark = self._items[-1]
        self._items[-1] = (element, depth, " " * len(mark))
        return depth, mark

    def _mark(self, element: etree._Element, tag: str) -> str:
        if tag == "dt":
            return ""
        if tag == "dd":
            return "  "
        if not self._lists or (here := self._lists[-1]).number is None:
            return "- "
        number = _number(element, "value", here.number)
        here.number = number + 1
        if here.letters and 1 <= number <= len(here.letters):
            return f"{here.letters[number - 1]}. "
        return f"{number}. "


def _opened(element: etree._Element, tag: str) -> _List:
    if tag != "ol":
        return _List(element)
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    letters = {"a": alphabet, "A": alphabet.upper()}.get(element.get("type", ""), "")
    return _List(element, _number(element, "start", 1), letters)


def _number(element: etree._Element, attribute: str, otherwise: int) -> int:
    found = _NUMBER.fullmatch(element.get(attribute, ""))
    return int(found[1]) if found else otherwise
