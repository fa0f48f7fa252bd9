"""Hits → fewer hits, so that one document does not fill the list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pincite.records import DocumentId, Hit


def cap_per_document(hits: Iterable[Hit], *, most: int) -> Iterator[Hit]:
    """The hits in their order, at most so many of each document; 0 is no limit."""
    taken: Counter[DocumentId] = Counter()
    for hit in hits:
        taken[hit.document_id] += 1
        if most < 1 or taken[hit.document_id] <= most:
            yield hit
