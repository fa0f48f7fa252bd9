"""The searches, as one statement. Filters are part of each, so they restrict before ranking."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from pincite.records import LEVELS, Filters, fields_of
from pincite.stores.fields import OF_CHUNKS
from pincite.stores.postgres.bm25 import Asked, Bound, asked, best_words, scores_of
from pincite.stores.postgres.filters import condition_as_sql
from pincite.text.words import exact_terms, question_terms
from pincite.vectors import Vector

_WINDOWS_EACH = 1.5  # times those of a usual chunk are looked at for each chunk wanted
_MOST_WINDOWS_EACH = 4
_LARGEST_VECTOR = 2_000  # dimensions; beyond, halves of the precision are kept


@dataclass(frozen=True, slots=True)
class View:
    """What a search looks at: one generation of a project, up to a level, in one space."""

    project: int
    generation: int
    clearance: int
    space: int
    dimensions: int
    chunks: int  # in all, whoever may see them
    windows: int
    index: str | None  # which kind for vectors there is; None where there is none that works
    compared_all: int  # up to so many windows every one is compared, which is exact

    @property
    def scope(self) -> dict[str, int]:
        """What a statement about it is bound by."""
        return {
            "project": self.project,
            "generation": self.generation,
            "clearance": self.clearance,
        }

    @property
    def uses_index(self) -> bool:
        """Whether there is an index for vectors, and more of them than are all compared."""
        return self.index is not None and self.windows > self.compared_all

    @property
    def windows_each(self) -> float:
        """How many windows are looked at to find a chunk: the next may be of one that is found."""
        usual = self.windows / max(self.chunks, 1)
        return min(_WINDOWS_EACH * usual, _MOST_WINDOWS_EACH)

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


def search_statement(
    view: View,
    question: str | None,
    vector: Vector | None,
    *,
    filters: Filters,
    limit: int,
) -> tuple[str, dict[str, Any]]:
    """The statement and its values; empty where there is nothing to ask."""
    bound = Bound(**view.scope, limit=limit)
    parts: list[str] = []
    chosen: list[str] = []
    visible = visible_chunks(view, filters, bound)
    if visible is not None:
        parts.append(f"visible AS MATERIALIZED ({visible})")
    restricted = visible is not None
    if limit < 1:
        return "", {}
    looked_for: dict[str, Asked] = {}
    for kind, terms in (
        ("words", question_terms(question or "")),
        ("codes", exact_terms(question or "")),
    ):
        found = asked(terms, "posting", bound)
        if found is not None:
            looked_for[kind] = found
            parts.extend(best_words(kind, found, bound, restricted=restricted))
            first = _first(f"SELECT owner, score FROM {kind}_best_scored", _NO_WINDOW)
            parts.append(f"{kind}_best AS ({first})")
            chosen.append(_chosen(kind))
    if vector is not None:
        bound.values["vector"] = vector
        parts.extend(_nearest(view, bound, restricted=restricted))
        chosen.append(_chosen("vector"))
        if "words" in looked_for:
            # So that a chunk that one search lists can be judged by both.
            words_only = "SELECT owner FROM words_best EXCEPT SELECT owner FROM vector_best"
            near_only = "SELECT owner FROM vector_best EXCEPT SELECT owner FROM words_best"
            compared = _named(_windows_of(view, words_only), _WINDOW)
            parts.append(f"vector_others AS ({compared})")
            parts.append(f"near_only AS MATERIALIZED ({near_only})")
            others = scores_of("near_only", "words", looked_for["words"])
            parts.append(f"words_others AS ({_named(others, _NO_WINDOW)})")
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
    said = condition_as_sql(filters.condition, bound)
    join = ""
    if not OF_CHUNKS.issuperset(fields_of(filters.condition)):
        join = (
            "JOIN document ON document.row = chunk.document AND document.project = %(project)s "
            "AND document.generation = %(generation)s AND document.level <= %(clearance)s"
        )
    return f"""
        SELECT chunk.row FROM chunk {join}
        WHERE chunk.project = %(project)s AND chunk.generation = %(generation)s
        AND chunk.level <= %(clearance)s AND {said}
    """


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
    many = "AND NOT (SELECT so FROM few)" if restricted else ""
    scope = "project = %(project)s AND generation = %(generation)s"
    bound.values["windows"] = ceil(bound.values["limit"] * view.windows_each)
    score = _score(view)
    every = f"""
        SELECT chunk AS owner, max({score}) AS score FROM window_vector
        WHERE {scope} AND space = {view.space:d} {among} {{guard}}
        GROUP BY chunk ORDER BY score DESC FETCH FIRST %(limit)s ROWS WITH TIES
    """
    if not view.uses_index:
        parts = [f"near AS MATERIALIZED ({every.format(guard='')})"]
    else:
        close = f"""
            SELECT chunk AS owner, {score} AS score FROM window_vector
            WHERE {scope} AND space = {view.space:d} {among} {many}
            ORDER BY {view.column}::{view.kind} <=> {_asked(view)}::{view.kind}
            LIMIT %(windows)s
        """
        # Where so few can be seen, each of them is compared.
        some = f"SELECT 1 FROM visible LIMIT {view.compared_all + 1:d}"
        few = f"SELECT count(*) <= {view.compared_all:d} AS so FROM ({some}) AS counted"
        # Under a filter, or where one chunk owns all the close windows, an index may give too few.
        parts = [
            *([f"few AS ({few})"] if restricted else ()),
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
