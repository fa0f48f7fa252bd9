"""Results → numbered units, within a budget: all that an answer may rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pincite.ports import UnitScorer
from pincite.records import Citation, Quote, Result, cited_file, place_cited
from pincite.retrieve.quote import answering_words, ranked_quotes
from pincite.retrieve.rarity import Rarity
from pincite.text.finding import finder_of

_UNITS_OF_A_RESULT = 8  # more of one chunk would leave too little room for the others
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
    coverage: float  # the share of the question's telling words in it, its lead and its headings


def gathered(
    results: Sequence[Result], question: str, rarity: Rarity, scorer: UnitScorer | None
) -> list[Evidence]:
    """The units of the results: of each result the best first, results in their order."""
    finder = finder_of(question)
    asked = sum(rarity.weights.values()) or 1.0
    return [
        Evidence(
            citation_of(result, quote, question),
            result,
            rank,
            (result.hit.probability or result.hit.score) * quote.merit,
            rarity.of(finder.found("\n".join((quote.text, quote.lead, *quote.heading_path))))
            / asked,
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
        # Its number and, at worst, a line with its source.
        used += count(f"[99] {one.citation.lead} {one.citation.quote} {one.citation.citation}\n")
        if used > budget and chosen:
            break
        chosen.append(one)
    return sorted(chosen, key=lambda one: (order[one.result.chunk.id], one.citation.start))


def as_numbered_lines(units: Sequence[Evidence]) -> Iterator[str]:
    """The units as a language model reads them: one line each, below a line with their source."""
    source = ""
    for number, one in enumerate(units, start=1):
        document = one.result.document
        heading = " > ".join((document.title or document.path, *one.citation.heading_path))
        if heading != source:
            source = heading
            yield f"Source: {_one_line(source)}"
        lead = f"({_one_line(one.citation.lead)}) " if one.citation.lead else ""
        yield f"[{number}] {lead}{_one_line(one.citation.quote)}"


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
        lead=quote.lead,
        before=quote.before,
        after=quote.after,
        cut_before=quote.cut_before,
        cut_after=quote.cut_after,
        flags=result.chunk.flags,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
