"""Question → the phrases that stand in quotes."""

from __future__ import annotations

import re

from pincite.text.words import WORD

_MOST_PHRASES = 8

# A straight quote opens before a word and closes after one: 5" is inches, "open has no end.
_QUOTED = re.compile(
    r"(?<!\w)\"(?=\S)([^\"]*[^\s\"])\"(?!\w)"
    r"|„([^„“”]+)[“”]|“([^“”]+)”|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』"
)


def quoted_phrases(question: str) -> tuple[str, ...]:
    """What must match word for word, each once; quotes around nothing ask for nothing."""
    inside = (match[match.lastindex or 0].strip() for match in _QUOTED.finditer(question))
    phrases = dict.fromkeys(phrase for phrase in inside if WORD.search(phrase))
    return tuple(phrases)[:_MOST_PHRASES]


def quoted_spans(question: str) -> list[tuple[int, int]]:
    """Where the quoted stretches stand."""
    return [match.span() for match in _QUOTED.finditer(question)]
