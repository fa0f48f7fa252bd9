"""A Markdown heading as a reader sees it: words without markup."""

from __future__ import annotations

import html
import re

_LONGEST = 300  # a longer "heading" is a paragraph that forgot its line break

_MARKUP = re.compile(r"[^\w\s.,:;?()/'\"-]|_")
_ANCHOR = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
# Hugo's {{% heading "prerequisites" %}}: the first quoted argument is what stands on the page.
_SHORTCODE = re.compile(r'\{\{[<%][^{}"]*"([^"{}]*)"[^{}]*[>%]\}\}')
_CODE = re.compile(r"`+([^`]*)`+")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)([^*_]*\S)\1")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def heading_text(source: str) -> str:
    """The words of a heading: links by their text, no emphasis, code marks, tags or anchor."""
    text = source[: 4 * _LONGEST]
    if _MARKUP.search(text):
        text = _plain(text)
    return " ".join(text.split())[:_LONGEST].rstrip()


def _plain(text: str) -> str:
    text = _ANCHOR.sub("", text)
    text = _LINK.sub(r"\1", _SHORTCODE.sub(r"\1", text))
    # Every second part stood in backticks: there, stars and angle brackets are meant.
    parts = _CODE.split(text)
    parts[::2] = map(_without_markup, parts[::2])
    return "".join(parts)


def _without_markup(text: str) -> str:
    text = _EMPHASIS.sub(r"\2", _TAG.sub("", text))
    return html.unescape(_ESCAPE.sub(r"\1", text))
