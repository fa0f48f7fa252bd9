"""A recording → chunks of about a minute or of a size, cut where a speaker or a sentence ends.

The same shortest path as in cut.py, but along the clock: every window costs something for not
lasting a minute and for the kind of cut it begins with. What has no time, such as the words above
a transcript, counts with the time it would take to say it. What was seen at one moment, a frame, is
one chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate, pairwise
from math import inf
from operator import attrgetter

from pincite.chunking.cut import Way, cheapest, cut
from pincite.chunking.pieces import Boundary, Measure, Piece, document_pieces
from pincite.chunking.sections import overlap_start
from pincite.records import (
    BlockKind,
    Document,
    Modality,
    OmissionReason,
    Place,
    locate,
    overlapping,
    without,
)
from pincite.settings import ChunkPolicy
from pincite.text.sentences import trim

Span = tuple[int, int]
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


_MINUTE = 60.0
_BAND = 15.0  # seconds by which a window may miss the minute and still be one
_IN_BAND = 0.3  # cost at the edge of the band; it grows with the square of the distance
_OUT_OF_BAND = 2.0
_SHORTEST_TAIL = 20.0  # seconds; a shorter rest goes to the window before
_CRUMB = 6.0
_LONG_END = 1.0  # a last window that takes such a rest in
_LONGEST = 100.0  # seconds looked at for one window
_MOST = 120  # utterances looked at for one window, so that a million of no length stay affordable
_LONGEST_SILENCE = 60.0  # nothing that was said belongs together across a longer one
_LONGEST_STEP_BACK = 1.0  # seconds; more means that another recording begins

# A turn of about a minute stays whole, a longer one is cut between sentences; a sentence is only
# cut where it alone makes a window far too long.
_CUT = {
    Opening.HEADING: 0.0,
    Opening.TURN: 0.0,
    Opening.PARAGRAPH: 0.2,
    Opening.SENTENCE: 0.4,
    Opening.CUE: 3.0,
    Opening.WORD: 5.0,
    Opening.UNDER_HEADING: 8.0,
}
_BOUNDARIES = {
    **{opening: boundary for boundary, opening in _OPENINGS.items()},
    Opening.TURN: Boundary.HEADING,
    Opening.CUE: Boundary.INSIDE,
}
_LONG_PAUSE = 3.0  # seconds of silence that make any cut a good one
_WORTH_OF_PAUSE = 0.8


def recording_spans(
    document: Document, measure: Measure, policy: ChunkPolicy
) -> list[tuple[int, int, Modality]]:
    """Start, end and modality of every chunk of a recording, in order."""
    frames = frame_spans(document)
    is_frames = document.modality is Modality.VIDEO_FRAME
    said = Modality.TEXT if is_frames else document.modality
    windows = [
        (*span, said)
        for span in transcript_spans(document, measure, policy)
        # Beside frames, a heading alone is the title of the frames, which is searched anyway.
        if not frames or _has_words(document, span)
    ]
    return sorted([*windows, *((*span, Modality.VIDEO_FRAME) for span in frames)])


def _has_words(document: Document, span: Span) -> bool:
    first = bisect_left(document.blocks, span[0], key=attrgetter("end"))
    after = bisect_left(document.blocks, span[1], key=attrgetter("start"))
    return any(one.kind is not BlockKind.HEADING for one in document.blocks[first:after])


def transcript_spans(document: Document, measure: Measure, policy: ChunkPolicy) -> list[Span]:
    """Start and end of each window of what is said, frames left out."""
    largest = policy.maximum if policy.cut_minutes else policy.maximum - policy.overlap
    said = utterances(document, measure, largest=largest)
    stretches = _stretches(said, frame_spans(document), policy)
    if not policy.cut_minutes:
        return [span for one in stretches for span in _sized(document, one, policy, measure)]
    return [
        (stretch[first].start, stretch[after - 1].end)
        for stretch in stretches
        for first, after in _cut(stretch, policy.maximum)
    ]


def _sized(
    document: Document, said: Sequence[Utterance], policy: ChunkPolicy, measure: Measure
) -> Iterator[Span]:
    """Windows of the policy's size, each repeating the end of the one before, turns if they fit."""
    pieces = [Piece(one.start, one.end, one.tokens, _BOUNDARIES[one.opening]) for one in said]
    whole = sum(piece.tokens for piece in pieces) <= policy.maximum
    room = policy.maximum if whole else policy.maximum - policy.overlap
    before = 0
    for first, after in cut(pieces, minimum=policy.minimum, maximum=room):
        start = pieces[first].start
        if first:
            least = policy.overlap * 4 // 5
            repeated = [
                one
                for one in said[before + 1 : first]
                if least <= measure.tokens(one.start, start) <= policy.overlap
            ]
            floor = pieces[before].start
            start = (
                min(repeated, key=attrgetter("opening")).start
                if repeated
                else overlap_start(document, floor, start, policy.overlap, measure)
            )
        yield start, pieces[after - 1].end
        before = first


