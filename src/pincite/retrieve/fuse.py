"""Rankings → one list of hits."""

from __future__ import annotations

from collections.abc import Mapping

from pincite.records import ChunkId, Hit, Ranked, Ranking, Share


def fuse(
    rankings: Mapping[str, Ranking], *, k: int = 60, absent_rank: int | None = None
) -> list[Hit]:
    """Reciprocal Rank Fusion (Cormack 2009): sum of 1 / (k + rank), ranks starting at 1.

    A chunk that a ranking leaves out gets nothing from it, or what `absent_rank` would give.
    Equal scores are ordered by chunk id, so that the same question gives the same list everywhere.
    """
    shares: dict[ChunkId, dict[str, Share]] = {}
    seen: dict[ChunkId, Ranked] = {}
    for search, ranking in rankings.items():
        for rank, ranked in enumerate(ranking, start=1):
            share = Share(rank, ranked.score, 1 / (k + rank))
            shares.setdefault(ranked.chunk_id, {})[search] = share
            if ranked.window is not None or ranked.chunk_id not in seen:
                seen[ranked.chunk_id] = ranked
    hits = [
        Hit(
            chunk_id,
            seen[chunk_id].document_id,
            sum(share.contribution for _, share in sorted(by_search.items()))
            + _for_absence(len(rankings) - len(by_search), k, absent_rank),
            by_search,
            seen[chunk_id].window,
        )
        for chunk_id, by_search in shares.items()
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))


def _for_absence(rankings: int, k: int, absent_rank: int | None) -> float:
    return 0.0 if absent_rank is None else rankings / (k + absent_rank)
