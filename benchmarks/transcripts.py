"""How transcripts are read and cut: nothing lost, times in order, windows of about a minute.

    python benchmarks/transcripts.py FOLDER-OR-FILE...

Takes .vtt and .srt files as they are. From a `*.jsonl.gz` with one talk a line, {"segments":
[{"start", "end", "speaker", "text"}]}, it makes a VTT, an SRT and two Markdown transcripts of
each talk in memory.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from pincite.chunking.pieces import Measure
from pincite.chunking.transcript import recording_spans, times_of
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import read_here
from pincite.reading.sniff import kind_of
from pincite.reading.source_file import SourceFile
from pincite.records import Document, document_from
from pincite.settings import POLICIES

TIMING = re.compile(r"(\d+:)?(\d+):(\d+)[.,](\d+) --> .*")
WORD = re.compile(r"\w+")
ENDS = (".", "!", "?", "…", '"', "”", "'", "’", ")", "]", "`", "*")


@dataclass(frozen=True)
class Segment:
    """What the source says was said, and when."""

    start: float
    end: float
    speaker: str
    text: str


@dataclass
class Figures:
    """What came of one set in one form."""

    talks: int = 0
    segments: int = 0
    parsed: int = 0
    words_differ: int = 0  # talks whose words are not those of the source, or not those of chunks
    backwards: int = 0  # chunks that begin or end before the one before
    lengths: list[float] = field(default_factory=list)
    inside: int = 0  # cuts inside a sentence
    cuts: int = 0
    most_tokens: int = 0


def clock(seconds: float, mark: str) -> str:
    """HH:MM:SS with milliseconds after the mark."""
    whole, rest = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{mark}{rest:03}"


def as_vtt(segments: Sequence[Segment]) -> str:
    """The talk as WebVTT with voices."""
    cues = []
    for one in segments:
        text = one.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        times = f"{clock(one.start, '.')} --> {clock(one.end, '.')}"
        cues.append(f"{times}\n<v {one.speaker or 'Somebody'}>{text}</v>")
    return "\n\n".join(["WEBVTT", *cues]) + "\n"


def as_srt(segments: Sequence[Segment]) -> str:
    """The talk as SubRip, without speakers."""
    return "\n".join(
        f"{number}\n{clock(one.start, ',')} --> {clock(one.end, ',')}\n{one.text}\n"
        for number, one in enumerate(segments, start=1)
    )


def as_markdown(segments: Sequence[Segment]) -> str:
    """The talk as people write it down."""
    return "\n\n".join(
        f"[{clock(one.start, '.')[:8]}] {one.speaker or 'Somebody'}: {one.text}" for one in segments
    )


def as_turns(segments: Sequence[Segment]) -> str:
    """The talk with speaker and time on a line of their own above the words."""
    return "\n\n".join(
        f"{one.speaker or 'Somebody'}: {clock(one.start, '.')[:8]}\n\n{one.text}"
        for one in segments
    )


FORMS = {"vtt": as_vtt, "srt": as_srt, "md": as_markdown, "turns.md": as_turns}


def segments_of_subtitles(text: str) -> list[Segment]:
    """The cues of a clean subtitle file, parsed in the simplest way that can work."""
    segments = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in block.split("\n") if line.strip()]
        at = next((at for at, line in enumerate(lines) if TIMING.fullmatch(line)), None)
        if at is not None and WORD.search(" ".join(lines[at + 1 :])):
            hours, minutes, seconds, rest = TIMING.fullmatch(lines[at]).groups()  # type: ignore[union-attr]
            start = int((hours or "0:")[:-1]) * 3600 + int(minutes) * 60 + int(seconds)
            segments.append(Segment(start + int(rest) / 1000, 0, "", " ".join(lines[at + 1 :])))
    return segments


def sources(paths: Sequence[Path]) -> Iterator[tuple[str, str, str, list[Segment]]]:
    """Set and form, file name, text, and the segments that must come out."""
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.name.endswith(".jsonl.gz"):
                yield from talks(file)
            elif file.suffix in (".vtt", ".srt"):
                text = file.read_text(encoding="utf-8-sig")
                name = f"{file.parent.parent.name} {file.suffix[1:]}"
                yield name, file.name, text, segments_of_subtitles(text)


def talks(file: Path) -> Iterator[tuple[str, str, str, list[Segment]]]:
    """Every talk of the file in every form."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            talk = json.loads(line)
            segments = [
                Segment(one["start"], one["end"], one["speaker"] or "", one["text"])
                for one in talk["segments"]
            ]
            for form, written in FORMS.items():
                yield f"{file.parent.name} {form}", f"talk.{form}", written(segments), segments


