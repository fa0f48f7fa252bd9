"""Which parts of a library a question prefers, such as the documents it names, or is limited to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pincite.ports import Store
from pincite.records import ChunkId, DocumentId, Filters, Ranked, Ranking, Understood
from pincite.text.dates import day_span

_MANY = 3  # documents of one name: then it is the name of a kind, not of a document


def named_documents(question: str, store: Store) -> tuple[DocumentId, ...]:
    """The documents that the question calls by their title or their file's name."""
    found = store.named_documents(question)
    return tuple(one for ids in found.values() if len(ids) <= _MANY for one in ids)


def fitting_entries(
    question: str, store: Store, filters: Filters, count: int
) -> dict[DocumentId, int]:
    """The documents whose catalog entry speaks most to the question, each with its place."""
    found = store.find_documents(question, filters=filters, limit=count) if count else []
    return {entry.id: place for place, entry in enumerate(found)}


def among(filters: Filters, ids: Iterable[DocumentId]) -> Filters:
    """The filters, with only these documents."""
    allowed = filters.document_ids
    kept = [one for one in dict.fromkeys(ids) if allowed is None or one in allowed]
    return replace(filters, document_ids=tuple(kept))


def preferred_parts(filters: Filters, named: Iterable[DocumentId]) -> dict[str, Filters]:
    """The documents that the question names, and those labelled for the agent who asks."""
    parts = {"named": among(filters, ids)} if (ids := tuple(named)) else {}
    own = tuple(filter(None, filters.agents or ()))
    if own and own != filters.agents:  # it also sees what is labelled for nobody
        parts["agent"] = replace(filters, agents=own)
    return parts


def narrowed(filters: Filters, understood: Understood) -> Filters:
    """The filters with the question's own dates; neither lets through more."""
    since = [one for one in (filters.since, understood.since) if one is not None]
    until = [one for one in (filters.until, understood.until) if one is not None]
    first = max(since, key=lambda one: (day_span(one) or ("", ""))[0], default=None)
    last = min(until, key=lambda one: (day_span(one) or ("", ""))[1], default=None)
    return replace(filters, since=first, until=last)


def containing(filters: Filters, phrase: str) -> Filters:
    """The filters, with only what has this phrase; what allows nothing still allows nothing."""
    required = filters.phrases
    return replace(filters, phrases=(*(required or ()), phrase) if required != () else ())


def with_preferred(
    rankings: Mapping[str, Ranking], search: str, parts: Iterable[Mapping[str, Ranking]]
) -> dict[str, Ranking]:
    """The rankings with the best of parts of the library in them, and one that counts the parts."""
    joined = dict(rankings)
    held: Counter[ChunkId] = Counter()
    document_of: dict[ChunkId, DocumentId] = {}
    for theirs in parts:
        joined = {
            name: (
                *ranking,
                *(replace(one, listed=False) for one in more if one.chunk_id not in known),
            )
            for name, ranking in joined.items()
            for more in (theirs.get(name, ()),)
            for known in ({one.chunk_id for one in ranking},)
        }
        found = {one.chunk_id: one.document_id for each in theirs.values() for one in each}
        held.update(found.keys())
        document_of |= found
    joined[search] = tuple(
        Ranked(chunk, document_of[chunk], float(count)) for chunk, count in sorted(held.items())
    )
    return joined
