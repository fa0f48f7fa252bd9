"""How telling each word of a question is in this library: the fewer chunks have it, the more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, log

from pincite.ports import Store
from pincite.text.finding import key_of
from pincite.text.words import STOP_WORDS, WORD, fold


@dataclass(frozen=True, slots=True)
class Rarity:
    """The weights of a question's words, as a Finder names them."""

    weights: Mapping[str, float]
    missing: tuple[str, ...] = ()  # words, as they were asked, that no chunk has in any form

    def of(self, found: Iterable[str]) -> float:
        """What these words weigh together; those that are not known count like the rarest."""
        unknown = max(self.weights.values(), default=1.0)
        # `fsum`: sets have no order, and a plain sum of the same parts depends on it.
        return fsum(self.weights.get(word, unknown) for word in found)


def telling_words(question: str) -> list[str]:
    """The words of the question that say what it is about, each once."""
    words = (word for word in WORD.findall(question) if fold(word) not in STOP_WORDS)
    return list(dict.fromkeys(words))


def rarity_of(question: str, store: Store) -> Rarity:
    """One call of the store for all words."""
    words = telling_words(question)
    chunks, having = store.chunk_counts(words)
    weights = {key_of(word): log((chunks + 1) / (having[word] + 0.5)) for word in words}
    return Rarity(weights, tuple(word for word in words if not having[word]))
