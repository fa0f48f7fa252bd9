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
    from tokenizers import Encoding


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
        return [self._score(pairs, question, passage) for passage in passages]

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(self._folder)

    def _score(self, pairs: Pairs, question: str, passage: str) -> float:
        asked = pairs.encoded(question, pairs.room // 2)
        (score,) = pairs.numbers(
            asked, pairs.encoded(passage, pairs.room - len(asked.ids)), count=1
        )
        return score


class Pairs:
    """A loaded model with its tokenizer, which reads two texts together."""

    def __init__(self, folder: Path) -> None:
        limit = read_facts(folder).token_limit
        self._folder = folder
        self._model = OnnxModel(folder)
        self._tokenizer = open_tokenizer(folder / TOKENIZER_FILE)
        self.room = max(limit - self._tokenizer.num_special_tokens_to_add(is_pair=True), 2)
        # Exports name it `logits`; where there is one output only, it is that, whatever its name.
        outputs = self._model.outputs
        self._output = "logits" if "logits" in outputs else next(iter(outputs))

    def numbers(self, first: Encoding, second: Encoding, *, count: int) -> list[float]:
        """What the model gives for the pair; it must be so many numbers."""
        pair = self._tokenizer.post_process(first, second)
        output = self._model.run(self._output, pair.ids, pair.type_ids)
        if output.size != count:
            raise ModelInvalid(
                f"{self._output} of the model in {self._folder} has shape {output.shape}, but "
                f"{count} numbers are expected for a pair of texts"
            )
        if not np.isfinite(output).all():
            raise ModelInvalid(f"the model in {self._folder} gave {output.ravel()} for a pair")
        return [float(number) for number in output.ravel()]

    def encoded(self, text: str, room: int) -> Encoding:
        """Cut by hand: the tokenizer's own truncation is a setting that threads would share."""
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        encoding.truncate(max(room, 1))
        return encoding
