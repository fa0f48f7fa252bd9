"""Hits → those worth a reader's time: near enough, not too many of a document, nothing twice.

Everything that is left out is told, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import NamedTuple

from pincite.records import Chunk, ChunkId, DocumentEntry, DocumentId, Dropped, Hit
from pincite.settings import SearchSettings
from pincite.text.words import fold, words_in

Load = Callable[[Sequence[ChunkId]], list[tuple[DocumentEntry, Chunk]]]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_BY_WORDS = frozenset(("words", "codes", "phrases"))
_AT_ONCE = 4  # chunks that are loaded to fill up what was left out

_SHORT = 8  # words; so short a text is the same only where it is identical
_DENIALS = frozenset(
    ["no", "not", "never", "none", "without", "cannot", "nor", "neither", "t"]
)  # t: don't
_MOST_COMPARED = 50  # texts
_SIZES = 0.8  # of two lengths; texts that differ more are not looked at


class Kept(NamedTuple):
    """A hit with what it is of."""

    hit: Hit
    document: DocumentEntry
    chunk: Chunk


@dataclass
class Shaped:
    """What is kept, best first, and what was left out on the way there."""

    kept: list[Kept] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    same_text: dict[ChunkId, list[str]] = field(default_factory=dict)  # paths, by chunk kept


def shape(
    hits: Sequence[Hit],
    load: Load,
    settings: SearchSettings,
    *,
    wanted: int,
    named: Collection[DocumentId] = (),
) -> Shaped:
    """So many hits in their order, without what should not take a place among them."""
    shaped = Shaped()
    likeness = Likeness(settings.near_identical)
    for kept in _loaded(_near_and_few(hits, settings, shaped, named), load, wanted):
        if kept.chunk.flags and not any(map(str.isalnum, kept.chunk.shown)):
            # It was found by the name of its file, or by a title; nothing of it can be quoted.
            reason = f"holds only {', '.join(kept.chunk.flags)}"
            shaped.dropped.append(Dropped(kept.chunk.id, kept.document.id, reason))
            continue
        again = likeness.repeats(kept.chunk.text)
        if again is None:
            likeness.add(kept.chunk.text)
            shaped.kept.append(kept)
            if len(shaped.kept) == wanted:
                break
            continue
        first = shaped.kept[again]
        if kept.document.path != first.document.path:
            shaped.same_text.setdefault(first.chunk.id, []).append(kept.document.path)
        reason = f"the same text as in {first.document.path}"
        shaped.dropped.append(Dropped(kept.chunk.id, kept.document.id, reason))
    return shaped


def _near_and_few(
    hits: Sequence[Hit], settings: SearchSettings, shaped: Shaped, named: Collection[DocumentId]
) -> Iterator[Hit]:
    """Hits that are near enough, and not too many of a document; the others are noted."""
    most, free = settings.per_document, list[DocumentId]()
    if most is None:
        best = Counter(hit.document_id for hit in hits[: settings.top_k])
        most, free = 3, [*named, *(one for one in best if 2 * best[one] > best.total())]
    seen: Counter[DocumentId] = Counter()
    for hit in hits:
        near, floor, reason = hit.shares.get("vector"), settings.similarity_floor, ""
        # What has a word of the question is never too far.
        if near is not None and near.score < floor and _BY_WORDS.isdisjoint(hit.shares):
            reason = f"its similarity of {near.score:.2f} is under the floor of {floor:g}"
        seen[hit.document_id] += not reason
        if not reason and 0 < most < seen[hit.document_id] and hit.document_id not in free:
            number = seen[hit.document_id]
            ordinal = _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"{number}th"
            reason = f"{ordinal} chunk of the same document"
        if reason:
            shaped.dropped.append(Dropped(hit.chunk_id, hit.document_id, reason))
        else:
            yield hit


def _loaded(hits: Iterator[Hit], load: Load, wanted: int) -> Iterator[Kept]:
    """The hits with their chunks, a few at a time; what is gone meanwhile is passed over."""
    count = wanted
    while few := list(islice(hits, count)):
        found = {chunk.id: (entry, chunk) for entry, chunk in load([one.chunk_id for one in few])}
        for hit in few:
            if hit.chunk_id in found:
                yield Kept(hit, *found[hit.chunk_id])
        count = _AT_ONCE


@dataclass(frozen=True)
class _Text:
    text: str

    @cached_property
    def words(self) -> Sequence[str]:
        return words_in(fold(self.text))

    @cached_property
    def distinct(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset(pairwise(self.words))

    @cached_property
    def decisive(self) -> list[str]:
        """Figures and denials: in one of them two texts may say the opposite."""
        return sorted(
            word for word in self.words if word in _DENIALS or any(map(str.isdigit, word))
        )


class Likeness:
    """Remembers texts, and tells of another one which of them it repeats.

    Two texts are the same from this share of common word pairs on; 1 is identical but for case and
    punctuation, 0 keeps everything. Texts with other figures, or with a `not` more, are never the
    same: the fee of this year is not that of last year.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._known: list[_Text] = []

    def add(self, text: str) -> None:
        """Remember it."""
        self._known.append(_Text(text))

    def repeats(self, text: str) -> int | None:
        """The number of the text that it repeats, from 0; None where it is new."""
        if self._least <= 0:
            return None
        new = _Text(text)
        # In a list that nobody reads to its end, only the first can be repeated.
        for number, known in enumerate(self._known[:_MOST_COMPARED]):
            shorter, longer = sorted((len(known.text), len(text)))
            if shorter >= _SIZES * longer and self._are_same(known, new):
                return number
        return None

    def _are_same(self, one: _Text, other: _Text) -> bool:
        if one.words == other.words:
            return bool(one.words) or one.text == other.text
        if min(len(one.words), len(other.words)) < _SHORT or self._least >= 1:
            return False
        # A word that only one of them has makes a pair that only one has, and so do two at most
        # together: where there are many, the pairs need not be counted.
        all_pairs = len(one.words) + len(other.words)
        if len(one.distinct ^ other.distinct) > 2 * (1 - self._least) * all_pairs:
            return False
        common = len(one.pairs & other.pairs)
        likeness = common / (len(one.pairs) + len(other.pairs) - common)
        return likeness >= self._least and one.decisive == other.decisive
