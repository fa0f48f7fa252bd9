"""Services with a `/rerank` path, as Jina, Cohere, vLLM and llama.cpp have it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pincite.errors import ModelInvalid
from pincite.models.service import Patience, Service, items_in
from pincite.models.tokens import encodable


@dataclass(frozen=True, kw_only=True)
class RemoteReranker:
    """One reranking model of one service. Every answer is checked before it is used."""

    model: str
    base_url: str | None = field(default=None, repr=False)  # may carry a password
    api_key: str | None = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)

    batch = 100  # one request: its time is bounded by patience, not between requests

    def __post_init__(self) -> None:
        _ = self._service  # refuses a bad address or key at once

    @cached_property
    def _service(self) -> Service:
        return Service(base_url=self.base_url, api_key=self.api_key, patience=self.patience)

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
        return _ordered(
            items_in(reply, "results", of="results", host=host), count=len(passages), host=host
        )


def _ordered(items: list[dict[str, Any]], *, count: int, host: str) -> list[float]:
    """The scores in the order of the passages; services give the best first."""
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
