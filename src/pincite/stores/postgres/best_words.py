"""The chunks with the best BM25: the parts of a statement that add it up.

What the heaviest terms give is added up first: they are rare, so few chunks hold them. What the
last gets that would be listed by them is the bar, which all that are listed in the end reach. Only
what reaches it is sorted. How often a chunk holds a phrase is costly to count, so it is counted for
those alone that can reach the bar with all phrases: one never gives as much as it weighs.
"""

from __future__ import annotations

from pincite.stores.postgres.bm25 import VALUE, Asked, holders, rounded, weighed
from pincite.stores.postgres.phrases import Bound

_FIRST_POSTINGS = 2_000  # of the heaviest terms are added up for the bar; and of one more term
_MORE = 2  # times the limit: so many are kept, so that equals at the limit are seen to end
_ROUNDING = 1e-8  # scores are equal whose first nine digits are


def best_words(kind: str, question: Asked, bound: Bound, *, restricted: bool = False) -> list[str]:
    """The parts that lead to `{kind}_best_scored`: `owner` and `score` of the best.

    As many as the limit says, and all that score as much as the last of them; with `restricted`
    only those that the part `visible` names.
    """
    limit = bound.values["limit"]
    bound.values.update(more=_MORE * limit, last=limit - 1)
    seen = "WHERE owner IN (SELECT row FROM visible)" if restricted else ""
    last = f"SELECT score FROM {kind}_first ORDER BY score DESC OFFSET %(last)s LIMIT 1"
    # To find the first few of all is quick; to find those that equal the last, all are sorted. So
    # this is done where the equals do not end soon.
    return [
        *_terms(kind, question, bound),
        *_bar(kind, question, seen),
        *_reaching(kind, question, seen),
        f"""
        {kind}_first AS MATERIALIZED (
            SELECT owner, score FROM {kind}_sums ORDER BY score DESC LIMIT %(more)s
        )
        """,
        f"""
        {kind}_endless AS MATERIALIZED (
            SELECT count(*) = %(more)s AND {rounded("min(score)")} = {rounded(f"({last})")} AS so
            FROM {kind}_first
        )
        """,
        f"""
        {kind}_best_scored AS (
            SELECT owner, {rounded("score")} AS score FROM {kind}_first
            WHERE NOT (SELECT so FROM {kind}_endless)
            UNION ALL SELECT owner, {rounded("score")} FROM {kind}_sums
            WHERE (SELECT so FROM {kind}_endless)
            ORDER BY score DESC FETCH FIRST %(limit)s ROWS WITH TIES
        )
        """,
    ]


def all_words(kind: str, question: Asked, bound: Bound) -> list[str]:
    """The parts that lead to `{kind}_scored`: `owner` and `score` of all that hold a term."""
    hits = f"{_tokens(kind, question)} {_phrases(kind, question)}"
    return [
        *_terms(kind, question, bound),
        f"""
        {kind}_scored AS (
            SELECT owner, {rounded("sum(value)")} AS score FROM ({hits}) AS hit GROUP BY owner
        )
        """,
    ]


def scores_of(owners: str, kind: str, question: Asked) -> str:
    """A query for the scores of some chunks, as far as they have one."""
    return f"""
        SELECT owner, {rounded("sum(value)")} AS score FROM (
            SELECT held.owner, {VALUE} AS value
            FROM {owners} AS these CROSS JOIN {kind}_weighed AS weighed
            CROSS JOIN LATERAL ({holders(question.table, owner="these.owner")}) AS held
            {_phrases(kind, question, among=_hashed(owners))}
        ) AS hit GROUP BY owner
    """


def _terms(kind: str, question: Asked, bound: Bound) -> list[str]:
    """The parts that tell who holds phrases, and what all terms weigh."""
    return [
        *(
            f"{kind}_phrase{number} AS MATERIALIZED ({phrase.holders})"
            for number, phrase in enumerate(question.phrases)
        ),
        f"{kind}_weighed AS MATERIALIZED ({weighed(question, bound, kind)})",
    ]


def _bar(kind: str, question: Asked, seen: str) -> list[str]:
    """The parts that tell what all of the best reach, `{kind}_bar`, and the most phrases give."""
    first = _tokens(kind, question, f"weighed.before < {_FIRST_POSTINGS}")
    return [
        f"""
        {kind}_bar AS MATERIALIZED (
            SELECT coalesce((
                SELECT sum(value) AS score FROM ({first}) AS first {seen}
                GROUP BY owner ORDER BY score DESC OFFSET %(last)s LIMIT 1
            ), 0) - {_ROUNDING} AS least,
            coalesce((SELECT sum(weight) FROM {kind}_weighed WHERE token < 0), 0) AS phrases
        )
        """,
    ]


def _reaching(kind: str, question: Asked, seen: str) -> list[str]:
    """The parts that lead to `{kind}_sums`: what all have that reach the bar."""
    by_tokens = f"""
        SELECT owner, sum(value) AS score FROM ({_tokens(kind, question)}) AS hit {seen}
        GROUP BY owner HAVING sum(value) >= (SELECT least - phrases FROM {kind}_bar)
    """
    if not question.phrases:
        return [f"{kind}_sums AS NOT MATERIALIZED ({by_tokens})"]
    among = f"((SELECT least <= phrases FROM {kind}_bar) OR {_hashed(f'{kind}_near')})"
    hits = f"SELECT owner, score AS value FROM {kind}_near {_phrases(kind, question, among=among)}"
    return [
        f"{kind}_near AS MATERIALIZED ({by_tokens})",
        f"""
        {kind}_sums AS NOT MATERIALIZED (
            SELECT owner, sum(value) AS score FROM ({hits}) AS hit {seen} GROUP BY owner
        )
        """,
    ]


def _tokens(kind: str, question: Asked, which: str = "true") -> str:
    """What each gets for each of these tokens."""
    return f"""
        SELECT held.owner, {VALUE} AS value FROM {kind}_weighed AS weighed
        CROSS JOIN LATERAL ({holders(question.table)}) AS held WHERE {which}
    """


def _phrases(kind: str, question: Asked, *, among: str = "true") -> str:
    """What each of some gets for each phrase, to be added to other hits."""
    return " ".join(
        f"""
        UNION ALL SELECT held.owner, {VALUE} AS value FROM {kind}_weighed AS weighed
        CROSS JOIN LATERAL (
            SELECT holder.owner, found.halves, found.length FROM {kind}_phrase{number} AS holder
            CROSS JOIN LATERAL ({phrase.occurrences}) AS found WHERE {among} OFFSET 0
        ) AS held WHERE weighed.token = {-1 - number}
        """
        for number, phrase in enumerate(question.phrases)
    )


def _hashed(owners: str) -> str:
    """Whether `holder` is among them. With IS TRUE they are hashed, however few they may seem."""
    return f"(holder.owner IN (SELECT owner FROM {owners})) IS TRUE"
