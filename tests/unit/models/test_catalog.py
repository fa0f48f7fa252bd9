from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pincite.errors import SettingsError
from pincite.models.catalog import MINILM_FOLDER, known_models, open_embedder
from pincite.ports import Embedder

MakeFolder = Callable[..., Path]


def opened(spec: str, models_folder: Path) -> Embedder:
    return open_embedder(
        spec, models_folder=models_folder, base_url="http://localhost", api_key="k"
    )


def test_each_kind_of_name_opens_its_embedder(
    make_folder: MakeFolder, tmp_path: Path, minilm_folder: Path
) -> None:
    own = make_folder(tmp_path / "own", facts={"name": "tiny"})
    assert opened("hashing", tmp_path).card.name == "hashing"
    assert opened("minilm", minilm_folder.parent).card.name == "minilm"
    assert opened(str(own), tmp_path).card.name == str(own)
    assert type(opened("openai:some/model:v2", tmp_path)).__name__ == "RemoteEmbedder"


def test_a_service_is_told_its_dimension_limit_and_prefixes_in_its_name(tmp_path: Path) -> None:
    card = opened(
        "openai:nomic?dimensions=768&token_limit=2048&passage_prefix=search_document: ", tmp_path
    ).card
    assert (card.dimensions, card.token_limit) == (768, 2048)
    without = opened("openai:nomic?dimensions=768&token_limit=2048", tmp_path).card
    assert card.fingerprint != without.fingerprint


@pytest.mark.parametrize("query", ["dimensions=many", "token_limit=1", "unknown=1"])
def test_wrong_facts_about_a_service_are_refused(query: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="openai:m"):
        opened(f"openai:m?{query}", tmp_path)


@pytest.mark.parametrize("spec", ["", "gpt", "openai:", "/no/such/folder"])
def test_an_unknown_name_is_answered_with_the_choices(tmp_path: Path, spec: str) -> None:
    with pytest.raises(SettingsError, match=r"minilm, hashing, openai:MODEL"):
        opened(spec, tmp_path)


def test_the_list_tells_ready_missing_and_damaged_apart(
    tmp_path: Path, minilm_folder: Path
) -> None:
    assert [model.state for model in known_models(tmp_path)] == ["not prepared", "ready"]
    copy = shutil.copytree(minilm_folder, tmp_path / MINILM_FOLDER)
    minilm, hashing = known_models(tmp_path)
    assert (minilm.name, minilm.state, minilm.dimensions, minilm.token_limit) == (
        "minilm",
        "ready",
        384,
        256,
    )
    assert 20_000_000 < minilm.size_bytes < 30_000_000
    assert hashing.folder is None
    with (copy / "model.onnx").open("r+b") as file:
        file.write(b"damage")
    damaged, _ = known_models(tmp_path)
    assert damaged.state == "damaged"
    assert "model.onnx" in str(damaged.problem)


def test_other_folders_of_the_models_folder_are_listed(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    make_folder(tmp_path / "mine", facts={"dimensions": 4})
    make_folder(tmp_path / ".half.partial")
    *_, mine = known_models(tmp_path)
    assert mine.name == "mine"
    assert (mine.state, mine.dimensions, mine.token_limit) == ("ready", 4, 16)
    assert len(known_models(tmp_path)) == 3
