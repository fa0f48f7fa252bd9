"""Questions that are asked again: their vectors and results are remembered for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from pincite.ports import Embedder, QuestionEmbedder
from pincite.recent import Recent
from pincite.records import Filters, Mode, ModelCard, SearchResults
from pincite.settings import SearchSettings

if TYPE_CHECKING:
    from pincite.retrieve.understand.glossary import Glossary
    from pincite.vectors import Vector

_VECTORS = 256
_RESULTS = 64
LONGEST = 2_000  # characters of a question that is remembered


@dataclass(frozen=True)
class Asked:
    """All that results depend on. `version` is the index's: it changes with what that holds.

    A language model may say something else each time; what it said first is remembered.
    """

    question: str
    mode: Mode
    filters: Filters
    settings: SearchSettings
    glossary: Glossary
    today: date | None
    version: str


class Memory:
    """What one library remembers. Threads may share it."""

    def __init__(self) -> None:
        self.results: Recent[Asked, SearchResults] = Recent(_RESULTS)
        self._vectors: Recent[tuple[str, str], Vector] = Recent(_VECTORS)

    def embedder(self, embedder: Embedder) -> QuestionEmbedder:
        """The embedder, asked only for what is not known yet."""
        return _Remembering(embedder, self._vectors)


@dataclass(frozen=True)
class _Remembering:
    """Embeds questions."""

    _embedder: Embedder
    _known: Recent[tuple[str, str], Vector]

    @property
    def card(self) -> ModelCard:
        """Name, fingerprint, dimensions and token limit."""
        return self._embedder.card

    def embed_question(self, text: str) -> Vector:
        """The unit vector to search with."""
        key = (self._embedder.card.fingerprint, text)
        known = self._known.get(key)
        if known is None:
            known = self._embedder.embed_question(text)
            if len(text) <= LONGEST:
                self._known.put(key, known)
        return known

    def foreignness(self, question: str) -> float:
        """How little the model knows of the question's language, from 0 to 1."""
        return self._embedder.foreignness(question)

    def knows(self, word: str) -> bool:
        """Whether the word is one of the model's own."""
        return self._embedder.knows(word)
