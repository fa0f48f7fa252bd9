"""Marked up text and source code → the words a reader of the page would see.

Made for short stretches of Markdown, reStructuredText, Org and HTML in prose. Where it is not
sure that something is markup, it stays.
"""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
# Hugo's {{< tooltip text="Pods" >}}: the first quoted words are what stands on the page.
_SHORTCODE = re.compile(r'\{\{[<%][^{}"]*(?:"(?:([^"{}<>/\\]*)")?[^{}]*)?\}\}')
_ATTRIBUTES = re.compile(r"\{:?\s*[#.][^{}]*\}")
_IMAGE = re.compile(r"!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)?\)|\[[^\[\]]*\])")
_ORG_LINK = re.compile(r"\[\[[^\[\]]*\]\[([^\[\]]*)\]\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]|\[fn:[^\[\]]{1,40}\]")
# A role's or a link's words between backticks, with its target behind them.
_ROLE = re.compile(r"(?::[\w.+:-]{1,40}:)?`([^`<]*)(?:<[^`<>]*>)?`_{0,2}")
_CODE = re.compile(r"(`{2,3})([^`]+)\1")
_ORG_CODE = re.compile(r"(?<![\w~=])([~=])(?=[^\s~=])([^~=\n]{1,80})\1(?![\w~=])")
_STRONG = re.compile(r"\*\*(?=[^\s*])([^*\n]+)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*_\\])[*_]{1,3}(?=[^\s*_])|(?<=[^\s*_\\])[*_]{1,3}(?![\w*_])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_QUOTE_MARK = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)+", re.MULTILINE)
_LINE_MARK = re.compile(r"^[ \t]*(?:[-*+•‣⁃][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,3}[.)][ \t]+)")

_FURTHEST = 20_000  # characters; what a file is for stands at its top
_PREPROCESSOR = r"(?:if|ifdef|ifndef|define|undef|include|import|error|region)\b"
_COMMENT = re.compile(
    r'\s*[rRuUbB]{0,2}(?P<docstring>"""|\'\'\')(?P<said>.*?)(?P=docstring)'
    r"|\s*/\*(?P<block>.*?)\*/"
    rf"|\s*(?=\S)(?P<lines>(?:[ \t]*(?:\#(?!{_PREPROCESSOR})|//[/!]?|--|;;?)[^\r\n]*"
    r"(?:\r\n?|\n|\Z))+)",
    re.DOTALL,
)
_MARK = re.compile(r"^[ \t]*(?:#+!?|//[/!]?|[*!]+|--|;+)?[ \t]?", re.MULTILINE)
# Lines that may stand above it.
_DIRECTIVE = re.compile(
    r"""^[ \t]*(?:["']use strict["'];?|#!.*|package[ ][\w.]+;?|\#[ ]*-\*-.*|\#pragma[ ].*)$""",
    re.MULTILINE,
)
_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n")
_EDITOR = re.compile(r"[ \t]*-\*-[^\r\n]*-\*-")
_LEGAL = re.compile(
    r"copyright|licen[cs]e|SPDX-|all rights reserved|permission is hereby|redistribution and use"
    r"|this (?:program|software) is free|this file is part of"
    r"|eslint|@ts-|prettier|noinspection|coding[:=]",
    re.IGNORECASE,
)


def without_markup(text: str) -> str:
    """The text with links by their words, without emphasis, code marks, tags and comments."""
    text = _QUOTE_MARK.sub("", _LINE_MARK.sub("", text))
    # A comment that is never closed stays, as it may be none.
    kept = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[at:start])
        at = end + len("-->")
    text = _SHORTCODE.sub(lambda found: found[1] or "", "".join([*kept, text[at:]]))
    text = _TAG.sub("", text)
    text = _IMAGE.sub("", _FOOTNOTE.sub("", _ATTRIBUTES.sub("", text)))
    text = _LINK.sub(r"\1", _ORG_LINK.sub(r"\1", text))
    text = _ORG_CODE.sub(r"\2", _ROLE.sub(r"\1", _CODE.sub(r"\2", text)))
    text = _EMPHASIS.sub("", _STRONG.sub(r"\1", text))
    return html.unescape(_ESCAPE.sub(r"\1", text))


def leading_comment(source: str) -> str:
    """The first paragraph of the first comment that begins with more than a licence."""
    text = _DIRECTIVE.sub("", source[:_FURTHEST])
    at = 0
    while found := _COMMENT.match(text, at):
        said = found["said"] or found["block"] or found["lines"] or ""
        words = _EDITOR.sub("", _MARK.sub("", said)).strip()
        paragraph = _BLANK_LINE.split(words, maxsplit=1)[0]
        if paragraph and not _LEGAL.search(paragraph):
            return paragraph
        at = found.end()
    return ""
