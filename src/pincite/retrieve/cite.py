"""A citation → the cited lines of the document, as the index holds them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pincite.errors import CitationNotFound
from pincite.ports import Store
from pincite.records import (
    CitedPlace,
    Document,
    DocumentEntry,
    Filters,
    Locator,
    Place,
    Said,
    cited_file,
    locate,
    overlapping,
    where,
)
from pincite.records.citation import MADE_OF_LINES
from pincite.text.lines import LineIndex
from pincite.text.times import CLOCK, clock_range, seconds_of

Unit = Literal["line", "page", "row", "time"]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a citation may mean: a document, or a part of it counted in some unit."""

    path: str
    unit: Unit = "line"
    first: float | None = None
    last: float | None = None
    headings: str = ""  # as printed; rows and times may be counted anew under each


_CHUNK_ID = re.compile(r"[0-9a-f]{8,40}")
_RANGE = r"(?P<first>\d{1,9})(?:[-–]{mark}?(?P<last>\d{1,9}))?"
_TIMES = rf"(?P<first>{CLOCK})(?:[-–](?P<last>{CLOCK}))?"
# What a person or a program writes behind a path.
_SHORT: tuple[tuple[Unit, re.Pattern[str]], ...] = (
    # notes/a.md:12, :12-20, :12:5 (line and column), #L12-L20
    ("line", re.compile(rf"(?P<path>.+?)(?::|#L){_RANGE.replace('{mark}', 'L')}(?::\d{{1,9}})?")),
    # report.pdf:p3, :p3-4, #page=3
    ("page", re.compile(rf"(?P<path>.+?)(?::p|#page=){_RANGE.replace('{mark}', 'p')}")),
    # talk.vtt@00:01:05, @1:05-1:20, #t=65,80
    ("time", re.compile(rf"(?P<path>.+?)@{_TIMES}")),
    ("time", re.compile(r"(?P<path>.+?)#t=(?P<first>\d{1,9})(?:,(?P<last>\d{1,9}))?")),
)
# What `pincite search` prints in brackets at the end of its line.
_NUMBER = re.compile(r"\[\d{1,4}\] ")
_PRINTED: tuple[tuple[Unit, re.Pattern[str]], ...] = (
    ("line", re.compile(rf" \([^()]*?lines? {_RANGE.replace('{mark}', '')}(?: of its text)?\)$")),
    ("page", re.compile(rf" \((?:page|slide|cell|sheet)s? {_RANGE.replace('{mark}', '')}\)$")),
    ("row", re.compile(rf" \(rows? {_RANGE.replace('{mark}', '')}\)$")),
    ("time", re.compile(rf" \({_TIMES}\)$")),
)
_QUOTED = re.compile(r"“(?P<words>.+)”(?: \((?P<at>[^()]+)\))?")
_LIKELY = 20  # chunks in which a quote is looked for
_HOW = (
    "a citation is a path with lines (notes/a.md:12-20), a page (report.pdf:p3) or a time "
    "(talk.vtt@00:01:05), a chunk id of at least 8 characters, or a line that `pincite search` or "
    "`pincite ask` printed"
)


def find_place(
    store: Store, citation: str, *, around: int, root: Path, seen_from: Path
) -> CitedPlace:
    """The place a citation names, with so many lines around it.

    Paths are tried as they stand in the library, then as seen from a folder inside it; the end of
    a path is enough where no other file has it.
    """
    pasted = [line.strip() for line in citation.splitlines()]
    if _CHUNK_ID.fullmatch(citation.strip()):
        return _by_chunk_id(store, citation.strip(), around)
    documents = store.documents()
    # A scan is cited by its own path; what was recognised in it is the document.
    entries = {entry.metadata.source: entry for entry in documents if entry.metadata.source}
    entries.update((entry.path, entry) for entry in documents)
    for reading in (one for line in pasted for one in _readings(line, entries)):
        path = _named(reading.path, entries, root, seen_from)
        if path is not None and (document := store.load_document(entries[path].id)):
            return _place(document, _locator(document, reading), around=around)
    for quoted in filter(None, map(_QUOTED.search, pasted)):
        if place := _by_quote(store, quoted["words"], quoted["at"], around):
            return place
    raise CitationNotFound(f"the index holds nothing at {citation!r}; {_HOW}")


