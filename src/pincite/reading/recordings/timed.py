"""Time codes and frames in Markdown and plain text → the same text, with seconds.

The text stays as it is: its lines are the file's. The codes are left out of what is embedded.

Many a text has times in it: a diary, a timetable, a list of chapters, verses of the Bible. What
tells a transcript from them is that its times begin at the beginning, go on, and that about as
much stands between them as somebody can say in that time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from pincite.reading.lines.front_matter import split_front_matter
from pincite.reading.recordings.cues import seconds, settled
from pincite.reading.recordings.transcripts import recording_of, spoken_modality
from pincite.reading.source_file import SourceFile
from pincite.records import (
    BlockKind,
    Content,
    Modality,
    Omission,
    OmissionReason,
    Place,
    Section,
)
from pincite.text.sentences import trim

_TIME = r"\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?(?!:?\d)"
_RANGE = rf"(?P<from>{_TIME})(?:[ \t]{{0,3}}(?:-{{1,3}}>?|[–—→]|to)[ \t]{{0,3}}(?P<to>{_TIME}))?"
_MARK = r"[*_`]{0,3}"
_BRACKETED = rf"{_MARK}[\[(<]{_MARK}{_RANGE}{_MARK}[\])>](?:\([^()\s]{{0,300}}\))?{_MARK}"
_BARE = rf"{_MARK}{_RANGE}{_MARK}(?=[\s:|,;–—-]|$)"
_BULLET = r"[ \t]{0,8}(?:(?:[-*+>•]|#{1,6}|\d{1,9}[.)])[ \t]{1,8})?"
_WORD = r"(?=\w{0,20}[^\W\d_])\w"  # the first letter of a name: 0xB10C has one, 12:30 has none
_NAME = rf"{_MARK}{_WORD}[^\[(<|:]{{0,59}}:?{_MARK}[ \t]{{0,4}}"
_OPENINGS = tuple(
    re.compile(rf"{_BULLET}(?P<name>{name})(?P<code>{code})")
    for name, code in (
        ("", _BRACKETED),
        ("", _BARE),
        (_NAME, _BRACKETED),
        (rf"{_MARK}\[[^\W\d_][^\[\]:]{{0,40}}\]{_MARK}:?[ \t]{{1,4}}", _BRACKETED),
        (rf"{_MARK}\[[^\W\d_][^\[\]:]{{0,40}}\]{_MARK}:?[ \t]{{1,4}}", _BARE),
        # A name and a bare code only where nothing else stands in the line.
        (rf"{_MARK}{_WORD}[^|:]{{0,59}}?[:,–—-]?{_MARK}[ \t]{{1,4}}", rf"{_BARE}(?=:?[ \t]*$)"),
    )
)
# `[0.0-9.5]`, `[12.5]`, `[0.00s -> 9.50s]`: much else stands in brackets, too; see `_are_seconds`.
_PLAIN = r"\d{1,5}(?:\.\d{1,3})?"
_PLAIN_RANGE = (
    rf"(?P<from>{_PLAIN})s?(?:[ \t]{{0,3}}(?:-{{1,3}}>?|[–—→])[ \t]{{0,3}}(?P<to>{_PLAIN})s?)?"
)
_PLAIN_OPENINGS = tuple(
    re.compile(rf"{_BULLET}(?P<name>{name})(?P<code>{_MARK}\[{_PLAIN_RANGE}\]{_MARK})")
    for name in ("", _NAME)
)
_LINE = re.compile(r"[^\r\n]+")
_ANY = re.compile(r"\d:\d\d")
_ANY_PLAIN = re.compile(r"\[\d")
_FURTHEST = 150  # characters into a line that an opening may reach
_INLINE = re.compile(r"\[(?P<from>\d{1,3}:\d\d:\d\d(?:[.,]\d{1,3})?)\]")
_MOST_WORDS = 6  # of a name
_NO_NAME = re.compile(r"[?!;,]")
_BLANKS = re.compile(r"[ \t]*")

_FEWEST = 3
_FEWEST_NAMED = 2
_IN_ORDER = 0.9  # of the codes
_LATEST_START = 180.0  # seconds
_SLOWEST, _FASTEST = 3.0, 50.0  # characters a second; people say about 15, of Chinese 5
_SLOWEST_NAMED, _FASTEST_NAMED = 0.6, 100.0
_SLOWEST_INLINE = 6.0
_LEAST_SHARE = 0.3  # of the text
_RESTART = 0.1  # of the time reached before: whoever goes back so far begins another recording
_SHORTEST_RECORDING = 60.0
_FRAME = re.compile(
    r"(?:(?:visual|video|key)[\s-]*)?(?:key)?frame(?:\s+\#?\d+(?=\s))?\s*(?:(?:at|@|[:–—-])\s*)?"
    rf"[\[(]?({_TIME})\W*",
    re.IGNORECASE,
)
_TRANSCRIPT_NAME = re.compile(r"transcript|transcription|captions|subtitles", re.IGNORECASE)
_SPOKEN = (Modality.AUDIO_TRANSCRIPT, Modality.VIDEO_TRANSCRIPT)
_SAYS_AUDIO = re.compile(r"\b(?:audio[ -](?:only|recording)|podcast)\b", re.IGNORECASE)
_PREFACE = 500  # characters before the first code that may say what was recorded


@dataclass(frozen=True, slots=True)
class _Code:
    """A time code with the blanks and marks that belong to it."""

    start: int
    end: int
    opening: int  # where its line begins, perhaps with a name; its own start where it is inline
    time: float
    until: float | None = None
    is_inline: bool = False  # amidst the words of a line
    is_plain: bool = False  # a number of seconds


@dataclass(frozen=True, slots=True)
class _Frame:
    start: int
    end: int
    time: float
    code: tuple[int, int]


def with_times(content: Content, file: SourceFile) -> Content:
    """The content with the times of what is said and seen, where it is about a recording."""
    frames = list(_frames(content))
    # Where a time is no time code: in frames, code and tables.
    kinds = (BlockKind.CODE, BlockKind.TABLE)
    blocks = [(one.start, one.end) for one in content.blocks if one.kind in kinds]
    found = _time_codes(content.text, sorted([*blocks, *((one.start, one.end) for one in frames)]))
    if not found and not frames:
        return content
    front = split_front_matter(content.text)
    named = front.modality in _SPOKEN or _TRANSCRIPT_NAME.search(file.path) is not None
    found = [code for code in found if code.start >= front.end]
    # Those that are times of a recording, in order; less is asked of a text `named` a transcript. A
    # text may hold more than one recording, and a list of chapters besides.
    codes: list[_Code] = []
    for part in _between_restarts(found):
        rising = _longest_rise(part)
        if len(rising) >= _IN_ORDER * len(part) and _is_spoken(content.text, rising, named=named):
            codes.extend(rising)
    # A place for what is said after each code, up to the next.
    spoken: list[Place] = []
    stretches = [
        trim(content.text, *_stretch(content, codes, frames, at)) for at in range(len(codes))
    ]
    times = settled(
        [(code.time, code.until) for code in codes],
        [max(end - start, 0) for start, end in stretches],
    )
    for (start, end), (begins, ends) in zip(stretches, times, strict=True):
        if start < end:
            spoken.append(Place(start, end, time_start=begins, time_end=ends))
    if not spoken and not frames:
        return content
    seen = [Place(one.start, one.end, time_start=one.time, time_end=one.time) for one in frames]
    left_out = [(code.start, code.end) for code in codes] + [frame.code for frame in frames]
    if not codes:
        modality = Modality.VIDEO_FRAME
    else:
        said = front.modality
        preface = content.text[front.end : codes[0].start][:_PREFACE]
        if said is None and _SAYS_AUDIO.search(preface):
            said = Modality.AUDIO_TRANSCRIPT
        modality = spoken_modality(file.path, said)
    return replace(
        content,
        places=tuple(sorted([*content.places, *spoken, *seen], key=lambda one: one.start)),
        omissions=_with_codes(content.omissions, left_out),
        modality=modality,
        metadata=replace(
            content.metadata,
            duration=max((one.time_end or 0.0 for one in spoken), default=None),
            recording=recording_of(front, file.path),
        ),
    )


def _frames(content: Content) -> Iterator[_Frame]:
    """The sections under headings such as `Frame at 00:01:30`, with the sections inside them."""
    sections = content.sections
    for at, section in enumerate(sections):
        found = _FRAME.fullmatch(section.heading_path[-1]) if _has_heading(section) else None
        time = seconds(found[1]) if found else None
        if found is None or time is None:
            continue
        code = content.text.find(found[1], section.start, section.end)
        if code >= 0:
            _, end = trim(content.text, section.start, _end_of_frame(sections, at))
            yield _Frame(section.start, end, time, (code, code + len(found[1])))


def _has_heading(section: Section) -> bool:
    return section.level > 0 and bool(section.heading_path)


def _end_of_frame(sections: Sequence[Section], at: int) -> int:
    """Where the next section begins that is not inside this one, or is a frame itself."""
    for later in range(at + 1, len(sections)):
        section = sections[later]
        is_frame = _has_heading(section) and _FRAME.fullmatch(section.heading_path[-1])
        if section.level <= sections[at].level or is_frame:
            return section.start
    return sections[-1].end


def _stretch(
    content: Content, codes: Sequence[_Code], frames: Sequence[_Frame], at: int
) -> tuple[int, int]:
    """What follows a code: up to the next one and to the headings above that, or to a frame."""
    start = codes[at].end
    blocks = content.blocks
    if at + 1 < len(codes):
        end = codes[at + 1].opening
        before = bisect_left(blocks, end, key=lambda block: block.start) - 1
        while (
            before >= 0
            and blocks[before].kind is BlockKind.HEADING
            and blocks[before].start >= start
        ):
            end = blocks[before].start
            before -= 1
    else:
        after = bisect_left(blocks, start, key=lambda block: block.start)
        headings = (one.start for one in blocks[after:] if one.kind is BlockKind.HEADING)
        end = next(headings, len(content.text))
    frame = bisect_left(frames, start, key=lambda one: one.start)
    return start, min(end, frames[frame].start) if frame < len(frames) else end


def _with_codes(
    omissions: Sequence[Omission], codes: Sequence[tuple[int, int]]
) -> tuple[Omission, ...]:
    """All of them in order; a code gives way to what was left out before."""
    merged = [Omission(start, end, OmissionReason.TIME_CODE) for start, end in codes]
    kept: list[Omission] = []
    for one in sorted([*omissions, *merged], key=lambda one: (one.start, one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


def _time_codes(text: str, apart: Sequence[tuple[int, int]]) -> list[_Code]:
    """Everything that looks like a time code, in order; none in the stretches set apart."""
    openings = list(_opened(text, _ANY, _OPENINGS))
    starts = [code.start for code in openings]
    inline = []
    for found in _INLINE.finditer(text):
        before = bisect_right(starts, found.start()) - 1
        time = seconds(found["from"])
        if time is not None and (before < 0 or openings[before].end <= found.start()):
            end = _after_blanks(text, found.end())
            inline.append(_Code(found.start(), end, found.start(), time, is_inline=True))
    codes = sorted([*openings, *inline], key=lambda code: code.start)
    return list(_outside(codes or _opened(text, _ANY_PLAIN, _PLAIN_OPENINGS), apart))


def _opened(
    text: str, hint: re.Pattern[str], openings: Sequence[re.Pattern[str]]
) -> Iterator[_Code]:
    """The codes that lines begin with."""
    is_plain = openings is _PLAIN_OPENINGS
    read = float if is_plain else seconds
    for line in _LINE.finditer(text):
        start, end = line.span()
        if not hint.search(text, start, min(end, start + _FURTHEST)):
            continue
        for found in (pattern.match(text, start, end) for pattern in openings):
            time = read(found["from"]) if found else None
            if found is None or time is None:
                continue
            name, (first, after) = found["name"], found.span("code")
            if len(name.split()) > _MOST_WORDS or _NO_NAME.search(name):
                continue
            if name.strip() and text[after : after + 1] == ":":
                first -= len(name) - len(name.rstrip(" \t"))  # `Name [0:05]: words` → `Name: words`
            else:
                after = _after_blanks(text, after + (text[after : after + 1] == ":"))
            until = read(found["to"]) if found["to"] else None
            yield _Code(first, after, start, time, until, is_plain=is_plain)
            break


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _outside(codes: Iterable[_Code], apart: Sequence[tuple[int, int]]) -> Iterator[_Code]:
    """The codes that are in none of the stretches; both are in order."""
    ahead = iter(apart)
    start, end = next(ahead, (0, 0))
    for code in codes:
        while end <= code.start and (following := next(ahead, None)) is not None:
            start, end = following
        if not start <= code.start < end:
            yield code


def _between_restarts(codes: Sequence[_Code]) -> Iterator[Sequence[_Code]]:
    first = 0
    reached = 0.0
    for at, code in enumerate(codes):
        after = codes[at + 1].time if at + 1 < len(codes) else reached
        goes_back = max(code.time, after) < reached - _SHORTEST_RECORDING
        if goes_back and code.time <= _RESTART * reached:
            yield codes[first:at]
            first, reached = at, 0.0
        reached = max(reached, code.time)
    yield codes[first:]


def _longest_rise(codes: Sequence[_Code]) -> list[_Code]:
    """The most codes whose times never go back; what does not fit among them is a slip."""
    lowest: list[float] = []  # the last time of the best rise of each length
    ends: list[int] = []
    came_from: list[int] = []
    for at, code in enumerate(codes):
        length = bisect_right(lowest, code.time)
        came_from.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [code.time]
        ends[length : length + 1] = [at]
    rise = []
    at = ends[-1] if ends else -1
    while at >= 0:
        rise.append(codes[at])
        at = came_from[at]
    return rise[::-1]


def _is_spoken(text: str, codes: Sequence[_Code], *, named: bool) -> bool:
    if len({code.time for code in codes}) < (_FEWEST_NAMED if named else _FEWEST):
        return False
    if codes[0].is_plain and not _are_seconds(text, codes, named=named):
        return False
    rate = median(
        (after.start - before.start) / max(after.time - before.time, 1.0)
        for before, after in pairwise(codes)
    )
    if named:
        return _SLOWEST_NAMED <= rate <= _FASTEST_NAMED
    # What follows the last code is taken to be as long as what follows the others.
    length = (codes[-1].start - codes[0].start) * len(codes) / (len(codes) - 1)
    is_inline = 2 * sum(code.is_inline for code in codes) > len(codes)
    return (
        codes[0].time <= _LATEST_START
        and length >= _LEAST_SHARE * len(text)
        and (_SLOWEST_INLINE if is_inline else _SLOWEST) <= rate <= _FASTEST
    )


def _are_seconds(text: str, codes: Sequence[_Code], *, named: bool) -> bool:
    """Whether numbers in brackets are seconds, not footnotes, pages or numbers of sections.

    Most lines have one. Most have a fraction, or else go from 0 to the next; all together, they
    take as long as somebody needs to say what stands between them.
    """
    lines = sum(1 for line in _LINE.finditer(text, codes[0].opening) if not line[0].isspace())
    with_fraction = sum("." in text[code.start : code.end] for code in codes)
    is_range = codes[0].time == 0 and all(code.until is not None for code in codes)
    lasts = codes[-1].time - codes[0].time
    return (
        2 * len(codes) >= lines
        and (is_range or 2 * with_fraction > len(codes) or (named and lasts > 2 * len(codes)))
        and lasts * _FASTEST >= codes[-1].start - codes[0].start
    )
