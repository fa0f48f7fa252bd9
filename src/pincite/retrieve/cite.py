"""A citation → the cited lines of the document, as the index holds them."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from pincite.errors import CitationNotFound
from pincite.ports import Store
from pincite.records import (
    CitedPlace,
    Document,
    DocumentId,
    Filters,
    Place,
    Said,
    cited_file,
    locate,
    overlapping,
    where,
)
from pincite.records.citation import MADE_OF_LINES
from pincite.records.places import flags
from pincite.settings import CONVERTED_FOLDER
from pincite.text.lines import LineIndex
from pincite.text.times import CLOCK, clock_range, seconds_of

Unit = Literal["line", "page", "row", "time"]
_Held = TypeVar("_Held")


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a citation may mean: a document, or a part of it counted in some unit."""

    path: str
    unit: Unit = "line"
    first: float | None = None
    last: float | None = None
    headings: str = ""  # as printed; rows and times may be counted anew under each


# A chunk, or some words of its document, as an address of the service has both.
_CHUNK_ID = re.compile(r"(?P<id>[0-9a-f]{8,40})(?:\?at=(?P<start>\d{1,9})-(?P<end>\d{1,9}))?")
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
_LIKELY = 50  # chunks in which a quote is looked for
_HOW = (
    "a citation is a path with lines (notes/a.md:12-20), a page (report.pdf:p3) or a time "
    "(talk.vtt@00:01:05), a chunk id of at least 8 characters, or a citation or quote line "
    "that a search or an answer gave"
)


def find_place(
    store: Store, citation: str, *, around: int, root: Path, seen_from: Path
) -> CitedPlace:
    """The place a citation names, with so many lines around it.

    Paths are tried as they stand in the library, then as seen from a folder inside it; the end of
    a path is enough where no other file has it.
    """
    pasted = [line.strip() for line in citation.splitlines()]
    if named := _CHUNK_ID.fullmatch(citation.strip()):
        found = store.find_chunks(named["id"])
        if not found:
            _refuse_forgotten(store, named["id"])
            raise CitationNotFound(f"no chunk's id begins with {named['id']}, now or in the past")
        if len(found) > 1:
            raise CitationNotFound(f"several chunk ids begin with {named['id']}; give more of it")
        chunk, superseded, held = found[0].chunk, found[0].superseded, found[0].document
        start, end = int(named["start"] or 0), min(int(named["end"] or 0), len(held.text))
        span = (start, end) if start < end else (chunk.start, chunk.end)
        cited = _place(held, *span, around=around)
        return replace(cited, superseded=superseded, chunk_id=chunk.id)
    entries = by_name(store.paths())
    readings = [one for line in pasted for one in _readings(line, entries)]
    for reading in readings:
        path = named_path(reading.path, entries, root, seen_from)
        if path is not None and (document := store.load_document(entries[path])):
            cited = _place(document, *_span(document, reading), around=around)
            return replace(cited, chunk_id=_chunk_at(store, document.id, cited.start))
    for quoted in filter(None, map(_QUOTED.search, pasted)):
        if place := _by_quote(store, quoted["words"], quoted["at"], around):
            return place
    for reading in readings:
        _refuse_forgotten(store, path_inside(reading.path, root, seen_from))
    raise CitationNotFound(f"the index holds nothing at {citation!r}; {_HOW}")


def _chunk_at(store: Store, document_id: DocumentId, offset: int) -> str:
    """The id of the last chunk that begins at the offset or before; empty where there is none."""
    ids = store.chunk_ids(document_id)

    def start(at: int) -> int:
        loaded = store.load_chunks([ids[at]])
        return loaded[0][1].start if loaded else offset + 1

    after = bisect_right(range(len(ids)), offset, key=start)
    return ids[max(after - 1, 0)] if ids else ""


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
            # The file's name without its folder, as people type it.
            name, _, headings = place.partition(" — ")
            yield _Reading(name, unit, *_ends(match), headings)
    yield from (_Reading(path) for path in paths if printed.startswith(f"{path} — "))


def _ends(match: re.Match[str]) -> tuple[float, float]:
    first, last = (
        seconds_of(part) if ":" in part else int(part)
        for part in (match["first"], match["last"] or match["first"])
    )
    # CLOCK lets nothing through that is no time.
    return first or 0, last or 0


def by_name(held: Mapping[str, _Held]) -> dict[str, _Held]:
    """Documents by path, and those of scans also by the path of the scan, as they are cited."""
    scans = {
        path.removeprefix(f"{CONVERTED_FOLDER}/").removesuffix(".md"): found
        for path, found in held.items()
        if path.startswith(f"{CONVERTED_FOLDER}/")
    }
    return {**scans, **held}


def path_inside(path: str, root: Path, seen: Path) -> str:
    """The path in the library of one as seen from a folder; itself where it leads elsewhere."""
    full = Path(os.path.normpath(seen / path))
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else path


def named_path(path: str, entries: Mapping[str, object], root: Path, seen: Path) -> str | None:
    """The path in the library that is meant: by itself, as seen from a folder, or by its end."""
    inside = path_inside(path, root, seen)
    if path in entries or inside in entries:
        return path if path in entries else inside
    end = f"/{path}".casefold()
    ends = sorted(one for one in entries if path and f"/{one}".casefold().endswith(end))
    if len(ends) > 1:
        raise CitationNotFound(
            f"several files are called {path!r}; give more of the path: {', '.join(ends)}"
        )
    return ends[0] if ends else None


