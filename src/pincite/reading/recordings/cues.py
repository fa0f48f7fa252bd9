"""Cues, what was said from when to when, → times in order and paragraphs to read."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pincite.reading.writer import Run, Writer
from pincite.text.sentences import sentence_spans

_CODE = re.compile(
    r"(?:(?P<hours>\d{1,3}):(?=\d\d?:))?(?P<minutes>\d{1,3}):(?P<seconds>\d\d?)"
    r"(?:[.,](?P<fraction>\d{1,9}))?"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]{2,8});")
_SENTENCE_END = re.compile(r"""[.!?…。！？｡♪]["'”’»」』)\]]{0,3}$""")

_GOES_ON = re.compile(r"-[^\W\d_]")  # with the word before: "non", "-software"

_CHARACTERS_A_SECOND = 15.0  # of somebody who speaks
_SLOWEST = 2.0  # characters a second; who needs longer has stopped speaking
_BREATH = 3.0  # seconds by which even a short word may last
_SHORTEST_END = 1.0  # seconds of a last cue that does not say when it ends

_READABLE = 60.0  # seconds after which a paragraph ends with its sentence
_LONGEST = 120.0  # seconds after which it ends anyway
_SILENCE = 10.0  # seconds without a word that end a paragraph


@dataclass(frozen=True, slots=True)
class Cue:
    """What was said from `start` to `end`, in seconds; None where the file does not tell."""

    start: float | None
    end: float | None
    text: str
    speaker: str | None = None
    is_turn: bool = False  # somebody else speaks, though the file may not say who


def seconds(code: str) -> float | None:
    """The seconds of `1:02:03.5` or `62:03,500`; None where there is no such time."""
    found = _CODE.fullmatch(code.strip())
    if found is None:
        return None
    hours, minutes = int(found["hours"] or 0), int(found["minutes"])
    rest = int(found["seconds"])
    if rest >= 60 or (found["hours"] is not None and minutes >= 60):
        return None
    return round(hours * 3600 + minutes * 60 + rest + float(f"0.{found['fraction'] or 0}"), 3)


def unescaped(text: str) -> str:
    """The text with `&amp;` and the like as the characters they stand for."""
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def in_order(cues: Sequence[Cue]) -> list[Cue]:
    """The cues that say something, by time; each then has a start and an end.

    Cues that begin at one time stay as they stand in the file. A cue without a readable time is
    said after the one before it. One that somebody else speaks into is broken between sentences.
    """
    said = sorted(_with_starts(cues), key=_start)
    said = sorted(_with_breaks(said), key=_start)
    times = settled([(_start(cue), cue.end) for cue in said], [len(cue.text) for cue in said])
    return [
        replace(cue, start=start, end=end) for cue, (start, end) in zip(said, times, strict=True)
    ]


def settled(
    times: Sequence[tuple[float, float | None]], lengths: Sequence[int]
) -> list[tuple[float, float]]:
    """Ends for times in order of their starts: none before its start or after the next start.

    Captions stay on the screen while the next is already being said, so the next start has the
    last word. Where an end is missing or impossible, the length of the text limits it.
    """
    ended = []
    for at, ((start, end), length) in enumerate(zip(times, lengths, strict=True)):
        after = times[at + 1][0] if at + 1 < len(times) else None
        if after is not None and after < start:  # another recording begins
            after = None
        if end is None or end < start:
            spoken = max(length / _CHARACTERS_A_SECOND, _SHORTEST_END)
            end = start + (spoken if after is None else _BREATH + length / _SLOWEST)
        if after is not None:
            end = max(min(end, after), start)
        ended.append((round(start, 3), round(end, 3)))
    return ended


def write_cues(writer: Writer, cues: Sequence[Cue]) -> None:
    """Write the cues, which are in order, as paragraphs: `Speaker: words`, one for each turn."""
    for speaker, paragraph in _paragraphs(cues):
        runs = [Run(f"{speaker}: ")] if speaker else []
        for number, cue in enumerate(paragraph):
            is_apart = number and not _GOES_ON.match(cue.text)
            runs.extend([Run(" ")] if is_apart else [])
            runs.append(Run(cue.text, time_start=cue.start, time_end=cue.end))
        writer.paragraph(runs)


def _start(cue: Cue) -> float:
    return cue.start or 0.0


def _with_starts(cues: Sequence[Cue]) -> Iterator[Cue]:
    """The cues with words in them; one without a time begins where the one before it ends."""
    following = [cue.start for cue in cues]
    for at in reversed(range(len(cues) - 1)):
        if following[at] is None:
            following[at] = following[at + 1]
    began = reached = 0.0
    turns = False
    for each, known in zip(cues, following, strict=True):
        text = " ".join(each.text.split())
        turns = turns or each.is_turn  # a mark alone in its cue is for the next
        if not text:
            continue
        cue = replace(each, text=text, is_turn=turns)
        turns = False
        if cue.start is None:
            is_bound = known is not None and began <= known < reached
            yield replace(cue, start=known if is_bound else reached, end=None)
            continue
        began = start = max(cue.start, 0.0)
        reached = start if cue.end is None else max(cue.end, start)
        yield replace(cue, start=start)


def _with_breaks(cues: Sequence[Cue]) -> Iterator[Cue]:
    """The cues, those that another speaker's cue lies within as one cue for each sentence."""
    for at, cue in enumerate(cues):
        after = cues[at + 1] if at + 1 < len(cues) else cue
        is_broken_into = after.end is not None and cue.end is not None and after.end < cue.end
        if is_broken_into and after.speaker != cue.speaker:
            yield from _sentences(cue)
        else:
            yield cue


def _sentences(cue: Cue) -> Iterator[Cue]:
    start, end, length = cue.start or 0.0, cue.end or 0.0, len(cue.text)
    for first, after in sentence_spans(cue.text, 0, length):
        begins, ends = (start + (end - start) * at / length for at in (first, after))
        turn = cue.is_turn and first == 0
        yield replace(cue, start=begins, end=ends, text=cue.text[first:after], is_turn=turn)


def _paragraphs(cues: Sequence[Cue]) -> Iterator[tuple[str | None, list[Cue]]]:
    speaker: str | None = None
    paragraph: list[Cue] = []
    for cue in cues:
        changes = cue.speaker is not None and cue.speaker != speaker
        if paragraph and (changes or cue.is_turn or _is_full(paragraph, cue)):
            yield speaker, paragraph
            paragraph = []
        if changes or cue.is_turn:
            speaker = cue.speaker
        paragraph.append(cue)
    if paragraph:
        yield speaker, paragraph


def _is_full(paragraph: Sequence[Cue], following: Cue) -> bool:
    first, last = paragraph[0], paragraph[-1]
    lasted = _start(following) - _start(first)
    if _start(following) - (last.end or 0.0) > _SILENCE or lasted > _LONGEST:
        return True
    return lasted > _READABLE and _SENTENCE_END.search(last.text) is not None
