"""A citation → the cited lines of the document, as the index holds them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pincite.errors import CitationNotFound
from pincite.ports import Store
from pincite.records import CitedPlace, Document, Locator
from pincite.text.lines import LineIndex

_CHUNK_ID = re.compile(r"[0-9a-f]{8,40}")
# notes/a.md:12, :12-20, :12:5 (line and column), #L12-L20
_PATH_AND_LINES = re.compile(
    r"(?P<path>.+?)(?::|#L)(?P<first>\d{1,9})(?:[-–]L?(?P<last>\d{1,9})|:\d{1,9})?"
)
_NUMBER = re.compile(r"\[\d{1,4}\] ")
_LINES = re.compile(r" \(lines? (?P<first>\d{1,9})(?:[-–](?P<last>\d{1,9}))?\)$")
_HOW = (
    "a citation is a path with lines (notes/a.md:12-20), a chunk id of at least 8 characters, "
    "or a line as `pincite search` prints it"
)


def find_place(
    store: Store, citation: str, *, around: int, root: Path, seen_from: Path
) -> CitedPlace:
    """The place a citation names, with so many lines around it.

    Paths are tried as they stand in the library, then as seen from a folder inside it.
    """
    wanted = citation.strip().partition("\n")[0].rstrip()
    if _CHUNK_ID.fullmatch(wanted):
        return _by_chunk_id(store, wanted, around)
    entries = {entry.path: entry for entry in store.documents()}
    for path, first, last in _readings(wanted, entries):
        for entry in (entries.get(path), entries.get(_in_library(path, root, seen_from))):
            if entry is not None and (document := store.load_document(entry.id)):
                return _lines_of(document, first, last, around)
    raise CitationNotFound(f"the index holds nothing at {citation!r}; {_HOW}")


def _readings(wanted: str, paths: Iterable[str]) -> Iterator[tuple[str, int | None, int | None]]:
    """What a citation may mean, the plainest first: path, first and last line."""
    yield wanted, None, None
    if match := _PATH_AND_LINES.fullmatch(wanted):
        yield match["path"], *_numbers(match)
    printed = _NUMBER.sub("", wanted, count=1)
    if match := _LINES.search(printed):
        place = printed[: match.start()]
        # A path may itself hold the dash that stands before the headings.
        for path in sorted(paths, key=len, reverse=True):
            if place == path or place.startswith(f"{path} — "):
                yield path, *_numbers(match)


def _numbers(match: re.Match[str]) -> tuple[int, int]:
    first = int(match["first"])
    return first, int(match["last"] or first)


def _in_library(path: str, root: Path, seen_from: Path) -> str:
    """The path from the library's root, of one that is absolute or seen from elsewhere."""
    full = Path(os.path.normpath(seen_from / path))
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else path


def _lines_of(document: Document, first: int | None, last: int | None, around: int) -> CitedPlace:
    count = LineIndex(document.text).count
    first = 1 if first is None else first
    last = count if last is None else last
    if not 1 <= first <= last or first > count:
        raise CitationNotFound(f"{document.path} has lines 1 to {count}, not {first} to {last}")
    return _place(document, Locator(first, min(last, count)), around=around)


def _by_chunk_id(store: Store, id_prefix: str, around: int) -> CitedPlace:
    found = store.find_chunks(id_prefix)
    if not found:
        raise CitationNotFound(f"no chunk's id begins with {id_prefix}, now or in the past")
    if len(found) > 1:
        raise CitationNotFound(f"several chunk ids begin with {id_prefix}; give more of it")
    chunk = found[0].chunk
    return _place(found[0].document, chunk.locator, around=around, superseded=found[0].superseded)


def _place(
    document: Document, locator: Locator, *, around: int, superseded: bool = False
) -> CitedPlace:
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
        superseded=superseded,
    )
