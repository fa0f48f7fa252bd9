"""Answers and abstentions, as people read them and as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import get_args

from pincite.entrypoints.render import (
    Json,
    faint,
    highlight,
    locator_as_json,
    marked,
    strong,
    struck,
)
from pincite.records import (
    Abstention,
    Answer,
    Artifact,
    CheckedCitation,
    CheckState,
    Citation,
    Claim,
    Outcome,
)
from pincite.text.printable import one_line, printable


def claim_as_text(number: int, claim: Claim) -> Iterator[str]:
    """A claim with the words it rests on, their places, and what stands around them."""
    if claim.state == "unsupported":
        yield f"[{number}] {struck(_one_line(claim.text))} (unsupported: {printable(claim.judge)})"
        return
    if claim.state == "supported":
        yield f"[{number}] {_one_line(claim.text)} (supported: {printable(claim.judge)})"
    for one in claim.citations:
        mark = f"[{number}]" if claim.state == "quoted" else "   "
        yield f"{mark} {_quoted(one)}"
        yield from _place(one, indent=4)
        if number == 1 and (one.before or one.after):
            around = (_one_line(one.before), f"[{number}]", _one_line(one.after))
            yield faint(f"    … {' '.join(filter(None, around))} …")


def abstention_as_text(told: Abstention) -> Iterator[str]:
    """Why there is no answer, and what is near."""
    yield printable(told.message)
    if told.reason == "counting":
        yield "`pincite ask --all` looks at every document, and counts."
    if told.nearest:
        yield "Nearest:"
        for citation in told.nearest:
            yield f"    {_quoted(citation)}"
            yield from _place(citation, indent=6)


def _quoted(citation: Citation) -> str:
    lead = f"({_one_line(citation.lead)}) " if citation.lead else ""
    spans = citation.answers or citation.matches
    words = marked(citation.quote, spans, citation.hyphens)
    return f"{lead}“{'…' * citation.cut_before}{words}{'…' * citation.cut_after}”"


def _place(citation: Citation, *, indent: int) -> Iterator[str]:
    yield f"{' ' * indent}{strong(printable(citation.citation))}"
    if citation.flags:
        yield f"{' ' * indent}Beware: the place also holds {', '.join(citation.flags)}."


def _one_line(text: str) -> str:
    return printable(one_line(text))


def outcome_as_json(told: Outcome) -> Json:
    """One shape for both outcomes, and for every door."""
    claims: Sequence[Claim] = told.claims if isinstance(told, Answer) else ()
    abstained = told if isinstance(told, Abstention) else None
    return {
        "outcome": told.outcome,
        "question": told.question,
        "claims": [claim_as_json(claim) for claim in claims],
        "probability": told.probability,
        "parts": dict(told.parts),
        "differences": list(told.differences) if isinstance(told, Answer) else [],
        "writer": told.writer if isinstance(told, Answer) else "",
        "reason": abstained.reason if abstained else None,
        "message": abstained.message if abstained else "",
        "missing_terms": list(abstained.missing_terms) if abstained else [],
        "nearest": [_citation_as_json(one) for one in abstained.nearest] if abstained else [],
        "notes": list(told.asides.notes),
        "notices": list(told.asides.notices),
        "changed": list(told.asides.changed),
        "complete": told.asides.complete,
        "so_far": told.asides.so_far,
        "seconds": dict(told.seconds),
        "query_id": told.query_id,
    }


def artifact_as_json(made: Artifact) -> Json:
    """Its sections with their claims."""
    return {
        "title": made.title,
        "about": made.about,
        "writer": made.writer,
        "notices": list(made.notices),
        "sections": [
            {
                "heading": one.heading,
                "claims": [claim_as_json(claim) for claim in one.claims],
                "open": one.open,
            }
            for one in made.sections
        ],
    }


def claim_as_json(claim: Claim) -> Json:
    """A claim with its proof."""
    return {
        "text": claim.text,
        "state": claim.state,
        "judge": claim.judge,
        "citations": [_citation_as_json(one) for one in claim.citations],
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
        "lead": citation.lead,
        "before": citation.before,
        "after": citation.after,
        "cut_before": citation.cut_before,
        "cut_after": citation.cut_after,
        "flags": list(citation.flags),
        "matches": [list(span) for span in citation.matches],
        "answers": [list(span) for span in citation.answers],
        "boxes": [asdict(box) for box in citation.boxes],
    }


def checked_as_text(checked: Iterable[CheckedCitation]) -> Iterator[str]:
    """Each citation with its state, and what is to be known of it."""
    for one in checked:
        state = one.state if one.state == "valid" else highlight(one.state)
        yield f"{state}: {strong(printable(one.citation))}"
        yield f"    “{marked(one.quote, ())}”"
        if one.became:
            what = "There stood" if one.state == "misquoted" else "Now there is"
            yield f"    {what}: “{marked(one.became, ())}”"
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
