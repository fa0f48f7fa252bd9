"""What was found for each question, held against what was expected: its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType

from pincite.errors import SettingsError, extra_needed
from pincite.records import Case, CaseResult, ChunkId, ExpectedPlace, Found, Locator, ToldCitation
from pincite.text.words import WORD, fold, is_unspaced

# Our names of the figures over documents: those of ir_measures, and how many results count.
_RANKING: dict[str, tuple[str, int | None]] = {
    "ndcg@10": ("nDCG", 10),
    "recall@3": ("R", 3),
    "recall@10": ("R", 10),
    "mrr": ("RR", None),
    "precision@3": ("P", 3),
    "hit@1": ("Success", 1),
    "hit@3": ("Success", 3),
    "hit@10": ("Success", 10),
}

BY_QUESTION = (
    *_RANKING,
    "place_hit@1",
    "place_hit@3",
    "place_hit@10",
    "citation_precision@3",
    "citation_recall@3",
    "terms@10",
    "answer_terms",
    "answer_citation_precision",
    "answer_citation_recall",
    "similarity",
    "context_tokens",
)
"""Every figure that one question can have, in the order they are shown."""

LOWER_IS_BETTER = ("context_tokens", "failed", "aurc")
"""Of all figures, those over whole runs among them."""


def needed_package(name: str) -> ModuleType:
    """A package that only evaluation needs: loaded late, because it takes seconds."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise SettingsError(extra_needed("evaluation", "eval")) from error


def judged(
    results: Sequence[CaseResult], texts: Sequence[Sequence[str]], *, asked: bool = False
) -> tuple[CaseResult, ...]:
    """The results with the figures that apply to each; `texts` are those of the found chunks.

    A question whose search failed or found nothing scores 0 in whatever is expected of it; so does
    one that was `asked` and not answered, in what is expected of the answer.
    """
    rankings = _ranking_figures(results)
    return tuple(
        replace(result, figures={name: known[name] for name in BY_QUESTION if name in known})
        for result, ranking, chunk_texts in zip(results, rankings, texts, strict=True)
        for of_answer in (_answer_figures(result) if asked else {},)
        for known in ({**ranking, **_own_figures(result, chunk_texts), **of_answer},)
    )


def overlaps(place: ExpectedPlace, document: str, locator: Locator) -> bool:
    """Whether what stands at the locator has some of the place; without a range, all has."""
    at = locator
    return (
        place.document == document
        and (place.lines is None or _meet(place.lines, at.line_start, at.line_end))
        and (place.pages is None or _meet(place.pages, at.page_start, at.page_end))
        and (place.rows is None or _meet(place.rows, at.row_start, at.row_end))
        and (place.time is None or _share_time(place.time, at.time_start, at.time_end))
    )


def is_expected(found: Found, case: Case) -> bool:
    """Whether a result is one of the chunks, or has some of the places, that are expected."""
    return found.chunk in case.chunks or any(
        overlaps(place, found.document, found.locator) for place in case.places
    )


def _meet(expected: tuple[int, int], start: int | None, end: int | None) -> bool:
    if start is None:
        return False
    return max(expected[0], start) <= min(expected[1], start if end is None else end)


def _share_time(expected: tuple[float, float], start: float | None, end: float | None) -> bool:
    """Whether two stretches of time have more than an end in common, unless one is a moment."""
    if start is None:
        return False
    found = (start, start if end is None else end)
    shared = min(expected[1], found[1]) - max(expected[0], found[0])
    is_moment = expected[0] == expected[1] or found[0] == found[1]
    return shared > 0 or (shared == 0 and is_moment)


def _ranking_figures(results: Sequence[CaseResult]) -> list[dict[str, float]]:
    """The figures over documents of every question, computed in one go.

    trec_eval takes grades and scores by id. It crashes on paths that are no valid Unicode, so
    documents get numbers. It orders by score and then by id, so each document, placed by its best
    result, gets a score of its own.
    """
    figures: list[dict[str, float]] = [{} for _ in results]
    grades: dict[str, dict[str, int]] = {}
    scores: dict[str, dict[str, float]] = {}
    for number, result in enumerate(results):
        case = result.case
        expected = case.documents or {place.document: 1 for place in case.places}
        if not expected or case.unanswerable:
            continue
        ranked = list(dict.fromkeys(one.document for one in result.found))
        ids = {path: str(at) for at, path in enumerate(dict.fromkeys([*ranked, *expected]))}
        grades[str(number)] = {ids[path]: grade for path, grade in expected.items()}
        scores[str(number)] = {ids[path]: float(len(ranked) - at) for at, path in enumerate(ranked)}
    if not grades:
        return figures
    ir_measures = needed_package("ir_measures")
    names = {}
    for name, (kind, depth) in _RANKING.items():
        # Not by the package's own way to read names, which ends with Python 3.14.
        measure = getattr(ir_measures, kind)
        names[measure if depth is None else measure @ depth] = name
    for metric in ir_measures.iter_calc(list(names), grades, scores):
        figures[int(metric.query_id)][names[metric.measure]] = float(metric.value)
    return figures


