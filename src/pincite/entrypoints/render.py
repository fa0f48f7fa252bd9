"""Records → text for people and plain values for JSON. One form for all doors."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pincite.records import (
    CitedPlace,
    Locator,
    Quote,
    Reason,
    Result,
    SearchResults,
)

Json = dict[str, Any]
Highlight = Callable[[str], str]

_SPACE = re.compile(r"\s+")


SHORT_ID = 12  # characters of a chunk id that people see; `show` takes any 8 or more


def printable(text: str, *, keep: str = "") -> str:
    """Text from a document or a file's name, made harmless for a terminal.

    Control and direction characters could rewrite the screen, so they are shown as escapes, in
    JSON's own way.
    """
    return "".join(
        char if char in keep or _is_harmless(char) else json.dumps(char)[1:-1] for char in text
    )


def _is_harmless(char: str) -> bool:
    return char.isprintable() or char == "\u200d" or unicodedata.category(char) == "Zs"


NOTHING_FOUND: Mapping[Reason, str] = {
    "empty_question": "The question is empty.",
    "no_hits": "No results.",
    "filtered_out": "No results: the filters leave no chunk to search.",
}


def citation(result: Result) -> str:
    """`notes/paper.md — Section 2 > Method (lines 120–170)`."""
    return place(result.document.path, result.quote.heading_path, result.quote.section)


def place(path: str, heading_path: tuple[str, ...], locator: Locator) -> str:
    """Path, headings and lines of a place in a document."""
    headings = f" — {' > '.join(heading_path)}" if heading_path else ""
    return printable(f"{path}{headings}") + f" ({lines(locator)})"


def lines(locator: Locator) -> str:
    """`line 7` or `lines 7–9`."""
    if locator.line_start == locator.line_end:
        return f"line {locator.line_start}"
    return f"lines {locator.line_start}–{locator.line_end}"


def results_as_text(
    found: SearchResults, *, explain: bool, highlight: Highlight, strong: Highlight
) -> Iterator[str]:
    """The results as people read them, one paragraph each."""
    if found.reason is not None:
        yield NOTHING_FOUND[found.reason]
    for number, result in enumerate(found.results, start=1):
        paragraph = [
            f"[{number}] {strong(citation(result))}",
            f"    “{quote_as_text(result.quote, highlight)}” ({lines(result.quote.locator)})",
        ]
        if explain:
            paragraph.extend(f"    {line}" for line in explanation(result))
        yield "\n".join(paragraph)


def quote_as_text(quote: Quote, highlight: Highlight) -> str:
    """The quote on one line, with its matched words highlighted and its cuts marked."""
    parts = ["…"] if quote.cut_before else []
    at = 0
    for start, end in quote.matches:
        parts.append(_one_line(quote.text[at:start]))
        parts.append(highlight(_one_line(quote.text[start:end])))
        at = end
    parts.append(_one_line(quote.text[at:]))
    return "".join([*parts, "…"] if quote.cut_after else parts)


def _one_line(text: str) -> str:
    return printable(_SPACE.sub(" ", text))


def explanation(result: Result) -> Iterator[str]:
    """Why a result stands where it stands."""
    shares = [
        f"{search} rank {share.rank} (score {share.score:.3f}) gives {share.contribution:.5f}"
        for search, share in result.hit.shares.items()
    ]
    yield f"score {result.hit.score:.5f}: " + " + ".join(shares)
    chunk = result.chunk
    yield f"chunk {chunk.id[:SHORT_ID]}, {lines(chunk.locator)}, {chunk.tokens} tokens"


def notices(found: SearchResults) -> Iterator[str]:
    """What a reader should know before relying on the results."""
    if found.changed:
        files = ", ".join(map(printable, found.changed))
        yield f"Changed since indexing: {files}. Run `pincite index update`."
    if not found.complete:
        yield "The index is not complete: run `pincite index update` to go on."


def results_as_json(found: SearchResults) -> Json:
    """The results as plain values."""
    return {
        "question": found.question,
        "mode": found.mode,
        "reason": found.reason,
        "changed": list(found.changed),
        "complete": found.complete,
        "results": [
            {"rank": rank, **_result_as_json(result)}
            for rank, result in enumerate(found.results, start=1)
        ],
    }


def _result_as_json(result: Result) -> Json:
    document, chunk, quote = result.document, result.chunk, result.quote
    return {
        "citation": citation(result),
        "score": result.hit.score,
        "searches": {search: asdict(share) for search, share in result.hit.shares.items()},
        "document": {
            "id": document.id,
            "path": document.path,
            "name": document.name,
            "title": document.title,
            "type": document.type,
            "metadata": asdict(document.metadata),
        },
        "chunk": {
            "id": chunk.id,
            "modality": chunk.modality.value,
            "position": chunk.position,
            "start": chunk.start,
            "end": chunk.end,
            "heading_path": list(chunk.heading_path),
            "locator": asdict(chunk.locator),
            "tokens": chunk.tokens,
            "text": chunk.text,
        },
        "quote": {
            "text": quote.text,
            "start": quote.start,
            "end": quote.end,
            "locator": asdict(quote.locator),
            "heading_path": list(quote.heading_path),
            "section": asdict(quote.section),
            "matches": [list(match) for match in quote.matches],
        },
    }


def place_as_text(cited: CitedPlace, *, strong: Highlight, faint: Highlight) -> Iterator[str]:
    """Cited lines between their neighbours, with line numbers."""
    yield strong(place(cited.document.path, cited.heading_path, cited.locator))
    if cited.changed:
        yield "(the file has changed since it was indexed; run `pincite index update`)"
    if cited.superseded:
        yield "(an earlier version: the library now holds another one, or none)"
    width = len(str(cited.first_line + len(cited.lines)))
    for number, line in enumerate(cited.lines, start=cited.first_line):
        inside = cited.locator.line_start <= number <= cited.locator.line_end
        text = f"{'>' if inside else ' '} {number:>{width}}  {printable(line)}".rstrip()
        yield text if inside else faint(text)


def place_as_json(cited: CitedPlace) -> Json:
    """The cited place as plain values."""
    return {
        "path": cited.document.path,
        "document_id": cited.document.id,
        "heading_path": list(cited.heading_path),
        "locator": asdict(cited.locator),
        "superseded": cited.superseded,
        "changed": cited.changed,
        "first_line": cited.first_line,
        "lines": list(cited.lines),
    }
