"""Records → text for people and plain values for JSON. One form for all doors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from pincite.records import (
    CitedPlace,
    Finding,
    IndexReport,
    LibraryStats,
    Locator,
    Quote,
    Result,
    SearchResults,
)

Json = dict[str, Any]
Highlight = Callable[[str], str]

_SPACE = re.compile(r"\s+")

SHORT_ID = 12  # characters of a chunk id that people see; `show` takes any 8 or more


def printable(text: str) -> str:
    """Text from a document or a file's name, made harmless for a terminal.

    Control and direction characters could rewrite the screen, so they are shown as escapes.
    """
    return "".join(char if _is_harmless(char) else f"\\u{ord(char):04x}" for char in text)


def _is_harmless(char: str) -> bool:
    return char.isprintable() or char in "\t\u200d" or unicodedata.category(char) == "Zs"


def citation(result: Result) -> str:
    """`notes/paper.md — Section 2 > Method (lines 120–170)`."""
    return place(result.document.path, result.chunk.heading_path, result.chunk.locator)


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
    if not found.results:
        yield "No results." if found.reason != "empty_question" else "The question is empty."
    for number, result in enumerate(found.results, start=1):
        paragraph = [
            f"[{number}] {strong(citation(result))}",
            f"    “{quote_as_text(result.quote, highlight)}” ({lines(result.quote.locator)})",
        ]
        if explain:
            paragraph.extend(f"    {line}" for line in explanation(result))
        yield "\n".join(paragraph)


def quote_as_text(quote: Quote, highlight: Highlight) -> str:
    """The quote on one line, with its matched words highlighted."""
    parts = []
    at = 0
    for start, end in quote.matches:
        parts.append(_one_line(quote.text[at:start]))
        parts.append(highlight(_one_line(quote.text[start:end])))
        at = end
    parts.append(_one_line(quote.text[at:]))
    return "".join(parts)


def _one_line(text: str) -> str:
    return printable(_SPACE.sub(" ", text))


def explanation(result: Result) -> Iterator[str]:
    """Why a result stands where it stands."""
    shares = [
        f"{search} rank {share.rank} (score {share.score:.3f}) gives {share.contribution:.5f}"
        for search, share in result.hit.shares.items()
    ]
    yield f"score {result.hit.score:.5f}: " + " + ".join(shares)
    yield f"chunk {result.chunk.id[:SHORT_ID]}, {result.chunk.tokens} tokens"


def results_as_json(found: SearchResults) -> Json:
    """The results as plain values."""
    return {
        "question": found.question,
        "mode": found.mode,
        "reason": found.reason,
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
            "matches": [list(match) for match in quote.matches],
        },
    }


def report_as_text(report: IndexReport, seconds: float) -> Iterator[str]:
    """What an index run did, with everything that was left out and why."""
    counts = {
        "new": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "cut again": report.recut,
        "deleted": report.deleted,
        "unchanged": report.unchanged,
    }
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    yield f"Documents: {told or 'none'}."
    if report.written:
        yield (
            f"Wrote {_counted(report.chunks, 'chunk')}, embedded "
            f"{_counted(report.embedded, 'window')} in {seconds:.1f} s."
        )
    if report.unsupported:
        kinds = ", ".join(
            f"{count} {suffix or 'without suffix'}" for suffix, count in report.unsupported.items()
        )
        yield f"Other kinds of file, not read: {printable(kinds)}."
    if report.skipped:
        yield f"Left out ({len(report.skipped)}):"
        yield from (f"  {printable(f'{one.path}: {one.reason}')}" for one in report.skipped)
    if report.failures:
        yield f"Failed ({len(report.failures)}); earlier versions of these are kept:"
        for failure in report.failures:
            ids = ", ".join(chunk_id[:SHORT_ID] for chunk_id in failure.chunk_ids)
            chunks = f" (chunks {ids})" if ids else ""
            yield f"  {printable(f'{failure.path}: {failure.reason}')}{chunks}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def report_as_json(report: IndexReport, seconds: float) -> Json:
    """The report as plain values."""
    return {**asdict(report), "seconds": round(seconds, 3)}


def stats_as_text(stats: LibraryStats) -> Iterator[str]:
    """What an index is and holds."""
    header, store = stats.header, stats.store
    rows = {
        "library": f"{header.name} ({stats.folder})",
        "documents": f"{store.documents:,}",
        "chunks": f"{store.chunks:,}",
        "windows": f"{store.windows:,}",
        "vectors": f"{store.vectors:,} of {header.model.dimensions} dimensions",
        "database": size(store.database_bytes),
        "chunk log": size(store.log_bytes),
        "policy": header.policy,
        "model": f"{header.model.name} ({header.model.fingerprint})",
        "last updated": store.last_updated or "never",
    }
    yield from (f"{what:<13} {printable(value)}" for what, value in rows.items())


def stats_as_json(stats: LibraryStats) -> Json:
    """The figures as plain values."""
    return {
        "folder": stats.folder,
        **asdict(stats.header),
        **asdict(stats.store),
    }


def findings_as_text(findings: list[Finding], left: list[Finding]) -> Iterator[str]:
    """What does not agree inside an index, and whether that is still so."""
    if not findings:
        yield "Log, database, words and vectors agree."
        return
    yield f"{_counted(len(findings), 'problem')} found:"
    yield from (f"  {finding.part}: {printable(finding.problem)}" for finding in findings)
    if not left:
        yield "Repaired. Run `pincite index update` to follow the folder again."
    else:
        yield f"{_counted(len(left), 'problem')} left; `pincite index verify --repair` mends them."


def findings_as_json(findings: list[Finding], left: list[Finding]) -> Json:
    """What was found, and what is left of it, as plain values."""
    return {
        "healthy": not left,
        "findings": [asdict(finding) for finding in findings],
        "left": [asdict(finding) for finding in left],
    }


def place_as_text(cited: CitedPlace, *, strong: Highlight, faint: Highlight) -> Iterator[str]:
    """Cited lines between their neighbours, with line numbers."""
    yield strong(place(cited.document.path, cited.heading_path, cited.locator))
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
        "first_line": cited.first_line,
        "lines": list(cited.lines),
    }


def size(count: int) -> str:
    """Bytes in a unit people read."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{count:,} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")
