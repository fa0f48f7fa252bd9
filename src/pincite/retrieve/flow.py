"""A question becomes cited results: search, fuse, diversify, quote. Read this file first."""

from __future__ import annotations

from itertools import islice

from pincite.ports import Embedder, Mode, Store
from pincite.records import Filters, Result, SearchResults
from pincite.retrieve.diversify import cap_per_document
from pincite.retrieve.fuse import fuse
from pincite.retrieve.quote import best_quote
from pincite.settings import SearchSettings

# A long list needs more candidates than the settings' usual number, or the cap would shorten it.
_CANDIDATES_PER_RESULT = 3


def search(
    question: str,
    store: Store,
    embedder: Embedder | None,
    *,
    mode: Mode,
    filters: Filters,
    settings: SearchSettings,
) -> SearchResults:
    """The chunks that speak most to the question, each with its place and its best sentence.

    The embedder may be left out for the words search alone.
    """
    # Half a character, from a broken command line say, can be neither searched nor printed.
    question = question.encode("utf-8", "replace").decode()
    if not question.strip():
        return SearchResults(question, mode, (), reason="empty_question")
    rankings = store.search(
        None if mode == "vector" else question,
        None if embedder is None or mode == "words" else embedder.embed_question(question),
        filters=filters,
        limit=max(settings.candidates, _CANDIDATES_PER_RESULT * settings.top_k),
    )
    hits = fuse(rankings, k=settings.rrf_k)
    kept = list(islice(cap_per_document(hits, most=settings.per_document), settings.top_k))
    loaded = store.load_chunks([hit.chunk_id for hit in kept])
    by_id = {chunk.id: (document, chunk) for document, chunk in loaded}
    results = tuple(
        Result(document, chunk, hit, best_quote(chunk, question, hit.window))
        for hit in kept
        if hit.chunk_id in by_id
        for document, chunk in (by_id[hit.chunk_id],)
    )
    return SearchResults(question, mode, results, reason=None if results else "no_hits")
