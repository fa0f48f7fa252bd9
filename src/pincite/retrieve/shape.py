"""Hits → those worth a reader's time: near enough, not too many of a document, nothing twice.

Everything that is left out is told, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pincite.records import Chunk, ChunkId, DocumentEntry, DocumentId, Dropped, Hit
from pincite.retrieve.likeness import Likeness
from pincite.settings import SearchSettings

Load = Callable[[Sequence[ChunkId]], list[tuple[DocumentEntry, Chunk]]]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_BY_WORDS = frozenset(("words", "codes", "phrases"))
_AT_ONCE = 4  # chunks that are loaded to fill up what was left out


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
        reason = _too_far(hit, settings.similarity_floor)
        seen[hit.document_id] += not reason
        if not reason and 0 < most < seen[hit.document_id] and hit.document_id not in free:
            reason = f"{_ordinal(seen[hit.document_id])} chunk of the same document"
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


def _too_far(hit: Hit, floor: float) -> str:
    """Why a hit is not near enough; empty where it is, or has a word of the question."""
    near = hit.shares.get("vector")
    if near is None or near.score >= floor or not _BY_WORDS.isdisjoint(hit.shares):
        return ""
    return f"its similarity of {near.score:.2f} is under the floor of {floor:g}"


def _ordinal(number: int) -> str:
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"{number}th"
