"""A citation → the cited lines of the document, as the index holds them."""

from __future__ import annotations

import re

from pincite.errors import CitationNotFound
from pincite.ports import Store
from pincite.records import CitedPlace, Document, Locator
from pincite.text.lines import LineIndex

_CHUNK_ID = re.compile(r"[0-9a-f]{8,40}")
_PATH_AND_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d+)(?:[-–](?P<last>\d+))?")
_AS_PRINTED = re.compile(
    r"(?:\[\d+\]\s*)?(?P<path>.+?)(?: — .*)? \(lines? (?P<first>\d+)(?:[-–](?P<last>\d+))?\).*"
)
_HOW = (
    "a citation is a path with lines (notes/a.md:12-20), a chunk id of at least 8 characters, "
    "or a line as `pincite search` prints it"
)


def find_place(store: Store, citation: str, *, around: int) -> CitedPlace:
    """The place a citation names, with so many lines around it."""
    wanted = citation.strip()
    if _CHUNK_ID.fullmatch(wanted):
        return _by_chunk_id(store, wanted, around)
    match = _PATH_AND_LINES.fullmatch(wanted) or _AS_PRINTED.fullmatch(wanted)
    path = match["path"] if match else wanted
    document = _document_at(store, path)
    if document is None:
        raise CitationNotFound(f"the index holds nothing at {citation!r}; {_HOW}")
    count = LineIndex(document.text).count
    first = int(match["first"]) if match else 1
    last = int(match["last"] or first) if match else count
    if not 1 <= first <= last or first > count:
        raise CitationNotFound(f"{path} has lines 1 to {count}, not {first} to {last}")
    return _place(document, Locator(first, min(last, count)), around=around)


def _by_chunk_id(store: Store, id_prefix: str, around: int) -> CitedPlace:
    found = store.find_chunks(id_prefix)
    if not found:
        raise CitationNotFound(f"no chunk's id begins with {id_prefix}, now or in the past")
    if len(found) > 1:
        raise CitationNotFound(f"several chunk ids begin with {id_prefix}; give more of it")
    chunk = found[0].chunk
    return _place(found[0].document, chunk.locator, around=around, superseded=found[0].superseded)


def _document_at(store: Store, path: str) -> Document | None:
    path = path.removeprefix("./")
    for entry in store.documents():
        if entry.path == path:
            return store.load_document(entry.id)
    return None


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
