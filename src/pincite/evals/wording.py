"""Figures, places and expectations of a run → words and numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Literal

from pincite.evals.judge import LOWER_IS_BETTER
from pincite.records import Case, ExpectedPlace, FigureChange, Locator
from pincite.text.times import clock

# In the order of the tables.
MEANINGS = {
    "ndcg@10": "how high the right documents stand among the first ten",
    "hit@1": "the first document is a right one",
    "hit@3": "a right document is among the first three",
    "hit@10": "a right document is among the first ten",
    "mrr": "one divided by the rank of the first right document",
    "recall@3": "share of the right documents among the first three",
    "recall@10": "share of the right documents among the first ten",
    "precision@3": "share of the first three documents that are right",
    "place_hit@1": "the first result overlaps an expected place",
    "place_hit@3": "one of the first three results overlaps an expected place",
    "place_hit@10": "one of the first ten results overlaps an expected place",
    "citation_precision@3": "share of the first three cited sentences in an expected place",
    "citation_recall@3": "share of the expected places that one of these sentences cites",
    "terms@10": "share of the expected words in the first ten chunks",
    "answer_terms": "the answer holds all expected words",
    "answer_citation_precision": "share of the claims that cite an expected place",
    "answer_citation_recall": "the answer cites an expected place",
    "refusal_precision": "share of the questions that were not answered that have no answer",
    "refusal_recall": "share of the questions without an answer that were not answered",
    "abstention_precision": "share of the refused questions that have no answer",
    "abstention_recall": "share of the questions without an answer that were refused",
    "abstention_auroc": "how well confidence tells questions with an answer from those without",
    "aurc": "share of wrong answers, on average over all thresholds; lower is better",
    "similarity": "cosine of the question and its best result",
    "context_tokens": "tokens of all results of a question together",
}
_WHOLE_NUMBERS = ("context_tokens",)
_CHANCE = 0.05  # a difference that chance gives less often than this is taken seriously
_SHORT_ID = 12  # characters of a chunk's id that tell it from the others
_NOT_A_NUMBER = "–"

Verdict = Literal["better", "worse", "same"]


def figure(value: float, name: str) -> str:
    """`0.812`, or `1,204` where whole things are counted."""
    if not math.isfinite(value):
        return _NOT_A_NUMBER
    return f"{value:,.0f}" if name in _WHOLE_NUMBERS else f"{value:.3f}"


def measured(value: float) -> str:
    """`0.42`, `7.3`, `1,204`: as many places as matter."""
    places = 2 if value < 1 else 1 if value < 100 else 0
    return f"{value:,.{places}f}"


def difference(change: FigureChange) -> str:
    """`+0.021` or `−0.021`."""
    written = figure(abs(change.after - change.before), change.name)
    if not written.strip("0.") or written == _NOT_A_NUMBER:
        return written
    return ("+" if change.after > change.before else "−") + written


def p_value(change: FigureChange) -> str:
    """`0.032`, or that it is smaller than anyone needs to know."""
    if not math.isfinite(change.p_value):
        return _NOT_A_NUMBER
    return "< 0.001" if change.p_value < 0.001 else f"{change.p_value:.3f}"


def verdict(change: FigureChange) -> Verdict:
    """What a difference means, if it is more than chance gives."""
    if not change.p_value < _CHANCE:
        return "same"
    is_lower = change.after < change.before
    return "better" if is_lower == (change.name in LOWER_IS_BETTER) else "worse"


def minute(moment: str) -> str:
    """`2026-02-03T04:05:06Z` as `2026-02-03 04:05 UTC`."""
    return f"{moment[:16].replace('T', ' ')} UTC"


def short(text: str, most: int) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else f"{text[:most]}…"


def where(place: Locator | ExpectedPlace) -> str:
    """`page 3`, `01:05–01:48`, `rows 2–9`, `lines 7–9`."""
    ends: dict[str, tuple[float | None, float | None]]
    if isinstance(place, Locator):
        ends = {
            "time": (place.time_start, place.time_end),
            "row": (place.row_start, place.row_end),
            "page": (place.page_start, place.page_end),
            "line": (place.line_start, place.line_end),
        }
    else:
        given = {"time": place.time, "row": place.rows, "page": place.pages, "line": place.lines}
        ends = {unit: both or (None, None) for unit, both in given.items()}
    for unit, (first, last) in ends.items():
        if first is None:
            continue
        if unit == "time":
            times = (first, first if last is None else last)
            return "–".join(dict.fromkeys(clock(end).removeprefix("00:") for end in times))
        return f"{unit} {first}" if last in (None, first) else f"{unit}s {first}–{last}"
    return ""


def expected(case: Case) -> Iterator[str]:
    """What a good search finds for a question, most exact first."""
    for place in case.places:
        yield ", ".join(filter(None, (place.document, where(place))))
    for chunk in case.chunks:
        yield f"chunk {chunk[:_SHORT_ID]}"
    placed = {place.document for place in case.places}
    graded = len(set(case.documents.values())) > 1
    for document, grade in case.documents.items():
        if graded:
            yield f"{document} (relevance {grade})"
        elif document not in placed:
            yield document
    if case.terms:
        yield "the words " + ", ".join(f"“{term}”" for term in case.terms)
    if case.unanswerable:
        yield "no answer: the documents do not hold it"


def narrowed(case: Case) -> str:
    """The filters a question was asked under."""
    given = ((name, value) for name, value in asdict(case.filters).items() if value is not None)
    return ", ".join(
        f"{name} {value if isinstance(value, str) else ' '.join(value)}" for name, value in given
    )
