"""Contexts, documents and moments → text for people and plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from pincite.entrypoints.render import (
    NOTHING_FOUND,
    Highlight,
    Json,
    locator_as_json,
    quote_as_text,
    result_as_json,
    scores_as_json,
)
from pincite.records import cited_file, where
from pincite.text.printable import printable
from pincite.text.times import clock_range

if TYPE_CHECKING:
    from pincite.records import Context, FoundDocuments, Moment, Passage


def moment_as_text(moment: Moment, *, faint: Highlight) -> Iterator[str]:
    """`00:01:05–00:01:18 (Audio): "…"`, one line for each; what stands around the hit is faint."""
    for said in moment.lines:
        line = f'    {clock_range(said.start, said.end)} ({said.kind}): "{printable(said.text)}"'
        yield line if said.is_anchor else faint(line)


def moment_as_json(moment: Moment | None) -> Json | None:
    """The moment as plain values."""
    return None if moment is None else asdict(moment)


def documents_as_text(
    found: FoundDocuments, *, highlight: Highlight, strong: Highlight
) -> Iterator[str]:
    """The documents as people read them: path and title, then the best places."""
    if found.reason is not None:
        yield NOTHING_FOUND[found.reason]
    for number, one in enumerate(found.documents, start=1):
        path, kind = cited_file(one.document)
        yield f"[{number}] {strong(printable(path))} — {printable(one.document.title)}"
        for result in one.results:
            at = where(kind, result.quote.locator)
            yield f"    “{quote_as_text(result.quote, highlight)}” ({at})"


def documents_as_json(found: FoundDocuments) -> Json:
    """The documents with their results as plain values."""
    return {
        "question": found.question,
        "reason": found.reason,
        **asdict(found.asides),
        "documents": [
            {
                "rank": rank,
                "id": one.document.id,
                "path": one.document.path,
                "title": one.document.title,
                "type": one.document.type,
                "summary": one.document.summary,
                "results": [result_as_json(result) for result in one.results],
            }
            for rank, one in enumerate(found.documents, start=1)
        ],
    }


def context_as_json(context: Context) -> Json:
    """The context with what its labels stand for."""
    return {
        "question": context.question,
        "reason": context.reason,
        "message": context.message,
        **asdict(context.asides),
        "tokens": context.tokens,
        "budget": context.budget,
        "text": context.text,
        "passages": [
            {"label": label, **_passage_as_json(one)}
            for label, one in enumerate(context.passages, start=1)
        ],
    }


def _passage_as_json(passage: Passage) -> Json:
    return {
        "citation": passage.citation,
        "path": passage.document.path,
        "document_id": passage.document.id,
        "chunk_ids": list(passage.chunk_ids),
        "heading_paths": [list(path) for path in passage.heading_paths],
        "start": passage.start,
        "end": passage.end,
        "locator": locator_as_json(passage.locator),
        "flags": list(passage.flags),
        **scores_as_json(passage.best),
        "quote": {"text": passage.best.quote.text, "citation": passage.best.citation},
        "text": passage.seen,
    }
