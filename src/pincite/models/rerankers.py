"""Rerankers: a name becomes one, and each gives a score for a question and a passage."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from pincite.errors import ModelError, ModelInvalid, SettingsError
from pincite.models.catalog import folder_named
from pincite.models.folder import TOKENIZER_FILE, read_facts
from pincite.models.local import LocalEmbedder, Vectors
from pincite.models.onnx_model import OnnxModel, open_tokenizer
from pincite.models.service import Patience, ServiceModel, items_in
from pincite.models.tokens import encodable
from pincite.ports import Embedder, Reranker

if TYPE_CHECKING:
    from tokenizers import Encoding


CHOICES = "maxsim, service:MODEL, or the path of a folder with a cross-encoder"


def open_reranker(
    spec: str,
    *,
    embedder: Callable[[], Embedder],
    models_folder: Path,
    base_url: str | None,
    api_key: str | None,
    seconds: float,
) -> Reranker:
    """The reranker a user names; a service is waited for only so long. Files are opened later."""
    match spec.partition(":"):
        case ("maxsim", "", ""):
            encoder = embedder()
            if not isinstance(encoder, LocalEmbedder):
                raise SettingsError(
                    f"maxsim needs vectors of single tokens, which {encoder.card.name} does not "
                    f"give; choose one of: {CHOICES}"
                )
            return MaxSim(encoder)
        case ("service", ":", model) if model:
            patience = Patience(request_seconds=seconds, retries=1, total_seconds=seconds)
            return RemoteReranker(
                model=model, base_url=base_url, api_key=api_key, patience=patience
            )
        case _ if (folder := folder_named(spec, models_folder)).is_dir():
            return CrossEncoder(folder)
    raise SettingsError(f"unknown reranker {spec!r}; choose one of: {CHOICES}")


class Unusable:
    """Stands in for a reranker whose model cannot be opened, and says why when it is asked."""

    batch = 1

    def __init__(self, why: ModelError) -> None:
        self._why = why

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Never any."""
        raise self._why


class TokenEncoder(Protocol):
    """Gives a unit vector for each token."""

    def token_vectors(self, text: str, *, prefix: Literal["question", "passage"]) -> Vectors:
        """One row for each token, the model's own marks included."""
        ...


class MaxSim:
    """The mean, over the question's tokens, of the best cosine with a token of the passage.

    ColBERT (Khattab and Zaharia 2020) trains a model for it; a sentence encoder's token vectors
    serve as they are, which needs no other weights and helps less.
    """

    batch = 4  # a full window takes up to 50 ms: what is over the time is never much

    def __init__(self, encoder: TokenEncoder) -> None:
        self._encoder = encoder

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """A mean cosine for each passage."""
        asked = self._encoder.token_vectors(question, prefix="question")
        return [self._score(asked, passage) for passage in passages]

    def _score(self, asked: Vectors, passage: str) -> float:
        told = self._encoder.token_vectors(passage, prefix="passage")
        return float((asked @ told.T).max(axis=1).mean())


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


@dataclass(frozen=True, kw_only=True)
class RemoteReranker(ServiceModel):
    """One reranking model of one service. Every answer is checked before it is used."""

    batch = 100  # one request: its time is bounded by patience, not between requests

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """The service's relevance of each passage."""
        reply = self._service.post(
            "/rerank",
            {
                "model": self.model,
                "query": encodable(question),
                "documents": [encodable(passage) for passage in passages],
                # Some give back only the best few unless told.
                "top_n": len(passages),
            },
            task=f"rerank with {self.model}",
        )
        host = self._service.host
        # The scores in the order of the passages; services give the best first.
        items = items_in(reply, "results", of="results", host=host)
        count = len(passages)
        scores = {
            item.get("index"): item.get("relevance_score")
            for item in items
            if type(item.get("index")) is int
        }
        if len(items) != count or set(scores) != set(range(count)):
            raise ModelInvalid(f"{host} did not give one score for each of {count} passages")
        return [_number(scores[place], host) for place in range(count)]


def _number(score: object, host: str) -> float:
    """A number and nothing else: not the string "1", not NaN."""
    if type(score) is int or type(score) is float:
        try:
            number = float(score)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise ModelInvalid(f"{host} gave a score that is not a number")
