"""Fusing rankings and keeping one document from filling the list."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.records import ChunkId, DocumentId, Hit, Ranked, Ranking, Share
from pincite.retrieve.diversify import cap_per_document
from pincite.retrieve.fuse import fuse

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


def test_a_hit_has_the_sum_of_one_over_k_plus_rank_with_ranks_from_one() -> None:
    a, b, c = CHUNKS[:3]
    hits = fuse({"words": ranking(a, b), "vector": ranking(b, c)}, k=60)
    assert [hit.chunk_id for hit in hits] == [b, a, c]
    assert [hit.score for hit in hits] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])


def test_k_is_a_choice() -> None:
    (hit,) = fuse({"words": ranking(CHUNKS[0])}, k=9)
    assert hit.score == pytest.approx(1 / 10)


def test_nothing_fused_is_nothing() -> None:
    assert fuse({}) == []
    assert fuse({"words": (), "vector": ()}) == []


def test_each_search_s_share_is_kept_with_its_rank_and_its_own_score() -> None:
    a, b = CHUNKS[:2]
    found = {"words": ranking(a, b, score=9.0), "vector": ranking(b, score=0.5)}
    by_id = {hit.chunk_id: hit for hit in fuse(found)}
    assert by_id[b].shares == {
        "words": Share(2, 8.99, 1 / 62),
        "vector": Share(1, 0.5, 1 / 61),
    }
    assert by_id[a].shares == {"words": Share(1, 9.0, 1 / 61)}
    assert by_id[a].document_id == DocumentId(f"document of {a}")


def test_equal_hits_are_ordered_by_chunk_id() -> None:
    a, b, c = CHUNKS[:3]
    hits = fuse({"words": ranking(c, a), "vector": ranking(a, c), "third": ranking(b)})
    assert [hit.chunk_id for hit in hits] == [a, c, b]


@pytest.mark.parametrize("names", [("vector", "words"), ("words", "vector")])
def test_the_place_of_the_best_window_comes_from_the_search_that_knows_it(
    names: tuple[str, str],
) -> None:
    with_window = (Ranked(CHUNKS[0], DocumentId("d"), 0.5, (10, 20)),)
    found = {"words": ranking(CHUNKS[0]), "vector": with_window}
    (hit,) = fuse({name: found[name] for name in names})
    assert hit.window == (10, 20)


@given(rankings)
def test_fusing_does_not_depend_on_the_order_of_the_rankings(found: dict[str, Ranking]) -> None:
    fused = fuse(found)
    for names in permutations(found):
        assert fuse({name: found[name] for name in names}) == fused


@given(rankings, st.integers(1, 100))
def test_every_ranked_chunk_becomes_one_hit_with_the_exact_sum(
    found: dict[str, Ranking], k: int
) -> None:
    expected: dict[ChunkId, Fraction] = {}
    for one in found.values():
        for rank, ranked in enumerate(one, start=1):
            before = expected.get(ranked.chunk_id, Fraction())
            expected[ranked.chunk_id] = before + Fraction(1, k + rank)
    hits = fuse(found, k=k)
    assert {hit.chunk_id: hit.score for hit in hits} == pytest.approx(
        {chunk: float(total) for chunk, total in expected.items()}
    )
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))
    assert all(
        hit.score == pytest.approx(sum(share.contribution for share in hit.shares.values()))
        for hit in hits
    )


def hit(number: int, document: str) -> Hit:
    return Hit(CHUNKS[number], DocumentId(document), 1.0, {})


HITS = [hit(0, "a"), hit(1, "a"), hit(2, "b"), hit(3, "a"), hit(4, "b"), hit(5, "c")]


@pytest.mark.parametrize(
    ("most", "kept"),
    [(1, [0, 2, 5]), (2, [0, 1, 2, 4, 5]), (3, [0, 1, 2, 3, 4, 5]), (0, [0, 1, 2, 3, 4, 5])],
)
def test_so_many_hits_of_each_document_are_kept_in_their_order(most: int, kept: list[int]) -> None:
    assert list(cap_per_document(HITS, most=most)) == [HITS[number] for number in kept]


def test_no_hits_stay_no_hits() -> None:
    assert list(cap_per_document([], most=3)) == []


def test_an_absent_chunk_may_count_as_ranked_far_down() -> None:
    a, b = Ranked(ChunkId("a"), DocumentId("d"), 1.0), Ranked(ChunkId("b"), DocumentId("d"), 1.0)
    hits = fuse({"words": (a, b), "vector": (b,)}, k=60, absent_rank=1_000)
    assert {hit.chunk_id: hit.score for hit in hits} == {
        "a": pytest.approx(1 / 61 + 1 / 1_060),
        "b": pytest.approx(1 / 62 + 1 / 61),
    }
