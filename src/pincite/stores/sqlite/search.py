"""The searches of the tables alone. Filters are part of each, so they restrict before ranking."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import apsw

from pincite.records import ChunkId, DocumentId, Filters, Ranked, Ranking
from pincite.stores.sqlite.filters import (
    Value,
    match_expression,
    visible_chunks,
    visible_documents,
)
from pincite.stores.sqlite.tables import ENTRY_COLUMNS
from pincite.text.words import exact_terms, question_terms
from pincite.vectors import Vector, from_bytes, to_bytes

# How much a word counts in the text, in title, name, author and tags, in headings, as a code.
COLUMN_WEIGHTS = (1.0, 2.0, 1.5, 1.0)
_WEIGHTS = ", ".join(map(str, COLUMN_WEIGHTS))

_WORDS = """
SELECT chunk.id, document.id, -bm25(chunk_words, {weights}) AS score
FROM chunk_words
JOIN chunk ON chunk.rowid = chunk_words.rowid JOIN document ON document.rowid = chunk.document
WHERE chunk_words MATCH :match {visible}
ORDER BY score DESC, chunk.id LIMIT :limit
"""
WORDS = _WORDS.format(weights=_WEIGHTS, visible="")
WORDS_OF_CHUNKS = _WORDS.format(
    weights=_WEIGHTS, visible="AND chunk.id IN (SELECT value FROM json_each(:ids))"
)
# Rows alone, all of them, ascending.
WORDS_OF = (
    f"SELECT rowid, -bm25(chunk_words, {_WEIGHTS}) FROM chunk_words WHERE chunk_words MATCH ? "
    "ORDER BY rowid"
)

# Title, name, author and tags say most of what a document is; then its folders, then its summary.
_DOCUMENTS = f"""
SELECT {ENTRY_COLUMNS} FROM document_words JOIN document ON document.rowid = document_words.rowid
WHERE document_words MATCH :match AND {{visible}}
ORDER BY bm25(document_words, 3.0, 1.5, 1.0), document.path LIMIT :limit
"""

_RECORDED = """
SELECT document.id FROM document
WHERE json_extract(document.metadata, '$.recording') = :recording AND {visible} ORDER BY document.id
"""

_NEAREST = """
SELECT chunk.id, document.id, 1 - nearest.distance, window.start, window.end, nearest.embedding
FROM (
    SELECT rowid, distance, embedding FROM window_vector
    WHERE embedding MATCH :vector AND k = :windows {visible}
) AS nearest
JOIN window ON window.rowid = nearest.rowid
JOIN chunk ON chunk.rowid = window.chunk JOIN document ON document.rowid = chunk.document
ORDER BY nearest.distance, chunk.id, window.start
"""
NEAREST = _NEAREST.format(visible="")

_EVERY_DISTANCE = """
SELECT chunk.id, document.id, 1 - vec_distance_cosine(window_vector.embedding, :vector) AS score,
    window.start, window.end, window_vector.embedding
