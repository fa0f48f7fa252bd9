"""Results → numbered units, within a budget: all that an answer may rest on; where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from pincite.ports import UnitScorer
from pincite.records import (
    Chunk,
    Citation,
    DocumentEntry,
    Quote,
    Result,
    cited_file,
    place_cited,
)
from pincite.retrieve.quote import answering_words, ranked_quotes
from pincite.retrieve.rarity import Rarity
from pincite.text.dates import MONTHS
from pincite.text.facts import facts_of
from pincite.text.finding import finder_of, key_of
from pincite.text.printable import one_line

_UNITS_OF_A_RESULT = 8  # more of one chunk would leave too little room for the others
_LONGEST_SOURCE = 160  # characters; a title may be a page of instructions
_RESULTS_SCORED = 5  # by a model, which takes its time; further down there is seldom an answer

_MONTHS = {key_of(name): number for name, number in MONTHS.items()}
_LOOKED_AT = 6  # units; the rest is too far from the question
_SAME_SUBJECT = 0.6  # of the words of both without numbers must be shared
_SPEAKS_TO_IT = 0.6  # of the question's telling words must stand in each

Count = Callable[[str], int]
"""How many tokens a text has."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One unit of one result."""

    citation: Citation
    quote: Quote
    result: Result
    rank: int  # among the units of its result, from 0
    merit: float  # how well it answers, compared with units of other results; higher is better


def gathered(
    results: Sequence[Result], question: str, rarity: Rarity, scorer: UnitScorer | None
) -> list[Evidence]:
    """The units of the results: of each result the best first, results in their order."""
    return [
        Evidence(
            citation_of(result.document, result.chunk, quote, question),
            quote,
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


def citation_of(document: DocumentEntry, chunk: Chunk, quote: Quote, question: str) -> Citation:
    """The place of the quoted words, as people read it and as data."""
    path, kind = cited_file(document)
    return Citation(
        citation=place_cited(path, kind, quote.heading_path, quote.locator),
        quote=quote.text,
        path=document.path,
        title=document.title,
        document_id=document.id,
        chunk_id=chunk.id,
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
        flags=chunk.flags,
    )


def differences(question: str, units: Sequence[Evidence], rarity: Rarity) -> list[str]:
    """A note for each pair of documents that disagree, with both places and their dates."""
    asked, finder = facts_of(question), finder_of(question)
    enough = _SPEAKS_TO_IT * sum(rarity.weights.values())
    best = sorted(units, key=lambda one: -one.merit)[: 2 * _LOOKED_AT]
    near = [
        one
        for one in best
        for cited in (one.citation,)
        for context in ("\n".join((cited.quote, cited.lead, *cited.heading_path)),)
        if rarity.of(finder.found(context)) >= enough
    ]
    notes: dict[frozenset[str], str] = {}
    for one, other in combinations(near[:_LOOKED_AT], 2):
        pair = frozenset((one.citation.document_id, other.citation.document_id))
        here, there = facts_of(one.citation.quote), facts_of(other.citation.quote)
        these, those = (
            (facts.numbers | {_MONTHS[word] for word in facts.words & _MONTHS.keys()})
            - asked.numbers
            for facts in (here, there)
        )
        subject, same = (
            {word for word in facts.words if word.isalpha() and word not in _MONTHS}
            for facts in (here, there)
        )
        is_same = len(subject & same) >= _SAME_SUBJECT * len(subject | same)
        differ = bool(these - those and those - these)  # the year may be the same
        if len(pair) == 2 and pair not in notes and is_same and differ:
            notes[pair] = f"Your documents differ: {_told(one)}; {_told(other)}."
    return list(notes.values())


def _told(one: Evidence) -> str:
    metadata = one.result.document.metadata
    date = metadata.date or metadata.modified
    of = f", of {date[:10]}" if date else ""
    return f"“{one_line(one.citation.quote)}” ({one.citation.citation}{of})"
