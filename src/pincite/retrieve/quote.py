"""Chunk and question → the sentence to show, with the words of the question in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from pincite.ports import UnitScorer
from pincite.records import Chunk, Locator, Quote, Section, line_boxes, locate, overlapping
from pincite.retrieve.rarity import Rarity
from pincite.text.finding import Finder, finder_of
from pincite.text.lines import LineIndex
from pincite.text.sentences import sentence_spans, trim

_HEADING = 1.1  # how much a word in the heading counts against one in the sentence
_BEFORE_MATCH = 80  # characters shown before the first match of a cut sentence
_LONGEST = 400  # characters shown of one sentence; a table without full stops has no end


def ranked_quotes(
    chunk: Chunk,
    question: str,
    rarity: Rarity,
    window: tuple[int, int] | None,
    *,
    most: int,
    scorer: UnitScorer | None = None,
) -> tuple[Quote, ...]:
    """The best units, best first."""
    return (best_quote(chunk, question, window),)


def best_quote(chunk: Chunk, question: str, window: tuple[int, int] | None) -> Quote:
    """The sentence that says most of what was asked.

    A word counts the more, the fewer sentences of the chunk have it; one in the heading above
    counts a little more still, as the section is about it. What the vector search liked best
    decides between sentences that are equal in words; then the first is taken.
    """
    finder = finder_of(question)
    sentences = _sentences(chunk, finder)
    having = Counter(word for sentence in sentences for word in sentence.words)

    def merit(sentence: _Sentence) -> tuple[bool, float, bool, int]:
        # `fsum`: sets have no order, and a plain sum of the same parts depends on it.
        own = fsum(1 / having[word] for word in sentence.words)
        above = fsum(1 / having[word] for word in sentence.above - sentence.words)
        in_window = _within(chunk, sentence.start, window)
        return sentence.is_prose, own + _HEADING * above, in_window, -sentence.start

    whole = _Sentence(0, len(chunk.text), is_prose=False, words=set(), above=set())
    best = max(sentences, key=merit, default=whole)
    start, end = _shown(chunk.text, best, finder)
    lines = LineIndex(chunk.text)
    places = overlapping(chunk.places, chunk.start + start, chunk.start + end)
    section = _section_at(chunk, start)
    return Quote(
        start=chunk.start + start,
        end=chunk.start + end,
        text=chunk.text[start:end],
        locator=_locator(chunk, lines, start, end),
        heading_path=section.heading_path,
        section=_locator(
            chunk,
            lines,
            *trim(chunk.text, max(section.start - chunk.start, 0), section.end - chunk.start),
        ),
        matches=finder.matches(chunk.text[start:end]),
        cut_before=start > best.start,
        cut_after=end < best.end,
        boxes=line_boxes(places),
    )


def _shown(text: str, sentence: _Sentence, finder: Finder) -> tuple[int, int]:
    """The sentence, or where it is too long the part around its first matched word."""
    start, end = sentence.start, sentence.end
    if end - start <= _LONGEST:
        return start, end
    matches = finder.matches(text[start:end])
    if matches and matches[0][1] > _LONGEST:
        start += max(text.rfind(" ", start, start + matches[0][0] - _BEFORE_MATCH) - start, 0)
    return trim(text, start, min(end, start + _LONGEST))


def _section_at(chunk: Chunk, offset: int) -> Section:
    """The section a place in the chunk belongs to; the whole chunk where there are none."""
    at = chunk.start + offset
    within = (section for section in chunk.sections if section.start <= at < section.end)
    return next(within, Section(chunk.heading_path, 0, chunk.start, chunk.end))


def _locator(chunk: Chunk, lines: LineIndex, start: int, end: int) -> Locator:
    """Where a slice of the chunk's text stands in the document."""
    end = min(end, len(chunk.text))
    above = chunk.locator.line_start - 1
    first, last = lines.lines_of(start, end)
    inside = (chunk.start + start, chunk.start + end)
    return locate(
        overlapping(chunk.places, *inside),
        *inside,
        line_start=above + first,
        line_end=above + last,
    )


