"""An embedder without a model: signed feature hashing, for tests and bare machines."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np

from pincite.models.tokens import CJK
from pincite.records import ModelCard
from pincite.vectors import Vector, unit

_TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]+|[^\w\s]")
_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")

# A trigram says less than a whole word; at this weight spelling variants still find each other.
_TRIGRAM_WEIGHT = 0.25
_RECIPE = 1


class HashingEmbedder:
    """Texts that share words get near vectors; the same text gives the same vector everywhere."""

    batch = 64
    # Pure Python holds the interpreter lock: a second thread would only wait.
    parallel = 1
    passage_overhead = 0

    def __init__(self, dimensions: int = 256, token_limit: int = 256) -> None:
        self.card = ModelCard(
            name="hashing",
            fingerprint=f"hashing:{_RECIPE}:{dimensions}",
            dimensions=dimensions,
            token_limit=token_limit,
        )

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each word, punctuation mark or CJK character begins."""
        return array("I", (match.start() for match in _TOKEN.finditer(text)))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in their order."""
        return [self._embed(text) for text in texts]

    def embed_question(self, text: str) -> Vector:
        """Questions and passages are embedded alike."""
        return self._embed(text)

    def foreignness(self, question: str) -> float:
        """None: letters are letters."""
        return 0.0

    def knows(self, word: str) -> bool:
        """It has no words of its own."""
        return False

    def _embed(self, text: str) -> Vector:
        sums = np.zeros(self.card.dimensions, np.float32)
        for feature, weight in _features(text):
            # `surrogatepass`: half a character from a broken file is hashed like any other.
            digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            number = int.from_bytes(digest, "little")
            place, sign = (number >> 1) % self.card.dimensions, 1 if number & 1 else -1
            sums[place] += sign * weight
        if not sums.any():
            # No word at all, or signs that cancelled out: a fixed direction is still valid.
            sums[0] = 1.0
        return unit(sums, dimensions=self.card.dimensions)


def _features(text: str) -> Iterator[tuple[str, float]]:
    # Case and accents away: `Café` and `CAFE` are the same word.
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    for word in _WORD.findall(bare):
        yield word, 1.0
        padded = f"<{word}>"
        for start in range(len(padded) - 2):
            yield padded[start : start + 3], _TRIGRAM_WEIGHT
