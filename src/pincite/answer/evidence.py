"""Results → numbered units, within a budget: all that an answer may rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pincite.ports import UnitScorer
from pincite.records import Citation, Quote, Result, cited_file, place_cited
from pincite.retrieve.quote import answering_words, ranked_quotes
from pincite.retrieve.rarity import Rarity
from pincite.text.printable import one_line

_UNITS_OF_A_RESULT = 8  # more of one chunk would leave too little room for the others
_LONGEST_SOURCE = 160  # characters; a title may be a page of instructions
_RESULTS_SCORED = 5  # by a model, which takes its time; further down there is seldom an answer

Count = Callable[[str], int]
"""How many tokens a text has."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One unit of one result."""

    citation: Citation
    result: Result
    rank: int  # among the units of its result, from 0
    merit: float  # how well it answers, compared with units of other results; higher is better


def gathered(
    results: Sequence[Result], question: str, rarity: Rarity, scorer: UnitScorer | None
) -> list[Evidence]:
    """The units of the results: of each result the best first, results in their order."""
    return [
        Evidence(
            citation_of(result, quote, question),
            result,
            rank,
            (result.hit.probability or result.hit.score) * quote.merit,
        )
        for place, result in enumerate(results)
        for rank, quote in enumerate(
            ranked_quotes(
                result.chunk,
                question,
                rarity,
                result.hit.window,
                most=_UNITS_OF_A_RESULT,
                scorer=scorer if place < _RESULTS_SCORED else None,
            )
        )
    ]


def packed(units: Sequence[Evidence], budget: int, count: Count) -> list[Evidence]:
    """The units that fit, the best of every result first; in the order in which they are read."""
    chosen: list[Evidence] = []
    used = 0
    order = {one.result.chunk.id: place for place, one in reversed(list(enumerate(units)))}
    for one in sorted(units, key=lambda one: (one.rank, order[one.result.chunk.id])):
        # At worst each stands below a line with its source.
        used += count(f"{_source(one)}\n{_numbered_line(99, one)}\n")
        if used > budget and chosen:
            break
        chosen.append(one)
    return sorted(chosen, key=lambda one: (order[one.result.chunk.id], one.citation.start))


def as_numbered_lines(units: Sequence[Evidence]) -> Iterator[str]:
    """The units as a language model reads them: one line each, below a line with their source."""
    source = ""
    for number, one in enumerate(units, start=1):
        if _source(one) != source:
            source = _source(one)
            yield source
        yield _numbered_line(number, one)


def _source(one: Evidence) -> str:
    document = one.result.document
    headings = " > ".join((document.title or document.path, *one.citation.heading_path))
    return f"Source: {one_line(headings)[:_LONGEST_SOURCE]}"


def _numbered_line(number: int, one: Evidence) -> str:
    lead = f"({one_line(one.citation.lead)}) " if one.citation.lead else ""
    return f"[{number}] {lead}{one_line(one.citation.quote)}"


def citation_of(result: Result, quote: Quote, question: str) -> Citation:
    """The place of the quoted words, as people read it and as data."""
    document = result.document
    path, kind = cited_file(document)
    return Citation(
        citation=place_cited(path, kind, quote.heading_path, quote.locator),
        quote=quote.text,
        path=document.path,
        title=document.title,
        document_id=document.id,
        chunk_id=result.chunk.id,
        start=quote.start,
        end=quote.end,
        locator=quote.locator,
        heading_path=quote.heading_path,
        matches=quote.matches,
        answers=answering_words(question, quote.text),
        boxes=quote.boxes,
        hyphens=quote.hyphens,
        lead=quote.lead,
        before=quote.before,
        after=quote.after,
        cut_before=quote.cut_before,
        cut_after=quote.cut_after,
        flags=result.chunk.flags,
    )
