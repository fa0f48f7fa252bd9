"""Chunk and question → the sentence to show, with the words of the question in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import Stemmer

from pincite.records import Chunk, Locator, Quote
from pincite.text.lines import LineIndex
from pincite.text.sentences import sentence_spans
from pincite.text.words import (
    WORD,
    Term,
    fold,
    indexed_codes,
    is_unspaced,
    question_terms,
    without_marks,
)

_LONGEST = 400  # characters shown of one sentence; a table without full stops has no end


def best_quote(chunk: Chunk, question: str, window: tuple[int, int] | None) -> Quote:
    """The sentence that says most of what was asked.

    A word counts the more, the fewer sentences of the chunk have it; one in the heading above
    counts half. What the vector search liked best decides between sentences that are equal in
    words; then the first is taken.
    """
    finder = _Finder(question_terms(question))
    sentences = _sentences(chunk.text, finder)
    having = Counter(word for sentence in sentences for word in sentence.words)

    def merit(sentence: _Sentence) -> tuple[bool, float, bool, int]:
        own = sum(1 / having[word] for word in sentence.words)
        above = sum(1 / having[word] for word in sentence.above - sentence.words)
        in_window = _within(chunk, sentence.start, window)
        return not sentence.is_heading, own + above / 2, in_window, -sentence.start

    best = max(sentences, key=merit)
    start, end = best.start, min(best.end, best.start + _LONGEST)
    first, last = LineIndex(chunk.text).lines_of(start, end)
    lines_above = chunk.locator.line_start - 1
    return Quote(
        start=chunk.start + start,
        end=chunk.start + end,
        text=chunk.text[start:end],
        locator=Locator(lines_above + first, lines_above + last),
        matches=finder.matches(chunk.text[start:end]),
    )


@dataclass(frozen=True)
class _Sentence:
    """A sentence of a chunk, with the question's words in it and in the heading above it."""

    start: int
    end: int
    is_heading: bool
    words: set[str]
    above: set[str]


def _sentences(text: str, finder: _Finder) -> list[_Sentence]:
    sentences = []
    above: set[str] = set()
    for start, end in sentence_spans(text, 0, len(text)):
        is_heading = text.startswith("#", start)
        words = finder.found(text[start:end])
        above = words if is_heading else above
        sentences.append(_Sentence(start, end, is_heading, words, above))
    return sentences


def _within(chunk: Chunk, offset: int, window: tuple[int, int] | None) -> bool:
    return window is not None and window[0] <= chunk.start + offset < window[1]


class _Finder:
    """Finds a question's words in a text, whatever their case, accents and endings."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._stem = Stemmer.Stemmer("porter").stemWord
        tokens = [token for term in terms for token in term.tokens]
        self._stems = {self._stem(without_marks(token)) for token in tokens}
        self._codes = {term.tokens[0] for term in terms if len(term.tokens) == 1}
        self._unspaced = [token for token in tokens if is_unspaced(token)]

    def found(self, sentence: str) -> set[str]:
        """The question's words and codes that the sentence has."""
        words = {self._key(sentence[start:end]) for start, end in self._spans(sentence)}
        return words | self._codes.intersection(indexed_codes(sentence).split())

    def matches(self, sentence: str) -> tuple[tuple[int, int], ...]:
        """Where they stand, in order, without overlap."""
        return _joined(sorted(self._spans(sentence)))

    def _spans(self, sentence: str) -> list[tuple[int, int]]:
        spans = [
            match.span()
            for match in WORD.finditer(sentence)
            if self._key(match.group()) in self._stems
        ]
        for token in self._unspaced:
            spans.extend(match.span() for match in re.finditer(re.escape(token), sentence))
        return spans

    def _key(self, word: str) -> str:
        return str(self._stem(without_marks(fold(word))))


def _joined(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
