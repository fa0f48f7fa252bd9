"""Subtitles (WebVTT, SubRip, YouTube's SBV) → a transcript with speakers and seconds.

Read as leniently as players do: cue numbers, blank lines and the header may be missing. What
stands between two time lines is the text of the first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pincite.errors import FileUnreadable
from pincite.reading.encoding import decode_filled
from pincite.reading.recordings.cues import Cue, seconds, unescaped
from pincite.reading.recordings.transcripts import recording_content
from pincite.reading.source_file import SourceFile
from pincite.records import Content

_LINE_END = re.compile(r"\r\n?|\n")
_ARROW = re.compile(r"\s*(-?[\d:.,]+)\s*-{1,3}>\s*(-?[\d:.,]+)(?:\s.*)?")
_COMMA = re.compile(r"\s*(\d+:\d\d?:\d\d?\.\d+),(\d+:\d\d?:\d\d?\.\d+)\s*")
_HEADER = re.compile(r"WEBVTT(?=\s|$)")
_LANGUAGE = re.compile(r"Language:\s*([\w-]{2,20})\s*$", re.IGNORECASE)
_TITLE = re.compile(r"\ufeff?WEBVTT\s+(?:[-–—:]\s*|(?![-–—:]))(\S.{0,199})")
_COMMENT = re.compile(r"(?:NOTE|STYLE|REGION)(?=\s|$)")

# Only what is a tag: a talk about Vec<String> keeps its words.
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+([^\s<>][^<>]{0,199})>")
_TAG = re.compile(
    r"</?(?:[cibus]|v|lang|ruby|rt|font)(?=[\s.>])[^<>]{0,200}>|<[\d:.]{5,15}>|\{\\[^{}]{0,200}\}",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\s*/?>|\\[Nn](?![a-z])", re.IGNORECASE)
_TURN = re.compile(r">>+\s*|[-–—]\s+")
_TIGHT_TURN = re.compile(r">>+\s*|[-–—]\s*(?=[^\W\d_])")
_LABEL = re.compile(r"\[?([^\W\d_][\w.'’ -]{0,39})\]?:\s+(?=\S)")

# Captions that roll repeat the line before in every cue; others hardly ever do.
_ROLLING_SHARE = 1 / 3
_FEWEST_ROLLING = 3
_LONGEST_OVERLAP = 100  # words


@dataclass(slots=True)
class _Raw:
    """A cue as it stands in the file."""

    start: float | None
    end: float | None
    lines: list[str] = field(default_factory=list)


def read(file: SourceFile) -> Content:
    """Read a file of subtitles; one without any time line is no such file."""
    lines = _LINE_END.split(decode_filled(file.data))
    is_vtt = _HEADER.match(lines[0]) is not None
    raw = _raw_cues(lines, is_vtt=is_vtt)
    if not raw and not is_vtt:
        raise FileUnreadable(
            "holds no time lines such as 00:00:01.000 --> 00:00:04.000; rename it to .txt if it "
            "is a plain text"
        )
    cues = [cue for one in raw for cue in _cues(one)]
    cues = _with_speakers(_without_repeats(cues))
    kind = "vtt" if is_vtt else file.suffix.removeprefix(".")
    if not is_vtt:
        return recording_content(kind, cues, file)
    title = _TITLE.fullmatch(lines[0])
    return recording_content(kind, cues, file, title=title and title[1], language=_language(lines))


def _raw_cues(lines: Sequence[str], *, is_vtt: bool) -> list[_Raw]:
    cues: list[_Raw] = []
    is_comment = False
    for at, line in enumerate(lines):
        is_first = at == 0 or not lines[at - 1].strip()
        if is_vtt and (is_comment or (is_first and _COMMENT.match(line))):
            is_comment = bool(line.strip())
            continue
        if found := _ARROW.fullmatch(line) or _COMMA.fullmatch(line):
            _drop_name(cues, lines, at, is_vtt=is_vtt)
            cues.append(_Raw(_seconds(found[1]), _seconds(found[2])))
        elif cues:
            cues[-1].lines.append(line)
    return cues


def _drop_name(cues: Sequence[_Raw], lines: Sequence[str], at: int, *, is_vtt: bool) -> None:
    """Take the cue's own number or name, right above its time line, off the cue before it."""
    if not cues or not cues[-1].lines or not cues[-1].lines[-1].strip():
        return
    stands_alone = at >= 2 and not lines[at - 2].strip()
    if lines[at - 1].strip().isdigit() or (is_vtt and stands_alone):
        cues[-1].lines.pop()


