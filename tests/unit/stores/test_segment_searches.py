"""Searches within segments leave out work, and nothing else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from pincite.stores.sqlite.segments import nearest, segment as segments, words
from pincite.stores.sqlite.segments.making import term_key
from pincite.stores.sqlite.segments.nearest import VectorSearch
from pincite.stores.sqlite.segments.segment import (
    ID_BYTES,
    Living,
    Segment,
    living,
    opened,
    save,
    signs_of,
)
from pincite.stores.sqlite.segments.words import RowScores, WordWeights

# How many of the chunks hold each word.
SHARES = {"the": 0.9, "of": 0.6, "water": 0.4, "pump": 0.3, "valve": 0.1, "seal": 0.03}
DIMENSIONS = 64

Counts = dict[str, tuple[NDArray[np.int32], NDArray[np.uint16]]]


def segment_of(
    *,
    first: int = 1,
    lengths: Sequence[float] = (),
    counts: Counts | None = None,
    vectors: NDArray[np.float32] | None = None,
) -> Segment:
    """A segment with these words or one vector for each chunk."""
    size = max(len(lengths), 0 if vectors is None else len(vectors))
    by_key = sorted(
        ((term_key(word), posted) for word, posted in (counts or {}).items()),
        key=lambda one: one[0],
    )
    posted = [one for _, one in by_key]
    if vectors is None:
        vectors = np.empty((0, DIMENSIONS), np.float32)
    return Segment(
        chunks=np.arange(first, first + size, dtype=np.int64),
        chunk_ids=np.zeros((size, ID_BYTES), np.uint8),
        document_ids=np.zeros((size, ID_BYTES), np.uint8),
        lengths=np.array(lengths, np.float32),
        term_keys=np.array([key for key, _ in by_key], np.uint64),
        term_ends=np.cumsum([len(chunks) for chunks, _ in posted], dtype=np.int64),
        posting_chunks=np.concatenate([np.empty(0, np.int32), *(one[0] for one in posted)]),
        posting_counts=np.concatenate([np.empty(0, np.uint16), *(one[1] for one in posted)]),
        window_chunks=np.arange(len(vectors), dtype=np.int32),
        window_spans=np.zeros((len(vectors), 2), np.int32),
        vectors=vectors,
        signs=signs_of(vectors),
    )


def random_words(size: int, chance: np.random.Generator) -> Counts:
    counts: Counts = {}
    for word, share in SHARES.items():
        chunks = np.flatnonzero(chance.random(size) < share).astype(np.int32)
        counts[word] = chunks, chance.choice([2, 2, 2, 3, 4, 12], len(chunks)).astype(np.uint16)
    return counts


def plain_scores(
    every: Sequence[Living], tokens: Mapping[str, int], others: Mapping[int, float]
) -> dict[int, float]:
    """BM25 of all chunks, each posting added up in the order of the question."""
    count = sum(one.count for one in every)
    average = sum(one.length for one in every) / count
    scores = {int(row): np.float32(0) for one in every for row in one.segment.chunks}
    for word, times in tokens.items():
        posted = [one.segment.postings(term_key(word)) for one in every]
        having = sum(
            one.alive is None or bool(one.alive[chunk])
            for one, (chunks, _) in zip(every, posted, strict=True)
            for chunk in chunks
        )
        idf = max(math.log((count - having + 0.5) / (having + 0.5)), 1e-6)
        weight = np.float32(times * idf * 2.2)
        for one, (chunks, halves) in zip(every, posted, strict=True):
            norms = (1.2 * (0.25 + 0.75 / average * one.segment.lengths)).astype(np.float32)
            for chunk, half in zip(chunks, halves, strict=True):
                times_held = np.float32(half) / np.float32(2)
                row = int(one.segment.chunks[chunk])
                scores[row] += times_held * weight / (times_held + norms[chunk])
    for row, score in others.items():
        scores[row] += np.float32(score)
    return {row: float(score) for row, score in scores.items()}


@given(
    question=st.lists(st.sampled_from([*SHARES, "unknown"]), min_size=1, max_size=8),
    sizes=st.lists(st.integers(1, 150), min_size=1, max_size=3),
    limit=st.integers(1, 40),
    phrases=st.integers(0, 30),
    dead=st.sampled_from([0.0, 0.1, 0.9]),
    seen=st.sampled_from([None, 0.0, 0.05, 0.5]),
    seed=st.integers(0, 1_000),
)
def test_the_best_chunks_and_their_scores_are_those_of_adding_up_every_posting(
    *,
    question: list[str],
    sizes: list[int],
    limit: int,
    phrases: int,
    dead: float,
    seen: float | None,
    seed: int,
) -> None:
    chance = np.random.default_rng(seed)
    every: list[Living] = []
    first = 1
    for size in sizes:
        lengths = chance.choice([8, 20], size).tolist()  # few, so that many chunks score the same
        segment = segment_of(first=first, lengths=lengths, counts=random_words(size, chance))
        every.append(living(segment, segment.chunks[chance.random(size) < dead]))
        first += size
    visible = None if seen is None else [chance.random(size) < seen for size in sizes]
    rows = np.sort(chance.permutation(np.arange(1, first))[:phrases])
    others = RowScores(rows, chance.choice([0.5, 3], len(rows)).astype(np.float32))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_ALL_ADDED", 0)
        asked = WordWeights(every).search(Counter(question), others, visible)
        best = {one.chunk: one.score for one in asked.best(limit)}
        at = {one.chunk: one.score for one in asked.at(list(range(first, 0, -1)))}

    if any(one.count for one in every):
        added = dict(zip(rows.tolist(), others.scores.tolist(), strict=True))
        plain = plain_scores(every, Counter(question), added)
    else:
        plain = {}
    expected = {
        int(row): plain[int(row)]
        for number, one in enumerate(every)
        for place, row in enumerate(one.segment.chunks)
        if (one.alive is None or one.alive[place])
        and (visible is None or visible[number][place])
        and plain.get(int(row), 0) > 0
    }
    last = sorted(expected.values(), reverse=True)[:limit][-1:] or [0.0]
    assert best == {row: score for row, score in expected.items() if score >= last[0]}
    assert at == expected


def test_a_common_word_is_looked_up_only_where_a_chunk_can_be_among_the_best() -> None:
    size = 2_000
    every = [
        living(
            segment_of(
                lengths=[20] * size,
                counts={
                    "seal": (np.arange(0, size, 50, dtype=np.int32), np.full(40, 2, np.uint16)),
                    "water": (np.arange(0, size, 3, dtype=np.int32), np.full(667, 2, np.uint16)),
                },
            ),
            np.empty(0, np.int64),
        )
    ]
    (part,) = WordWeights(every).search({"water": 1, "seal": 1}, None, None)._parts
    candidates = words._Pruning(part, limit=5, least=0).candidates()
    # Every 150th chunk holds both words.
    np.testing.assert_array_equal(candidates, np.arange(0, size, 150))


def unit_vectors(count: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def test_single_vectors_of_a_large_segment_are_read_and_not_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_MAPPED_AT_MOST", 0)
    vectors = unit_vectors(50, seed=0)
    save(segment_of(lengths=[1] * 50, vectors=vectors), tmp_path / "one")
    segment = opened(tmp_path / "one")
    assert segment.vector_file is not None
    for places in ([], [0], [49], [3, 4, 5, 9, 20, 21], range(50)):
        wanted = np.array(places, np.intp)
        np.testing.assert_array_equal(segment.vectors_at(wanted), vectors[wanted])


def test_a_segment_without_signs_hides_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "_COMPARED_ALL", 10)
    without = segment_of(lengths=[1] * 500, vectors=unit_vectors(500, seed=1))
    without = replace(without, signs=without.signs[:0])
    vectors = unit_vectors(500, seed=2)
    other = segment_of(first=501, lengths=[1] * 500, vectors=vectors)
    nothing = np.empty(0, np.int64)
    search = VectorSearch([living(without, nothing), living(other, nothing)])
    found = max(search.nearest(vectors[7], 3, None), key=lambda one: one.score)
    assert found.chunk == 508
