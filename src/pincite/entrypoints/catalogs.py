"""The catalog → text for people and plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from pincite.entrypoints.render import Highlight, Json
from pincite.entrypoints.reports import counted, size
from pincite.records import CatalogEntry, DocumentEntry, page_name
from pincite.text.printable import printable
from pincite.text.times import clock


def catalog_as_text(
    entries: Sequence[CatalogEntry], *, strong: Highlight, faint: Highlight
) -> Iterator[str]:
    """One paragraph for each file: what it is, then what it is about."""
    if not entries:
        yield "Nothing found."
    for entry in entries:
        yield strong(printable(entry.path))
        if entry.document is not None:
            yield "    " + printable(", ".join(_facts(entry.document)))
            if entry.document.summary:
                yield "    " + faint(printable(entry.document.summary))
        if entry.state != "indexed":
            yield "    " + printable(": ".join(filter(None, (entry.state, entry.reason))))


def _facts(document: DocumentEntry) -> Iterator[str]:
    """What is known of a document, the most telling first."""
    about = document.metadata
    if document.title != document.name.rpartition(".")[0]:
        yield f"“{document.title}”"
    yield document.type
    if document.size:
        yield size(document.size)
    if about.duration is not None:
        yield clock(about.duration)
    elif about.pages is not None:
        yield counted(about.pages, page_name(document.type))
    yield from filter(None, (about.language, about.author, about.date))
    if about.modified and about.modified != about.date:
        yield f"modified {about.modified}"
    yield from (f"#{tag}" for tag in about.tags)
    yield counted(document.chunks, "chunk")


def catalog_as_json(entries: Sequence[CatalogEntry]) -> Json:
    """The catalog as plain values."""
    return {"documents": [_entry_as_json(entry) for entry in entries]}


def _entry_as_json(entry: CatalogEntry) -> Json:
    told: Json = {"path": entry.path, "state": entry.state, "reason": entry.reason}
    if entry.document is not None:
        told.update(asdict(entry.document), name=entry.document.name)
    return told
