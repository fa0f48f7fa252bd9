"""The best chunks of the team's store are those of the full sum, score for score."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from hypothesis import example, given, settings, strategies as st

from helpers import Part, embedded, fill, open_test_store
from libraries import VECTORS
from pincite.records import Filters
from pincite.stores.postgres.bm25 import Asked, Bound, all_words, asked, best_words
from pincite.stores.postgres.store import PostgresStore
from pincite.text.words import question_terms
from pincite.vectors import Vector

# The first stands in most chunks, the last in a few: as words of a language do.
WORDS = [
    *("valve", "pump", "harbour", "leak", "boat", "东京", "sensor", "winch", "ERR-4042", "keel"),
    *("rope", "anchor", "东京都", "I'm", "mast", "rudder", "sextant"),
]
CHUNKS = 240

questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10).map(" ".join)
limits = st.integers(1, 60)


def text_of(chance: random.Random) -> str:
    """Words by how often a language would say them; some twice and more."""
    weights = [1 / (rank + 1) ** 1.3 for rank in range(len(WORDS))]
    return " ".join(chance.choices(WORDS, weights, k=chance.choice((1, 3, 8, 8, 20))))


@pytest.fixture(scope="module")
def store() -> Iterator[PostgresStore]:
    chance = random.Random(7)
    with open_test_store("postgres", Path()) as opened:
        fill(
            opened,
            *(
                embedded(
                    f"{number}.md",
                    *(Part(text_of(chance), (chance.choice(VECTORS),)) for _ in range(8)),
                    tags=(chance.choice(("red", "green")),),
                )
                for number in range(CHUNKS // 8)
            ),
        )
        yield cast(PostgresStore, opened)


def looked_for(question: str, limit: int, store: PostgresStore) -> tuple[Asked, Bound]:
    with store._reading() as (_, state):
        view = state.view
    assert view is not None
    bound = Bound(generation=view.generation, project=view.project, limit=limit)
    found = asked(question_terms(question), "posting", bound)
    assert found is not None
    return found, bound


def first_of(
    scored: str, parts: list[str], bound: Bound, store: PostgresStore
) -> list[tuple[int, float]]:
    """The best by their scores, with all that score as much as the last of them."""
    with store._reading() as (connection, _):
        return connection.execute(
            f"WITH {', '.join(parts)} SELECT owner, score FROM {scored} "
            "ORDER BY score DESC FETCH FIRST %(limit)s ROWS WITH TIES",
            bound.values,
        ).fetchall()


@settings(max_examples=150)
@given(question=questions, limit=limits)
@example(question="valve", limit=3)  # many chunks are that word and nothing else
@example(question="I'm rope", limit=60)  # some hold the phrase, and no token of the question
def test_what_is_left_out_is_never_among_the_best(
    store: PostgresStore, question: str, limit: int
) -> None:
    found, bound = looked_for(question, limit, store)
    parts = best_words("words", found, bound)
    best = first_of("words_best_scored", parts, bound, store)

    found, bound = looked_for(question, limit, store)
    expected = first_of("words_scored", all_words("words", found, bound), bound, store)
    assert dict(best) == dict(expected)


@settings(max_examples=80)
@given(
    question=questions,
    limit=limits,
    vector=st.sampled_from(VECTORS),
    tags=st.sampled_from([None, ("red",)]),
)
def test_every_score_that_a_search_tells_is_that_of_the_full_sum(
    store: PostgresStore,
    question: str,
    limit: int,
    vector: Vector,
    tags: tuple[str, ...] | None,
) -> None:
    every = store.search(question, None, filters=Filters(tags=tags), limit=10 * CHUNKS)["words"]
    full = {one.chunk_id: one.score for one in every}
    found = store.search(question, vector, filters=Filters(tags=tags), limit=limit)

    listed = [one.chunk_id for one in found["words"] if one.listed]
    assert listed == sorted(full, key=lambda one: (-full[one], one))[:limit]
    assert all(one.score == full[one.chunk_id] for one in found["words"])
    near = {one.chunk_id for one in found["vector"] if one.listed}
    others = {one.chunk_id for one in found["words"] if not one.listed}
    assert others == (near - set(listed)) & full.keys()
