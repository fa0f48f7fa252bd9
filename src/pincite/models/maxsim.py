"""Late interaction: every token of the question looks for its nearest token of the passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pincite.models.local import Vectors


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
