"""The searches, as one statement. Filters are part of each, so they restrict before ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pgvector import Vector as StoredVector

from pincite.records import LEVELS, ChunkId, DocumentId, Filters, Ranked, Ranking
from pincite.stores.postgres import filters as conditions
from pincite.stores.postgres.phrases import Bound, phrase_counts, stems
from pincite.stores.postgres.schema import Connection
from pincite.text.words import Term, question_codes, question_terms
from pincite.vectors import Vector

_K1, _B = 1.2, 0.75  # BM25's usual constants, as in FTS5
_LEAST_IDF = 1e-6  # of a term that more than half of the chunks have, as in FTS5
_WINDOWS_EACH = 4  # windows looked at for each chunk wanted; most chunks have fewer
_LARGEST_VECTOR = 2_000  # dimensions; beyond, halves of the precision are kept


@dataclass(frozen=True, slots=True)
class View:
    """What a search looks at: one generation of a project, up to a level, in one space."""

    project: int
    generation: int
    clearance: int
    space: int
    dimensions: int
    has_index: bool  # one for vectors
    compared_all: int  # up to so many windows every one is compared, which is exact

    @property
    def column(self) -> str:
        """Where vectors of this size are kept."""
        return "embedding" if self.dimensions <= _LARGEST_VECTOR else "half"

    @property
    def bytes_each(self) -> int:
        """What one vector takes."""
        return self.dimensions * (4 if self.column == "embedding" else 2)

    @property
    def kind(self) -> str:
        """The type that an index for them is made of."""
        name = "vector" if self.dimensions <= _LARGEST_VECTOR else "halfvec"
        return f"{name}({self.dimensions:d})"


def search(
    connection: Connection,
    view: View,
    question: str | None,
    vector: Vector | None,
    *,
    filters: Filters,
    limit: int,
) -> dict[str, Ranking]:
    """All rankings, from one statement."""
    statement, values = search_statement(view, question, vector, filters=filters, limit=limit)
    rankings: dict[str, list[Ranked]] = {}
    if question is not None:
        rankings["words"] = []
    if vector is not None:
        rankings["vector"] = []
    if statement:
        for kind, *row in connection.execute(statement, values, binary=True):
            rankings.setdefault(kind, []).append(_ranked(*row))
    return {kind: tuple(ranked) for kind, ranked in rankings.items()}


def _ranked(  # noqa: PLR0913, PLR0917 — the columns of the statement
    chunk: str,
    document: str,
    score: float,
    listed: bool,  # noqa: FBT001
    start: int | None,
    end: int | None,
    vector: StoredVector | None,
) -> Ranked:
    window = None if start is None or end is None else (start, end)
    return Ranked(
        ChunkId(chunk),
        DocumentId(document),
        score,
        window,
        None if vector is None else vector.to_numpy(),
        listed=listed,
    )


def search_statement(
    view: View,
    question: str | None,
    vector: Vector | None,
    *,
    filters: Filters,
    limit: int,
) -> tuple[str, dict[str, Any]]:
    """The statement and its values; empty where there is nothing to ask."""
    bound = Bound(
        generation=view.generation, project=view.project, clearance=view.clearance, limit=limit
    )
    parts: list[str] = []
    chosen: list[str] = []
    visible = visible_chunks(view, filters, bound)
    if visible is not None:
        parts.append(f"visible AS MATERIALIZED ({visible})")
    restricted = visible is not None
    if limit < 1:
        return "", {}
    for kind, terms in (
        ("words", question_terms(question or "")),
        ("codes", question_codes(question or "")),
    ):
        scored = scores(terms, "posting", ("chunks", "words"), bound)
        if scored is not None:
            parts.append(f"{kind}_scored AS MATERIALIZED ({scored})")
            parts.append(f"{kind}_best AS ({_best(kind, restricted=restricted)})")
            chosen.append(_chosen(kind))
    has_words = any(part.startswith("words_best") for part in parts)
    if vector is not None:
        bound.values["vector"] = vector
        parts.extend(_nearest(view, bound, restricted=restricted))
        chosen.append(_chosen("vector"))
        if has_words:
            # So that a chunk that one search lists can be judged by both.
            parts.append(f"vector_others AS ({_named(_compared_words(view), _WINDOW)})")
            parts.append(f"words_others AS ({_named(_WORDS_OTHERS, _NO_WINDOW)})")
            chosen.extend(_chosen(kind, others=True) for kind in ("vector", "words"))
    if not chosen:
        return "", {}
    statement = f"WITH {', '.join(parts)} {' UNION ALL '.join(chosen)} {_ORDER}"
    return statement, bound.values


_WINDOW = 'best.start, best."end", best.vector'
_NO_WINDOW = 'NULL::integer AS start, NULL::integer AS "end", NULL::vector AS vector'
# Best first, those that are not listed behind the rest.
_ORDER = "ORDER BY kind, listed DESC, score DESC, chunk_id"


def visible_chunks(view: View, filters: Filters, bound: Bound) -> str | None:
    """The rows of all chunks that may be seen; None where it is every one of the generation."""
    if filters.none_given and view.clearance >= len(LEVELS) - 1:
        return None
    said = conditions.said(filters.condition, bound)
    join = ""
    if conditions.asks_documents(filters.condition):
        join = (
            "JOIN document ON document.row = chunk.document AND document.project = %(project)s "
            "AND document.generation = %(generation)s AND document.level <= %(clearance)s"
        )
    return f"""
        SELECT chunk.row FROM chunk {join}
        WHERE chunk.project = %(project)s AND chunk.generation = %(generation)s
        AND chunk.level <= %(clearance)s AND {said}
    """


def scores(
    terms: Sequence[Term], table: str, counters: tuple[str, str], bound: Bound
) -> str | None:
    """A query for BM25 of everything that holds one of the terms: `owner` and `score`.

    `counters` are the columns of a generation that count what is scored, and its words.
    """
    times: dict[str, int] = {}
    hits: list[str] = []
    for term, count in _counted(terms).items():
        tokens = stems(term)
        if len(tokens) == 1 and not term.prefix:
            times[tokens[0]] = times.get(tokens[0], 0) + count
        elif table == "posting" and (counts := phrase_counts(term, bound)) is not None:
            weight = _weight(f"{count}", "count(*) OVER ()")
            hits.append(
                f"SELECT phrase.owner, phrase.halves, phrase.length, {weight} AS weight "
                f"FROM ({counts}) AS phrase CROSS JOIN every"
            )
        for token in tokens if table != "posting" and len(tokens) > 1 else ():
            times.setdefault(token, count)
    if not times and not hits:
        return None
    hits.append(
        f"SELECT held.owner, held.halves, held.length, weighed.weight FROM weighed JOIN {table} "
        "AS held ON held.generation = %(generation)s AND held.token = weighed.token"
    )
    asked = f"{bound(list(times))}::text[], {bound(list(times.values()))}::integer[]"
    every, words = counters
    # Counted first, as what a token weighs depends on how many have it; only then added up.
    return f"""
        WITH every AS (
            SELECT {every}::float8 AS count,
                {2 * _K1 * _B} / greatest({words}::float8 / greatest({every}, 1), 1e-9) AS slope
            FROM generation WHERE id = %(generation)s AND project = %(project)s
        ),
        weighed AS MATERIALIZED (
            SELECT asked.token, {_weight("asked.times", "owners.count")} AS weight
            FROM unnest({asked}) AS asked (token, times) CROSS JOIN every CROSS JOIN LATERAL (
                SELECT count(*) FROM {table} AS counted
                WHERE counted.generation = %(generation)s AND counted.token = asked.token
            ) AS owners
        )
        SELECT hit.owner, round(sum(
            hit.weight * hit.halves / (hit.halves + {2 * _K1 * (1 - _B)} + every.slope * hit.length)
        ) * 1e9) / 1e9 AS score
        FROM ({" UNION ALL ".join(hits)}) AS hit CROSS JOIN every GROUP BY hit.owner
    """


def _weight(times: str, having: str) -> str:
    """What a term counts that so many have, asked for so often."""
    rare = f"ln((every.count - {having} + 0.5) / ({having} + 0.5))"
    return f"{times} * {_K1 + 1} * greatest({rare}, {_LEAST_IDF})"


def _counted(terms: Sequence[Term]) -> dict[Term, int]:
    counted: dict[Term, int] = {}
    for term in terms:
        counted[term] = counted.get(term, 0) + 1
    return counted


def _best(kind: str, *, restricted: bool) -> str:
    among = "WHERE owner IN (SELECT row FROM visible)" if restricted else ""
    best = f"""
        SELECT owner, score FROM {kind}_scored {among}
        ORDER BY score DESC FETCH FIRST %(limit)s ROWS WITH TIES
    """
    return _first(best, _NO_WINDOW)


def _first(best: str, window: str) -> str:
    """The first of what is best, named by ids; of equals at the end the first by id."""
    return f"""
        {_named(best, window)} ORDER BY best.score DESC, chunk.id LIMIT %(limit)s
    """


def _named(best: str, window: str) -> str:
    return f"""
        SELECT best.owner, chunk.id AS chunk_id, document.id AS document_id, best.score, {window}
        FROM ({best}) AS best
        JOIN chunk ON chunk.row = best.owner AND chunk.project = %(project)s
            AND chunk.generation = %(generation)s AND chunk.level <= %(clearance)s
        JOIN document ON document.row = chunk.document
    """


def _chosen(kind: str, *, others: bool = False) -> str:
    """The rows of a ranking as they are told."""
    source = f"{kind}_{'others' if others else 'best'}"
    return f"""
        SELECT '{kind}' AS kind, chunk_id, document_id, score, {str(not others).lower()} AS listed,
            start, "end", vector
        FROM {source}
    """


def _nearest(view: View, bound: Bound, *, restricted: bool) -> list[str]:
    """The chunks whose best windows are nearest, each with that window."""
    among = "AND chunk IN (SELECT row FROM visible)" if restricted else ""
    scope = "project = %(project)s AND generation = %(generation)s"
    bound.values["windows"] = bound.values["limit"] * _WINDOWS_EACH
    score = _score(view)
    every = f"""
        SELECT chunk AS owner, max({score}) AS score FROM window_vector
        WHERE {scope} AND space = {view.space:d} {among} {{guard}}
        GROUP BY chunk ORDER BY score DESC FETCH FIRST %(limit)s ROWS WITH TIES
    """
    if not view.has_index:
        parts = [f"near AS MATERIALIZED ({every.format(guard='')})"]
    else:
        close = f"""
            SELECT chunk AS owner, {score} AS score FROM window_vector
            WHERE {scope} AND space = {view.space:d} {among} AND NOT (SELECT so FROM few)
            ORDER BY {view.column}::{view.kind} <=> {_asked(view)}::{view.kind}
            LIMIT %(windows)s
        """
        # Under a filter, or where one chunk owns all the close windows, an index may give too few.
        parts = [
            f"few AS ({_few(view, restricted=restricted)})",
            f"close AS MATERIALIZED ({close})",
            "short AS (SELECT count(DISTINCT owner) < %(limit)s AS so FROM close)",
            f"exact AS MATERIALIZED ({every.format(guard='AND (SELECT so FROM short)')})",
            """
            near AS MATERIALIZED (
                SELECT owner, score FROM exact UNION ALL (
                    SELECT owner, max(score) AS score FROM close WHERE NOT (SELECT so FROM short)
                    GROUP BY owner ORDER BY score DESC FETCH FIRST %(limit)s ROWS WITH TIES
                )
            )
            """,
        ]
    nearest = _first(_windows_of(view, "SELECT owner FROM near"), _WINDOW)
    return [*parts, f"vector_best AS ({nearest})"]


def _few(view: View, *, restricted: bool) -> str:
    """Whether so few can be seen that each of them is compared."""
    if not restricted:
        return (
            f"SELECT windows <= {view.compared_all:d} AS so FROM generation "
            "WHERE id = %(generation)s AND project = %(project)s"
        )
    some = f"SELECT 1 FROM visible LIMIT {view.compared_all + 1:d}"
    return f"SELECT count(*) <= {view.compared_all:d} AS so FROM ({some}) AS counted"


def _asked(view: View) -> str:
    return "%(vector)s::vector" if view.column == "embedding" else "%(vector)s::vector::halfvec"


def _score(view: View) -> str:
    """Cosine similarity; beyond six digits it depends on how it was summed up."""
    return f"round((1 - ({view.column} <=> {_asked(view)})) * 1e6) / 1e6"


def _windows_of(view: View, owners: str) -> str:
    """These chunks with their best windows."""
    return f"""
        SELECT DISTINCT ON (chunk) chunk AS owner, {_score(view)} AS score, start, "end",
            {view.column}::vector AS vector
        FROM window_vector
        WHERE project = %(project)s AND generation = %(generation)s AND chunk IN ({owners})
        ORDER BY chunk, score DESC, start
    """


def _compared_words(view: View) -> str:
    """Of chunks that the words search alone lists: how near they are."""
    only = "SELECT owner FROM words_best EXCEPT SELECT owner FROM vector_best"
    return _windows_of(view, only)


# Of chunks that the vector search alone lists: their BM25, as far as they have one.
_WORDS_OTHERS = """
SELECT owner, score FROM words_scored WHERE owner IN (
    SELECT owner FROM vector_best EXCEPT SELECT owner FROM words_best
)
"""
