"""A question's words in a text, whatever their case, accents and endings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import Stemmer

from pincite.text.words import (
    STOP_WORDS,
    WORD,
    Term,
    fold,
    indexed_codes,
    is_unspaced,
    question_codes,
    question_terms,
    without_marks,
    words_in,
)

_stem = Stemmer.Stemmer("porter", 0).stemWord  # `key_of` remembers; it need not


@lru_cache(maxsize=50_000)
def key_of(word: str) -> str:
    """What a word is compared by. Most words of a text were met before."""
    return str(_stem(without_marks(fold(word))))


@lru_cache(maxsize=16)
def finder_of(question: str) -> Finder:
    """One for all results of a search."""
    return Finder(question_terms(question), question_codes(question))


class Finder:
    """Finds a question's words in a text, whatever their case, accents and endings."""

    def __init__(self, terms: Sequence[Term], codes: Sequence[Term]) -> None:
        self._codes = {token for code in codes for token in code.tokens}
        every = (token for term in terms for token in term.tokens)
        tokens = [token for token in every if token not in self._codes]
        self._stems = {key_of(token) for token in tokens} - {""}  # accents alone
        self._unspaced = [token for token in tokens if is_unspaced(token)]
        # Stemming changes a word at its end alone: all but the last letter of a stem begin it. Most
        # words of a plain text begin otherwise and need not be looked at.
        self._beginnings = tuple({stem[: max(len(stem) - 1, 1)] for stem in self._stems})
        # Words that are none of the question's: little ones, which a name may share its stem with,
        # and those that were met before.
        self._others = set(STOP_WORDS - set(tokens))

    def found(self, sentence: str) -> set[str]:
        """The question's words and codes that the sentence has."""
        found = set(self._asked(sentence).values())
        if self._unspaced:
            found.update(key_of(token) for token in self._unspaced if token in sentence)
        if self._codes:
            found |= self._codes.intersection(indexed_codes(sentence).split())
        return found

    def coverage(self, *texts: str) -> float:
        """The share of the question's words and codes that the texts have together."""
        asked = self._stems | self._codes
        found: set[str] = set()
        for text in texts:
            if found == asked:
                break  # there is nothing left to look for
            found |= self.found(text)
        return len(found) / len(asked) if asked else 0.0

    def matches(self, sentence: str) -> tuple[tuple[int, int], ...]:
        """Where they stand, in order, without overlap."""
        asked = self._asked(sentence)
        if sentence.isascii():  # the words of a long text are few of it, and quicker to look for
            lowered = sentence.lower()
            spans = [span for word in asked for span in _standing_alone(word, lowered)]
        else:
            words = WORD.finditer(sentence)
            spans = [match.span() for match in words if match.group() in asked]
        for token in self._unspaced:
            spans.extend(match.span() for match in re.finditer(re.escape(token), sentence))
        joined: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return tuple(joined)

    def _asked(self, sentence: str) -> dict[str, str]:
        """The words of the sentence that the question has, too, each with its stem."""
        is_plain = sentence.isascii()
        asked: dict[str, str] = {}
        for word in set(words_in(sentence)) - self._others:
            may_be = not is_plain or word.startswith(self._beginnings)
            if may_be and (stem := key_of(word)) in self._stems:
                asked[word] = stem
            else:
                self._others.add(word)
        return asked


def _standing_alone(word: str, plain: str) -> Iterator[tuple[int, int]]:
    """Where the word stands in a plain text, but not as part of a longer one."""
    at = plain.find(word)
    while at >= 0:
        end = at + len(word)
        if not plain[max(at - 1, 0) : at].isalnum() and not plain[end : end + 1].isalnum():
            yield at, end
        at = plain.find(word, end)
