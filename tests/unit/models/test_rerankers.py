from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pincite import open_library
from pincite.engine.models import Embedders, ModelAccess, Wishes, header_for
from pincite.errors import ModelInvalid, SettingsError
from pincite.models.hashing import HashingEmbedder
from pincite.models.local import LocalEmbedder
from pincite.models.rerankers import CrossEncoder, MaxSim, open_reranker
from pincite.ports import Embedder, Reranker
from pincite.settings import SearchSettings

MakeFolder = Callable[..., Path]
MakeCrossEncoder = Callable[..., Path]


def opened(spec: str, embedder: Embedder | None = None) -> Reranker:
    return open_reranker(
        spec,
        embedder=lambda: embedder or HashingEmbedder(),
        models_folder=Path("/nowhere"),
        base_url="http://127.0.0.1:1/v1",
        api_key=None,
        seconds=1.0,
    )


def test_maxsim_is_the_mean_of_the_best_cosine_of_each_token(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    # Red, green and the two marks: each is met by itself, but blue lies between red and green.
    maxsim = MaxSim(LocalEmbedder(make_folder(tmp_path)))
    same, apart, between = maxsim.scores("red", ["red green", "green", "blue"])
    assert same == pytest.approx(1)
    assert apart == pytest.approx(2 / 3)
    assert between == pytest.approx((2 + 0.5**0.5) / 3)


def test_maxsim_says_when_a_model_has_no_token_vectors(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    maxsim = MaxSim(LocalEmbedder(make_folder(tmp_path, pooled=True)))
    with pytest.raises(ModelInvalid, match="no vectors of tokens"):
        maxsim.scores("red", ["green"])
    with pytest.raises(SettingsError, match="hashing does not give"):
        opened("maxsim", HashingEmbedder())


@pytest.mark.parametrize(
    ("facts", "told"), [(None, "is not there any more"), ('{"pooling": "cls"}', "model_mismatch")]
)
def test_a_search_by_words_is_answered_where_the_model_to_rerank_with_is_gone_or_another(
    make_folder: MakeFolder, tmp_path: Path, facts: str | None, told: str
) -> None:
    model = make_folder(tmp_path / "model", facts={"token_limit": 512})
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "one.md").write_text("# One\n\nThe red pump leaks.\n")
    with open_library(notes) as library:
        library.index(model=str(model))
    if facts is None:
        shutil.rmtree(model)
    else:
        (model / "pincite.json").write_text(facts)
    with open_library(notes) as library:
        found = library.search("red pump", mode="words", settings=SearchSettings(rerank="maxsim"))
    assert [result.document.name for result in found.results] == ["one.md"]
    (notice,) = found.notices
    assert notice.startswith("Not reranked: ")
    assert told in notice


@pytest.mark.parametrize("spec", ["", "service:", "minilm"])
def test_an_unknown_reranker_is_refused_with_what_there_is(spec: str) -> None:
    with pytest.raises(SettingsError, match="choose one of: maxsim, service:MODEL, or the path"):
        opened(spec)


# The small cross-encoder adds up the weights of all tokens of the passage: red 1, green 2, blue 4.


@pytest.mark.parametrize(
    "inputs", [("input_ids", "token_type_ids"), ("input_ids", "attention_mask", "token_type_ids")]
)
def test_a_cross_encoder_reads_question_and_passage_together(
    make_cross_encoder: MakeCrossEncoder, tmp_path: Path, inputs: tuple[str, ...]
) -> None:
    reranker = opened(str(make_cross_encoder(tmp_path, inputs=inputs)))
    # What stands in the question is of the first segment and does not count.
    assert reranker.scores("blue blue", ["red", "green red", ""]) == [1, 3, 0]


def test_a_long_passage_is_cut_and_the_question_is_kept(
    make_cross_encoder: MakeCrossEncoder, tmp_path: Path
) -> None:
    reranker = CrossEncoder(make_cross_encoder(tmp_path))
    # 16 tokens at most: three marks, one of the question, twelve of the passage.
    assert reranker.scores("red", ["red " * 100]) == [12]
    assert reranker.scores("red " * 100, ["red " * 100]) == [7]


def test_a_model_that_gives_no_number_is_told(
    make_cross_encoder: MakeCrossEncoder, tmp_path: Path
) -> None:
    folder = make_cross_encoder(tmp_path, weights=(float("nan"), 0, 0))
    with pytest.raises(ModelInvalid, match=r"gave \[nan\]"):
        CrossEncoder(folder).scores("red", ["red"])


def test_maxsim_takes_the_model_that_is_open_already(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    embedders = Embedders(ModelAccess())
    wishes = Wishes(model=str(make_folder(tmp_path, facts={"token_limit": 512})))
    header = header_for(None, wishes, embedders, folder_name="notes")
    maxsim = embedders.reranker("maxsim", header, seconds=1.0)
    own = embedders.of(header)
    assert isinstance(own, LocalEmbedder)
    assert isinstance(maxsim, MaxSim)
    assert maxsim._encoder is own


def test_a_classifier_of_several_classes_is_no_cross_encoder(
    make_cross_encoder: MakeCrossEncoder, tmp_path: Path
) -> None:
    folder = make_cross_encoder(tmp_path, weights=((1, 1), (2, 2), (4, 4)))
    with pytest.raises(ModelInvalid, match=r"has shape \(1, 2\)"):
        CrossEncoder(folder).scores("red", ["green"])
