"""What a text says its abbreviations stand for: "Reciprocal Rank Fusion (RRF)", or the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.text.words import STOP_WORDS, WORD, fold

_IN_BRACKETS = re.compile(r"(?<=\s)\(([A-Z][A-Za-z]{0,8}[A-Z]s?)\)")
_BEFORE_BRACKETS = re.compile(r"(?<![\w-])([A-Z][A-Za-z]{0,8}[A-Z])\s\(([A-Za-z][^()\n]{4,80})\)")
_LONGEST_NAME = 90  # characters that an abbreviation stands for
_BREAK = re.compile(r"[.:;!?()*|\n#]\s|\n|[(*|#\[]")
_SMALL = STOP_WORDS | {"und", "der", "die", "des", "et", "du", "y", "del"}


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short form, what it stands for, and where the text says so."""

    short: str
    long: str
    start: int
    end: int


def abbreviations_in(text: str) -> Iterator[Abbreviation]:
    """Those whose letters are the first letters of the words they are said to stand for."""
    for match in _IN_BRACKETS.finditer(text):
        before = _BREAK.split(text[max(0, match.start() - _LONGEST_NAME) : match.start()])[-1]
        if long := expansion(match[1], before):
            start = match.start() - len(before) + before.rindex(long)
            yield Abbreviation(match[1].removesuffix("s"), _one_line(long), start, match.end())
    for match in _BEFORE_BRACKETS.finditer(text):
        long = expansion(match[1], match[2])
        if long == match[2].strip():
            yield Abbreviation(match[1], _one_line(long), *match.span())


def expansion(short: str, before: str) -> str:
    """The last words of `before` that begin with the letters of `short`; empty if they do not."""
    words = list(re.finditer(r"[^\s-]+", before))
    letters = [letter.lower() for letter in short if letter.isupper()]
    at = len(words)
    for letter in reversed(letters):
        at -= 1
        while at > 0 and _is_small(words[at]) and not _begins_with(words[at], letter):
            at -= 1
        if at < 0 or not _begins_with(words[at], letter):
            return ""
    long = before[words[at].start() :].strip()
    # Of a compound such as long-term the letters are nearly always chance.
    return long if len(letters) > 1 and len(long.split()) > 1 else ""


def name_key(name: str) -> str:
    """A name as names are compared: its words folded, whatever stands between them."""
    return " ".join(WORD.findall(fold(name)))


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _is_small(word: re.Match[str]) -> bool:
    return word.group().lower() in _SMALL


def _begins_with(word: re.Match[str], letter: str) -> bool:
    return word.group().lower().startswith(letter)
