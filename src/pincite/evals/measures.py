"""Figures over many questions: means by kind, abstaining, risk against coverage, latency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from statistics import fmean

import numpy as np

from pincite.evals.judge import BY_QUESTION, needed_package
from pincite.records import CaseResult, EvalRun

ALL = "all"
"""Where the figures of all questions stand, beside those of each kind."""

OVER_RUN = (
    "questions",
    "answerable",
    "unanswerable",
    "failed",
    "abstention_precision",
    "abstention_recall",
    "abstention_auroc",
    "aurc",
    "unlabelled",
    "answered",
    "refused",
    "refusal_precision",
    "refusal_recall",
)
"""The figures that only all questions together have."""


def figures_by_kind(results: Sequence[CaseResult]) -> dict[str, dict[str, float]]:
    """The figures of all questions, then of each kind, as far as they apply."""
    unanswerable = sum(result.case.unanswerable for result in results)
    unlabelled = sum(result.case.is_open for result in results)
    counts = {
        "questions": float(len(results)),
        "answerable": float(len(results) - unanswerable - unlabelled),
        "unanswerable": float(unanswerable),
        **({"unlabelled": float(unlabelled)} if unlabelled else {}),
        "failed": float(sum(bool(result.error) for result in results)),
    }
    figures = {ALL: {**_means(results), **counts, **_abstention(results), **_refusal(results)}}
    if curve := risk_coverage(results):
        figures[ALL]["aurc"] = aurc(curve)
    for kind in sorted({result.case.kind for result in results} - {ALL}):
        figures[kind] = _means([result for result in results if result.case.kind == kind])
    return figures


def outcomes(run: EvalRun) -> Counter[str]:
    """How many questions came out in which way, in the order of their names."""
    asked = run.setup.asking is not None
    return Counter(sorted(result.outcome(asked=asked) for result in run.results))


def latency(results: Sequence[CaseResult]) -> dict[str, dict[str, float]]:
    """Seconds that half, 95 % and 99 % of the searches stayed below, by stage and in total."""
    stages: dict[str, list[float]] = {}
    totals = []
    for result in results:
        if result.error or not result.seconds:
            continue
        for stage, seconds in result.seconds.items():
            stages.setdefault(stage, []).append(seconds)
        totals.append(sum(result.seconds.values()))
    if totals:
        stages["total"] = totals
    return {
        stage: {f"p{share}": float(np.percentile(seconds, share)) for share in (50, 95, 99)}
        for stage, seconds in stages.items()
    }


def risk_coverage(results: Sequence[CaseResult]) -> list[tuple[float, float]]:
    """(coverage, risk) as ever less certain questions are answered, from the most certain on.

    Coverage is the share of the questions with a verdict, risk that of wrong answers among those
    given. Equal confidence is answered together. Where nothing was found there is no answer to
    give, right or wrong, so the curve may end before everything is covered.
    """
    counted = with_verdict(results)
    answers = [result for result in counted if result.found]
    answers.sort(key=lambda result: -result.confidence)
    curve = []
    given = mistakes = 0
    for _, equally_sure in groupby(answers, key=lambda result: result.confidence):
        together = list(equally_sure)
        given += len(together)
        mistakes += sum(is_wrong(one) is True for one in together)
        curve.append((given / len(counted), mistakes / given))
    return curve


def with_verdict(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Those that count for risk and coverage: asked, and told right from wrong by their figures."""
    return [result for result in results if not result.error and is_wrong(result) is not None]


def is_wrong(result: CaseResult) -> bool | None:
    """Whether answering from the first result is a mistake; None where nobody can tell."""
    if result.case.unanswerable:
        return True
    for figure in ("hit@1", "place_hit@1"):
        if figure in result.figures:
            return result.figures[figure] == 0
    return None


def aurc(curve: Sequence[tuple[float, float]]) -> float:
    """The area under a risk–coverage curve, in steps: the mean risk over all coverages.

    What is never answered is no risk: beyond the end of the curve it is 0.
    """
    steps = pairwise([(0.0, 0.0), *curve])
    return sum((coverage - before) * risk for (before, _), (coverage, risk) in steps)


def auroc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """How often an answerable question gets more confidence than one that is not; ties are half."""
    stats = needed_package("scipy.stats")
    # The statistic is the same by every method; "asymptotic" is the cheap one.
    u = stats.mannwhitneyu(answerable, unanswerable, method="asymptotic").statistic
    return float(u) / (len(answerable) * len(unanswerable))


def _means(results: Sequence[CaseResult]) -> dict[str, float]:
    values = {
        name: [result.figures[name] for result in results if name in result.figures]
        for name in BY_QUESTION
    }
    return {name: fmean(given) for name, given in values.items() if given}


def _abstention(results: Sequence[CaseResult]) -> dict[str, float]:
    """How well abstaining tells unanswerable questions; a failed search decided nothing."""
    asked = [result for result in results if not result.error]
    unanswerable = [result for result in asked if result.case.unanswerable]
    if not unanswerable:
        return {}
    abstained = sum(result.abstained for result in asked)
    rightly = sum(result.abstained for result in unanswerable)
    figures = {"abstention_recall": rightly / len(unanswerable)}
    if abstained:
        figures = {"abstention_precision": rightly / abstained, **figures}
    labelled = (one for one in asked if not (one.case.unanswerable or one.case.is_open))
    if answerable := [result.confidence for result in labelled]:
        confidences = [result.confidence for result in unanswerable]
        figures["abstention_auroc"] = auroc(answerable, confidences)
    return figures


def _refusal(results: Sequence[CaseResult]) -> dict[str, float]:
    """How many were answered, and how well refusing tells those without an answer."""
    told = [result for result in results if result.told is not None]
    refused = [one for one in told if one.told is not None and not one.told.is_answer]
    if not told:
        return {}
    figures = {"answered": float(len(told) - len(refused)), "refused": float(len(refused))}
    unanswerable = sum(one.case.unanswerable for one in told)
    labelled = [one for one in refused if not one.case.is_open]
    rightly = sum(one.case.unanswerable for one in refused)
    if unanswerable and labelled:
        figures["refusal_precision"] = rightly / len(labelled)
    if unanswerable:
        figures["refusal_recall"] = rightly / unanswerable
    return figures