class _Sentence(NamedTuple):
    """A sentence of a chunk, with the question's words in it and in the heading above it."""

    start: int
    end: int
    is_prose: bool  # not a heading, the line that opens a block of code, nor hidden from readers
    words: set[str]
    above: set[str]


def _sentences(chunk: Chunk, finder: Finder) -> list[_Sentence]:
    headings = {section.start - chunk.start for section in chunk.sections if section.level}
    sentences = []
    above: set[str] = set()
    for start, end in _seen_spans(chunk):
        sentence = chunk.text[start:end]
        seen = chunk.seen(chunk.start + start, chunk.start + end)
        words = finder.found(seen)
        above = words if start in headings else above
        is_fence = sentence.startswith(("```", "~~~")) and "\n" not in sentence
        is_prose = start not in headings and not is_fence and bool(seen.strip())
        sentences.append(_Sentence(start, end, is_prose, words, above))
    return sentences


def _seen_spans(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """The sentences, cut where a stretch begins that nobody would see: it is never quoted."""
    hidden = [one for one in chunk.omissions if one.reason.is_hidden and not one.reason.is_mark]
    if not hidden:
        yield from _spans(chunk)
        return
    for start, end in _spans(chunk):
        at = start
        for one in overlapping(hidden, chunk.start + start, chunk.start + end):
            yield from _filled(chunk, at, one.start - chunk.start)
            at = max(at, one.end - chunk.start)
        yield from _filled(chunk, at, end) if at > start else [(start, end)]


def _filled(chunk: Chunk, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = trim(chunk.text, start, end)
    if start < end:
        yield start, end


def _spans(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """The sentences, in order; of a table, which has none, the rows."""
    at = 0
    for place in chunk.places:
        if place.row is not None:
            start, end = max(place.start - chunk.start, at), place.end - chunk.start
            yield from _prose_spans(chunk, at, start)
            yield from _filled(chunk, start, min(end, len(chunk.text)))
            at = max(at, min(end, len(chunk.text)))
    yield from _prose_spans(chunk, at, len(chunk.text))


def _prose_spans(chunk: Chunk, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Sentences; a heading is one of its own, even where its text follows in the next line.

    Captions made by machines have no full stops: what would be one endless sentence is cut
    between them.
    """
    headings = [part.start - chunk.start for part in chunk.sections if part.level]
    cuts = {at for heading in headings for at in (heading, _line_end(chunk.text, heading))}
    edges = [start, *sorted(at for at in cuts if start < at < end), end]
    for first, last in pairwise(edges):
        for span in sentence_spans(chunk.text, first, last):
            is_endless = span[1] - span[0] > _LONGEST
            yield from _said_at_once(chunk, *span) if is_endless else [span]


_UNDERLINE = re.compile(r"[=-]{2,}[ \t]*(?=\n|$)")


def _line_end(text: str, start: int) -> int:
    """Behind the line that begins there, and behind the line that underlines it."""
    end = text.find("\n", max(start, 0)) + 1
    if not end:
        return len(text)
    underline = _UNDERLINE.match(text, end)
    return underline.end() if underline else end


def _said_at_once(chunk: Chunk, start: int, end: int) -> list[tuple[int, int]]:
    """A stretch cut where another caption begins; whole where it has no times."""
    held = overlapping(chunk.places, chunk.start + start, chunk.start + end)
    begins = [place.start - chunk.start for place in held if place.time_start is not None]
    edges = [start, *(at for at in begins if start < at), end]
    return [trim(chunk.text, *edge) for edge in pairwise(edges)]


def _within(chunk: Chunk, offset: int, window: tuple[int, int] | None) -> bool:
    return window is not None and window[0] <= chunk.start + offset < window[1]
