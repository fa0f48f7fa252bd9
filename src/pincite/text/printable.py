"""Text from outside, made harmless to look at."""

from __future__ import annotations

import json
import unicodedata


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def printable(text: str, *, keep: str = "") -> str:
    """Text from a document or a file's name, made harmless for a terminal or a page.

    Control and direction characters could rewrite what is seen, so they are shown as escapes, in
    JSON's own way.
    """
    return "".join(
        char if char in keep or _is_harmless(char) else json.dumps(char)[1:-1] for char in text
    )


def _is_harmless(char: str) -> bool:
    return char.isprintable() or char == "\u200d" or unicodedata.category(char) == "Zs"
