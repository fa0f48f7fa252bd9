"""Embedding services that speak the OpenAI protocol. Every answer is checked before it is used."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pincite.errors import ModelInvalid
from pincite.models.service import ServiceModel, items_in
from pincite.models.tokens import CJK, encodable
from pincite.records import ModelCard
from pincite.vectors import Vector, unit

_PROBE = "A sentence to learn the size of a vector from."
# Four Latin letters, two of any other script or two digits make a token; the services' own
# tokenizers seldom need more, and for plain English they need about a third fewer.
_TOKEN = re.compile(rf"[{CJK}]|[A-Za-z]{{1,4}}|\d{{1,2}}|[^\W\d{CJK}]{{1,2}}|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class RemoteEmbedder(ServiceModel):
    """One embedding model of one service.

    Where `dimensions` is given the service is asked for vectors of that size; otherwise a probe
    text tells the size on first need.
    """

    dimensions: int | None = None
    token_limit: int = 512
    question_prefix: str = ""
    passage_prefix: str = ""

    batch = 64
    # Waiting, not computing: more calls at once would only meet the service's rate limit.
    parallel = 4

    @cached_property
    def card(self) -> ModelCard:
        """Asks the service once where the dimensions were not given."""
        dimensions = self.dimensions or len(self._ask([_PROBE])[0])
        fingerprint = f"openai:{self.model}:{dimensions}"
        if self.question_prefix or self.passage_prefix:
            prefixes = json.dumps([self.question_prefix, self.passage_prefix])
            fingerprint += f":{hashlib.sha256(prefixes.encode()).hexdigest()[:16]}"
        return ModelCard(
            name=f"openai:{self.model}",
            fingerprint=fingerprint,
            dimensions=dimensions,
            token_limit=self.token_limit,
        )

    @cached_property
    def passage_overhead(self) -> int:
        """The usual two marks, and the estimated tokens of the passage prefix."""
        return 2 + len(self.token_starts(self.passage_prefix))

    def token_starts(self, text: str) -> Sequence[int]:
        """An estimate, as a service's tokenizer is not at hand; it rather counts too many."""
        return array("I", (match.start() for match in _TOKEN.finditer(text)))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in their order."""
        dimensions = self.card.dimensions
        vectors: list[Vector] = []
        for start in range(0, len(texts), self.batch):
            asked = [self.passage_prefix + text for text in texts[start : start + self.batch]]
            vectors += [unit(numbers, dimensions=dimensions) for numbers in self._ask(asked)]
        return vectors

    def embed_question(self, text: str) -> Vector:
        """The unit vector to search with."""
        (numbers,) = self._ask([self.question_prefix + text])
        return unit(numbers, dimensions=self.card.dimensions)

    def foreignness(self, question: str) -> float:
        """Not known of a service."""
        return 0.0

    def knows(self, word: str) -> bool:
        """Not known of a service."""
        return False

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        size: dict[str, Any] = {"dimensions": self.dimensions} if self.dimensions else {}
        reply = self._service.ask(
            lambda client: client.embeddings.with_raw_response.create(
                model=self.model,
                input=[encodable(text) for text in texts],
                encoding_format="float",
                **size,
            ),
            task=f"embed with {self.model}",
        )
        host = self._service.host
        # The vectors in the order of the texts, whatever order they came in.
        items = items_in(reply, "data", of="embeddings", host=host)
        count = len(texts)
        if len(items) != count:
            raise ModelInvalid(f"{host} gave {len(items)} vectors for {count} texts")
        vectors = {
            item.get("index"): item.get("embedding")
            for item in items
            if type(item.get("index")) is int
        }
        if set(vectors) != set(range(count)):
            raise ModelInvalid(f"{host} gave vectors that do not tell which texts they belong to")
        return [_numbers(vectors[place], host) for place in range(count)]


def _numbers(embedding: object, host: str) -> list[float]:
    """A list of numbers and nothing else: NumPy would read the string "1" as a number too."""
    if not isinstance(embedding, list) or not embedding:
        raise ModelInvalid(f"{host} gave a text without a vector")
    if not {type(value) for value in embedding} <= {int, float}:
        raise ModelInvalid(f"{host} gave a vector that is not a list of numbers")
    try:
        return [float(value) for value in embedding]
    except OverflowError:
        raise ModelInvalid(f"{host} gave a vector with numbers beyond all bounds") from None
