"""The searches of an index that has segments. Filters restrict before ranking, as everywhere."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence

import apsw
import numpy as np

from pincite.records import Filters, Ranked, Ranking
from pincite.stores.sqlite.search import VISIBLE_CHUNKS, WORDS_OF, bound, match_expression
from pincite.stores.sqlite.segments.making import Tokenizer
from pincite.stores.sqlite.segments.searching import Found, SegmentSearch, Visible
from pincite.text.words import Term, question_codes, question_terms
from pincite.vectors import Vector

_NAMES = """
SELECT chunk.rowid, chunk.id, document.id FROM chunk
JOIN document ON document.rowid = chunk.document
WHERE chunk.rowid IN (SELECT value FROM json_each(?))
"""


class SegmentSearches:
    """Ranks with segments; what they cannot answer, phrases and beginnings, the table answers."""

    def __init__(self, connection: apsw.Connection, segments: SegmentSearch) -> None:
        self._connection = connection
        self._segments = segments

    def words(self, question: str, filters: Filters, limit: int) -> Ranking:
        """Chunks by BM25; empty where the question holds no word."""
        return self._matching(question_terms(question), filters, limit)

    def codes(self, question: str, filters: Filters, limit: int) -> Ranking:
        """Chunks that hold a code of the question to the letter; empty where it holds none."""
        return self._matching(question_codes(question), filters, limit)

    def vector(self, vector: Vector, filters: Filters, limit: int) -> Ranking:
        """Chunks by the cosine similarity of their best window."""
        if limit < 1:
            return ()
        return self._ranked(self._segments.nearest(vector, limit, self._visible(filters)), limit)

    def _matching(self, terms: Sequence[Term], filters: Filters, limit: int) -> Ranking:
        if not terms or limit < 1:
            return ()
        tokenizer = Tokenizer(self._connection)
        tokens: Counter[str] = Counter()
        others: list[Term] = []
        for term in terms:
            cut = tokenizer(term.tokens[0]) if len(term.tokens) == 1 and not term.prefix else ()
            if len(cut) == 1:
                tokens[cut[0]] += 1
            else:
                others.append(term)
        scores = self._segments.word_scores(tokens, self._scores_of(others), self._visible(filters))
        return self._ranked(self._segments.best(scores, limit), limit)

    def _scores_of(self, terms: Sequence[Term]) -> dict[int, float]:
        match = match_expression(terms)
        return dict(self._connection.execute(WORDS_OF, (match,))) if match else {}

    def _visible(self, filters: Filters) -> Visible | None:
        if filters.none_given:
            return None
        rows = self._connection.execute(VISIBLE_CHUNKS, bound(filters)).fetchall()
        return self._segments.visible(np.array([row[0] for row in rows], np.int64))

    def _ranked(self, found: Iterable[Found], limit: int) -> Ranking:
        """Best first, ties by chunk id, as records."""
        by_row = {one.chunk: one for one in found}
        names = self._connection.execute(_NAMES, (json.dumps(list(by_row)),))
        ranked = [
            Ranked(chunk_id, document_id, by_row[row].score, by_row[row].window)
            for row, chunk_id, document_id in names
        ]
        return tuple(sorted(ranked, key=lambda one: (-one.score, one.chunk_id))[:limit])
