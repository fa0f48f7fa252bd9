"""An ONNX model that reads tokens, and its tokenizer: opened and run, each error in words."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pincite.errors import ModelInvalid
from pincite.models.folder import MODEL_FILE
from pincite.settings import NO_TELEMETRY

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]  # ships no types
    from tokenizers import Tokenizer

_INPUTS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
_ELEMENT_TYPES: dict[str, DTypeLike] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxModel:
    """The model file of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._session = _open_session(folder / MODEL_FILE)
        self._inputs: dict[str, DTypeLike] = {}
        for tensor in self._session.get_inputs():
            if tensor.name not in _INPUTS or tensor.type not in _ELEMENT_TYPES:
                raise ModelInvalid(
                    f"the model in {folder} wants the input {tensor.name} as {tensor.type}; "
                    f"sentence encoders take integers as: {', '.join(sorted(_INPUTS))}"
                )
            self._inputs[tensor.name] = _ELEMENT_TYPES[tensor.type]

    @property
    def outputs(self) -> Mapping[str, Sequence[object]]:
        """The names of what it gives, with their shapes."""
        return {tensor.name: tensor.shape for tensor in self._session.get_outputs()}

    def run(self, output: str, ids: Sequence[int], segments: Sequence[int]) -> NDArray[np.float32]:
        """One output for one text; ids of its tokens, and which of two texts each belongs to."""
        features = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": segments,
            "position_ids": range(len(ids)),
        }
        feed = {name: np.array([features[name]], type_) for name, type_ in self._inputs.items()}
        try:
            (found,) = self._session.run([output], feed)
        except Exception as error:  # onnxruntime's errors share no base class
            raise ModelInvalid(f"the model in {self._folder} cannot run: {error}") from error
        return np.asarray(found)


def open_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a file, told to give every token and nothing but the text's own."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception
        raise ModelInvalid(f"{path} is not a usable tokenizer: {error}") from error
    # Set once, before any thread sees it: token_starts must count every token.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _open_session(path: Path) -> InferenceSession:
    os.environ.update(NO_TELEMETRY)  # noqa: TID251 — told to a library, not read
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: they are raised as well
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class
        raise ModelInvalid(f"{path} is not a usable ONNX model: {error}") from error
