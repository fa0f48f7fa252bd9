"""What is said in the place of an image, where that tells anything."""

from __future__ import annotations

import re

from lxml import etree

_LONGEST = 500
_FILE_NAME = re.compile(r"\S*\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|avif|ico)\s*", re.IGNORECASE)
_FORMULA = re.compile(r"\{\\(?:displaystyle|textstyle)\b")
_MARK = re.compile(r"( ?\[image: ([^\]]{1,500})\] ?)")
_LONGEST_LOOK = 2_000  # characters of a block in which images may echo words
_SHORTEST_NAME = 8  # characters; shorter ones are icons and logos


def without_echoes(text: str) -> str:
    """The text less the images that only repeat words beside them."""
    if len(text) > _LONGEST_LOOK:
        return text
    for mark, alt in _MARK.findall(text):
        rest = text.replace(mark, " ")
        if alt in rest:
            text = rest
    return text


def image_text(image: etree._Element) -> str:
    """The text to be read for an image; empty where it is decoration."""
    alt = " ".join(image.get("alt", "")[: 2 * _LONGEST].split())
    if not alt or _FILE_NAME.fullmatch(alt) or len(alt) > _LONGEST:
        return ""
    if _FORMULA.match(alt):
        return f" {alt} "
    if len(alt) <= 2 and not alt.isascii():  # an emoji
        return alt
    says_something = len(alt) >= 4 if not alt.isascii() else len(alt) >= _SHORTEST_NAME
    is_named = " " in alt or not alt.isascii()
    return f" [image: {alt}] " if says_something and is_named else ""
