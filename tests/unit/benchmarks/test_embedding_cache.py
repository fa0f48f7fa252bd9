from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from public_sets.embedding_cache import CachedEmbedder

from pincite.models.hashing import HashingEmbedder
from pincite.ports import Embedder
from pincite.records import ModelCard
from pincite.vectors import Vector


class CountingEmbedder(HashingEmbedder):
    """Remembers what it was asked for; questions get the opposite vector of passages."""

    def __init__(self, fingerprint: str = "counting:1") -> None:
        super().__init__(dimensions=8)
        self.card = ModelCard("counting", fingerprint, dimensions=8, token_limit=32)
        self.asked: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.extend(texts)
        return super().embed_passages(texts)

    def embed_question(self, text: str) -> Vector:
        self.asked.append(text)
        return -super().embed_question(text)


def test_a_second_run_asks_the_model_for_nothing(tmp_path: Path) -> None:
    texts = ["the moon", "the sea"]
    with CachedEmbedder(CountingEmbedder(), tmp_path / "cache.db") as first:
        made = [*first.embed_passages(texts), first.embed_question("why?")]
    model = CountingEmbedder()
    with CachedEmbedder(model, tmp_path / "cache.db") as second:
        kept = [*second.embed_passages(texts), second.embed_question("why?")]
        assert second.embedded == 0
    assert model.asked == []
    assert np.array_equal(kept, made)


def test_only_unknown_texts_go_to_the_model_each_once(tmp_path: Path) -> None:
    model = CountingEmbedder()
    with CachedEmbedder(model, tmp_path / "cache.db") as embedder:
        embedder.embed_passages(["a"])
        embedder.embed_passages(["b", "a", "c", "b"])
        assert embedder.embedded == 3
    assert model.asked == ["a", "b", "c"]


@given(st.lists(st.text(max_size=3)))
def test_vectors_are_those_of_the_model_in_the_order_of_the_texts(texts: list[str]) -> None:
    with CachedEmbedder(CountingEmbedder(), Path(":memory:")) as embedder:
        for asked in (texts, texts[::-1]):
            expected = CountingEmbedder().embed_passages(asked)
            assert np.array_equal(embedder.embed_passages(asked), expected)


def test_a_question_and_a_passage_of_the_same_words_are_kept_apart(tmp_path: Path) -> None:
    with CachedEmbedder(CountingEmbedder(), tmp_path / "cache.db") as embedder:
        (passage,) = embedder.embed_passages(["the moon"])
        assert np.array_equal(embedder.embed_question("the moon"), -passage)


def test_the_vectors_of_another_model_are_not_taken(tmp_path: Path) -> None:
    with CachedEmbedder(CountingEmbedder("one:1"), tmp_path / "cache.db") as embedder:
        embedder.embed_passages(["the moon"])
    other = CountingEmbedder("two:1")
    with CachedEmbedder(other, tmp_path / "cache.db") as embedder:
        embedder.embed_passages(["the moon"])
    assert other.asked == ["the moon"]


def test_the_file_keeps_float32_under_the_hash_of_model_and_text(tmp_path: Path) -> None:
    with CachedEmbedder(CountingEmbedder(), tmp_path / "cache.db") as embedder:
        (passage,) = embedder.embed_passages(["the moon"])
        question = embedder.embed_question("why?")
    database = apsw.Connection(str(tmp_path / "cache.db"))
    stored = {key: value for key, value in database.execute("SELECT k, v FROM v")}
    database.close()
    assert stored == {
        hashlib.sha256(b"counting:1\0the moon").digest(): passage.astype("<f4").tobytes(),
        hashlib.sha256(b"counting:1\0question\0why?").digest(): question.astype("<f4").tobytes(),
    }


def test_what_a_killed_run_wrote_is_there_for_the_next(tmp_path: Path) -> None:
    texts = [str(number) for number in range(1_000)]
    unclosed = CachedEmbedder(CountingEmbedder(), tmp_path / "cache.db")
    unclosed.embed_passages(texts)
    model = CountingEmbedder()
    with CachedEmbedder(model, tmp_path / "cache.db") as embedder:
        embedder.embed_passages(texts)
    unclosed.close()
    assert model.asked == []


def test_many_threads_get_their_own_vectors(tmp_path: Path) -> None:
    batches = [[f"{first} {number % 20}" for number in range(50)] for first in range(40)]
    with (
        CachedEmbedder(CountingEmbedder(), tmp_path / "cache.db") as embedder,
        ThreadPoolExecutor(8) as threads,
    ):
        got = list(threads.map(embedder.embed_passages, batches))
    for batch, vectors in zip(batches, got, strict=True):
        assert np.array_equal(vectors, CountingEmbedder().embed_passages(batch))


def test_everything_else_is_as_the_model_says(tmp_path: Path) -> None:
    model = HashingEmbedder()
    with CachedEmbedder(model, tmp_path / "cache.db") as cached:
        embedder: Embedder = cached
        assert embedder.card == model.card
        assert (embedder.batch, embedder.parallel) == (model.batch, model.parallel)
        assert embedder.passage_overhead == model.passage_overhead
        assert embedder.token_starts("the moon") == model.token_starts("the moon")
