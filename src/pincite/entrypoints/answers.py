"""Answers and abstentions, as people read them and as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import get_args

from pincite.entrypoints.render import Highlight, Json, locator_as_json, marked
from pincite.records import (
    Abstention,
    Answer,
    CheckedCitation,
    CheckState,
    Citation,
    Claim,
    Outcome,
)
from pincite.text.printable import printable


def outcome_as_text(told: Outcome, *, highlight: Highlight, strong: Highlight) -> Iterator[str]:
    """The claims with their places, or why there are none and what is near."""
    if isinstance(told, Answer):
        for number, claim in enumerate(told.claims, start=1):
            yield from _claim_as_text(number, claim, highlight, strong)
        return
    yield printable(told.message)
    if told.nearest:
        yield "Nearest:"
        for citation in told.nearest:
            yield f"    “{_marked(citation, highlight)}”"
            yield f"      {strong(printable(citation.citation))}"


def _claim_as_text(
    number: int, claim: Claim, highlight: Highlight, strong: Highlight
) -> Iterator[str]:
    quotes = " ".join(f"“{_marked(one, highlight)}”" for one in claim.citations)
    yield f"[{number}] {quotes if claim.state == 'quoted' else printable(claim.text)}"
    for one in claim.citations:
        yield f"    {strong(printable(one.citation))}"


def _marked(citation: Citation, highlight: Highlight) -> str:
    return marked(citation.quote, citation.matches, highlight)


def outcome_as_json(told: Outcome) -> Json:
    """One shape for both outcomes, and for every door."""
    claims: Sequence[Claim] = told.claims if isinstance(told, Answer) else ()
    abstained = told if isinstance(told, Abstention) else None
    return {
        "outcome": told.outcome,
        "question": told.question,
        "claims": [
            {
                "text": claim.text,
                "state": claim.state,
                "judge": claim.judge,
                "citations": [_citation_as_json(one) for one in claim.citations],
            }
            for claim in claims
        ],
        "probability": told.probability,
        "reason": abstained.reason if abstained else None,
        "message": abstained.message if abstained else "",
        "missing_terms": list(abstained.missing_terms) if abstained else [],
        "nearest": [_citation_as_json(one) for one in abstained.nearest] if abstained else [],
        "notes": list(told.asides.notes),
        "notices": list(told.asides.notices),
        "changed": list(told.asides.changed),
        "complete": told.asides.complete,
        "seconds": dict(told.seconds),
    }


def _citation_as_json(citation: Citation) -> Json:
    return {
        "citation": citation.citation,
        "source": citation.source,
        "quote": citation.quote,
        "path": citation.path,
        "title": citation.title,
        "document_id": citation.document_id,
        "chunk_id": citation.chunk_id,
        "start": citation.start,
        "end": citation.end,
        "locator": locator_as_json(citation.locator),
        "heading_path": list(citation.heading_path),
        "boxes": [asdict(box) for box in citation.boxes],
    }


def checked_as_text(
    checked: Iterable[CheckedCitation], *, highlight: Highlight, strong: Highlight
) -> Iterator[str]:
    """Each citation with its state, and what is to be known of it."""
    for one in checked:
        state = one.state if one.state == "valid" else highlight(one.state)
        yield f"{state}: {strong(printable(one.citation))}"
        yield f"    “{marked(one.quote, (), highlight)}”"
        if one.became:
            yield f"    Now there is: “{marked(one.became, (), highlight)}”"
        if one.now and one.now != one.citation:
            yield f"    Now at: {printable(one.now)}"
        if one.message:
            yield f"    ({printable(one.message)})"


def counts_of(checked: Sequence[CheckedCitation]) -> dict[CheckState, int]:
    """How many citations are in each state, of those there are."""
    found = Counter(one.state for one in checked)
    return {state: found[state] for state in get_args(CheckState) if found[state]}


def counts_as_text(checked: Sequence[CheckedCitation]) -> str:
    """`5 citations: 3 valid, 1 moved, 1 changed`."""
    named = ", ".join(f"{count} {state}" for state, count in counts_of(checked).items())
    return f"{len(checked)} citation{'s' * (len(checked) != 1)}{': ' * bool(named)}{named}"
