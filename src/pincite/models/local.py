"""Runs an ONNX sentence encoder in this process: onnxruntime and tokenizers, no torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from pincite.errors import ModelInvalid
from pincite.models.folder import (
    FACTS_FILE,
    TOKENIZER_FILE,
    Facts,
    Pooling,
    content_fingerprint,
    read_facts,
)
from pincite.models.onnx_model import OnnxModel, open_tokenizer
from pincite.models.tokens import encodable, foreignness, is_whole, token_starts
from pincite.records import ModelCard
from pincite.vectors import Vector, unit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PROBE = "A sentence to learn the shape of a vector from."
_SHORTEST = 1e-12  # a vector of nothing stays one

Vectors = NDArray[np.float32]
"""One row for each."""


class LocalEmbedder:
    """The model of one folder. Its files are opened on first use; threads may share it."""

    # Texts are embedded one by one whatever a call carries; this only bounds a call's time.
    batch = 8

    def __init__(self, folder: Path, *, name: str | None = None) -> None:
        self._folder = folder
        self._name = name
        self._loading = Lock()
        self._encoder: _Encoder | None = None
        self._tokenizer: Tokenizer | None = None

    @property
    def parallel(self) -> int:
        """One call for each core: two single-threaded runs beat one run on two threads."""
        # The cores this process may use; containers are often given fewer than the machine has.
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    @cached_property
    def card(self) -> ModelCard:
        """From `pincite.json` alone where it declares everything, else from the model."""
        facts = self._facts
        return ModelCard(
            name=self._name or facts.name,
            fingerprint=facts.fingerprint
            or content_fingerprint(self._folder, facts, self._loaded_encoder().pooling),
            dimensions=facts.dimensions or self._loaded_encoder().dimensions,
            token_limit=facts.token_limit,
        )

    @cached_property
    def passage_overhead(self) -> int:
        """The tokens the model puts around a text, and those of the passage prefix."""
        marks: int = self._loaded_tokenizer().num_special_tokens_to_add(is_pair=False)
        return marks + len(self.token_starts(self._facts.passage_prefix))

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each token of the model's own tokenizer begins; never truncated."""
        return token_starts(self._loaded_tokenizer(), text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in their order.

        One text a run: int8 activations are scaled over the whole batch, so a text's vector
        would depend on its neighbours; and batches are no faster.
        """
        return [self._embed(self._facts.passage_prefix + text) for text in texts]

    def embed_question(self, text: str) -> Vector:
        """The unit vector to search with."""
        return self._embed(self._facts.question_prefix + text)

    def token_vectors(self, text: str, *, prefix: Literal["question", "passage"]) -> Vectors:
        """A unit vector for each token, the model's own marks included."""
        before = {
            "question": self._facts.question_prefix,
            "passage": self._facts.passage_prefix,
        }[prefix]
        return self._loaded_encoder().encode_tokens(before + text)

    def foreignness(self, question: str) -> float:
        """How much the model's tokenizer has to cut the question into pieces, from 0 to 1."""
        return foreignness(self._loaded_tokenizer(), question)

    def knows(self, word: str) -> bool:
        """Whether the model's tokenizer has the word whole."""
        return is_whole(self._loaded_tokenizer(), word)

    def _embed(self, text: str) -> Vector:
        encoder = self._loaded_encoder()
        return unit(encoder.encode(text), dimensions=encoder.dimensions)

    @cached_property
    def _facts(self) -> Facts:
        return read_facts(self._folder)

    def _loaded_tokenizer(self) -> Tokenizer:
        self._facts  # noqa: B018  # raises ModelMissing where a file is not there
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = open_tokenizer(self._folder / TOKENIZER_FILE)
            return self._tokenizer

    def _loaded_encoder(self) -> _Encoder:
        tokenizer = self._loaded_tokenizer()
        with self._loading:
            if self._encoder is None:
                model = OnnxModel(self._folder)
                self._encoder = _Encoder(self._folder, model, tokenizer, self._facts)
            return self._encoder


class _Encoder:
    """A loaded model with its tokenizer; checked once against what its folder declares."""

    def __init__(self, folder: Path, model: OnnxModel, tokenizer: Tokenizer, facts: Facts) -> None:
        self._folder = folder
        self._model = model
        self._tokenizer = tokenizer
        self._room = facts.token_limit - tokenizer.num_special_tokens_to_add(is_pair=False)
        self._output, self.pooling = self._choose_output(facts.pooling)
        shapes = self._model.outputs.items()
        self._tokens_output = next((name for name, shape in shapes if len(shape) == 3), None)
        self.dimensions = len(self.encode(_PROBE))
        if facts.dimensions not in (None, self.dimensions):
            raise ModelInvalid(
                f"{folder / FACTS_FILE} declares {facts.dimensions} dimensions, but the model "
                f"gives {self.dimensions}; correct the number or put the right model there"
            )

    def encode(self, text: str) -> NDArray[np.float32]:
        """One vector for the text, not yet of length 1."""
        ids = self._token_ids(text)
        output = self._model.run(self._output, ids, [0] * len(ids))
        ranks = {"none": 2, "mean": 3, "cls": 3}
        if output.ndim != ranks[self.pooling] or len(output) != 1:
            raise ModelInvalid(
                f"{self._output} of the model in {self._folder} has shape {output.shape}, which "
                f"does not fit pooling {self.pooling!r}; correct it in {self._folder / FACTS_FILE}"
            )
        pooled: NDArray[np.float32] = output[0]
        if self.pooling == "mean":
            # Every token is a real one: texts are never padded.
            pooled = pooled.mean(axis=0)
        elif self.pooling == "cls":
            pooled = pooled[0]
        return pooled

    def encode_tokens(self, text: str) -> Vectors:
        """A unit vector for each token of the text."""
        if self._tokens_output is None:
            raise ModelInvalid(
                f"the model in {self._folder} gives no vectors of tokens, only of whole texts"
            )
        ids = self._token_ids(text)
        vectors = self._model.run(self._tokens_output, ids, [0] * len(ids))[0]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all():
            raise ModelInvalid(f"the model in {self._folder} gave NaN or infinite numbers")
        directions: Vectors = vectors / np.maximum(lengths, _SHORTEST)
        return directions

    def _token_ids(self, text: str) -> Sequence[int]:
        """Cut by hand: the tokenizer's own truncation is a setting that threads would share."""
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        encoding.truncate(max(self._room, 1))
        ids: list[int] = self._tokenizer.post_process(encoding).ids
        # A tokenizer without special tokens gives nothing for an empty text; a model needs a token.
        return ids or [0]

    def _choose_output(self, declared: Pooling | None) -> tuple[str, Pooling]:
        """Which output to read, and how; mean pooling where nothing else is said, as is usual."""
        outputs = self._model.outputs
        tokens = [name for name, shape in outputs.items() if len(shape) == 3]
        sentences = [name for name, shape in outputs.items() if len(shape) == 2]
        # Plain BERT exports carry a rank 2 `pooler_output` too, which is no sentence vector.
        sentences.sort(key=lambda name: name != "sentence_embedding")
        if declared is None:
            whole = "sentence_embedding" in sentences or not tokens
            declared = "none" if whole else "mean"
        suitable = sentences if declared == "none" else tokens
        if not suitable:
            shapes = ", ".join(f"{name} {shape}" for name, shape in outputs.items())
            raise ModelInvalid(
                f"the model in {self._folder} has no output that fits pooling {declared!r}, only "
                f"{shapes}; declare the pooling in {self._folder / FACTS_FILE}"
            )
        return suitable[0], declared
