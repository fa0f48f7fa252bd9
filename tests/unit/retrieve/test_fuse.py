"""Fusing rankings and keeping one document from filling the list."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pincite.records import ChunkId, DocumentId, Ranked, Ranking, Share
from pincite.retrieve.fuse import best_by_score, feedback, fuse_ranks, fuse_scores

CHUNKS = [ChunkId(f"{number:040x}") for number in range(12)]


def ranking(*chunks: ChunkId, score: float = 1.0) -> Ranking:
    return tuple(
        Ranked(chunk, DocumentId(f"document of {chunk}"), score - place / 100)
        for place, chunk in enumerate(chunks)
    )


rankings = st.dictionaries(
    st.sampled_from(["words", "vector", "third"]),
    st.lists(st.sampled_from(CHUNKS), unique=True).map(lambda chunks: ranking(*chunks)),
)


def test_each_search_s_share_is_kept_with_its_rank_and_its_own_score() -> None:
    a, b = CHUNKS[:2]
    found = {"words": ranking(a, b, score=9.0), "vector": ranking(b, score=0.5)}
    by_id = {hit.chunk_id: hit for hit in fuse_ranks(found)}
    assert by_id[b].shares == {
        "words": Share(2, 8.99, 1 / 62),
        "vector": Share(1, 0.5, 1 / 61),
    }
    assert by_id[a].shares == {"words": Share(1, 9.0, 1 / 61)}
    assert by_id[a].document_id == DocumentId(f"document of {a}")


@pytest.mark.parametrize("names", [("vector", "words"), ("words", "vector")])
def test_the_place_of_the_best_window_comes_from_the_search_that_knows_it(
    names: tuple[str, str],
) -> None:
    with_window = (Ranked(CHUNKS[0], DocumentId("d"), 0.5, (10, 20)),)
    found = {"words": ranking(CHUNKS[0]), "vector": with_window}
    (hit,) = fuse_ranks({name: found[name] for name in names})
    assert hit.window == (10, 20)


@given(rankings)
def test_fusing_does_not_depend_on_the_order_of_the_rankings(found: dict[str, Ranking]) -> None:
    fused = fuse_ranks(found)
    for names in permutations(found):
        assert fuse_ranks({name: found[name] for name in names}) == fused


@given(rankings, st.integers(1, 100))
def test_every_ranked_chunk_becomes_one_hit_with_the_exact_sum(
    found: dict[str, Ranking], k: int
) -> None:
    expected: dict[ChunkId, Fraction] = {}
    for one in found.values():
        for rank, ranked in enumerate(one, start=1):
            before = expected.get(ranked.chunk_id, Fraction())
            expected[ranked.chunk_id] = before + Fraction(1, k + rank)
    hits = fuse_ranks(found, k=k)
    assert {hit.chunk_id: hit.score for hit in hits} == pytest.approx(
        {chunk: float(total) for chunk, total in expected.items()}
    )
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))
    assert all(
        hit.score == pytest.approx(sum(share.contribution for share in hit.shares.values()))
        for hit in hits
    )


def test_an_absent_chunk_may_count_as_ranked_far_down() -> None:
    a, b = Ranked(ChunkId("a"), DocumentId("d"), 1.0), Ranked(ChunkId("b"), DocumentId("d"), 1.0)
    hits = fuse_ranks({"words": (a, b), "vector": (b,)}, k=60, absent_rank=1_000)
    assert {hit.chunk_id: hit.score for hit in hits} == {
        "a": pytest.approx(1 / 61 + 1 / 1_060),
        "b": pytest.approx(1 / 62 + 1 / 61),
    }


EVEN = {"words": 0.5, "vector": 0.5}


def scored(*scores: float, unlisted: tuple[int, ...] = ()) -> Ranking:
    """Chunks in their order with these scores."""
    return tuple(
        Ranked(CHUNKS[place], DocumentId(f"document {place}"), score, listed=place not in unlisted)
        for place, score in enumerate(scores)
    )


def test_scores_are_brought_between_nothing_and_one_and_added_by_weight() -> None:
    hits = fuse_scores({"words": scored(8, 4), "vector": scored(0.5, 0.7, 0.6)}, EVEN)
    by_id = {hit.chunk_id: hit.score for hit in hits}
    # BM25 from 0 to the best; cosines from the lowest to the best.
    assert by_id == pytest.approx({CHUNKS[0]: 0.5, CHUNKS[1]: 0.25 + 0.5, CHUNKS[2]: 0.25})
    assert [hit.chunk_id for hit in hits] == [CHUNKS[1], CHUNKS[0], CHUNKS[2]]


def test_of_a_chunk_without_a_vector_the_words_speak_for_the_meaning_too() -> None:
    found = {"words": scored(8, 4), "vector": scored(0.5, 0.7)[1:]}
    (near, bare) = fuse_scores(found, EVEN)
    assert (near.chunk_id, bare.score) == (CHUNKS[1], 0.5)
    (bare, near) = fuse_scores(found, EVEN, by_words={CHUNKS[0]})
    assert (bare.chunk_id, bare.score, near.score) == (CHUNKS[0], 1.0, 0.75)
    assert "vector" not in bare.shares


def test_a_score_of_a_chunk_that_is_not_listed_counts_and_its_rank_is_not_told() -> None:
    hits = fuse_scores({"words": scored(8, 6, unlisted=(1,)), "vector": scored(0.5, 0.7)}, EVEN)
    best = hits[0]
    assert best.chunk_id == CHUNKS[1]
    assert best.shares["words"] == Share(None, 6, 0.375)
    assert best.shares["vector"].rank == 2


@given(
    pairs=st.lists(st.tuples(st.floats(0, 100), st.floats(-1, 1)), min_size=2, max_size=12),
    weight=st.floats(0, 1),
)
def test_what_is_at_least_as_good_in_both_searches_never_scores_less(
    pairs: list[tuple[float, float]], weight: float
) -> None:
    words, vector = (scored(*scores) for scores in zip(*pairs, strict=True))
    weights = {"words": weight, "vector": 1 - weight}
    hits = fuse_scores({"words": words, "vector": vector}, weights)
    score = {hit.chunk_id: hit.score for hit in hits}
    assert best_by_score({"words": words, "vector": vector}, weights, 3) == [
        hit.chunk_id for hit in hits[:3]
    ]
    for one, other in permutations(range(len(pairs)), 2):
        if pairs[one][0] >= pairs[other][0] and pairs[one][1] >= pairs[other][1]:
            assert score[CHUNKS[one]] >= score[CHUNKS[other]]


def with_vectors(*vectors: tuple[float, ...]) -> Ranking:
    return tuple(
        Ranked(CHUNKS[place], DocumentId("d"), 1.0, vector=np.array(vector, np.float32))
        for place, vector in enumerate(vectors)
    )


def test_what_all_candidates_have_in_common_is_no_likeness() -> None:
    best, general, alike, other = (0.8, 0.6, 0), (1, 0, 0), (0.5, 0.6, 0.62), (0.9, -0.43, 0)
    found = {"vector": with_vectors(best, general, alike, other)}
    # By their angle alone the general one would be nearer to the best than the one alike.
    assert np.dot(best, general) > np.dot(best, alike)
    liked = feedback(found, [CHUNKS[0]])
    assert [one.chunk_id for one in liked] == [CHUNKS[place] for place in (0, 2, 1, 3)]


def test_equal_scores_count_in_full() -> None:
    (hit,) = fuse_scores({"vector": scored(0.4)}, EVEN)
    assert hit.score == 0.5


@pytest.mark.parametrize("count", [1, 3])
def test_candidates_that_are_all_the_same_are_all_liked(count: int) -> None:
    found = {"vector": with_vectors(*[(0.6, 0.8)] * count)}
    liked = feedback(found, [CHUNKS[0]])
    assert len({one.score for one in liked}) == 1
    assert len(liked) == count


def test_without_vectors_there_is_no_feedback() -> None:
    found = {"words": scored(3, 2)}
    assert feedback(found, [CHUNKS[0]]) == ()


def test_by_ranks_a_chunk_that_is_not_listed_gets_nothing() -> None:
    hits = fuse_ranks({"words": scored(8, 6, unlisted=(1,)), "vector": scored(0.5, 0.7)})
    assert hits[-1].shares.keys() == {"vector"}


def test_a_ranking_without_a_weight_counts_for_nothing() -> None:
    hits = fuse_scores({"words": scored(1, 2), "other": scored(9)}, EVEN)
    assert [hit.chunk_id for hit in hits] == [CHUNKS[1], CHUNKS[0]]
