from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.models.hashing import HashingEmbedder

EMBEDDER = HashingEmbedder()


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    question = EMBEDDER.embed_question("how to reset a password")
    near, far = EMBEDDER.embed_passages(["Reset the password here.", "Granite bridges are old."])
    assert question @ near > question @ far


def test_case_and_accents_do_not_matter() -> None:
    plain, accented = EMBEDDER.embed_passages(["CAFE", "Café"])
    assert np.array_equal(plain, accented)


def test_spelling_variants_are_near_through_their_trigrams() -> None:
    one, many, other = EMBEDDER.embed_passages(["embedding", "embeddings", "giraffe"])
    assert one @ many > one @ other + 0.1


@pytest.mark.parametrize("text", ["", "   ", "?!…", "\ud800", "\0"])
def test_a_text_without_any_word_still_has_a_unit_vector(text: str) -> None:
    (vector,) = EMBEDDER.embed_passages([text])
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


@given(st.text())
def test_every_vector_is_a_unit_vector_and_always_the_same(text: str) -> None:
    vector = EMBEDDER.embed_question(text)
    assert vector.shape == (256,)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(vector, HashingEmbedder().embed_question(text))


def test_words_marks_and_cjk_characters_are_tokens() -> None:
    assert list(EMBEDDER.token_starts("Hello, 漢字 world!")) == [0, 5, 7, 8, 10, 15]


def test_the_card_names_the_space() -> None:
    assert EMBEDDER.card.name == "hashing"
    assert EMBEDDER.card.fingerprint != HashingEmbedder(dimensions=128).card.fingerprint
