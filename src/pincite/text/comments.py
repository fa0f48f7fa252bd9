"""Source code → the comment or documentation string it begins with."""

from __future__ import annotations

import re

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
