"""The best hits in the order of a closer look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from pincite.errors import ModelError, ModelInvalid
from pincite.ports import Clock, Reranker
from pincite.records import Chunk, ChunkId, DocumentEntry, Hit, Share
from pincite.settings import SearchSettings

_DECIMALS = 9

Loaded = Mapping[ChunkId, tuple[DocumentEntry, Chunk]]


def rerank(
    question: str,
    hits: Sequence[Hit],
    loaded: Loaded,
    reranker: Reranker,
    *,
    settings: SearchSettings,
    clock: Clock,
) -> tuple[list[Hit], tuple[str, ...]]:
    """The hits with what the reranker gives to the first of them, and what to tell the reader.

    What was not reached in time keeps its order, behind what was. Where the reranker fails all
    hits keep theirs: a search without a closer look is better than none.
    """
    top = [hit for hit in hits if hit.chunk_id in loaded][: settings.rerank_top]
    passages = [passage(*loaded[hit.chunk_id], hit.window) for hit in top]
    scores: list[float] = []
    until = clock() + settings.rerank_seconds
    try:
        for start in range(0, len(passages), reranker.batch):
            batch = passages[start : start + reranker.batch]
            told = reranker.scores(question, batch)
            if len(told) != len(batch) or not all(map(isfinite, told)):
                raise ModelInvalid("the reranker did not give one number for each passage")
            scores += told
            if clock() >= until:
                break
    except ModelError as error:
        return list(hits), (f"Not reranked: {error}.",)
    notices: tuple[str, ...] = ()
    if len(scores) < len(top):
        notices = (
            f"Reranking stopped after {settings.rerank_seconds:g} s: it saw the first "
            f"{len(scores)} of {len(top)} hits.",
        )
    seen = mixed(top[: len(scores)], scores, settings.rerank_weight)
    known = {hit.chunk_id for hit in seen}
    return [*seen, *(hit for hit in hits if hit.chunk_id not in known)], notices


def passage(document: DocumentEntry, chunk: Chunk, window: tuple[int, int] | None) -> str:
    """What the reranker reads: title, headings, and the window that the vector search liked."""
    start, end = window or (chunk.start, chunk.end)
    # A title that is only the file's name says nothing to a model.
    title = "" if document.name.startswith(document.title) else document.title
    above = (title, " > ".join(chunk.heading_path))
    return "\n".join(part for part in (*above, chunk.seen(start, end)) if part.strip())


def mixed(hits: Sequence[Hit], scores: Sequence[float], weight: float) -> list[Hit]:
    """Each hit with a share of the reranker, best first.

    The reranker's scores are spread as wide as the fused ones of these hits, whatever they were,
    and count `weight` times as much. Nothing is taken away from a hit, so that none falls behind
    those that were not looked at.
    """
    if not hits:
        return []
    lowest, widest = min(scores), max(scores) - min(scores)
    fused = [hit.score - hit.lift for hit in hits]  # so that what is lifted stays above
    spread = max(fused) - min(fused)
    places = sorted(range(len(hits)), key=lambda at: (-scores[at], at))
    ranks = {at: rank for rank, at in enumerate(places, start=1)}
    found = []
    for at, hit in enumerate(hits):
        height = (scores[at] - lowest) / widest if widest > 0 else 0.0
        share = Share(ranks[at], scores[at], weight * spread * height)
        shares = {**hit.shares, "rerank": share}
        found.append(hit._replace(score=hit.score + share.contribution, shares=shares))
    # Equal ones stay in their order, and sums that should be equal may differ in the last digit.
    return sorted(found, key=lambda hit: -round(hit.score, _DECIMALS))
