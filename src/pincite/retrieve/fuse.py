"""Rankings → one list of hits, by their scores or by their ranks, with feedback by the best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import fsum

import numpy as np

from pincite.records import ChunkId, Hit, Ranked, Ranking, Share

LOOKED_AT = 5  # chunks; the first counts most
_DECIMALS = 6  # beyond, a product depends on which numbers were multiplied together with it
_BETWEEN_COSINES = frozenset(("vector", "feedback"))


def best_of_each(rankings: Mapping[str, Ranking], most: Mapping[str, int]) -> dict[str, Ranking]:
    """The rankings as if each had been asked for its own number of candidates alone."""
    first = {search: ranking[: most.get(search)] for search, ranking in rankings.items()}
    listed = {one.chunk_id for each in first.values() for one in each if one.listed}
    return {
        search: tuple(
            one if place < len(first[search]) else _unlisted(one)
            for place, one in enumerate(ranking)
            if one.chunk_id in listed
        )
        for search, ranking in rankings.items()
    }


def _unlisted(one: Ranked) -> Ranked:
    """`replace` would take thrice as long, for hundreds of candidates of each search."""
    return Ranked(one.chunk_id, one.document_id, one.score, one.window, one.vector, listed=False)


def best_by_score(
    rankings: Mapping[str, Ranking], weights: Mapping[str, float], count: int
) -> list[ChunkId]:
    """The first chunks of `fuse_scores`, without telling why."""
    scores: defaultdict[ChunkId, float] = defaultdict(float)
    for search, ranking in sorted(rankings.items()):
        floor, scale = _floor_and_scale(search, ranking)
        weight = weights.get(search, 0.0)
        for one in ranking:
            scores[one.chunk_id] += weight * _height(one.score, floor, scale)
    return sorted(scores, key=lambda chunk: (-scores[chunk], chunk))[:count]


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


def fuse_scores(
    rankings: Mapping[str, Ranking],
    weights: Mapping[str, float],
    *,
    by_words: Collection[ChunkId] = (),
) -> list[Hit]:
    """A weighted sum of scores, each brought between 0 and 1 among the candidates.

    Cosines of a library lie close together and far from 0, so the lowest one counts as 0. BM25
    and the codes begin at 0 by themselves. A ranking without a weight counts for nothing. Of chunks
    that have no vector, `by_words`, the words speak for the meaning, too.
    """
    of_both = fsum(weights.get(search, 0.0) for search in ("words", *_BETWEEN_COSINES))
    shares: defaultdict[ChunkId, dict[str, Share]] = defaultdict(dict)
    for search, ranking in rankings.items():
        floor, scale = _floor_and_scale(search, ranking)
        weight = weights.get(search, 0.0)
        for rank, one in enumerate(ranking, start=1):
            is_all = search == "words" and one.chunk_id in by_words
            contribution = (of_both if is_all else weight) * _height(one.score, floor, scale)
            share = Share(rank if one.listed else None, one.score, contribution)
            shares[one.chunk_id][search] = share
    return _hits(rankings, shares, {})


def _floor_and_scale(search: str, ranking: Ranking) -> tuple[float, float]:
    scores = [one.score for one in ranking] or [0.0]
    floor = min(scores) if search in _BETWEEN_COSINES else 0.0
    return floor, max(scores) - floor


def _height(score: float, floor: float, scale: float) -> float:
    return (score - floor) / scale if scale > 0 else 1.0


def fuse_ranks(
    rankings: Mapping[str, Ranking],
    weights: Mapping[str, float] | None = None,
    *,
    k: int = 60,
    absent_rank: int | None = None,
) -> list[Hit]:
    """Reciprocal Rank Fusion (Cormack 2009): sum of 1 / (k + rank), ranks starting at 1.

    A chunk that a ranking does not list gets nothing from it, or what `absent_rank` would give.
    """
    shares: dict[ChunkId, dict[str, Share]] = {}
    for search, ranking in rankings.items():
        weight = 1.0 if weights is None else weights.get(search, 0.0)
        for rank, one in enumerate(ranking, start=1):
            if one.listed:
                share = Share(rank, one.score, weight / (k + rank))
                shares.setdefault(one.chunk_id, {})[search] = share
    votes = {search: 1.0 if weights is None else weights.get(search, 0.0) for search in rankings}
    for_absence = 0.0 if absent_rank is None else 1 / (k + absent_rank)
    absent = {
        chunk_id: for_absence * fsum(votes[search] for search in votes.keys() - by_search.keys())
        for chunk_id, by_search in shares.items()
    }
    return _hits(rankings, shares, absent)


def lifted(hits: Sequence[Hit], preferred: Ranking) -> list[Hit]:
    """The hits with those of this ranking before all others, the higher ones first."""
    found = {hit.chunk_id: hit for hit in hits}
    above = 1 + max((hit.score for hit in hits), default=0.0)
    for one in preferred:
        hit = found.get(one.chunk_id, Hit(one.chunk_id, one.document_id, 0.0, {}))
        share = Share(None, one.score, one.score * above)
        shares = {**hit.shares, "phrases": share}
        found[one.chunk_id] = hit._replace(score=hit.score + share.contribution, shares=shares)
    return sorted(found.values(), key=lambda hit: (-hit.score, hit.chunk_id))


def _hits(
    rankings: Mapping[str, Ranking],
    shares: Mapping[ChunkId, Mapping[str, Share]],
    added: Mapping[ChunkId, float],
) -> list[Hit]:
    """Best first. Equal scores are ordered by chunk id: the same question, the same list."""
    seen: dict[ChunkId, Ranked] = {}
    for ranking in rankings.values():
        for one in ranking:
            if one.window is not None or one.chunk_id not in seen:
                seen[one.chunk_id] = one
    hits = [
        Hit(
            chunk_id,
            seen[chunk_id].document_id,
            fsum([share.contribution for share in by_search.values()]) + added.get(chunk_id, 0.0),
            by_search,
            seen[chunk_id].window,
        )
        for chunk_id, by_search in shares.items()
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))