def _seconds(code: str) -> float | None:
    """As the file has it; a time before the beginning is the beginning."""
    return 0.0 if code.startswith("-") and seconds(code[1:]) is not None else seconds(code)


def _cues(raw: _Raw) -> Iterator[Cue]:
    """One cue for each speaker in it, who share its time by the length of what they say."""
    said = list(_said(raw.lines))
    whole = sum(len(cue.text) for cue in said)
    if raw.start is None or raw.end is None or raw.end < raw.start or not whole:
        yield from (replace(cue, start=raw.start, end=raw.end) for cue in said)
        return
    at = 0
    for cue in said:
        start, end = (
            raw.start + (raw.end - raw.start) * offset / whole
            for offset in (at, at + len(cue.text))
        )
        at += len(cue.text)
        yield replace(cue, start=start, end=end)


def _said(lines: Sequence[str]) -> Iterator[Cue]:
    """What each speaker says in a cue of these lines; times come later."""
    # "-ish" goes on with a word, but a dash before each of two lines means two speakers.
    dashes = sum(_TIGHT_TURN.match(_plain(line).lstrip()) is not None for line in lines)
    begins = _TIGHT_TURN if dashes > 1 else _TURN
    said: list[str] = []
    speaker: str | None = None
    turns = False
    for name, words in _voices(lines):
        text = _plain(words).strip()
        turn = begins.match(text)
        if turn or name != speaker:
            if said:
                yield Cue(None, None, " ".join(said), speaker, turns)
            said, speaker, turns = [], name, turn is not None
        said.append(text[turn.end() :] if turn else text)
    if said:
        yield Cue(None, None, " ".join(said), speaker, turns)


def _voices(lines: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """The stretches of the lines, each with the name in the last <v Name> before it."""
    name: str | None = None
    for line in lines:
        parts = _VOICE.split(_BREAK.sub(" ", line))
        for number, part in enumerate(parts):
            if number % 2:
                name = " ".join(_plain(part).split()) or None
            elif part.strip():
                yield name, part


def _plain(text: str) -> str:
    return unescaped(_TAG.sub("", text))


def _without_repeats(cues: Sequence[Cue]) -> list[Cue]:
    """The cues, less the words that each repeats of the one before, where captions roll."""
    words = [cue.text.split() for cue in cues]
    repeated = [
        _overlap(words[at - 1], words[at]) if at and cue.speaker == cues[at - 1].speaker else 0
        for at, cue in enumerate(cues)
    ]
    rolling = sum(
        count > 1 or (count == 1 and len(words[at - 1]) == 1) for at, count in enumerate(repeated)
    )
    if rolling < max(_FEWEST_ROLLING, _ROLLING_SHARE * len(cues)):
        return list(cues)
    return [
        replace(cue, text=" ".join(words[at][count:]))
        for at, (cue, count) in enumerate(zip(cues, repeated, strict=True))
    ]


def _overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """How many of the last words of the one are the first of the other."""
    counts = range(min(len(before), len(after), _LONGEST_OVERLAP), 0, -1)
    shared = (one for one in counts if before[-one] == after[0] and before[-one:] == after[:one])
    return next(shared, 0)


def _with_speakers(cues: Sequence[Cue]) -> list[Cue]:
    """Names before a colon as speakers; `Remember: …` once is no speaker, a name comes again.

    Where most cues have one, the same name again is the same turn; else each begins a turn.
    """
    labels = [None if cue.speaker else _LABEL.match(cue.text) for cue in cues]
    counts = Counter(label[1] for label in labels if label)
    is_usual = 2 * counts.total() > len(cues)
    return [
        replace(
            cue, speaker=label[1], text=cue.text[label.end() :], is_turn=cue.is_turn or not is_usual
        )
        if label and counts[label[1]] > 1
        else cue
        for cue, label in zip(cues, labels, strict=True)
    ]


def _language(lines: Sequence[str]) -> str | None:
    for line in lines[1:20]:
        if "-->" in line:
            break
        if found := _LANGUAGE.match(line):
            return found[1]
    return None
