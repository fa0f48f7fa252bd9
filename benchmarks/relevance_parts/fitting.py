"""Weights, fitted; and how right their probabilities are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from relevance_parts.asking import Asked, Probed

RIDGE = 1e-3  # against weights that only fit one set's noise
BINS = 10
RESAMPLED = 1_000  # times, for the interval of a figure

# What the three kinds of questions of a library count together: most that people ask is there.
ANSWERABLE, NEAR_MISSES, OUTSIDE = 1.0, 0.25, 0.5

Numbers = NDArray[np.float64]


def fit(libraries: Sequence[Probed], strangers: Sequence[str]) -> Numbers:
    """The constant and the weights under which what is right is likeliest, every library alike.

    The first hits give all but the last, which is 0 for them: how a hit behind the first loses.
    `strangers` are the sets whose questions may be used outside their own library.
    """
    asked: list[Asked] = []
    counts: list[float] = []
    for library in libraries:
        outside = [one for name in strangers for one in library.outside.get(name, ())]
        for kind, whole in (
            (library.answerable, ANSWERABLE),
            (library.near_misses, NEAR_MISSES),
            (outside, OUTSIDE),
        ):
            found = [one for one in kind if one.hits]
            asked += found
            counts += [whole / len(found)] * len(found) if found else []
    first = _logistic(
        np.array([one.hits[0].weighed[:2] for one in asked]),
        np.array([float(one.right[0]) for one in asked]),
        np.array(counts),
    )
    later = [
        (hit, right, 1 / len(library.answerable))
        for library in libraries
        for one in library.answerable
        for hit, right in zip(one.hits[1:], one.right[1:], strict=True)
    ]
    known = np.array([first[0] + first[1:] @ hit.weighed[:2] for hit, _, _ in later])
    behind = _logistic(
        np.array([[hit.weighed[2]] for hit, _, _ in later]),
        np.array([float(right) for _, right, _ in later]),
        np.array([count for _, _, count in later]),
        known,
    )
    return np.array([*first, behind[1]])


def _logistic(
    signals: Numbers, wanted: Numbers, counts: Numbers, known: Numbers | None = None
) -> Numbers:
    """A constant and weights; with `known` log odds the constant stays 0, as they have theirs."""
    counts = counts / counts.sum()
    middle = signals.mean(axis=0) if known is None else np.zeros(signals.shape[1])
    spread = signals.std(axis=0)
    scaled = np.hstack([np.full((len(signals), 1), known is None), (signals - middle) / spread])
    start = np.zeros(len(signals)) if known is None else known

    def loss(weights: Numbers) -> tuple[float, Numbers]:
        sums = start + scaled @ weights
        held = np.array([0.0, *weights[1:]])
        total = counts @ (np.logaddexp(0, sums) - wanted * sums) + RIDGE * held @ held
        return float(total), scaled.T @ (counts * (sigmoid(sums) - wanted)) + 2 * RIDGE * held

    found = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    weights = found[1:] / spread
    return np.array([found[0] - weights @ middle, *weights])


def sigmoid(sums: Numbers) -> Numbers:
    """Log odds → probabilities."""
    return 1 / (1 + np.exp(-sums))


def confidences(asked: Sequence[Asked], weights: Numbers) -> Numbers:
    """That the first hit answers, of each question; 0 where there is none."""
    return np.array(
        [
            sigmoid(weights[0] + weights[1:] @ one.hits[0].weighed) if one.hits else 0.0
            for one in asked
        ]
    )


def cosines(asked: Sequence[Asked]) -> Numbers:
    """Of the first hits: what a confidence has to be better than."""
    return np.array([one.hits[0].cosine if one.hits else -1.0 for one in asked])


def calibration_error(told: Numbers, came: Numbers, counts: Numbers) -> float:
    """Expected calibration error: how far probabilities are from what came, over ten bins."""
    bins = np.minimum((told * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=counts * (told - came), minlength=BINS)
    return float(np.abs(gaps).sum() / counts.sum())


def auroc(high: Numbers, low: Numbers) -> float:
    """How often one of the first is above one of the second; ties count half."""
    order = np.sort(low)
    below = np.searchsorted(order, high, side="left")
    up_to = np.searchsorted(order, high, side="right")
    return float((below + up_to).mean() / 2 / len(low))


def interval(high: Numbers, low: Numbers) -> tuple[float, float]:
    """Where the AUROC is in 95 of 100 resamplings."""
    drawn = np.random.default_rng(0)
    figures = [
        auroc(drawn.choice(high, len(high)), drawn.choice(low, len(low))) for _ in range(RESAMPLED)
    ]
    least, most = np.percentile(figures, (2.5, 97.5))
    return float(least), float(most)
