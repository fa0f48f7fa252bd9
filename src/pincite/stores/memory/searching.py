"""The searches of the reference store: each scores all chunks and puts them in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from pincite.ports import Lap
from pincite.records import Filters, Ranked, Ranking
from pincite.stores.memory.bm25 import bm25
from pincite.stores.memory.kept import Kept, chunks
from pincite.text.words import Term, exact_terms, question_terms
from pincite.vectors import Vector


def rankings(
    every: Sequence[Kept],
    question: str | None,
    vector: Vector | None,
    filters: Filters,
    limit: int,
    lap: Lap,
) -> dict[str, Ranking]:
    """`words` and `codes` for a question, `vector` for a vector."""
    words: Ranking = ()
    near: Ranking = ()
    found: dict[str, Ranking] = {}
    if question is not None:
        words = _by_words(every, question_terms(question), filters)
        found["words"] = words[:limit]
        lap("words")
        codes = _by_words(every, exact_terms(question), filters)
        if codes[:limit]:
            found["codes"] = codes[:limit]
        lap("codes")
    if vector is not None:
        near = _by_vector(every, vector, filters)
        found["vector"] = near[:limit]
        lap("vector")
    if question is not None and vector is not None:
        found["words"] += _unlisted(words[limit:], near[:limit])
        found["vector"] += _unlisted(near[limit:], words[:limit])
        lap("compare")
    return found


def _by_words(every: Sequence[Kept], terms: Sequence[Term], filters: Filters) -> Ranking:
    words = {part.chunk.id: kept.words(part) for kept, part in chunks(every, Filters())}
    scores = bm25(terms, words)
    seen = {part.chunk.id: kept.entry.id for kept, part in chunks(every, filters)}
    return _ordered(Ranked(name, seen[name], scores[name]) for name in scores if name in seen)


def _by_vector(every: Sequence[Kept], vector: Vector, filters: Filters) -> Ranking:
    ranked = []
    for kept, part in chunks(every, filters):
        best = max(part.windows, key=lambda window: float(np.dot(window.vector, vector)))
        score = float(np.dot(best.vector, vector))
        window = (best.start, best.end)
        ranked.append(Ranked(part.chunk.id, kept.entry.id, score, window, best.vector))
    return _ordered(ranked)


def _ordered(ranked: Iterable[Ranked]) -> Ranking:
    return tuple(sorted(ranked, key=lambda one: (-one.score, one.chunk_id)))


def _unlisted(beyond: Ranking, other: Ranking) -> Ranking:
    """What the other search lists of those that stand too far down here."""
    wanted = {one.chunk_id for one in other}
    return tuple(replace(one, listed=False) for one in beyond if one.chunk_id in wanted)
