"""Time codes and frames in Markdown and plain text → the same text, with seconds.

The text stays as it is: its lines are the file's. The codes are left out of what is embedded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pincite.reading.lines.front_matter import FrontMatter, split_front_matter
from pincite.reading.recordings.cues import seconds, settled
from pincite.reading.recordings.time_codes import TIME, Code, codes_of_recordings, time_codes
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

_FRAME = re.compile(
    r"(?:(?:visual|video|key)[\s-]*)?(?:key)?frame(?:\s+\#?\d+(?=\s))?\s*(?:(?:at|@|[:–—-])\s*)?"
    rf"[\[(]?({TIME})\W*",
    re.IGNORECASE,
)
_TRANSCRIPT_NAME = re.compile(r"transcript|transcription|captions|subtitles", re.IGNORECASE)
_SPOKEN = (Modality.AUDIO_TRANSCRIPT, Modality.VIDEO_TRANSCRIPT)
_SAYS_AUDIO = re.compile(r"\b(?:audio[ -](?:only|recording)|podcast)\b", re.IGNORECASE)
_PREFACE = 500  # characters before the first code that may say what was recorded


@dataclass(frozen=True, slots=True)
class _Frame:
    start: int
    end: int
    time: float
    code: tuple[int, int]


def with_times(content: Content, file: SourceFile) -> Content:
    """The content with the times of what is said and seen, where it is about a recording."""
    frames = list(_frames(content))
    found = time_codes(content.text, _set_apart(content, frames))
    if not found and not frames:
        return content
    front = split_front_matter(content.text)
    named = front.modality in _SPOKEN or _TRANSCRIPT_NAME.search(file.path) is not None
    found = [code for code in found if code.start >= front.end]
    codes = codes_of_recordings(content.text, found, named=named)
    spoken = list(_spoken(content, codes, frames))
    if not spoken and not frames:
        return content
    seen = [Place(one.start, one.end, time_start=one.time, time_end=one.time) for one in frames]
    left_out = [(code.start, code.end) for code in codes] + [frame.code for frame in frames]
    return replace(
        content,
        places=tuple(sorted([*content.places, *spoken, *seen], key=lambda one: one.start)),
        omissions=_with_codes(content.omissions, left_out),
        modality=_modality(content, file, front, codes),
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


def _set_apart(content: Content, frames: Sequence[_Frame]) -> list[tuple[int, int]]:
    """Where a time is no time code: in frames, code and tables."""
    blocks = [one for one in content.blocks if one.kind in (BlockKind.CODE, BlockKind.TABLE)]
    return sorted(
        [(one.start, one.end) for one in frames] + [(one.start, one.end) for one in blocks]
    )


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


def _spoken(content: Content, codes: Sequence[Code], frames: Sequence[_Frame]) -> Iterator[Place]:
    """A place for what is said after each code, up to the next."""
    stretches = [
        trim(content.text, *_stretch(content, codes, frames, at)) for at in range(len(codes))
    ]
    times = settled(
        [(code.time, code.until) for code in codes],
        [max(end - start, 0) for start, end in stretches],
    )
    for (start, end), (begins, ends) in zip(stretches, times, strict=True):
        if start < end:
            yield Place(start, end, time_start=begins, time_end=ends)


def _stretch(
    content: Content, codes: Sequence[Code], frames: Sequence[_Frame], at: int
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


def _modality(
    content: Content, file: SourceFile, front: FrontMatter, codes: Sequence[Code]
) -> Modality:
    if not codes:
        return Modality.VIDEO_FRAME
    said = front.modality
    preface = content.text[front.end : codes[0].start][:_PREFACE]
    if said is None and _SAYS_AUDIO.search(preface):
        said = Modality.AUDIO_TRANSCRIPT
    return spoken_modality(file.path, said)
