"""BM25 as a query: what a token weighs is counted, then added up for each that has it."""

from __future__ import annotations

from collections.abc import Sequence

from pincite.stores.postgres.phrases import Bound, phrase_counts, stems
from pincite.text.words import Term

_K1, _B = 1.2, 0.75  # BM25's usual constants, as in FTS5
_LEAST_IDF = 1e-6  # of a term that more than half of the chunks have, as in FTS5


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
