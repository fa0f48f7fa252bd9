"""How likely a hit speaks to the question: a logistic model of three signals.

The weights stand in `relevance.json`, fitted by `benchmarks/relevance.py`
(docs/decisions/0018).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from pathlib import Path

from pincite.records import Chunk, ChunkId, DocumentEntry, DocumentId, Hit
from pincite.text.finding import finder_of

POOL = 20  # documents that share the question among them
_TEMPERATURE = 0.1  # of fused scores; a hit that much lower gets a third of the share
_LEAST_SHARE = 1e-3

Loaded = Mapping[ChunkId, tuple[DocumentEntry, Chunk]]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts, for the embedding model whose cosines they were fitted on."""

    model: str  # its fingerprint
    constant: float
    share: float
    cosine: float
    coverage: float

    def probability(self, signals: Signals) -> float:
        """Between 0 and 1."""
        return 1 / (1 + exp(-self.log_odds(signals)))

    def log_odds(self, signals: Signals) -> float:
        """The sum behind the probability."""
        return (
            self.constant
            + self.share * signals.share
            + self.cosine * signals.cosine
            + self.coverage * signals.coverage
        )


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of one hit."""

    share: float  # logarithm of its part among the best hits: is it alone, or one of many?
    cosine: float  # of question and best window
    coverage: float  # the part of the question's words that chunk, title and headings have


@lru_cache(maxsize=1)
def fitted() -> Weights:
    """The weights that come with pincite."""
    text = Path(__file__).with_name("relevance.json").read_text(encoding="utf-8")
    return Weights(**json.loads(text))


def with_probabilities(
    question: str, hits: Sequence[Hit], loaded: Loaded, fused: Sequence[Hit]
) -> list[Hit]:
    """The hits, each with its probability; `fused` are all that were found, best first."""
    weights, found = fitted(), signals(question, hits, loaded, fused)
    return [
        hit._replace(probability=weights.probability(found[hit.chunk_id]))
        if hit.chunk_id in found
        else hit
        for hit in hits
    ]


def signals(
    question: str, hits: Sequence[Hit], loaded: Loaded, fused: Sequence[Hit]
) -> dict[ChunkId, Signals]:
    """What is known of each hit that has a cosine."""
    finder = finder_of(question)
    rivals = _best_of_documents(fused)
    best = max(rivals, default=0.0)
    total = sum(_falling(best - score) for score in rivals)
    found = {}
    for hit in hits:
        if "vector" in hit.shares:
            document, chunk = loaded[hit.chunk_id]
            found[hit.chunk_id] = Signals(
                share=log(_falling(best - hit.score) / total + _LEAST_SHARE),
                cosine=hit.shares["vector"].score,
                coverage=finder.coverage(chunk.searched, document.title, *chunk.headings),
            )
    return found


def _best_of_documents(fused: Sequence[Hit]) -> list[float]:
    """The scores of the best documents: other chunks of the same one are no rivals."""
    scores: dict[DocumentId, float] = {}
    for hit in fused:
        scores.setdefault(hit.document_id, hit.score)
        if len(scores) == POOL:
            break
    return list(scores.values())


def _falling(behind: float) -> float:
    return exp(-behind / _TEMPERATURE)
