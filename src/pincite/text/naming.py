"""What documents are called, and where a question may call them so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from pincite.text.abbreviations import name_key
from pincite.text.words import LONGEST_QUERY, STOP_WORDS, WORD, fold

_LONGEST = 16  # words of a name
_MOST_WORDS = 64  # of a question
_TELLING = 2  # words of a name that are no stop words; fewer are said without meaning a document
_ENDS_AS_FILES_DO = re.compile(r"\w\.\w+$")


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
