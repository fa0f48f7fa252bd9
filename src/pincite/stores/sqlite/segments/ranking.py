"""The searches of an index that has segments. Filters restrict before ranking, as everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from pincite.recent import Recent
from pincite.records import ChunkId, DocumentId, Filters, Ranked, Ranking
from pincite.stores.sqlite.filters import match_expression, visible_chunks
from pincite.stores.sqlite.search import WORDS_OF
from pincite.stores.sqlite.segments.making import Tokenizer
from pincite.stores.sqlite.segments.nearest import VectorSearch
from pincite.stores.sqlite.segments.segment import (
    ID_BYTES,
    Found,
    Segment,
    Visible,
    living,
    marked,
    places_of,
)
from pincite.stores.sqlite.segments.words import RowScores, WordSearch, WordWeights
from pincite.text.words import Term, exact_terms, question_terms
from pincite.vectors import Vector

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


class SegmentSearches:
    """One question's searches; what segments cannot answer, phrases and beginnings, tables do."""

    def __init__(self, connection: apsw.Connection, segments: SegmentSearch) -> None:
        self._connection = connection
        self._segments = segments
        self._tokens = Tokenizer(connection)
        self._rows: dict[ChunkId, int] = {}  # of the chunks that were found
        self._words: WordSearch | None = None  # of the last question

    def words(self, question: str, filters: Filters, limit: int) -> Ranking:
        """Chunks by BM25; empty where the question holds no word."""
        self._words = self._asked(question_terms(question), filters)
        return self._best(self._words, limit)

    def codes(self, question: str, filters: Filters, limit: int) -> Ranking:
        """Chunks that hold a code of the question to the letter; empty where it holds none."""
        codes = exact_terms(question)
        return self._best(self._asked(codes, filters), limit) if codes else ()

    def vector(self, vector: Vector, filters: Filters, limit: int) -> Ranking:
        """Chunks by the cosine similarity of their best window."""
        if limit < 1:
            return ()
        found = self._segments.vectors.nearest(vector, limit, self._visible(filters))
        return self._ranked(found)[:limit]

    def words_of(self, question: str, ids: Sequence[ChunkId]) -> Ranking:
        """The BM25 of these chunks, which a search has found, for the last question by words."""
        found = self._words.at([self._rows[one] for one in ids]) if self._words else ()
        return self._ranked(found, listed=False)

    def vectors_of(self, vector: Vector, ids: Sequence[ChunkId]) -> Ranking:
        """The cosine similarity of the best windows of these chunks, which a search has found."""
        rows = [self._rows[one] for one in ids]
        found = self._segments.vectors.of_chunks(vector, rows) if rows else ()
        return self._ranked(found, listed=False)

    def _best(self, words: WordSearch, limit: int) -> Ranking:
        return self._ranked(words.best(limit))[:limit] if limit > 0 else ()

    def _asked(self, terms: Sequence[Term], filters: Filters) -> WordSearch:
        tokens: Counter[str] = Counter()
        others: list[Term] = []
        for term in terms:
            alone = len(term.tokens) == 1 and not term.prefix
            cut = self._tokens(term.tokens[0]) if alone else ()
            if len(cut) == 1:
                tokens[cut[0]] += 1
            else:
                others.append(term)
        added = self._scored(match_expression(others))
        return self._segments.words.search(tokens, added, self._visible(filters))

    def _scored(self, match: str) -> RowScores | None:
        """What the words table says of these terms: slow, and a question may ask it twice."""
        if not match:
            return None
        known = self._segments.scored_before.get(match)
        if known is None:
            found = self._connection.execute(WORDS_OF, (match,)).fetchall()
            rows = np.fromiter((row for row, _ in found), np.int64, len(found))
            scores = np.fromiter((score for _, score in found), np.float32, len(found))
            known = RowScores(rows, scores)
            self._segments.scored_before.put(match, known)
        return known

    def _visible(self, filters: Filters) -> Visible | None:
        if filters.none_given:
            return None
        known = self._segments.seen_before.get(filters)
        if known is None:
            visible = visible_chunks(filters)
            rows = self._connection.execute(visible.rows, visible.values).fetchall()
            known = self._segments.visible(np.array([row[0] for row in rows], np.int64))
            self._segments.seen_before.put(filters, known)
        return known

    def _ranked(self, found: Iterable[Found], *, listed: bool = True) -> Ranking:
        """Best first, ties by chunk id, as records."""
        found = list(found)
        names = self._segments.names([one.chunk for one in found])
        self._rows.update((chunk_id, row) for row, (chunk_id, _) in names.items())
        ranked = [
            Ranked(*names[row], score, window, vector, listed)
            for row, score, window, vector in found
        ]
        return tuple(sorted(ranked, key=lambda one: (-one.score, one.chunk_id)))
