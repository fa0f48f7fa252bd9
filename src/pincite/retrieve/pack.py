"""Passages → a context for a language model, within a budget of tokens that is never exceeded."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import ceil

from pincite.errors import LibraryError, ModelError, StoreError
from pincite.ports import Store, TokenCounter
from pincite.records import Chunk, ChunkId, Context, Passage, Retrieved
from pincite.retrieve.passages import TextOf, follow, part_of, passage
from pincite.text.sentences import sentence_spans
from pincite.text.words import WORD, is_unspaced

_log = logging.getLogger(__name__)
_CHARACTERS = 4  # of a token, where the model's own tokenizer is not known
_LABEL = re.compile(r"(?m)^(?=\[\d{1,4}\])")
_MARKED = "> "

Count = Callable[[str], int]
"""How many tokens a text has."""

Neighbour = Callable[[Chunk, int], Chunk | None]
"""The chunk so many places after (or before) another one; None where the document ends."""


class Packing:
    """Fills a budget: whole passages by rank, then what stands around them.

    Passages of one document stand in the order of the document, documents in the order of their
    best passage.
    """

    def __init__(self, budget: int, count: Count, text_of: TextOf, neighbour: Neighbour) -> None:
        self._budget = budget
        self._count = count
        self._text_of = text_of
        self._neighbour = neighbour
        self._chosen: list[Passage] = []  # by rank

    def fill(self, ranked: Sequence[Passage]) -> list[Passage]:
        """The passages that fit, in the order in which they are read.

        Of the best one at least the sentences around what was found, however long it is.
        """
        for rank, one in enumerate(ranked):
            if self._fits([*self._chosen, one]):
                self._chosen.append(one)
            elif rank == 0 and (part := self._cut(one)) is not None:
                self._chosen.append(part)
        self._widen()
        joined = self._joined()
        # Between two chunks there may stand more than a label takes: blank lines without end.
        fits = self._count(as_text(joined)) <= self._budget
        return joined if fits else in_reading_order(self._chosen)

    def _fits(self, chosen: Sequence[Passage]) -> bool:
        return self._count(as_text(in_reading_order(chosen))) <= self._budget

    def _widen(self) -> None:
        """Neighbours of what was found, best first, as long as there is room."""
        taken: set[ChunkId] = {name for one in self._chosen for name in one.chunk_ids}
        for place in range(len(self._chosen)):
            for step in (1, -1):
                wider = self._wider(self._chosen[place], step, taken)
                if wider is None:
                    continue
                others = [*self._chosen[:place], wider, *self._chosen[place + 1 :]]
                if self._fits(others):
                    self._chosen = others
                    taken.update(wider.chunk_ids)

    def _joined(self) -> list[Passage]:
        """In reading order; passages between which no gap is left are one."""
        ranks = {id(one.best): rank for rank, one in enumerate(self._chosen)}
        joined: list[Passage] = []
        for one in in_reading_order(self._chosen):
            if (
                joined
                and _is_whole(joined[-1])
                and _is_whole(one)
                and follow(joined[-1].chunks[-1], one.chunks[0])
            ):
                best = min(joined[-1].best, one.best, key=lambda result: ranks[id(result)])
                joined[-1] = passage(best, (*joined[-1].chunks, *one.chunks), self._text_of)
            else:
                joined.append(one)
        return joined

    def _wider(self, one: Passage, step: int, taken: set[ChunkId]) -> Passage | None:
        """The passage with its next chunk, or the one before it, where that belongs to it."""
        edge = one.chunks[-1] if step > 0 else one.chunks[0]
        other = self._neighbour(edge, step) if _is_whole(one) else None
        if other is None or other.id in taken:
            return None
        before, after = (edge, other) if step > 0 else (other, edge)
        if not follow(before, after):
            return None
        chunks = (*one.chunks, other) if step > 0 else (other, *one.chunks)
        wider = passage(one.best, chunks, self._text_of)
        return wider if len(wider.text) == wider.end - wider.start else None

    def _cut(self, one: Passage) -> Passage | None:
        """The sentences around the best one, of a passage that is too long as a whole."""
        spans = list(sentence_spans(one.text, 0, len(one.text)))
        quote = one.best.quote.start - one.start
        first = last = next(
            (at for at, (start, end) in enumerate(spans) if start <= quote < end), 0
        )
        best: Passage | None = None
        while first >= 0 and last < len(spans):
            part = part_of(one, spans[first][0], spans[last][1])
            if not self._fits([part]):
                break
            best = part
            # Onwards first: what follows explains more often than what came before.
            if last + 1 < len(spans) and (last - first) % 3 < 2:
                last += 1
            elif first > 0:
                first -= 1
            elif last + 1 < len(spans):
                last += 1
            else:
                break
        return best


def in_reading_order(chosen: Sequence[Passage]) -> list[Passage]:
    """Documents by their best passage, and each from its beginning on."""
    documents = list(dict.fromkeys(one.document.id for one in chosen))
    return sorted(chosen, key=lambda one: (documents.index(one.document.id), one.start))


def as_text(chosen: Sequence[Passage]) -> str:
    """The passages with their labels, as a model reads them.

    What a reader of the file would not see is left out, and told; a line that looks like one of
    our labels is marked, as a document could pass for another one by it.
    """
    return "\n\n".join(
        f"[{number}] {one.citation}{beware}\n{_LABEL.sub(_MARKED, one.seen.strip())}"
        for number, one in enumerate(chosen, start=1)
        for beware in (f" (left out: {', '.join(one.flags)})" if one.flags else "",)
    )


def _is_whole(one: Passage) -> bool:
    return (one.start, one.end) == (one.chunks[0].start, one.chunks[-1].end)


def relevant_context(
    retrieved: Retrieved,
    store: Callable[[], Store],
    budget: int,
    count: Count,
    without: tuple[str, ...] = (),
) -> Context:
    """The passages that fit the budget, with what stands around them where there is room.

    Chunks whose ids begin as `without` says are not taken from there either.
    """
    empty = Context(
        *(retrieved.question, "", (), 0, budget),
        *(retrieved.reason, retrieved.message, retrieved.asides, retrieved.query_id),
    )
    if not retrieved.passages:
        return empty
    try:
        held = store()
        ids_of = cache(held.chunk_ids)

        def neighbour(chunk: Chunk, step: int) -> Chunk | None:
            ids, place = ids_of(chunk.document_id), chunk.position + step
            if not 0 <= place < len(ids) or ids[place].startswith(without):
                return None
            return next((one for _, one in held.load_chunks([ids[place]])), None)

        packing = Packing(budget, count, held.text_of, neighbour)
        chosen = packing.fill(retrieved.passages)
        text = as_text(chosen)
        tokens = count(text)
    except (LibraryError, ModelError, StoreError) as error:
        _log.error("no context could be put together: %s", error)
        return replace(empty, reason="error", message=str(error))
    if not chosen:
        message = f"a budget of {budget} is too small for the best passage's label and a sentence"
        return replace(empty, reason="budget_too_small", message=message)
    return replace(empty, text=text, passages=tuple(chosen), tokens=tokens)


def token_count(counter: Callable[[], TokenCounter] | None) -> Count:
    """Counts by the embedder's tokenizer and by characters, and believes the larger number.

    The language model's own tokenizer is not known here. Those in use need no more tokens than
    one of these two says: a quarter of the characters, one for each of a script without spaces.
    """

    def count(text: str) -> int:
        unspaced = sum(len(word) for word in WORD.findall(text) if is_unspaced(word))
        by_characters = unspaced + ceil((len(text) - unspaced) / _CHARACTERS)
        return max(by_characters, len(counter().token_starts(text)) if counter else 0)

    return count