FROM window_vector JOIN window ON window.rowid = window_vector.rowid
JOIN chunk ON chunk.rowid = window.chunk JOIN document ON document.rowid = chunk.document
WHERE {visible}
ORDER BY score DESC, chunk.id, window.start
"""
_THESE_CHUNKS = "chunk.id IN (SELECT value FROM json_each(:ids))"
DISTANCES_OF = _EVERY_DISTANCE.format(visible=_THESE_CHUNKS)
EVERY_DISTANCE = _EVERY_DISTANCE.format(visible="1")

_MOST_NEIGHBOURS = 4_096  # vec0 refuses a larger k

Row = tuple[Any, ...]


class TableSearches:
    """Ranks with the words table and the vector table: always right, and slower than segments."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def words_of(self, question: str, ids: Sequence[ChunkId]) -> Ranking:
        """The BM25 of these chunks, as far as they hold a word of the question."""
        match = match_expression(question_terms(question))
        if not match or not ids:
            return ()
        values: dict[str, Any] = {"match": match, "ids": json.dumps(ids), "limit": len(ids)}
        rows = self._connection.execute(WORDS_OF_CHUNKS, values)
        return tuple(
            Ranked(chunk, document, score, listed=False) for chunk, document, score in rows
        )

    def vectors_of(self, vector: Vector, ids: Sequence[ChunkId]) -> Ranking:
        """The cosine similarity of these chunks' best windows."""
        if not ids:
            return ()
        values: dict[str, Any] = {"vector": to_bytes(vector), "ids": json.dumps(ids)}
        found = _best_windows(self._connection.execute(DISTANCES_OF, values).fetchall())
        return tuple(replace(one, listed=False) for one in found)

    def words(self, question: str, filters: Filters, limit: int) -> Ranking:
        """Chunks by BM25; empty where the question holds no word."""
        return self._matching(match_expression(question_terms(question)), filters, limit)

    def codes(self, question: str, filters: Filters, limit: int) -> Ranking:
        """Chunks that hold a code of the question to the letter; empty where it holds none."""
        codes = match_expression(exact_terms(question))
        return self._matching(codes, filters, limit)

    def _matching(self, match: str, filters: Filters, limit: int) -> Ranking:
        if not match or limit < 1:
            return ()
        statement = WORDS
        values: dict[str, Value] = {"match": match, "limit": limit}
        if not filters.none_given:
            visible = visible_chunks(filters)
            among = f"AND chunk_words.rowid IN ({visible.rows})"
            statement = _WORDS.format(weights=_WEIGHTS, visible=among)
            values.update(visible.values)
        rows = self._connection.execute(statement, values)
        return tuple(Ranked(chunk, document, score) for chunk, document, score in rows)

    def vector(self, vector: Vector, filters: Filters, limit: int) -> Ranking:
        """Chunks by the cosine similarity of their best window, exact."""
        if limit < 1:
            return ()
        values: dict[str, Value | bytes] = {"vector": to_bytes(vector)}
        nearest, every = NEAREST, EVERY_DISTANCE
        if not filters.none_given:
            visible = visible_chunks(filters)
            windows_of = f"SELECT window.rowid FROM window WHERE window.chunk IN ({visible.rows})"
            nearest = _NEAREST.format(visible=f"AND rowid IN ({windows_of})")
            every = _EVERY_DISTANCE.format(visible=f"chunk.rowid IN ({visible.rows})")
            values.update(visible.values)
        windows = min(limit * 4, _MOST_NEIGHBOURS)
        while True:
            rows: list[Row] = self._connection.execute(
                nearest, {**values, "windows": windows}
            ).fetchall()
            ranking = _best_windows(rows)
            # Enough when the list ended by itself, or when what was cut off is surely worse: the
            # last window may have equals beyond the cut, so chunks must be better to count.
            sure = [ranked for ranked in ranking if ranked.score > rows[-1][2]] if rows else []
            if len(rows) < windows or len(sure) >= limit:
                return ranking[:limit]
            if windows == _MOST_NEIGHBOURS:
                break
            windows = min(windows * 4, _MOST_NEIGHBOURS)
        return _best_windows(self._connection.execute(every, values).fetchall())[:limit]


def search_documents(
    connection: apsw.Connection, question: str, filters: Filters, limit: int | None
) -> list[Row]:
    """Rows of ENTRY_COLUMNS of the documents that the question names or describes."""
    match = match_expression(question_terms(question))
    seen = visible_documents(filters)
    values = {"match": match, "limit": -1 if limit is None else limit, **seen.values}
    statement = _DOCUMENTS.format(visible=seen.rows)
    return connection.execute(statement, values).fetchall() if match else []


def recorded_documents(
    connection: apsw.Connection, recording: str, filters: Filters
) -> list[DocumentId]:
    """The documents of a recording of which something may be seen."""
    seen = visible_documents(filters)
    values = {"recording": recording, **seen.values}
    rows = connection.execute(_RECORDED.format(visible=seen.rows), values)
    return [row[0] for row in rows]


def _best_windows(rows: Sequence[Row]) -> Ranking:
    """Each chunk once, by its first window; rows come best first."""
    best: dict[ChunkId, Ranked] = {}
    for chunk, document, score, start, end, vector in rows:
        if chunk not in best:
            best[chunk] = Ranked(chunk, document, score, (start, end), from_bytes(vector))
    return tuple(best.values())
