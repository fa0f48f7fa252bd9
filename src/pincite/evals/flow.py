"""Stored questions become an eval run: ask, remember, judge, sum up. Read this file first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pincite.errors import ModelInvalid, ModelUnavailable
from pincite.evals.judge import judged
from pincite.evals.measures import figures_by_kind, latency
from pincite.records import Case, CaseResult, EvalRun, Found, Result, SearchResults

Ask = Callable[[Case], SearchResults]
"""How a case is asked: its question, under its filters."""

OnProgress = Callable[[int, int], None]
"""Told how many of how many questions have been asked."""

NO_CONFIDENCE = -1.0  # below any similarity and any BM25: nothing was found at all


def evaluate(
    cases: Sequence[Case],
    ask: Ask,
    run: EvalRun,
    *,
    on_progress: OnProgress = lambda done, of: None,
) -> EvalRun:
    """The run, which says how things are set up, with what was found and the figures for it."""
    below = run.setup.abstain_below
    results = ask_all(cases, ask, abstain_below=below, on_progress=on_progress)
    return replace(run, results=results, figures=figures_by_kind(results), latency=latency(results))


def ask_all(
    cases: Sequence[Case],
    ask: Ask,
    *,
    abstain_below: float | None = None,
    on_progress: OnProgress = lambda done, of: None,
) -> tuple[CaseResult, ...]:
    """Ask every question once, in order, and judge what was found.

    Without abstain_below only a search that finds nothing counts as "not in these documents".
    """
    results: list[CaseResult] = []
    texts: list[list[str]] = []
    for done, case in enumerate(cases, start=1):
        try:
            answer = ask(case)
        except (ModelUnavailable, ModelInvalid) as error:
            results.append(CaseResult(case=case, confidence=NO_CONFIDENCE, error=str(error)))
            texts.append([])
        else:
            results.append(_remembered(case, answer, abstain_below))
            texts.append([result.chunk.text for result in answer.results])
        on_progress(done, len(cases))
    return judged(results, texts)


def _remembered(case: Case, answer: SearchResults, abstain_below: float | None) -> CaseResult:
    sure = confidence(answer)
    return CaseResult(
        case=case,
        found=tuple(map(_found, answer.results)),
        confidence=sure,
        abstained=not answer.results or (abstain_below is not None and sure < abstain_below),
        seconds=answer.seconds,
    )


def confidence(answer: SearchResults) -> float:
    """How sure the search may be that the answer is there: the best similarity, or BM25.

    A fused score says only how well the searches agree on the order, so it is of no use here.
    """
    search = "words" if answer.mode == "words" else "vector"
    shares = (result.hit.shares.get(search) for result in answer.results)
    return max((share.score for share in shares if share is not None), default=NO_CONFIDENCE)


def _found(result: Result) -> Found:
    shares = result.hit.shares
    return Found(
        document=result.document.path,
        chunk=result.chunk.id,
        score=result.hit.score,
        locator=result.chunk.locator,
        cited=result.quote.locator,
        quote=result.quote.text,
        tokens=result.chunk.tokens,
        headings=result.quote.heading_path,
        ranks={search: share.rank for search, share in shares.items()},
        similarity=shares["vector"].score if "vector" in shares else None,
    )
