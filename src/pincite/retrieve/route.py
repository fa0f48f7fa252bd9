"""Which documents a question names, and which the catalog would look into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pincite.ports import Store
from pincite.records import DocumentId, Filters, Ranked, Ranking

_MANY = 3  # documents of one name: then it is the name of a kind, not of a document

Rankings = dict[str, Ranking]


def named_documents(question: str, store: Store) -> tuple[DocumentId, ...]:
    """The documents that the question calls by their title or their file's name."""
    found = store.named_documents(question)
    return tuple(one for ids in found.values() if len(ids) <= _MANY for one in ids)


def shortlist(question: str, store: Store, filters: Filters, count: int) -> Filters:
    """The filters, with only the documents left whose catalog entry speaks most to the question.

    Nothing is restricted where the catalog knows nothing of it.
    """
    found = [entry.id for entry in store.find_documents(question, filters=filters, limit=count)]
    named = named_documents(question, store)
    return among(filters, (*named, *found)) if found else filters


def among(filters: Filters, ids: Sequence[DocumentId]) -> Filters:
    """The filters, with only these documents."""
    allowed = filters.document_ids
    kept = [one for one in dict.fromkeys(ids) if allowed is None or one in allowed]
    return replace(filters, document_ids=tuple(kept))


def with_named(
    rankings: Rankings,
    named: Sequence[DocumentId],
    asked: Callable[[Filters], Mapping[str, Ranking]],
    filters: Filters,
) -> Rankings:
    """The rankings with the best of the named documents in them, and one of what is named."""
    if not named:
        return rankings
    theirs = asked(among(filters, named))
    joined = {
        search: (*ranking, *_missing(ranking, theirs.get(search, ())))
        for search, ranking in rankings.items()
    }
    every = {one.chunk_id: one for ranking in joined.values() for one in ranking}
    wanted = frozenset(named)
    joined["named"] = tuple(
        Ranked(one.chunk_id, one.document_id, 1.0)
        for _, one in sorted(every.items())
        if one.document_id in wanted
    )
    return joined


def _missing(ranking: Ranking, others: Ranking) -> list[Ranked]:
    known = {one.chunk_id for one in ranking}
    return [replace(one, listed=False) for one in others if one.chunk_id not in known]
