"""What documents are called, and what a text says its abbreviations stand for.

A question may call documents by their names. A text says "Reciprocal Rank Fusion (RRF)", or the
reverse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from pincite.text.words import LONGEST_QUERY, STOP_WORDS, WORD, fold

_LONGEST = 16  # words of a name
_MOST_WORDS = 64  # of a question
_TELLING = 2  # words of a name that are no stop words; fewer are said without meaning a document
_ENDS_AS_FILES_DO = re.compile(r"\w\.\w+$")

_IN_BRACKETS = re.compile(r"(?<=\s)\(([A-Z][A-Za-z]{0,8}[A-Z]s?)\)")
_BEFORE_BRACKETS = re.compile(r"(?<![\w-])([A-Z][A-Za-z]{0,8}[A-Z])\s\(([A-Za-z][^()\n]{4,80})\)")
_LONGEST_NAME = 90  # characters that an abbreviation stands for
_BREAK = re.compile(r"[.:;!?()*|\n#]\s|\n|[(*|#\[]")
_SMALL = STOP_WORDS | {"und", "der", "die", "des", "et", "du", "y", "del"}


def document_names(title: str, file_name: str) -> tuple[str, ...]:
    """The keys of what a document is called: its title, its file's name with and without ending."""
    stem, dot, _ending = file_name.rpartition(".")
    names = [name_key(title), name_key(stem if dot else file_name)]
    telling = [name for name in names if _is_telling(name)]
    # With its ending even a single word is a name: nobody says glossary.md without meaning it.
    return tuple(dict.fromkeys([*telling, *([name_key(file_name)] if stem else [])]))


def names_said(question: str) -> list[str]:
    """The keys of all runs of words in a question that may be somebody's name for a document.

    In a query that is any run. A longer text says `office hours` or `national security` as part of
    what it tells, though documents may have such titles: there a name has a capital or a file's
    ending.
    """
    words = list(islice(WORD.finditer(question), _MOST_WORDS))
    folded = [fold(word.group()) for word in words]
    is_query = len(words) <= LONGEST_QUERY
    return [
        " ".join(folded[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + _LONGEST, len(words)) + 1)
        if is_query or _is_written_as_a_name(question[words[start].start() : words[end - 1].end()])
    ]


def longest_only(names: Iterable[str]) -> list[str]:
    """Those that are not part of a longer one."""
    kept: list[str] = []
    for name in sorted(set(names), key=len, reverse=True):
        if not any(f" {name} " in f" {longer} " for longer in kept):
            kept.append(name)
    return kept


def _is_written_as_a_name(said: str) -> bool:
    """Whether more than its words makes it a name; in scripts without capitals nothing can."""
    return not said.islower() or _ENDS_AS_FILES_DO.search(said) is not None


def _is_telling(name: str) -> bool:
    words = [word for word in name.split() if word not in STOP_WORDS]
    return len(words) >= _TELLING


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
        while at > 0 and words[at].group().lower() in _SMALL:
            if _begins_with(words[at], letter):
                break
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


def _begins_with(word: re.Match[str], letter: str) -> bool:
    return word.group().lower().startswith(letter)