def measure(figures: Figures, name: str, text: str, segments: Sequence[Segment]) -> None:
    """Read and cut one talk, and add what came of it."""
    data = text.encode()
    content = read_here(kind_of(name, data).module, SourceFile(name, data))
    document = document_from(content, library="bench", path=name, data=data)
    counter = Measure(document.text, HashingEmbedder())
    spans = recording_spans(document, counter, POLICIES["vault"])
    figures.talks += 1
    figures.segments += len(segments)
    figures.parsed += parsed(document, segments)
    said = [word for one in segments for word in WORD.findall(one.text)]
    cut = [word for start, end, _ in spans for word in WORD.findall(document.text[start:end])]
    is_lossless = cut == WORD.findall(document.text) and said == spoken_words(document, name)
    figures.words_differ += not is_lossless
    times = [found for start, end, _ in spans if (found := times_of(document.places, start, end))]
    figures.backwards += sum(b[0] < a[0] or b[1] < a[1] for a, b in pairwise(times))
    figures.lengths += [end - start for start, end in times]
    figures.cuts += len(spans) - 1
    figures.inside += sum(not document.text[:end].endswith(ENDS) for _, end, _ in spans[:-1])
    figures.most_tokens = max(
        figures.most_tokens, *(counter.tokens(start, end) for start, end, _ in spans)
    )


def spoken_words(document: Document, name: str) -> list[str]:
    """The words of the document's places, without the speakers that Markdown has in them."""
    words = []
    for place in document.places:
        text = document.text[place.start : place.end]
        words.extend(WORD.findall(text.partition(": ")[2] if name == "talk.md" else text))
    return words


def parsed(document: Document, segments: Sequence[Segment]) -> int:
    """How many segments have a place with their time and their words."""
    found = {
        (place.time_start, *WORD.findall(document.text[place.start : place.end]))
        for place in document.places
    }
    return sum(
        (round(float(one.start), 3), *WORD.findall(text)) in found
        for one in segments
        for text in {one.text, f"{one.speaker or 'Somebody'}: {one.text}"}
    )


def main() -> None:
    """Print one line for each set and form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+")
    sets: dict[str, Figures] = {}
    for kind, name, text, segments in sources(parser.parse_args().paths):
        measure(sets.setdefault(kind, Figures()), name, text, segments)
    print(
        f"{'set':<25} {'talks':>5} {'segments':>8} {'parsed':>7} {'words off':>9} {'back':>5} "
        f"{'windows':>7} {'45-75 s':>7} {'median':>6} {'in sentence':>11} {'tokens':>6}"
    )
    for kind, one in sets.items():
        share = sum(45 <= length <= 75 for length in one.lengths) / len(one.lengths)
        print(
            f"{kind:<25} {one.talks:>5} {one.segments:>8} {one.parsed / one.segments:>7.1%} "
            f"{one.words_differ:>9} {one.backwards:>5} {len(one.lengths):>7} {share:>7.1%} "
            f"{statistics.median(one.lengths):>6.1f} {one.inside / max(one.cuts, 1):>11.1%} "
            f"{one.most_tokens:>6}"
        )


if __name__ == "__main__":
    main()
