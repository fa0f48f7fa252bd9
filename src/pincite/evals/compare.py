"""Two runs side by side: which questions got better or worse, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import fmean

import numpy as np

from pincite.errors import SettingsError
from pincite.evals.judge import BY_QUESTION, needed_package
from pincite.evals.measures import LOWER_IS_BETTER
from pincite.records import Case, CaseResult, Change, Comparison, EvalRun, FigureChange

DEFAULT_FIGURE = "ndcg@10"

_RESAMPLES = 9_999  # with up to 13 questions that differ, every one of 2^13 outcomes is tried
_SEED = 4_046  # any number; the same runs always give the same p-value
_NUMBERS_AT_ONCE = 2_000_000  # some 16 MB

_Pair = tuple[CaseResult, CaseResult]


def compare(before: EvalRun, after: EvalRun, *, figure: str = DEFAULT_FIGURE) -> Comparison:
    """What changed, over the questions of which both runs expected the same.

    Where nothing has the default figure, the first one that there is takes its place.
    """
    earlier = {_same_case(result.case): result for result in before.results}
    later = {_same_case(result.case): result for result in after.results}
    pairs = [(earlier[key], result) for key, result in later.items() if key in earlier]
    if not pairs:
        raise SettingsError("the runs share no question; compare two runs of the same cases")
    figures = tuple(_figure_changes(pairs))
    chosen = _chosen(figure, [one.name for one in figures])
    changes = _changes(pairs, chosen)
    return Comparison(
        before=before,
        after=after,
        figures=figures,
        figure=chosen,
        better=tuple(one for one in changes if _gain(one, chosen) > 0),
        worse=tuple(one for one in changes if _gain(one, chosen) < 0),
        same=sum(_gain(one, chosen) == 0 for one in changes),
        only_before=tuple(one.case for key, one in earlier.items() if key not in later),
        only_after=tuple(one.case for key, one in later.items() if key not in earlier),
    )


def _same_case(case: Case) -> Hashable:
    """Equal for the same question with the same expectations, in whatever order they stand."""
    return (
        case.id,
        frozenset(case.documents.items()),
        frozenset(case.chunks),
        frozenset(case.places),
        frozenset(case.terms),
        case.unanswerable,
    )


def _figure_changes(pairs: Sequence[_Pair]) -> list[FigureChange]:
    changes = []
    for name in BY_QUESTION:
        if both := _with_figure(pairs, name):
            before = [one.figures[name] for one, _ in both]
            after = [other.figures[name] for _, other in both]
            p_value = _p_value([new - old for old, new in zip(before, after, strict=True)])
            changes.append(FigureChange(name, fmean(before), fmean(after), p_value, len(both)))
    return changes


def _with_figure(pairs: Sequence[_Pair], name: str) -> list[_Pair]:
    return [pair for pair in pairs if all(name in one.figures for one in pair)]


def _p_value(differences: Sequence[float]) -> float:
    """Paired permutation test, two-sided: how often chance alone makes the mean differ so much.

    Were both runs alike, each difference could as well have the other sign. Questions without one
    stay as they are under any sign, so they are left out.
    """
    changed = [difference for difference in differences if difference]
    if len(changed) < 2:
        return 1.0
    outcome = needed_package("scipy.stats").permutation_test(
        (changed,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=max(_NUMBERS_AT_ONCE // len(changed), 1),
        rng=np.random.default_rng(_SEED),
    )
    return float(outcome.pvalue)


def _chosen(figure: str, present: Sequence[str]) -> str:
    if figure in present:
        return figure
    if not present:
        raise SettingsError("no figure applies to the questions that the runs share")
    if figure == DEFAULT_FIGURE:
        return present[0]
    raise SettingsError(
        f"the questions that the runs share have no figure {figure!r}; "
        f"choose one of: {', '.join(present)}"
    )


def _changes(pairs: Sequence[_Pair], figure: str) -> list[Change]:
    """The questions that have the figure, the greatest change first."""
    changes = [
        Change(after.case, before, after, before.figures[figure], after.figures[figure])
        for before, after in _with_figure(pairs, figure)
    ]
    return sorted(changes, key=lambda change: -abs(_gain(change, figure)))


def _gain(change: Change, figure: str) -> float:
    gain = change.value_after - change.value_before
    return -gain if figure in LOWER_IS_BETTER else gain
