"""Document → utterances: the stretches of a recording that a cut may fall between, with times."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise

from pincite.chunking.frames import frame_spans
from pincite.chunking.measure import Measure
from pincite.chunking.pieces import Boundary, document_pieces
from pincite.records import Document, OmissionReason, Place, locate, overlapping, without
from pincite.text.sentences import trim

Times = tuple[float, float]

_CHARACTERS_A_SECOND = 15.0  # of somebody who speaks
_SLOWEST = 2.0  # characters a second
_LONG = 12.0  # seconds; a longer sentence may be cut, too, where nothing else helps
_PART = 6.0  # seconds of a part of one
_PAUSE = 1.0  # seconds
_LONGEST_WORD = 40  # characters looked through for a blank to cut at
_LONGEST_LEAD_IN = 200  # characters of a speaker's name and a time code
_LABEL = re.compile(r"[\s*_>#-]{0,8}([^\W_][^\n:]{0,59}):")
_BLANK = re.compile(r"\s")
_SENTENCE_ENDS = frozenset(".!?…。！？｡\"'”’»)]*_♪")


class Opening(IntEnum):
    """What an utterance begins with."""

    HEADING = 0
    TURN = 1  # another speaker
    PARAGRAPH = 2
    SENTENCE = 3
    CUE = 4  # something said, inside a sentence
    WORD = 5
    UNDER_HEADING = 6


# Seconds that what is said before must last, lest the two be taken as one.
_CRUMBS = {Opening.SENTENCE: 3.0, Opening.CUE: _PART}
_OPENINGS = {
    Boundary.HEADING: Opening.HEADING,
    Boundary.BLOCK: Opening.PARAGRAPH,
    Boundary.SENTENCE: Opening.SENTENCE,
    Boundary.INSIDE: Opening.WORD,
    Boundary.UNDER_HEADING: Opening.UNDER_HEADING,
}


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence or a part of one; `times` are None for what has no place in the recording."""

    start: int
    end: int
    tokens: int
    opening: Opening
    times: Times | None

    @property
    def seconds(self) -> float:
        """How long it takes, or would take, to say it."""
        if self.times is None:
            return (self.end - self.start) / _CHARACTERS_A_SECOND
        return self.times[1] - self.times[0]


def times_of(places: Sequence[Place], start: int, end: int) -> Times | None:
    """When the slice of the document's text is said, in seconds; None where no place tells.

    A slice that begins or ends inside a place gets its share of the place's time, by characters.
    """
    held = overlapping(places, start, end)
    where = locate(held, start, end, line_start=1, line_end=1)
    if where.time_start is None or where.time_end is None:
        return None
    return where.time_start, where.time_end


def utterances(document: Document, measure: Measure, *, largest: int) -> list[Utterance]:
    """What is said, in order, none with more than `largest` tokens; frames left out."""
    found: list[Utterance] = []
    for one in _opened(document, _cues(document, measure, largest)):
        last = found[-1] if found else None
        if last is None or last.tokens + one.tokens > largest:
            found.append(one)
        elif _leads_to(document, last, one) or _goes_with(last, one):
            times = one.times if last.times is None else (last.times[0], _end(last, one))
            tokens = last.tokens + one.tokens
            found[-1] = replace(last, end=one.end, tokens=tokens, times=times)
        else:
            found.append(one)
    return [part for one in found for part in _parts(document, measure, one)]


def _goes_with(last: Utterance, one: Utterance) -> bool:
    """Whether a cut between the two would only make crumbs."""
    if last.times is None or one.times is None or abs(one.times[0] - last.times[1]) > _PAUSE:
        return False
    return last.seconds < _CRUMBS.get(one.opening, 0.0)


def _end(last: Utterance, one: Utterance) -> float:
    return max(time[1] for time in (last.times, one.times) if time is not None)


def _cues(document: Document, measure: Measure, largest: int) -> Iterator[Utterance]:
    """The pieces outside frames, cut wherever something said begins."""
    text = document.text
    frames = frame_spans(document)
    begins = [at for at, _ in frames]
    starts = _cue_starts(document)
    for piece in document_pieces(document, measure, largest=largest):
        frame = bisect_right(begins, piece.start) - 1
        if frame >= 0 and piece.start < frames[frame][1]:
            continue
        inner = starts[bisect_right(starts, piece.start) : bisect_left(starts, piece.end)]
        opening = _OPENINGS[piece.boundary]
        for edges in pairwise([piece.start, *inner, piece.end]):
            start, end = trim(text, *edges)
            if start < end:
                times = times_of(document.places, start, end)
                yield Utterance(start, end, measure.tokens(start, end), opening, times)
                opening = Opening.CUE


def _cue_starts(document: Document) -> list[int]:
    """Where each thing said begins, together with the name and the time code before it."""
    timed = [one for one in document.places if one.time_start is not None]
    return [trim(document.text, before.end, after.end)[0] for before, after in pairwise(timed)]


def _opened(document: Document, said: Iterable[Utterance]) -> Iterator[Utterance]:
    """The utterances, told apart by who speaks and by whether a sentence has ended."""
    speaker = ""
    before: Utterance | None = None
    for one in said:
        opening = one.opening
        if opening in (Opening.PARAGRAPH, Opening.SENTENCE, Opening.CUE):
            has_code, named = _lead_in(document, one)
            if named and named != speaker:
                opening = Opening.TURN
            elif before is None or document.text[before.end - 1] in _SENTENCE_ENDS:
                opening = Opening.PARAGRAPH if has_code else min(opening, Opening.SENTENCE)
            elif before.times and one.times:
                opening = Opening.CUE
            speaker = named or speaker
        before = replace(one, opening=opening)
        yield before


def _lead_in(document: Document, one: Utterance) -> tuple[bool, str]:
    """Whether it begins with a time code, and who is named before a colon there."""
    end = min(one.start + _LONGEST_LEAD_IN, one.end)
    codes = overlapping(document.omissions, one.start, end)
    if one.opening is not Opening.PARAGRAPH and not codes:
        return False, ""
    label = _LABEL.match(without(document.text[one.start : end], one.start, codes))
    return bool(codes), label[1].strip(" *_") if label else ""


def _leads_to(document: Document, last: Utterance, one: Utterance) -> bool:
    """Whether `last` is only a time code, perhaps with a name, whose words stand in the next."""
    held = overlapping(document.omissions, last.start, last.end)
    is_code = any(code.reason is OmissionReason.TIME_CODE for code in held)
    return last.times is None and is_code and one.opening is not Opening.HEADING


def _parts(document: Document, measure: Measure, one: Utterance) -> Iterator[Utterance]:
    """The utterance, or if it is long, parts of it cut between words."""
    text = document.text
    start, opening = one.start, one.opening
    length = one.end - start
    # A few words in a long time are words and a silence, which nothing is gained by cutting.
    is_cut = one.seconds > _LONG and length > _SLOWEST * one.seconds
    size = int(length * _PART / one.seconds) if is_cut else 0
    while size and one.end - start > 2 * size:
        blank = _BLANK.search(text, start + size, min(start + size + _LONGEST_WORD, one.end))
        cut = blank.start() if blank else start + size
        yield _part(document, measure, (start, cut), opening)
        start, opening = trim(text, cut, one.end)[0], Opening.WORD
    yield _part(document, measure, (start, one.end), opening)


def _part(
    document: Document, measure: Measure, span: tuple[int, int], opening: Opening
) -> Utterance:
    times = times_of(document.places, *span)
    return Utterance(*span, measure.tokens(*span), opening, times)
