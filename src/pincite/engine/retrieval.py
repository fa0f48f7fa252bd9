"""One search in other shapes: passages, documents, a context for a language model."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Protocol

from pincite.errors import LibraryError, ModelError, ModelMismatch, StoreError
from pincite.ports import Store, TokenCounter
from pincite.records import (
    Chunk,
    ChunkId,
    Context,
    DocumentId,
    FoundDocument,
    FoundDocuments,
    Reason,
    Result,
    Retrieved,
    SearchResults,
)
from pincite.retrieve.pack import Count, Packing, as_text
from pincite.retrieve.passages import passages
from pincite.settings import SearchSettings
from pincite.text.words import WORD, is_unspaced

_log = logging.getLogger(__name__)
_CHARACTERS = 4  # of a token, where the model's own tokenizer is not known

OpenStore = Callable[[], Store]


class Search(Protocol):
    """A question that can be asked with other settings."""

    def __call__(self, question: str, *, settings: SearchSettings) -> SearchResults:
        """What it finds."""
        ...


def retrieve_chunks(
    question: str, search: Search, store: OpenStore, settings: SearchSettings
) -> Retrieved:
    """The best chunks, those that follow each other as one passage.

    A model or an index that does not answer is a reason, not an exception: whoever asks on behalf
    of a conversation must be able to go on with it.
    """
    try:
        found = search(question, settings=settings)
        merged = passages(found.results, store().text_of)
    except (LibraryError, ModelError, StoreError) as error:
        _log.error("nothing could be retrieved: %s", error)
        reason: Reason = "model_mismatch" if isinstance(error, ModelMismatch) else "error"
        return Retrieved(question, (), reason, str(error))
    return Retrieved(found.question, tuple(merged), found.reason, asides=found.asides)


def search_documents(
    question: str, search: Search, settings: SearchSettings, *, each: int
) -> FoundDocuments:
    """The documents with the best chunks, `top_k` of them, with so many chunks of each."""
    # However much some documents hold, so many of each leave room for the others.
    wanted = replace(settings, top_k=settings.top_k * each, per_document=each)
    found = search(question, settings=wanted)
    best: dict[DocumentId, list[Result]] = {}
    for result in found.results:
        best.setdefault(result.document.id, []).append(result)
    documents = [FoundDocument(results[0].document, tuple(results)) for results in best.values()]
    first = tuple(documents[: settings.top_k])
    return FoundDocuments(found.question, first, found.reason, found.asides)


def relevant_context(retrieved: Retrieved, store: OpenStore, budget: int, count: Count) -> Context:
    """The passages that fit the budget, with what stands around them where there is room."""
    empty = Context(
        *(retrieved.question, "", (), 0, budget),
        *(retrieved.reason, retrieved.message, retrieved.asides),
    )
    if not retrieved.passages:
        return empty
    try:
        packing = Packing(budget, count, store().text_of, _Neighbours(store()))
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


class _Neighbours:
    """Finds the chunks before and after another one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ids: dict[DocumentId, list[ChunkId]] = {}

    def __call__(self, chunk: Chunk, step: int) -> Chunk | None:
        if chunk.document_id not in self._ids:
            self._ids[chunk.document_id] = self._store.chunk_ids(chunk.document_id)
        ids, place = self._ids[chunk.document_id], chunk.position + step
        loaded = self._store.load_chunks([ids[place]]) if 0 <= place < len(ids) else []
        return loaded[0][1] if loaded else None
