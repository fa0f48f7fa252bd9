"""A recording → chunks of about a minute or of a size, cut where a speaker or a sentence ends.

The same shortest path as in cut.py, but along the clock: every window costs something for not
lasting a minute and for the kind of cut it begins with. What has no time, such as the words above
a transcript, counts with the time it would take to say it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import inf
from operator import attrgetter

from pincite.chunking.cut import cut
from pincite.chunking.frames import frame_spans
from pincite.chunking.measure import Measure
from pincite.chunking.pieces import Boundary, Piece
from pincite.chunking.sections import overlap_start
from pincite.chunking.utterances import Opening, Utterance, times_of, utterances
from pincite.records import BlockKind, Document, Modality
from pincite.settings import ChunkPolicy

__all__ = ["recording_spans", "times_of", "transcript_spans"]

Span = tuple[int, int]

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
    Opening.HEADING: Boundary.HEADING,
    Opening.TURN: Boundary.HEADING,
    Opening.PARAGRAPH: Boundary.BLOCK,
    Opening.SENTENCE: Boundary.SENTENCE,
    Opening.CUE: Boundary.INSIDE,
    Opening.WORD: Boundary.INSIDE,
    Opening.UNDER_HEADING: Boundary.UNDER_HEADING,
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
    best = [0.0]
    came_from = [0]
    for end in range(1, len(said) + 1):
        ways: list[tuple[float, int]] = []
        for start in range(end - 1, max(end - 1 - _MOST, -1), -1):
            seconds = clock[end - 1][1] - clock[start][0]
            if ways and (seconds > _LONGEST or tokens[end] - tokens[start] > maximum):
                break
            cost = _length_cost(seconds, is_last=end == len(said))
            ways.append((best[start] + openings[start] + cost, start))
        cost, start = min(ways)
        best.append(cost)
        came_from.append(start)
    windows = []
    end = len(said)
    while end > 0:
        windows.append((came_from[end], end))
        end = came_from[end]
    return windows[::-1]


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


def _length_cost(seconds: float, *, is_last: bool) -> float:
    off = abs(seconds - _MINUTE) / _BAND
    if off <= 1:
        return _IN_BAND * off**2
    if not is_last or seconds > _MINUTE + _BAND + _SHORTEST_TAIL:
        return _OUT_OF_BAND * off
    if seconds > _MINUTE:
        return _LONG_END
    return _IN_BAND if seconds >= _SHORTEST_TAIL else _CRUMB
