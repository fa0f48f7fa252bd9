"""Weights, fitted; and how right their probabilities are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ir_measures
import numpy as np
from scipy.optimize import minimize

from relevance_parts.asking import Asked, Numbers

RIDGE = 1e-3  # against weights that only fit one set's noise
BINS = 10
NDCG = ir_measures.nDCG @ 10


def fit(groups: Sequence[Sequence[Asked]]) -> Numbers:
    """The constant and the weights under which what is relevant is likeliest."""
    signals = np.concatenate([one.signals for group in groups for one in group])
    wanted = np.concatenate([one.is_relevant for group in groups for one in group])
    counts = np.concatenate([one.counts / len(group) for group in groups for one in group])
    counts /= counts.sum()
    middle, spread = signals.mean(axis=0), signals.std(axis=0)
    scaled = np.hstack([np.ones((len(signals), 1)), (signals - middle) / spread])

    def loss(weights: Numbers) -> tuple[float, Numbers]:
        sums = scaled @ weights
        held = np.array([0.0, *weights[1:]])
        total = counts @ (np.logaddexp(0, sums) - wanted * sums) + RIDGE * held @ held
        return float(total), scaled.T @ (counts * (sigmoid(sums) - wanted)) + 2 * RIDGE * held

    found = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    weights = found[1:] / spread
    return np.array([found[0] - weights @ middle, *weights])


def sigmoid(sums: Numbers) -> Numbers:
    """Log odds → probabilities."""
    return 1 / (1 + np.exp(-sums))


def probabilities(asked: Sequence[Asked], weights: Numbers) -> list[Numbers]:
    """Of each hit of each question."""
    return [sigmoid(weights[0] + one.signals @ weights[1:]) for one in asked]


def ndcg(asked: Sequence[Asked], order: Callable[[int, Asked], Sequence[str]]) -> float | None:
    """The mean over the questions that have an answer."""
    judged = [(str(at), one, order(at, one)) for at, one in enumerate(asked) if one.relevant]
    run = {
        name: {document: float(-place) for place, document in enumerate(documents)}
        for name, _, documents in judged
    }
    qrels = {name: dict(one.relevant) for name, one, _ in judged}
    return float(ir_measures.calc_aggregate([NDCG], qrels, run)[NDCG])


def calibration_error(told: Numbers, came: Numbers) -> float:
    """Expected calibration error: how far probabilities are from what came, over ten bins."""
    bins = np.minimum((told * BINS).astype(int), BINS - 1)
    gaps = [
        (bins == one).mean() * abs(told[bins == one].mean() - came[bins == one].mean())
        for one in set(bins.tolist())
    ]
    return float(sum(gaps))


def auroc(high: Numbers, low: Numbers) -> float | None:
    """How often one of the first is above one of the second; None where either is empty."""
    if not len(high) or not len(low):
        return None
    above = (high[:, None] > low[None, :]).mean() + (high[:, None] == low[None, :]).mean() / 2
    return float(above)
