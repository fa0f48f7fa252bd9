"""Rankings from segments: BM25 over postings, cosine over vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pincite.recent import Recent
from pincite.records import ChunkId, DocumentId, Filters
from pincite.stores.sqlite.segments.living import Visible, living, marked, places_of
from pincite.stores.sqlite.segments.nearest import VectorSearch
from pincite.stores.sqlite.segments.segment import ID_BYTES, Segment
from pincite.stores.sqlite.segments.words import RowScores, WordWeights

_FILTERS_KNOWN = 16  # of which it is remembered what they let through; a byte for each chunk
_PHRASES_KNOWN = 16  # whose scores are remembered: twelve bytes for each chunk that holds them


class SegmentSearch:
    """The searches over all segments of an index at one moment."""

    def __init__(self, segments: Sequence[Segment], forgotten: NDArray[np.int64]) -> None:
        self._living = [living(one, forgotten) for one in segments]
        self.words = WordWeights(self._living)
        self.vectors = VectorSearch(self._living)
        self.seen_before: Recent[Filters, Visible] = Recent(_FILTERS_KNOWN)
        self.scored_before: Recent[str, RowScores] = Recent(_PHRASES_KNOWN)

    def visible(self, chunks: NDArray[np.int64]) -> Visible:
        """Which chunks are among these rows."""
        return [marked(one.segment, chunks) for one in self._living]

    def names(self, rows: Sequence[int]) -> dict[int, tuple[ChunkId, DocumentId]]:
        """The ids of these chunks and of their documents, by row."""
        wanted = np.array(rows, np.int64)
        names: dict[int, tuple[ChunkId, DocumentId]] = {}
        for one in self._living:
            places, here = places_of(one.segment, wanted)
            chunks = map(ChunkId, _texts(one.segment.chunk_ids[places[here]]))
            documents = map(DocumentId, _texts(one.segment.document_ids[places[here]]))
            names.update(
                zip(wanted[here].tolist(), zip(chunks, documents, strict=True), strict=True)
            )
        return names


def _texts(ids: NDArray[np.uint8]) -> list[str]:
    """Ids as they are written."""
    return ids.tobytes().hex(" ", ID_BYTES).split()
