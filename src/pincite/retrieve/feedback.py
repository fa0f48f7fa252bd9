"""What was found first → another ranking: how near every candidate is to the best of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pincite.records import ChunkId, Ranked, Ranking

LOOKED_AT = 5  # chunks; the first counts most
_DECIMALS = 6  # beyond, a product depends on which numbers were multiplied together with it


def feedback(rankings: Mapping[str, Ranking], best: Sequence[ChunkId]) -> Ranking:
    """The candidates by their likeness to what a first fusion found best.

    A question is short and a passage says more of the matter: what resembles the best hits is
    worth more than it seems. What all candidates have in common is taken away first (Rocchio 1971
    subtracts the middle of what is not wanted): in a library about one matter, or within one
    recording, the most general passage would resemble any hit most. Nothing is searched anew.
    """
    candidates = [one for one in rankings.get("vector", ()) if one.vector is not None]
    places = {one.chunk_id: place for place, one in enumerate(candidates)}
    liked = [places[chunk] for chunk in best if chunk in places]
    if not liked:
        return ()
    vectors = np.array([one.vector for one in candidates])
    falling = [1 / place for place in range(1, len(liked) + 1)]
    middle = np.average(vectors[liked], axis=0, weights=falling) - vectors.mean(axis=0)
    middle /= np.linalg.norm(middle) or 1.0
    ranked = [
        Ranked(one.chunk_id, one.document_id, score, one.window)
        for one, score in zip(
            candidates, np.round(vectors @ middle, _DECIMALS).tolist(), strict=True
        )
    ]
    return tuple(sorted(ranked, key=lambda one: (-one.score, one.chunk_id)))
