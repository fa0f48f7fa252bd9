"""The text inside of one block: what its inline elements add to it."""

from __future__ import annotations

import re

from lxml import etree

from pincite.reading.web.html.images import image_text
from pincite.reading.web.html.line import Line
from pincite.records import OmissionReason

_POWER = re.compile(r"\s*[-+−]?\d{1,4}\s*")


class InlineText(Line):
    """A line that knows inline elements."""

    def __init__(self) -> None:
        super().__init__()
        self._reading: list[str] = []  # how the characters of the <ruby> are read
        self._in_reading = False

    def add(self, text: str, omitted: OmissionReason | None = None) -> None:
        """Text with its spaces, which shrink to one between words."""
        if self._in_reading:
            self._reading.append(text)
        else:
            super().add(text, omitted)

    def open(self, element: etree._Element, omitted: OmissionReason | None) -> None:
        """An inline element begins."""
        tag = element.tag
        if tag == "img":
            self.add(image_text(element), omitted)
        elif tag == "a" and _follows_its_like(element):
            self.space()
        elif tag == "q":
            self.add("“", omitted)
        elif tag == "sup":
            self.add(_around_number(element, self.last)[0], omitted)
        elif tag in ("rt", "rtc"):
            self._in_reading = True

    def close(self, element: etree._Element, omitted: OmissionReason | None) -> None:
        """An inline element ends."""
        tag = element.tag
        if tag == "q":
            self.add("”", omitted)
        elif tag == "sup":
            self.add(_around_number(element, self.last)[1], omitted)
        elif tag in ("rt", "rtc"):
            self._in_reading = False
        elif tag == "ruby":
            reading = "".join(self._reading).strip()
            self._reading.clear()
            self.add(f"({reading})" if reading else "", omitted)


def _follows_its_like(element: etree._Element) -> bool:
    """Whether an element of the same kind stands before it without a space, as in menus."""
    before = element.getprevious()
    return before is not None and before.tag == element.tag and not before.tail


def _around_number(element: etree._Element, before: str) -> tuple[str, str]:
    """What to put around a raised number, so that it does not run into what it follows.

    10⁵ is no 105, and the number of a footnote is no part of the word it stands at.
    """
    link = element[0] if len(element) == 1 else None
    if link is not None and link.tag == "a" and _POWER.fullmatch(link.text or ""):
        return "[", "]"
    is_power = len(element) == 0 and _POWER.fullmatch(element.text or "")
    return ("^" if is_power and before.isalnum() else "", "")
