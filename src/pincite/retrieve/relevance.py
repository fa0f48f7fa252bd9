"""How likely a hit answers the question: a logistic model of few signals that people can read.

The weights stand in `relevance.json`, fitted by `benchmarks/relevance.py`
(docs/decisions/0026).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from math import exp, fsum
from pathlib import Path

from pincite.records import Chunk, ChunkId, Confidence, DocumentEntry, Hit
from pincite.retrieve.rarity import Rarity
from pincite.text.finding import Finder, finder_of, key_of
from pincite.text.words import WORD, question_codes

# What stands together word for word is near, whatever the model makes of it: a short line among
# others of a long window has a low cosine.
_SAID_TOGETHER = 0.5
_NEAR_EACH_OTHER = 200  # characters; about a sentence, in whatever a chunk is made of
_WORDS_FOR_COSINE = 2.0  # what the coverage of a right hit has to be taken by to be as high
_ABOVE = 0.25  # what a word counts that is said of all of the text: its title, headings, author

Loaded = Mapping[ChunkId, tuple[DocumentEntry, Chunk]]


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of one hit. Words count the more, the rarer they are in the library."""

    cosine: float  # of question and best window
    coverage: float  # the part of the question's words that chunk and document have
    together: float  # the part that stands close together in the text
    unread: float  # the part that the model does not read: its cosine means little there
    behind: float  # how much lower its fused score is than the best hit's
    words: int = 2  # of the question that say what it is about

    @property
    def nearness(self) -> float:
        """The cosine; for what the model does not read, words stand in."""
        by_words = min(_WORDS_FOR_COSINE * self.coverage, 1.0)
        near = (1 - self.unread) * self.cosine + self.unread * by_words
        # One word alone stands together with nothing, and may be another one of the same stem.
        said = self.together**3 if self.words > 1 else 0.0
        return max(near, _SAID_TOGETHER * said)

    @property
    def weighed(self) -> tuple[float, float, float]:
        """What the weights are multiplied with.

        Words are believed as far as the meaning is near: any text has some words of a short
        question.
        """
        return self.nearness, self.nearness * self.together, self.behind


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts, for the embedding model whose cosines they were fitted on."""

    model: str  # its fingerprint
    constant: float
    nearness: float
    nearness_together: float  # of both multiplied
    behind: float

    def probability(self, signals: Signals) -> float:
        """Between 0 and 1."""
        nearness, nearness_together, behind = signals.weighed
        log_odds = (
            self.constant
            + self.nearness * nearness
            + self.nearness_together * nearness_together
            + self.behind * behind
        )
        return 1 / (1 + exp(-log_odds))


@lru_cache(maxsize=1)
def fitted() -> Weights:
    """The weights that come with pincite."""
    text = Path(__file__).with_name("relevance.json").read_text(encoding="utf-8")
    return Weights(**json.loads(text))


def signals(
    question: str,
    hits: Sequence[Hit],
    loaded: Loaded,
    rarity: Rarity,
    *,
    best: float,
    foreignness: float,
) -> dict[ChunkId, Signals]:
    """What is known of each hit that has a cosine; `best` is the highest fused score of all."""
    finder = finder_of(question)
    asked = {word: rarity.of([word]) for word in finder.found(question)}
    # A model reads neither a language that it never saw nor a code.
    codes = {
        word
        for term in question_codes(question)
        for code in term.tokens
        for word in (code, *map(key_of, WORD.findall(code)))
    }
    in_codes = _weight(codes, asked) / (_weight(asked, asked) or 1.0)
    found = {}
    for hit in hits:
        if "vector" in hit.shares:
            document, chunk = loaded[hit.chunk_id]
            coverage, together = _words_found(finder, asked, document, chunk)
            found[hit.chunk_id] = Signals(
                cosine=hit.shares["vector"].score,
                coverage=coverage,
                together=together,
                unread=max(foreignness, in_codes),
                behind=best - (hit.score - hit.lift),
                words=sum(weight > 0 for weight in asked.values()),
            )
    return found


def with_probabilities(hits: Sequence[Hit], known: Mapping[ChunkId, Signals]) -> list[Hit]:
    """The hits, each with its probability."""
    weights = fitted()
    return [
        hit._replace(probability=weights.probability(known[hit.chunk_id]))
        if hit.chunk_id in known
        else hit
        for hit in hits
    ]


def confidence(
    hits: Sequence[Hit], known: Mapping[ChunkId, Signals], missing_terms: tuple[str, ...]
) -> Confidence | None:
    """How sure we are of the first hit, and why; of the likeliest where a phrase came before it."""
    likely = [hit for hit in hits if hit.probability is not None]
    if not likely or hits[0].probability is None:
        return None
    is_lifted = hits[0].lift > 0
    best = max(likely, key=lambda hit: hit.probability or 0.0) if is_lifted else hits[0]
    return Confidence(best.probability or 0.0, asdict(known[best.chunk_id]), missing_terms)


def _words_found(
    finder: Finder, asked: Mapping[str, float], document: DocumentEntry, chunk: Chunk
) -> tuple[float, float]:
    """How much of the question the chunk has on the whole, and at one place of its text."""
    total = _weight(asked, asked)
    if not total:
        return 0.0, 0.0
    text = chunk.searched
    told = document.metadata
    about = (document.title, document.name, told.author or "", *told.tags, *chunk.headings)
    above = finder.found("\n".join(about))
    within = finder.found(text)
    found = cache(finder.found)  # the same few words come again and again
    places = [(start, end, found(text[start:end])) for start, end in finder.matches(text)]
    # A code is found without its place, so it counts as near to every word.
    codes = within.difference(*(words for _, _, words in places))
    best = _weight(codes - above, asked)
    for at, (start, _, _) in enumerate(places):
        near = set(codes)
        for _, end, words in places[at:]:
            if end - start > _NEAR_EACH_OTHER:
                break
            near |= words
        best = max(best, _weight(near - above, asked))
    told_above = _weight(above, asked)
    together = (best + _ABOVE * told_above) / (total - (1 - _ABOVE) * told_above)
    return _weight(above | within, asked) / total, together


def _weight(words: Iterable[str], asked: Mapping[str, float]) -> float:
    # `fsum`: sets have no order, and a plain sum of the same parts depends on it.
    return fsum(asked.get(word, 0.0) for word in words)