def _span(document: Document, reading: _Reading) -> tuple[int, int]:
    """From where to where in the document's text a reading goes."""
    if reading.unit == "line":
        lines = LineIndex(document.text)
        first = 1 if reading.first is None else int(reading.first)
        last = lines.count if reading.last is None else int(reading.last)
        if not 1 <= first <= last or first > lines.count:
            has = f"has lines 1 to {lines.count}"
            raise CitationNotFound(f"{document.path} {has}, not {first} to {last}")
        return lines.start_of(first), lines.end_of(min(last, lines.count))
    held = _held(document, reading, reading.first or 0, reading.last or 0)
    if not held:
        low, high = reading.first or 0, reading.last or 0
        numbers = "–".join(dict.fromkeys((f"{low:g}", f"{high:g}")))
        at = clock_range(low, high) if reading.unit == "time" else numbers
        raise CitationNotFound(f"{document.path} has nothing at {reading.unit} {at}")
    return held[0].start, held[-1].end


def _held(document: Document, reading: _Reading, low: float, high: float) -> Sequence[Place]:
    """The places a reading means: under its headings, else the first stretch that fits."""
    counted: list[tuple[Place, float, float]] = []  # from where to where each goes, in the unit
    for place in document.places:
        number = {"page": place.page, "row": place.row}.get(reading.unit)
        if number is not None:
            counted.append((place, number, number))
        elif reading.unit == "time" and place.time_start is not None:
            start = int(place.time_start)  # times are printed in whole seconds
            counted.append((place, start, max((place.time_end or 0.0) - 0.001, start)))
    fitting = [place for place, first, last in counted if first <= high and low <= last]
    for section in document.sections:
        held = overlapping(fitting, section.start, section.end)
        if held and reading.headings and " > ".join(section.heading_path) == reading.headings:
            return held
    if reading.unit == "row":  # of the first sheet that has them
        return [place for place in fitting if place.page == fitting[0].page]
    if reading.unit == "time" and not fitting:  # nobody speaks: what was said before and after
        spoken = sum(first <= low for _, first, _ in counted)
        around = counted[max(spoken - 1, 0) : spoken + 1] if spoken < len(counted) else []
        return [place for place, _, _ in around]
    return fitting


def _refuse_forgotten(store: Store, name: str) -> None:
    if at := store.forgotten_at(name):
        raise CitationNotFound(f"the document of {name} was forgotten for good on {at[:10]}")


def _by_quote(store: Store, quote: str, at: str | None, around: int) -> CitedPlace | None:
    """The words of a printed quote, at the printed place where they stand more than once."""
    wanted, _ = _letters(quote)
    # Words that were broken at the end of a line are printed whole, and are no phrase of the text.
    likely = [Filters(phrases=(quote,)), Filters()] if wanted else []
    rankings = (store.search(quote, None, filters=one, limit=_LIKELY) for one in likely)
    ids = dict.fromkeys(one.chunk_id for found in rankings for one in found.get("words", ()))
    first = None
    for entry, chunk in store.load_chunks([*ids]):
        letters, offsets = _letters(chunk.text)
        found = letters.find(wanted)
        if found < 0 or (document := store.load_document(entry.id)) is None:
            continue
        start, end = offsets[found], offsets[found + len(wanted) - 1] + 1
        place = _place(document, chunk.start + start, chunk.start + end, around=around)
        if at in (None, where(cited_file(document)[1], place.locator)):
            return place
        first = first or place
    return first


def _letters(text: str) -> tuple[str, list[int]]:
    """A text without what printing changes, such as spaces, and where each letter stood."""
    offsets = [at for at, letter in enumerate(text) if letter.isalnum()]
    return "".join(text[at] for at in offsets), offsets


def _place(document: Document, start: int, end: int, *, around: int) -> CitedPlace:
    lines = LineIndex(document.text)
    line_start, line_end = lines.lines_of(start, end)
    first, last = max(line_start - around, 1), min(line_end + around, lines.count)
    held = overlapping(document.places, start, end)
    sections = [part for part in document.sections if part.start <= start < part.end]
    has_captions = document.type not in MADE_OF_LINES
    return CitedPlace(
        document=document,
        heading_path=sections[0].heading_path if sections else (),
        locator=locate(held, start, end, line_start=line_start, line_end=line_end),
        first_line=first,
        lines=tuple(
            document.shown(lines.start_of(number), lines.end_of(number))
            for number in range(first, last + 1)
        ),
        flags=flags(overlapping(document.omissions, lines.start_of(first), lines.end_of(last))),
        captions=tuple(_captions(document, start, end, around)) if has_captions else (),
        start=start,
        end=end,
    )


def _captions(document: Document, start: int, end: int, around: int) -> Iterator[Said]:
    """What is said at a place of a recording, and so many captions around it."""
    lines = LineIndex(document.text)
    timed = [place for place in document.places if place.time_start is not None]
    cited = [at for at, one in enumerate(timed) if one.start < end and start < one.end]
    first, after = (max(cited[0] - around, 0), cited[-1] + around + 1) if cited else (0, 0)
    line = 0
    for at, place in enumerate(timed[first:after], start=first):
        text = document.shown(place.start, place.end)
        if line != (line := lines.line_of(place.start)):  # a paragraph begins with its speaker
            opening = lines.start_of(line)
            words_from = timed[bisect_left(timed, opening, key=lambda one: one.start)].start
            text = document.shown(opening, words_from) + text
        begins = place.time_start or 0.0
        ends = begins if place.time_end is None else place.time_end
        yield Said("Audio", begins, ends, text, document.path, cited[0] <= at <= cited[-1])
