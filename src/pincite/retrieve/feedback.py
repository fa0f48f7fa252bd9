"""What was found first → another ranking: how near every candidate is to the best of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pincite.records import Hit, Ranking
from pincite.vectors import Vector

_BEST = 5  # hits that are looked at; the first counts most


def feedback(rankings: Mapping[str, Ranking], hits: Sequence[Hit]) -> Ranking:
    """The candidates by their likeness to what a first fusion found best.

    A question is short and a passage says more of the matter: what resembles the best hits is
    worth more than it seems (Rocchio 1971). Nothing is searched anew.
    """
    vectors = {
        one.chunk_id: one.vector for one in rankings.get("vector", ()) if one.vector is not None
    }
    best = [vectors[hit.chunk_id] for hit in hits[:_BEST] if hit.chunk_id in vectors]
    if not best:
        return ()
    falling = [1 / place for place in range(1, len(best) + 1)]
    middle: Vector = np.average(np.array(best), axis=0, weights=falling).astype(np.float32)
    middle /= np.linalg.norm(middle) or 1.0
    ranked = (
        replace(one, score=float(one.vector @ middle), listed=True)
        for one in rankings["vector"]
        if one.vector is not None
    )
    return tuple(sorted(ranked, key=lambda one: (-one.score, one.chunk_id)))
