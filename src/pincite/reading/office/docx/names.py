"""The XML names of Word documents, and how their attributes are read."""

from __future__ import annotations

import re

from lxml import etree

Element = etree._Element

MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
W = f"{{{MAIN}}}"
M = f"{{{MATH}}}"
R = f"{{{RELATIONS}}}"

_NUMBER = re.compile(r"-?\d{1,9}")


def child(element: Element | None, *path: str) -> Element | None:
    """The element at the end of a path of Word's names; None where a step is missing."""
    for name in path:
        element = None if element is None else element.find(W + name)
    return element


def value(element: Element | None, name: str = "val") -> str | None:
    """An attribute by Word's name for it."""
    return None if element is None else element.get(W + name)


def number(element: Element | None, name: str = "val") -> int | None:
    """An attribute that is a whole number; None where it is missing or is not one."""
    text = value(element, name)
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None


def switch(element: Element | None) -> bool | None:
    """A property that is on by merely being there, unless it says that it is off."""
    if element is None:
        return None
    return value(element) not in ("0", "false", "off")