def _readings(wanted: str, paths: Iterable[str]) -> Iterator[_Reading]:
    """What a citation may mean, the plainest first."""
    yield _Reading(wanted)
    for unit, pattern in _SHORT:
        if match := pattern.fullmatch(wanted):
            yield _Reading(match["path"], unit, *_ends(match))
    printed = _NUMBER.sub("", wanted, count=1)
    for unit, pattern in _PRINTED:
        if match := pattern.search(printed):
            place = printed[: match.start()]
            # A path may itself hold the dash that stands before the headings.
            for path in sorted(paths, key=len, reverse=True):
                if place == path or place.startswith(f"{path} — "):
                    headings = place.removeprefix(path).removeprefix(" — ")
                    yield _Reading(path, unit, *_ends(match), headings)
    yield from (_Reading(path) for path in paths if printed.startswith(f"{path} — "))


def _ends(match: re.Match[str]) -> tuple[float, float]:
    first, last = (
        seconds_of(part) if ":" in part else int(part)
        for part in (match["first"], match["last"] or match["first"])
    )
    # CLOCK lets nothing through that is no time.
    return first or 0, last or 0


def _named(path: str, entries: Mapping[str, DocumentEntry], root: Path, seen: Path) -> str | None:
    """The path in the library that is meant: by itself, as seen from a folder, or by its end."""
    full = Path(os.path.normpath(seen / path))
    inside = full.relative_to(root).as_posix() if full.is_relative_to(root) else path
    ends = sorted(one for one in entries if path and one.endswith(f"/{path}"))
    for one in (path, inside):
        if one in entries:
            return one
    if len(ends) > 1:
        raise CitationNotFound(
            f"several files are called {path!r}; give more of the path: {', '.join(ends)}"
        )
    return ends[0] if ends else None


def _locator(document: Document, reading: _Reading) -> Locator:
    lines = LineIndex(document.text)
    if reading.unit == "line":
        first = 1 if reading.first is None else int(reading.first)
        last = lines.count if reading.last is None else int(reading.last)
        if not 1 <= first <= last or first > lines.count:
            has = f"has lines 1 to {lines.count}"
            raise CitationNotFound(f"{document.path} {has}, not {first} to {last}")
        return _located(document, lines, first, min(last, lines.count))
    held = _held(document, reading)
    if not held:
        raise CitationNotFound(f"{document.path} has nothing at {_in_words(reading)}")
    start, end = held[0].start, held[-1].end
    first, last = lines.lines_of(start, end)
    if reading.unit == "time":
        return locate(held, start, end, line_start=first, line_end=last)
    return _located(document, lines, first, last)


def _held(document: Document, reading: _Reading) -> list[Place]:
    """The places a reading means: under its headings, else the first stretch that fits."""
    holds = _holds(reading)
    for section in document.sections:
        if reading.headings and " > ".join(section.heading_path) == reading.headings:
            inside = overlapping(document.places, section.start, section.end)
            if held := list(filter(holds, inside)):
                return held
    held = list(filter(holds, document.places))
    if reading.unit == "row":  # of the first sheet that has them
        return [place for place in held if place.page == held[0].page]
    if reading.unit == "time" and not held:  # nobody speaks: what was said before and after
        timed = [place for place in document.places if place.time_start is not None]
        spoken = sum((place.time_start or 0) <= (reading.first or 0) for place in timed)
        return timed[max(spoken - 1, 0) : spoken + 1] if spoken < len(timed) else []
    return held


def _holds(reading: _Reading) -> Callable[[Place], bool]:
    """Whether a place lies between the two ends."""
    low, high = reading.first or 0, reading.last or 0

    def holds(place: Place) -> bool:
        match reading.unit:
            case "page":
                return place.page is not None and low <= place.page <= high
            case "row":
                return place.row is not None and low <= place.row <= high
            case _:
                if place.time_start is None:
                    return False
                end = place.time_end if place.time_end is not None else place.time_start
                # Times are printed in whole seconds.
                return int(place.time_start) <= high and (end > low or place.time_start >= low)

    return holds