def _own_figures(result: CaseResult, texts: Sequence[str]) -> dict[str, float]:
    """The figures that need no other question and no ranking of documents."""
    figures: dict[str, float] = {}
    case, found = result.case, result.found
    if not case.unanswerable and (case.places or case.chunks):
        right = [is_expected(one, case) for one in found]
        figures |= {f"place_hit@{first}": float(any(right[:first])) for first in (1, 3, 10)}
        # How exact the cited sentences are; expected places say more than expected chunks.
        expected: Sequence[ExpectedPlace | ChunkId] = case.places or case.chunks
        cites = [
            [
                overlaps(one, each.document, each.cited)
                if isinstance(one, ExpectedPlace)
                else each.chunk == one
                for one in expected
            ]
            for each in found[:3]
        ]
        figures["citation_precision@3"] = sum(map(any, cites)) / len(cites) if cites else 0.0
        cited = sum(any(of_one[at] for of_one in cites) for at in range(len(expected)))
        figures["citation_recall@3"] = cited / len(expected)
    if not case.unanswerable and case.terms:
        comparable = [_comparable(text) for text in texts[:10]]
        present = [
            any(_holds(text, _comparable(term)) for text in comparable) for term in case.terms
        ]
        figures["terms@10"] = sum(present) / len(present)
    if found and found[0].similarity is not None:
        figures["similarity"] = found[0].similarity
    if not result.error:
        figures["context_tokens"] = float(sum(one.tokens for one in found))
    return figures


def _answer_figures(result: CaseResult) -> dict[str, float]:
    """How good the answer to a question is that has one, by what is shown as proven of it."""
    case = result.case
    claims = (
        [one for one in result.told.claims if one.state != "unsupported"] if result.told else []
    )
    figures: dict[str, float] = {}
    if case.unanswerable:
        return figures
    if case.terms:
        cited = [one for claim in claims for one in claim.citations]
        shown = [text for one in cited for text in (one.lead, one.quote, one.citation)]
        said = _comparable("\n".join([*(claim.text for claim in claims), *shown]))
        figures["answer_terms"] = float(all(_holds(said, _comparable(one)) for one in case.terms))
    if case.documents or case.places or case.chunks:
        right = [
            any(is_rightly_cited(one, case) for one in claim.citations)
            for claim in claims
            if claim.citations
        ]
        if right:
            figures["answer_citation_precision"] = sum(right) / len(right)
        figures["answer_citation_recall"] = float(any(right))
    return figures


def is_rightly_cited(cited: ToldCitation, case: Case) -> bool:
    """Whether words stand where they are expected; a document without a place counts as a whole."""
    if cited.chunk in case.chunks or any(
        overlaps(place, cited.document, cited.locator) for place in case.places
    ):
        return True
    exact = {place.document for place in case.places}
    return not case.chunks and cited.document in case.documents and cited.document not in exact


def _holds(text: str, term: str) -> bool:
    """Whether the term stands in the text, and not only inside of longer words."""
    start = text.find(term)
    while start >= 0:
        end = start + len(term)
        cuts_a_word = _are_one_word(text[start - 1 : start], term[:1]) or _are_one_word(
            term[-1:], text[end : end + 1]
        )
        if not cuts_a_word:
            return True
        start = text.find(term, start + 1)
    return False


def _are_one_word(one: str, following: str) -> bool:
    """Whether neighbours belong to one word; in scripts without spaces nobody can tell."""
    return all(WORD.fullmatch(char) and not is_unspaced(char) for char in (one, following))


def _comparable(text: str) -> str:
    """Case folded and on one line: a term may be broken at the end of a line."""
    return " ".join(fold(text).split())
