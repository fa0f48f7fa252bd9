"""Runs an ONNX cross-encoder: question and passage are read together, one number comes out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from pincite.errors import ModelInvalid
from pincite.models.folder import TOKENIZER_FILE, read_facts
from pincite.models.onnx_model import OnnxModel, open_tokenizer
from pincite.models.tokens import encodable

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


class CrossEncoder:
    """The model of one folder. Its files are opened on first use; threads may share it."""

    batch = 2  # such models are slow: a search must be able to stop soon

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = Lock()

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """The model's number for each passage, as it comes: higher is better."""
        with self._loading:
            pairs = self._pairs
        return [pairs.score(question, passage) for passage in passages]

    @cached_property
    def _pairs(self) -> _Pairs:
        facts = read_facts(self._folder)
        tokenizer = open_tokenizer(self._folder / TOKENIZER_FILE)
        return _Pairs(self._folder, OnnxModel(self._folder), tokenizer, facts.token_limit)


class _Pairs:
    """A loaded model with its tokenizer."""

    def __init__(self, folder: Path, model: OnnxModel, tokenizer: Tokenizer, limit: int) -> None:
        self._folder = folder
        self._model = model
        self._tokenizer = tokenizer
        self._room = max(limit - tokenizer.num_special_tokens_to_add(is_pair=True), 2)
        # Exports name it `logits`; where there is one output only, it is that, whatever its name.
        self._output = "logits" if "logits" in model.outputs else next(iter(model.outputs))

    def score(self, question: str, passage: str) -> float:
        """The model's number for one pair; a passage beyond the limit is cut, not the question."""
        asked = self._encoded(question, self._room // 2)
        told = self._encoded(passage, self._room - len(asked.ids))
        pair = self._tokenizer.post_process(asked, told)
        output = self._model.run(self._output, pair.ids, pair.type_ids)
        if output.size != 1:
            raise ModelInvalid(
                f"{self._output} of the model in {self._folder} has shape {output.shape}; a "
                "cross-encoder gives one number for a question and a passage"
            )
        score = float(output.reshape(()))
        if not np.isfinite(score):
            raise ModelInvalid(f"the model in {self._folder} gave {score} for a passage")
        return score

    def _encoded(self, text: str, room: int) -> Encoding:
        """Cut by hand: the tokenizer's own truncation is a setting that threads would share."""
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        encoding.truncate(max(room, 1))
        return encoding
