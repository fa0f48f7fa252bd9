"""What documents are called, and where a question may call them so."""

from __future__ import annotations

from collections.abc import Iterable

from pincite.text.abbreviations import name_key
from pincite.text.words import STOP_WORDS, WORD, fold

_LONGEST = 16  # words of a name
_MOST_WORDS = 64  # of a question
_TELLING = 2  # words of a name that are no stop words; fewer are said without meaning a document


def document_names(title: str, file_name: str) -> tuple[str, ...]:
    """The keys of what a document is called: its title, its file's name with and without ending."""
    stem, dot, _ending = file_name.rpartition(".")
    names = [name_key(title), name_key(stem if dot else file_name)]
    telling = [name for name in names if _is_telling(name)]
    # With its ending even a single word is a name: nobody says glossary.md without meaning it.
    return tuple(dict.fromkeys([*telling, *([name_key(file_name)] if stem else [])]))


def names_said(question: str) -> list[str]:
    """The keys of all runs of words in a question."""
    words = [fold(word) for word in WORD.findall(question)[:_MOST_WORDS]]
    return [
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + _LONGEST, len(words)) + 1)
    ]


def longest_only(names: Iterable[str]) -> list[str]:
    """Those that are not part of a longer one."""
    kept: list[str] = []
    for name in sorted(set(names), key=len, reverse=True):
        if not any(f" {name} " in f" {longer} " for longer in kept):
            kept.append(name)
    return kept


def _is_telling(name: str) -> bool:
    words = [word for word in name.split() if word not in STOP_WORDS]
    return len(words) >= _TELLING