def _stretches(
    said: Sequence[Utterance], frames: Sequence[Span], policy: ChunkPolicy
) -> Iterator[Sequence[Utterance]]:
    """What is cut apart from the rest: between frames, recordings and, for minutes, silences."""
    silence = _LONGEST_SILENCE if policy.cut_minutes else inf
    frame_ends = [end for _, end in frames]
    starts = [0]
    passed = 0
    for at, (before, after) in enumerate(pairwise(said), start=1):
        was = passed
        while passed < len(frame_ends) and frame_ends[passed] <= after.start:
            passed += 1
        if (passed > was and frame_ends[passed - 1] > before.start) or _is_apart(
            before, after, silence
        ):
            starts.append(at)
    for first, end in pairwise([*starts, len(said)]):
        yield said[first:end]


def _is_apart(before: Utterance, after: Utterance, silence: float) -> bool:
    if before.times is None or after.times is None:
        return False
    pause = after.times[0] - before.times[1]
    return pause > silence or after.times[0] < before.times[0] - _LONGEST_STEP_BACK


def _cut(said: Sequence[Utterance], maximum: int) -> list[Span]:
    """Indexes of the first utterance of each window and of the one after its last."""
    clock = _clock(said)
    tokens = list(accumulate((one.tokens for one in said), initial=0))
    openings = [0.0, *(_opening_cost(clock, said, at) for at in range(1, len(said)))]

    def window_ending_at(end: int, best: Sequence[float]) -> Way:
        ways: list[Way] = []
        for start in range(end - 1, max(end - 1 - _MOST, -1), -1):
            seconds = clock[end - 1][1] - clock[start][0]
            if ways and (seconds > _LONGEST or tokens[end] - tokens[start] > maximum):
                break
            is_last = end == len(said)
            off = abs(seconds - _MINUTE) / _BAND
            if off <= 1:
                cost = _IN_BAND * off**2
            elif not is_last or seconds > _MINUTE + _BAND + _SHORTEST_TAIL:
                cost = _OUT_OF_BAND * off
            elif seconds > _MINUTE:
                cost = _LONG_END
            else:
                cost = _IN_BAND if seconds >= _SHORTEST_TAIL else _CRUMB
            ways.append((best[start] + openings[start] + cost, start))
        return min(ways)

    return cheapest(len(said), window_ending_at)


def _clock(said: Sequence[Utterance]) -> list[tuple[float, float]]:
    """When each utterance begins and ends, on a clock that also runs for what has no time."""
    clock: list[tuple[float, float]] = []
    now = behind = 0.0
    is_started = False
    for one in said:
        if one.times is None:
            begin, end = now, now + one.seconds
            behind += one.seconds
        else:
            if not is_started:
                behind = now - one.times[0]
                is_started = True
            begin = max(one.times[0] + behind, now)
            end = max(one.times[1] + behind, begin)
        clock.append((begin, end))
        now = end
    return clock


def _opening_cost(
    clock: Sequence[tuple[float, float]], said: Sequence[Utterance], at: int
) -> float:
    pause = min((clock[at][0] - clock[at - 1][1]) / _LONG_PAUSE, 1.0)
    return _CUT[said[at].opening] * (1 - _WORTH_OF_PAUSE * pause)


def frame_spans(document: Document) -> list[tuple[int, int]]:
    """Start and end of each section that describes a frame, in order.

    Words take time, a frame does not: a frame is a section whose place is a single moment.
    """
    headings = {section.start for section in document.sections if section.level}
    return [
        (place.start, place.end)
        for place in document.places
        if place.start in headings
        and place.time_start is not None
        and place.time_start == place.time_end
    ]


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
            known = [times for times in (last.times, one.times) if times]
            times = (known[0][0], max(time[1] for time in known)) if known else None
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


def _cues(document: Document, measure: Measure, largest: int) -> Iterator[Utterance]:
    """The pieces outside frames, cut wherever something said begins."""
    text = document.text
    frames = frame_spans(document)
    begins = [at for at, _ in frames]
    # Where each thing said begins, together with the name and the time code before it.
    timed = [one for one in document.places if one.time_start is not None]
    starts = [trim(document.text, before.end, after.end)[0] for before, after in pairwise(timed)]
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


def _opened(document: Document, said: Iterable[Utterance]) -> Iterator[Utterance]:
    """The utterances, told apart by who speaks and by whether a sentence has ended."""
    speaker = ""
    before: Utterance | None = None
    for one in said:
        opening = one.opening
        if opening in (Opening.PARAGRAPH, Opening.SENTENCE, Opening.CUE):
            # Whether it begins with a time code, and who is named before a colon there.
            end = min(one.start + _LONGEST_LEAD_IN, one.end)
            codes = overlapping(document.omissions, one.start, end)
            if one.opening is not Opening.PARAGRAPH and not codes:
                has_code, named = False, ""
            else:
                label = _LABEL.match(without(document.text[one.start : end], one.start, codes))
                has_code, named = bool(codes), label[1].strip(" *_") if label else ""
            if named and named != speaker:
                opening = Opening.TURN
            elif before is None or document.text[before.end - 1] in _SENTENCE_ENDS:
                opening = Opening.PARAGRAPH if has_code else min(opening, Opening.SENTENCE)
            elif before.times and one.times:
                opening = Opening.CUE
            speaker = named or speaker
        before = replace(one, opening=opening)
        yield before


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
