"""Models of this machine: what they are told, what they give, and what they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from onnx import TensorProto
from tokenizers import Tokenizer

from pincite.errors import ModelInvalid, ModelMissing
from pincite.models.hashing import HashingEmbedder
from pincite.models.local import LocalEmbedder
from pincite.models.tokens import SLICE_CHARACTERS, encodable, token_starts

MakeFolder = Callable[..., Path]

ALL_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")


def direction(*numbers: float) -> np.ndarray:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("inputs", [("input_ids",), ALL_INPUTS])
@pytest.mark.parametrize("batch", [1, "batch"])
@pytest.mark.parametrize("element", [TensorProto.INT64, TensorProto.INT32])
def test_models_with_any_usual_inputs_run(
    make_folder: MakeFolder, tmp_path: Path, inputs: tuple[str, ...], batch: int | str, element: int
) -> None:
    folder = make_folder(tmp_path, inputs=inputs, batch=batch, element=element)
    vectors = LocalEmbedder(folder).embed_passages(["red", "green"])
    assert vectors[0] == pytest.approx(direction(8, 8, 4, 0))
    assert vectors[1] == pytest.approx(direction(8, 8, 0, 4))


def test_cls_pooling_takes_the_first_token(make_folder: MakeFolder, tmp_path: Path) -> None:
    embedder = LocalEmbedder(make_folder(tmp_path, facts={"pooling": "cls"}))
    assert embedder.embed_question("red green") == pytest.approx(direction(1, 0, 0, 0))


def test_the_files_of_sentence_transformers_are_read(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 7}')
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    prompts = {"prompts": {"query": "blue ", "document": "green "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    embedder = LocalEmbedder(folder)
    assert embedder.card.token_limit == 7
    assert embedder.card.dimensions == 4
    assert embedder.embed_question("red") == pytest.approx(direction(1, 0, 0, 0))


def test_questions_and_passages_get_their_own_prefix(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    facts = {"question_prefix": "red ", "passage_prefix": "green "}
    embedder = LocalEmbedder(make_folder(tmp_path, facts=facts))
    assert embedder.embed_question("blue") == pytest.approx(direction(8, 8, 8, 4))
    assert embedder.embed_passages(["blue"])[0] == pytest.approx(direction(8, 8, 4, 8))


def test_a_text_beyond_the_limit_is_cut_before_its_last_special_token(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    embedder = LocalEmbedder(make_folder(tmp_path, facts={"token_limit": 3}))
    assert embedder.embed_question("red green green") == pytest.approx(direction(8, 8, 4, 0))
    assert len(embedder.token_starts("red green green")) == 3


def test_a_complete_declaration_makes_the_card_without_opening_the_model(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    facts = {"name": "tiny", "dimensions": 4, "token_limit": 16, "fingerprint": "tiny:1"}
    folder = make_folder(tmp_path, facts=facts)
    (folder / "model.onnx").write_bytes(b"nobody opens this")
    card = LocalEmbedder(folder).card
    assert (card.name, card.dimensions, card.token_limit) == ("tiny", 4, 16)
    assert card.fingerprint == "tiny:1"


def test_whatever_changes_vectors_changes_the_fingerprint(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    variants: list[dict[str, object]] = [
        {},
        {"pooling": "cls"},
        {"token_limit": 8},
        {"question_prefix": "query: "},
        {"passage_prefix": "passage: "},
    ]
    folders = [make_folder(tmp_path / str(n), facts=facts) for n, facts in enumerate(variants)]
    prints = {LocalEmbedder(folder).card.fingerprint for folder in folders}
    assert len(prints) == len(variants)
    assert LocalEmbedder(folders[0]).card.fingerprint in prints


def test_a_wrong_declared_dimension_is_told(make_folder: MakeFolder, tmp_path: Path) -> None:
    folder = make_folder(tmp_path, facts={"dimensions": 5})
    with pytest.raises(ModelInvalid, match="declares 5 dimensions, but the model gives 4"):
        LocalEmbedder(folder).embed_question("red")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(make_folder: MakeFolder, tmp_path: Path, name: str) -> None:
    folder = make_folder(tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelMissing, match=name):
        LocalEmbedder(folder).embed_question("red")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "pincite.json"])
@pytest.mark.parametrize("content", [b"\x00\xff broken", b"[1]"])
def test_a_broken_file_is_named(
    make_folder: MakeFolder, tmp_path: Path, name: str, content: bytes
) -> None:
    folder = make_folder(tmp_path, facts={})
    (folder / name).write_bytes(content)
    with pytest.raises(ModelInvalid, match=name):
        LocalEmbedder(folder).embed_question("red")


@pytest.mark.parametrize(
    "facts",
    [
        {"pooling": "max"},
        {"pooling": 3},
        {"pooling": "none"},
        {"dimensions": "4"},
        {"token_limit": 0},
        {"files": []},
    ],
)
def test_a_declaration_that_cannot_be_is_refused(
    make_folder: MakeFolder, tmp_path: Path, facts: dict[str, object]
) -> None:
    with pytest.raises(ModelInvalid, match=r"pincite\.json"):
        LocalEmbedder(make_folder(tmp_path, facts=facts)).embed_question("red")


def test_a_model_that_wants_other_inputs_is_refused(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path, inputs=("input_ids", "pixel_values"))
    with pytest.raises(ModelInvalid, match="pixel_values"):
        LocalEmbedder(folder).embed_question("red")


def test_a_folder_that_never_says_its_limit_asks_for_it(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer | {"truncation": None}))
    with pytest.raises(ModelInvalid, match="token_limit"):
        _ = LocalEmbedder(folder).card
    (folder / "config.json").write_text('{"max_position_embeddings": 32}')
    assert LocalEmbedder(folder).card.token_limit == 32


def test_many_threads_may_use_one_embedder_from_its_first_moment(minilm_folder: Path) -> None:
    embedder = LocalEmbedder(minilm_folder)
    texts = [f"Sentence number {number} about citations." for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: embedder.embed_passages([text])[0], texts))
    alone = LocalEmbedder(minilm_folder).embed_passages(texts)
    assert np.allclose(together, alone, atol=1e-6)


@pytest.mark.parametrize("text", ["", "\ud800 half", "😀" * 5000])
def test_odd_texts_have_unit_vectors(minilm_folder: Path, text: str) -> None:
    vector = LocalEmbedder(minilm_folder).embed_question(text)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("question", "least", "most"),
    [
        ("where is the key to the pump room kept?", 0.0, 0.1),
        ("Wo wird der Schlüssel zum Pumpenraum aufbewahrt?", 0.2, 0.9),
        ("أين يُحفظ مفتاح غرفة المضخات؟", 0.9, 1.0),
        ("กุญแจห้องปั๊มเก็บไว้ที่ไหน", 0.7, 1.0),
        ("XK9Q7Z22P4", 0.0, 0.0),
        ("", 0.0, 0.0),
        ("\ud800 half a character", 0.0, 0.5),
    ],
)
def test_the_less_a_model_knows_a_language_the_more_foreign_it_is(
    minilm_folder: Path, question: str, least: float, most: float
) -> None:
    assert least <= LocalEmbedder(minilm_folder).foreignness(question) <= most


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


@pytest.mark.parametrize("unit", ["漢", "a+", "\ud800", "word "])
def test_a_text_of_many_slices_is_counted_like_a_whole(tokenizer: Tokenizer, unit: str) -> None:
    text = unit * SLICE_CHARACTERS
    whole = tokenizer.encode(encodable(text), add_special_tokens=False)
    assert list(token_starts(tokenizer, text)) == [start for start, _ in whole.offsets]


def test_a_word_longer_than_a_slice_is_counted_in_a_few_pieces(tokenizer: Tokenizer) -> None:
    starts = token_starts(tokenizer, "a" * 10 * SLICE_CHARACTERS)
    assert list(starts) == list(range(0, 10 * SLICE_CHARACTERS, SLICE_CHARACTERS))


EMBEDDER = HashingEmbedder()


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    question = EMBEDDER.embed_question("how to reset a password")
    near, far = EMBEDDER.embed_passages(["Reset the password here.", "Granite bridges are old."])
    assert question @ near > question @ far


@given(st.text())
def test_every_vector_is_a_unit_vector_and_always_the_same(text: str) -> None:
    vector = EMBEDDER.embed_question(text)
    assert vector.shape == (256,)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(vector, HashingEmbedder().embed_question(text))


_OURS = """
import sys
from pathlib import Path
from pincite.models.local import LocalEmbedder
LocalEmbedder(Path(sys.argv[1])).embed_question("red")
"""
_NAIVE = """
import sys
import onnxruntime
onnxruntime.InferenceSession(sys.argv[1] + "/model.onnx", providers=["CPUExecutionProvider"])
"""


def _written_at_home(code: str, model: Path, home: Path) -> list[str]:
    """What a process leaves in an empty home folder."""
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    subprocess.run(
        [sys.executable, "-c", code, str(model)], env={**kept, "HOME": str(home)}, check=True
    )
    return [path.name for path in home.rglob("*") if path.is_file()]


def test_a_local_model_keeps_no_record_of_its_use(make_folder: MakeFolder, tmp_path: Path) -> None:
    model = make_folder(tmp_path / "model")
    assert _written_at_home(_OURS, model, tmp_path / "home") == []


def test_onnxruntime_left_alone_would_keep_one(make_folder: MakeFolder, tmp_path: Path) -> None:
    model = make_folder(tmp_path / "model")
    assert "onnxruntime.db" in _written_at_home(_NAIVE, model, tmp_path / "home")


def test_case_and_accents_do_not_matter() -> None:
    plain, accented = EMBEDDER.embed_passages(["CAFE", "Café"])
    assert np.array_equal(plain, accented)


def test_spelling_variants_are_near_through_their_trigrams() -> None:
    one, many, other = EMBEDDER.embed_passages(["embedding", "embeddings", "giraffe"])
    assert one @ many > one @ other + 0.1


def test_a_model_that_pools_by_itself_is_taken_at_its_word(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    embedder = LocalEmbedder(make_folder(tmp_path, pooled=True))
    assert embedder.embed_question("red") == pytest.approx(direction(8, 8, 4, 0))


def test_an_empty_text_has_a_vector_even_without_special_tokens(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    embedder = LocalEmbedder(make_folder(tmp_path, special_tokens=False))
    assert embedder.embed_question("") == pytest.approx(direction(1, 1, 1, 1))
