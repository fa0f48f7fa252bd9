from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from pincite.models.tokens import SLICE_CHARACTERS, encodable, token_starts

SLICE = 16


@pytest.fixture(scope="module")
def tokenizer(minilm_folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(minilm_folder / "tokenizer.json"))
    tokenizer.no_truncation()
    return tokenizer


WORDS = st.text(alphabet=st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc"]), max_size=SLICE)
SPACES = st.text(alphabet=" \t\n\r\u00a0\u2003", min_size=1, max_size=4)


@given(pieces=st.lists(st.tuples(WORDS, SPACES)))
@settings(max_examples=300, deadline=None)
def test_slicing_changes_no_token(tokenizer: Tokenizer, pieces: list[tuple[str, str]]) -> None:
    text = "".join(word + space for word, space in pieces)
    whole = tokenizer.encode(encodable(text), add_special_tokens=False)
    sliced = token_starts(tokenizer, text, slice_characters=SLICE + 4)
    assert list(sliced) == [start for start, _ in whole.offsets]


@given(text=st.text(alphabet=st.characters(codec=None)))
@settings(max_examples=200, deadline=None)
def test_starts_ascend_inside_the_text_whatever_the_text(tokenizer: Tokenizer, text: str) -> None:
    starts = list(token_starts(tokenizer, text, slice_characters=SLICE))
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)


def test_special_tokens_are_not_counted_and_nothing_is_cut(tokenizer: Tokenizer) -> None:
    assert list(token_starts(tokenizer, "one two")) == [0, 4]
    assert len(token_starts(tokenizer, "word " * 10_000)) == 10_000


def test_lone_surrogates_keep_every_offset(tokenizer: Tokenizer) -> None:
    assert list(token_starts(tokenizer, "\ud800 one \udfff two\0")) == [2, 8]


@pytest.mark.parametrize("unit", ["漢", "a+", "é,", " ", "\n", "\ud800", "word "])
def test_a_text_of_many_slices_is_counted_like_a_whole(tokenizer: Tokenizer, unit: str) -> None:
    text = unit * SLICE_CHARACTERS
    whole = tokenizer.encode(encodable(text), add_special_tokens=False)
    assert list(token_starts(tokenizer, text)) == [start for start, _ in whole.offsets]


def test_a_word_longer_than_a_slice_is_counted_in_a_few_pieces(tokenizer: Tokenizer) -> None:
    starts = token_starts(tokenizer, "a" * 10 * SLICE_CHARACTERS)
    assert list(starts) == list(range(0, 10 * SLICE_CHARACTERS, SLICE_CHARACTERS))
