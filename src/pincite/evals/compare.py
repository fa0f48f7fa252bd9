"""Two runs side by side: which questions got better or worse, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from pincite.errors import SettingsError
from pincite.evals.judge import BY_QUESTION, LOWER_IS_BETTER
from pincite.records import (
    Case,
    CaseResult,
    Change,
    Comparison,
    EvalRun,
    FigureChange,
    OutcomeChange,
)

DEFAULT_FIGURE = "ndcg@10"

_RESAMPLES = 9_999
_FEW = 13  # questions that differ: with so few, every one of 2^13 outcomes is tried
_SEED = 4_046  # any number; the same runs always give the same p-value
_NUMBERS_AT_ONCE = 2_000_000  # some 16 MB
_ROUNDING = 1e-12  # of all differences together: sums that are no further apart are equal

_Pair = tuple[CaseResult, CaseResult]
_Numbers = NDArray[np.float64]


def compare(before: EvalRun, after: EvalRun, *, figure: str = DEFAULT_FIGURE) -> Comparison:
    """What changed, over the questions of which both runs expected the same.

    Where nothing has the default figure, the first one that there is takes its place.
    """
    earlier = {_same_case(result.case): result for result in before.results}
    later = {_same_case(result.case): result for result in after.results}
    pairs = [(earlier[key], result) for key, result in later.items() if key in earlier]
    if not pairs:
        raise SettingsError("the runs share no question; compare two runs of the same cases")
    is_asked = before.setup.asking is not None and after.setup.asking is not None
    outcomes = _outcome_changes(pairs, asked=is_asked)
    shared = len(pairs)
    pairs = [pair for pair in pairs if not pair[0].case.is_open]
    figures = tuple(_figure_changes(pairs)) if pairs else ()
    present = [one.name for one in figures]
    if pairs and not present:
        raise SettingsError("no figure applies to the questions that the runs share")
    if pairs and figure not in present and figure != DEFAULT_FIGURE:
        raise SettingsError(
            f"the questions that the runs share have no figure {figure!r}; "
            f"choose one of: {', '.join(present)}"
        )
    chosen = figure if figure in present or not present else present[0]
    changes = [
        Change(after.case, before, after, before.figures[chosen], after.figures[chosen])
        for before, after in _with_figure(pairs, chosen)
    ]
    changes.sort(key=lambda change: -abs(_gain(change, chosen)))
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
        outcomes=outcomes,
        unlabelled=shared - len(pairs),
    )


def _outcome_changes(pairs: Sequence[_Pair], *, asked: bool) -> tuple[OutcomeChange, ...]:
    """The questions that came out in another way.

    Of questions without labels those, too, that came out first from another document; of others
    the figures say more. Where one of the runs only searched, that is what is compared.
    """
    changes = (
        OutcomeChange(
            after.case,
            before.outcome(asked=asked),
            after.outcome(asked=asked),
            before.first_document(asked=asked),
            after.first_document(asked=asked),
        )
        for before, after in pairs
        if asked or after.case.is_open
    )
    return tuple(
        one
        for one in changes
        if one.before != one.after
        or (one.case.is_open and one.document_before != one.document_after)
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
    comparable = {name: both for name in BY_QUESTION if (both := _with_figure(pairs, name))}
    differences = [
        [
            after.figures[name] - before.figures[name]
            if name in before.figures and name in after.figures
            else 0.0
            for name in comparable
        ]
        for before, after in pairs
    ]
    p_values = _p_values(np.array(differences))
    return [
        FigureChange(
            name,
            fmean(before.figures[name] for before, _ in both),
            fmean(after.figures[name] for _, after in both),
            p_value,
            len(both),
        )
        for (name, both), p_value in zip(comparable.items(), p_values, strict=True)
    ]


def _with_figure(pairs: Sequence[_Pair], name: str) -> list[_Pair]:
    return [pair for pair in pairs if all(name in one.figures for one in pair)]


def _p_values(differences: _Numbers) -> list[float]:
    """Paired permutation tests, two-sided: how often chance alone makes a mean differ so much.

    Each row is a question, each column a figure with a test of its own. Were both runs alike, each
    difference could as well have the other sign. One of 0 has none, so it changes nothing.
    """
    many = np.count_nonzero(differences, axis=0) > _FEW
    p_values = np.empty(len(many))
    for column in np.flatnonzero(~many):
        moved = differences[differences[:, column] != 0, column]
        every = np.arange(2 ** len(moved))[:, np.newaxis] >> np.arange(len(moved)) & 1
        as_far = _as_far(every.astype(np.float64), moved[:, np.newaxis])
        p_values[column] = min(float(2 * as_far.min() / len(every)), 1.0)
    # The signs are drawn once for all figures, because drawing takes most of the time.
    changed = differences[differences[:, many].any(axis=1)][:, many]
    random = np.random.default_rng(_SEED)
    at_once = max(_NUMBERS_AT_ONCE // max(len(changed), 1), 1)
    counts = np.ones((2, changed.shape[1]))  # the outcome that is there is one of them
    for done in range(0, _RESAMPLES, at_once):
        size = (min(at_once, _RESAMPLES - done), len(changed))
        flips = random.integers(2, size=size, dtype=np.uint8)
        counts += _as_far(flips.astype(np.float64), changed)
    p_values[many] = np.minimum(2 * counts.min(axis=0) / (_RESAMPLES + 1), 1.0)
    return [float(p_value) for p_value in p_values]


def _as_far(flips: _Numbers, differences: _Numbers) -> NDArray[np.int64]:
    """How many outcomes are at least as high, and how many as low, as without any flip.

    A flip (1 where a sign is changed, else 0) takes a difference from the sum twice.
    """
    taken = flips @ differences
    rounding = _ROUNDING * np.abs(differences).sum(axis=0)
    return np.stack([(taken <= rounding).sum(axis=0), (taken >= -rounding).sum(axis=0)])


def _gain(change: Change, figure: str) -> float:
    gain = change.value_after - change.value_before
    return -gain if figure in LOWER_IS_BETTER else gain
