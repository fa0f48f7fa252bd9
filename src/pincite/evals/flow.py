"""Stored questions become an eval run: ask, remember, judge, sum up. Read this file first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pincite.errors import ModelInvalid, ModelUnavailable
from pincite.evals.judge import judged
from pincite.evals.measures import figures_by_kind, latency
from pincite.records import Case, CaseResult, EvalRun, Found, Outcome, Result, SearchResults, Told

Ask = Callable[[Case], SearchResults]
"""How a case is asked: its question, under its filters."""

Tell = Callable[[Case], Outcome]
"""How a case is answered; its seconds are those that an answer takes beside the search."""

OnProgress = Callable[[int, int], None]
"""Told how many of how many questions have been asked."""

_GIVE_UP_AFTER = 3  # failures in a row
NO_CONFIDENCE = -1.0  # below any similarity and any BM25: nothing was found at all


def evaluate(
    cases: Sequence[Case],
    ask: Ask,
    run: EvalRun,
    *,
    tell: Tell | None = None,
    on_progress: OnProgress = lambda done, of: None,
) -> EvalRun:
    """The run, which says how things are set up, with what was found and the figures for it."""
    results = ask_all(
        cases,
        ask,
        abstain_below=run.setup.abstain_below,
        deepest=run.setup.top_k,
        tell=tell,
        on_progress=on_progress,
    )
    return replace(run, results=results, figures=figures_by_kind(results), latency=latency(results))


def ask_all(
    cases: Sequence[Case],
    ask: Ask,
    *,
    abstain_below: float | None = None,
    deepest: int | None = None,
    tell: Tell | None = None,
    on_progress: OnProgress = lambda done, of: None,
) -> tuple[CaseResult, ...]:
    """Ask every question once, in order, and judge what was found.

    Without abstain_below only a search that finds nothing counts as "not in these documents".
    Figures that look deeper than the results go are left out. With `tell` each is answered, too: an
    answer that fails leaves what was found as it is. A service that fails again and again ends the
    run: a run of zeros would say nothing about the library.
    """
    results: list[CaseResult] = []
    texts: list[list[str]] = []
    failed = 0  # in a row
    for done, case in enumerate(cases, start=1):
        result, found_texts = CaseResult(case=case, confidence=NO_CONFIDENCE), list[str]()
        try:
            found = ask(case)
            result = _remembered(case, found, abstain_below)
            found_texts = [one.chunk.text for one in found.results]
            if tell is not None:
                told = tell(case)
                seconds = {**found.seconds, **told.seconds}
                result = replace(result, told=Told.of(told), seconds=seconds)
            failed = 0
        except (ModelUnavailable, ModelInvalid) as error:
            failed += 1
            if failed >= _GIVE_UP_AFTER:
                raise
            result = replace(result, error=str(error))
        results.append(result)
        texts.append(found_texts)
        on_progress(done, len(cases))
    # Three results tell nothing about the first ten.
    return tuple(
        replace(
            result,
            figures={
                name: value
                for name, value in result.figures.items()
                if deepest is None or "@" not in name or int(name.partition("@")[2]) <= deepest
            },
        )
        for result in judged(results, texts, asked=tell is not None)
    )


def _remembered(case: Case, found: SearchResults, abstain_below: float | None) -> CaseResult:
    sure = confidence(found)
    is_unsure = abstain_below is not None and sure < abstain_below
    return CaseResult(
        case=case,
        found=tuple(map(_found, found.results)),
        confidence=sure,
        abstained=not found.results or is_unsure,
        seconds=found.seconds,
    )


def confidence(answer: SearchResults) -> float:
    """How sure the search may be that the answer is there: its own word, where it gives one.

    Else the best similarity, or BM25. A fused score says only how well the searches agree on the
    order, so it is of no use here.
    """
    if answer.confidence is not None:
        return answer.confidence.probability
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
        ranks={name: one.rank for name, one in shares.items() if one.rank is not None},
        similarity=shares["vector"].score if "vector" in shares else None,
    )