def _in_words(reading: _Reading) -> str:
    low, high = reading.first or 0, reading.last or 0
    if reading.unit == "time":
        return f"time {clock_range(low, high)}"
    return f"{reading.unit} {'–'.join(dict.fromkeys((f'{low:g}', f'{high:g}')))}"


def _by_chunk_id(store: Store, id_prefix: str, around: int) -> CitedPlace:
    found = store.find_chunks(id_prefix)
    if not found:
        raise CitationNotFound(f"no chunk's id begins with {id_prefix}, now or in the past")
    if len(found) > 1:
        raise CitationNotFound(f"several chunk ids begin with {id_prefix}; give more of it")
    chunk = found[0].chunk
    place = _place(found[0].document, chunk.locator, around=around)
    return replace(place, superseded=found[0].superseded)


def _by_quote(store: Store, quote: str, at: str | None, around: int) -> CitedPlace | None:
    """The words of a printed quote, at the printed place where they stand more than once."""
    wanted, _ = _letters(quote)
    ranked = store.search(quote, None, filters=Filters(), limit=_LIKELY).get("words", ())
    first = None
    for entry, chunk in store.load_chunks([one.chunk_id for one in ranked]):
        letters, offsets = _letters(chunk.text)
        found = letters.find(wanted)
        if not wanted or found < 0 or (document := store.load_document(entry.id)) is None:
            continue
        start = chunk.start + offsets[found]
        end = chunk.start + offsets[found + len(wanted) - 1] + 1
        line_start, line_end = LineIndex(document.text).lines_of(start, end)
        held = overlapping(document.places, start, end)
        locator = locate(held, start, end, line_start=line_start, line_end=line_end)
        place = _place(document, locator, around=around)
        if at in (None, where(cited_file(document)[1], locator)):
            return place
        first = first or place
    return first


def _letters(text: str) -> tuple[str, list[int]]:
    """A text without what printing changes, spaces and hyphens say, and where each letter stood."""
    offsets = [at for at, letter in enumerate(text) if letter.isalnum()]
    return "".join(text[at] for at in offsets), offsets


def _located(document: Document, lines: LineIndex, first: int, last: int) -> Locator:
    start, end = lines.start_of(first), lines.end_of(last)
    held = overlapping(document.places, start, end)
    return locate(held, start, end, line_start=first, line_end=last)


def _place(document: Document, locator: Locator, *, around: int) -> CitedPlace:
    lines = LineIndex(document.text)
    first = max(locator.line_start - around, 1)
    last = min(locator.line_end + around, lines.count)
    at = lines.start_of(locator.line_start)
    sections = [part for part in document.sections if part.start <= at < part.end]
    return CitedPlace(
        document=document,
        heading_path=sections[0].heading_path if sections else (),
        locator=locator,
        first_line=first,
        lines=tuple(
            document.text[lines.start_of(number) : lines.end_of(number)]
            for number in range(first, last + 1)
        ),
        captions=() if document.type in MADE_OF_LINES else _captions(document, locator, around),
    )


def _captions(document: Document, locator: Locator, around: int) -> tuple[Said, ...]:
    """What is said at a place of a recording, and so many captions around it."""
    lines = LineIndex(document.text)
    start, end = lines.start_of(locator.line_start), lines.end_of(locator.line_end)
    begins = locator.time_start or 0.0
    ends = max(locator.time_end or 0.0, begins + 0.001)
    timed = [
        (place, place.time_start, place.time_start if place.time_end is None else place.time_end)
        for place in document.places
        if place.time_start is not None
    ]
    cited = [
        at
        for at, (place, since, until) in enumerate(timed)
        if start <= place.start < end and since < ends and begins < max(until, since + 0.001)
    ]
    if not cited:
        return ()
    captions, line = [], 0
    for at in range(max(cited[0] - around, 0), min(cited[-1] + around + 1, len(timed))):
        place, since, until = timed[at]
        text = document.text[place.start : place.end]
        if line != (line := lines.line_of(place.start)):  # a paragraph begins with its speaker
            opening = lines.start_of(line)
            words_from = next(one.start for one, _, _ in timed if one.start >= opening)
            text = document.text[opening:words_from] + text
        captions.append(Said("Audio", since, until, text, document.path, at in cited))
    return tuple(captions)
