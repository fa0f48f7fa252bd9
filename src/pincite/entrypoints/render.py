"""What a search found → text for people and plain values for JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pincite.records import (
    Asides,
    ChunkId,
    CitedPlace,
    Locator,
    Quote,
    Result,
    SearchResults,
    cited_file,
    place_cited,
    split_recipe,
    where,
)
from pincite.records.searching import NOTHING_FOUND
from pincite.settings import AskSettings
from pincite.text.printable import printable
from pincite.text.times import clock_range

if TYPE_CHECKING:
    from pincite.records import Context, FoundDocuments, Moment

Json = dict[str, Any]
Style = Callable[[str], str]

# Printing leaves them out where nobody sees colours.
strong: Style = partial(click.style, bold=True)
faint: Style = partial(click.style, dim=True)
struck: Style = partial(click.style, strikethrough=True, dim=True)
highlight: Style = partial(click.style, fg="yellow", bold=True)

_SPACE = re.compile(r"\s+")
_MOST_CUT = 10  # chunks that were left out, listed for people
SHORT_ID = 12  # characters of a chunk id that people see; `show` takes any 8 or more


def results_as_text(
    found: SearchResults, *, explain: bool, moments: Mapping[ChunkId, Moment | None] = {}
) -> Iterator[str]:
    """The results as people read them, one paragraph each, with the moments of recordings."""
    if found.reason is not None:
        yield NOTHING_FOUND[found.reason]
    sure = found.confidence
    if sure is not None and sure.probability < AskSettings().caution:
        # What `ask` would not answer, `search` shows and says so.
        missing = " or ".join(f"“{printable(word)}”" for word in sure.missing_terms)
        why = f"nothing mentions {missing}" if missing else "nothing comes near enough"
        documents = "these documents" if found.complete else "what is indexed so far"
        yield f"Probably not in {documents}: {why}."
    for number, result in enumerate(found.results, start=1):
        at = where(cited_file(result.document)[1], result.quote.locator)
        # What introduces the quote is no part of it: it stands in front, in brackets.
        lead = f"({_one_line(result.quote.lead)}) " if result.quote.lead else ""
        paragraph = [
            f"[{number}] {strong(result.citation)}",
            f"    {lead}“{quote_as_text(result.quote)}” ({at})",
        ]
        if result.same_text_in:
            paths = ", ".join(map(printable, result.same_text_in))
            paragraph.append(f"    The same text: {paths}")
        if flags := result.chunk.flags:
            paragraph.append(f"    Beware: the chunk also holds {', '.join(flags)}.")
        if moment := moments.get(result.chunk.id):
            paragraph += moment_as_text(moment)
        if explain:
            paragraph += _explanation(result)
        yield "\n".join(paragraph)
    if not explain:
        return
    for one in found.dropped[:_MOST_CUT]:
        yield f"cut: chunk {one.chunk_id[:SHORT_ID]}, {printable(one.reason)}"
    if len(found.dropped) > _MOST_CUT:
        yield f"… and {len(found.dropped) - _MOST_CUT} more; --json lists them"
    if found.seconds:
        stages = (f"{stage} {taken * 1000:.1f}" for stage, taken in found.seconds.items())
        yield f"Milliseconds: {', '.join(stages)}"


def _explanation(result: Result) -> Iterator[str]:
    """Why a result stands where it stands."""
    shares = [
        f"{search} {'unlisted' if share.rank is None else f'rank {share.rank}'} "
        f"(score {share.score:.3f}) gives {share.contribution:.5f}"
        for search, share in result.hit.shares.items()
    ]
    yield f"    score {result.hit.score:.5f}: {' + '.join(shares)}"
    if (likely := result.hit.probability) is not None:
        yield f"    answers the question with a probability of {likely:.2f}"
    chunk = result.chunk
    whole = where(cited_file(result.document)[1], chunk.locator)
    yield f"    chunk {chunk.id[:SHORT_ID]}, {whole}, {chunk.tokens} tokens"


def quote_as_text(quote: Quote) -> str:
    """The quote on one line, with its matched words highlighted and its cuts marked."""
    before, after = "…" * quote.cut_before, "…" * quote.cut_after
    return before + marked(quote.text, quote.matches, quote.hyphens) + after


def marked(
    text: str, matches: Iterable[tuple[int, int]], hyphens: Iterable[tuple[int, int]] = ()
) -> str:
    """A text on one line, with its matched words highlighted and its broken words put together."""
    broken = [at for start, end in hyphens for at in range(start, end)]

    def shown(start: int, end: int) -> str:
        inside = [at for at in broken if start <= at < end]
        edges = [start, *(edge for at in inside for edge in (at, at + 1)), end]
        kept = zip(edges[::2], edges[1::2], strict=True)
        return _one_line("".join(text[first:last] for first, last in kept))

    parts, at = [], 0
    for start, end in matches:
        parts += [shown(at, start), highlight(shown(start, end))]
        at = end
    return "".join([*parts, shown(at, len(text))])


def _one_line(text: str) -> str:
    return printable(_SPACE.sub(" ", text))


def asides_as_text(asides: Asides) -> Iterator[str]:
    """What a reader should know before relying on the results."""
    if asides.changed:
        files = ", ".join(map(printable, asides.changed))
        yield f"Changed or gone since indexing: {files}. Run `pincite index update`."
    yield from map(printable, asides.notices)
    if asides.so_far is not None:
        so_far = f"{asides.so_far:,} document{'' if asides.so_far == 1 else 's'}"
        yield f"The index is being built: {so_far} can be searched so far."
    elif not asides.complete:
        yield "The index is not complete; run `pincite index update` to finish it."
    yield from (faint(f"({printable(note)})") for note in asides.notes)


def results_as_json(found: SearchResults, *, explain: bool = False) -> Json:
    """The results as plain values; what was left out only where that is to be explained."""
    return {
        "question": found.question,
        "mode": found.mode,
        "reason": found.reason,
        "index_version": found.index_version,
        "query_id": found.query_id,
        "notes": list(found.notes),
        "changed": list(found.changed),
        "complete": found.complete,
        "so_far": found.so_far,
        **({"dropped": [asdict(one) for one in found.dropped]} if explain else {}),
        "seconds": dict(found.seconds),
        "notices": list(found.notices),
        "confidence": asdict(found.confidence) if found.confidence else None,
        "results": [
            {"rank": rank, **result_as_json(result)}
            for rank, result in enumerate(found.results, start=1)
        ],
    }


def result_as_json(result: Result) -> Json:
    """One result as plain values."""
    document, chunk, quote = result.document, result.chunk, result.quote
    return {
        "citation": result.citation,
        **scores_as_json(result),
        "probability": result.hit.probability,
        "searches": {search: share._asdict() for search, share in result.hit.shares.items()},
        "document": {
            "id": document.id,
            "path": document.path,
            "name": document.name,
            "title": document.title,
            "type": document.type,
            "metadata": asdict(document.metadata),
            "summary": document.summary,
        },
        "same_text_in": list(result.same_text_in),
        "chunk": {
            "id": chunk.id,
            "document_id": document.id,
            "project": document.metadata.project,
            "tags": list(document.metadata.tags),
            "index_version": split_recipe(document.recipe)[0],
            "modality": chunk.modality.value,
            "position": chunk.position,
            "start": chunk.start,
            "end": chunk.end,
            "heading_path": list(chunk.heading_path),
            "locator": locator_as_json(chunk.locator),
            "boxes": [asdict(box) for box in chunk.boxes],
            "flags": list(chunk.flags),
            "analysis": asdict(chunk.analysis),
            "tokens": chunk.tokens,
            "text": chunk.shown,
        },
        "quote": {
            "text": quote.text,
            "kind": quote.kind,
            "lead": quote.lead,
            "start": quote.start,
            "end": quote.end,
            "locator": locator_as_json(quote.locator),
            "boxes": [asdict(box) for box in quote.boxes],
            "heading_path": list(quote.heading_path),
            "section": locator_as_json(quote.section),
            "matches": [list(match) for match in quote.matches],
        },
    }


def scores_as_json(result: Result) -> Json:
    """What ordered the list, and what each search said."""
    names = ("score", "rrf_score", "vector_score", "text_score")
    return {name: getattr(result, name) for name in names}


def locator_as_json(locator: Locator) -> Json:
    """Only what the file has: lines, and pages, seconds or rows."""
    return {key: value for key, value in asdict(locator).items() if value is not None}


def place_as_text(cited: CitedPlace) -> Iterator[str]:
    """Cited lines between their neighbours, with line numbers."""
    yield strong(place_cited(*cited_file(cited.document), cited.heading_path, cited.locator))
    if cited.document.metadata.source is not None:
        yield f"(recognised; its text is in {printable(cited.document.path)})"
    if cited.changed:
        yield "(the file has changed since it was indexed; run `pincite index update`)"
    if cited.superseded:
        yield "(an earlier version: the library now holds another one, or none)"
    if cited.flags:
        yield f"(left out: {', '.join(cited.flags)})"
    for said in cited.captions:
        at = clock_range(said.start, said.end)
        text = f"{'>' if said.is_anchor else ' '} {at}  {printable(said.text)}"
        yield text if said.is_anchor else faint(text)
    if cited.captions:
        return
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
        "locator": locator_as_json(cited.locator),
        "flags": list(cited.flags),
        "superseded": cited.superseded,
        "changed": cited.changed,
        "first_line": cited.first_line,
        "lines": list(cited.lines),
        "captions": [asdict(said) for said in cited.captions],
    }


def moment_as_text(moment: Moment) -> Iterator[str]:
    """`00:01:05–00:01:18 (Audio): "…"`, one line for each; what stands around the hit is faint."""
    for said in moment.lines:
        line = f'    {clock_range(said.start, said.end)} ({said.kind}): "{printable(said.text)}"'
        yield line if said.is_anchor else faint(line)


def documents_as_text(found: FoundDocuments) -> Iterator[str]:
    """The documents as people read them: path and title, then the best places."""
    if found.reason is not None:
        yield NOTHING_FOUND[found.reason]
    for number, one in enumerate(found.documents, start=1):
        path, kind = cited_file(one.document)
        yield f"[{number}] {strong(printable(path))} — {printable(one.document.title)}"
        for result in one.results:
            at = where(kind, result.quote.locator)
            yield f"    “{quote_as_text(result.quote)}” ({at})"


def documents_as_json(found: FoundDocuments) -> Json:
    """The documents with their results as plain values."""
    return {
        "question": found.question,
        "reason": found.reason,
        "query_id": found.query_id,
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
        "query_id": context.query_id,
        **asdict(context.asides),
        "tokens": context.tokens,
        "budget": context.budget,
        "text": context.text,
        "passages": [
            {
                "label": label,
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
            for label, passage in enumerate(context.passages, start=1)
        ],
    }
