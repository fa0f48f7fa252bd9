"""BM25 in SQL: what each word and phrase of a question weighs, and the chunks with the best sums.

The heaviest terms are added up first: they are rare, so few chunks hold them. The last score that
they would list is the bar, and only chunks that can reach it are sorted. How often a chunk holds a
phrase is costly to count, so it is counted only for chunks that reach the bar with all phrases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pincite.stores.postgres.words import quoted, stored
from pincite.text.stems import tokens_of
from pincite.text.words import Term

_LAST_CHARACTER = "\U0010ffff"


class Bound:
    """Collects the values of a statement, and gives the names they are bound by."""

    def __init__(self, **values: object) -> None:
        self.values: dict[str, Any] = dict(values)

    def __call__(self, value: object) -> str:
        """The place of a value in the statement."""
        name = f"value{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"


def stems(term: Term) -> list[str]:
    """The tokens that stand for a term in the tables."""
    return [stored(stem) for token in term.tokens for stem in tokens_of(token)]


def holding_phrase(term: Term, bound: Bound, *, letters: str = "ABCD") -> str | None:
    """A query for the chunks that hold the term, as `owner`; None if nothing can.

    Looked at is what stands in columns with these letters. As an array, candidates are looked up
    once, whatever the planner thinks of their number.
    """
    tokens = stems(term)
    if not tokens:
        return None
    marks = [letters] * len(tokens)
    marks[-1] += "*" if term.prefix else ""
    phrase = " <-> ".join(
        f"{quoted(token)}:{mark}" for token, mark in zip(tokens, marks, strict=True)
    )
    return f"""
        SELECT chunk.row AS owner FROM chunk
        WHERE chunk.generation = %(generation)s AND chunk.words @@ {bound(phrase)}::tsquery
        AND chunk.row = ANY (ARRAY({_candidates(tokens, bound, prefix=term.prefix)}))
    """


def occurrences(term: Term, bound: Bound) -> str:
    """A query for how often the chunk `holder.owner` holds the term, as `halves`; its `length`."""
    tokens = stems(term)
    same = "held.lexeme = wanted.token"
    if term.prefix:
        same = (
            f"(held.lexeme = wanted.token OR wanted.place = {len(tokens)} "
            "AND starts_with(held.lexeme, wanted.token))"
        )
    return f"""
        SELECT sum(CASE letter WHEN 'A' THEN 4 WHEN 'B' THEN 3 ELSE 2 END) AS halves, length
        FROM (
            SELECT min(at.letter) AS letter, chunk.length FROM chunk
            CROSS JOIN unnest({bound(tokens)}::text[]) WITH ORDINALITY AS wanted (token, place)
            CROSS JOIN LATERAL unnest(chunk.words) AS held
            CROSS JOIN unnest(held.positions, held.weights) AS at (position, letter)
            WHERE chunk.row = holder.owner AND {same}
            GROUP BY at.position - wanted.place, chunk.length
            HAVING count(DISTINCT wanted.place) = {len(tokens)}
        ) AS occurrence GROUP BY length
    """


def _candidates(tokens: list[str], bound: Bound, *, prefix: bool) -> str:
    """The chunks that have all the tokens, wherever they stand."""
    whole = sorted(set(tokens[:-1] if prefix else tokens))
    if not whole:
        first, last = bound(tokens[-1]), bound(tokens[-1] + _LAST_CHARACTER)
        return (
            "SELECT posting.owner FROM posting WHERE posting.generation = %(generation)s "
            f"AND posting.token = ANY ({_ids(f'token.token >= {first} AND token.token < {last}')})"
        )
    return (
        "SELECT posting.owner FROM posting WHERE posting.generation = %(generation)s "
        f"AND posting.token = ANY ({numbers_of(whole, bound)}) "
        f"GROUP BY posting.owner HAVING count(*) = {len(whole)}"
    )


def numbers_of(tokens: list[str], bound: Bound) -> str:
    """The numbers that stand for these tokens in postings, as an array."""
    return _ids(f"token.token = ANY ({bound(tokens)}::text[])")


def _ids(condition: str) -> str:
    return f"ARRAY(SELECT id FROM token WHERE token.generation = %(generation)s AND {condition})"


_K1, _B = 1.2, 0.75  # BM25's usual constants, as in FTS5
_LEAST_IDF = 1e-6  # of a term that more than half of the chunks have, as in FTS5

# Of each table of postings: how many a token has, how many there are, and their words.
_COUNTERS = {
    "posting": ("chunks", "chunks", "words"),
    "about_posting": ("documents", "documents", "about_words"),
}


# Every number is a float8: to PostgreSQL another one with a point is exact, and slow.
# What a term counts that so many have, asked for so often.
_WEIGHT = (
    f"term.times * {_K1 + 1}::float8 * greatest(ln((every.count - term.owners + 0.5::float8) "
    f"/ (term.owners + 0.5::float8)), {_LEAST_IDF})"
)
# What one who holds a term gets for it: always less than the term weighs.
VALUE = (
    "weighed.weight * held.halves / "
    f"(held.halves + {2 * _K1 * (1 - _B)}::float8 + weighed.slope * held.length)"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A term of several tokens, as queries: who holds it, and how often `holder.owner` does."""

    holders: str
    occurrences: str
    times: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's terms, as they are looked up in a table of postings."""

    table: Literal["posting", "about_posting"]
    times: dict[str, int]  # of each token
    phrases: tuple[Phrase, ...]


def asked(
    terms: Sequence[Term], table: Literal["posting", "about_posting"], bound: Bound
) -> Asked | None:
    """The tokens and phrases of a question; None where there is nothing to look for."""
    times: dict[str, int] = {}
    phrases: list[Phrase] = []
    for term, count in Counter(terms).items():
        tokens = stems(term)
        if len(tokens) == 1 and not term.prefix:
            times[tokens[0]] = times.get(tokens[0], 0) + count
        elif table == "posting" and (held := holding_phrase(term, bound)) is not None:
            phrases.append(Phrase(held, occurrences(term, bound), count))
        for token in tokens if table != "posting" and len(tokens) > 1 else ():
            times.setdefault(token, count)
    return Asked(table, times, tuple(phrases)) if times or phrases else None


def weighed(question: Asked, bound: Bound, kind: str) -> str:
    """A query for the terms, what each weighs, and how many have those that weigh more: `before`.

    Phrases are numbered downwards from -1; who holds them is told by the parts `{kind}_phrase0`
    and so on.
    """
    owners, every, words = _COUNTERS[question.table]
    tokens, times = bound(list(question.times)), bound(list(question.times.values()))
    phrases = " ".join(
        f"UNION ALL SELECT {-1 - number}, {phrase.times}, count(*) FROM {kind}_phrase{number}"
        for number, phrase in enumerate(question.phrases)
    )
    return f"""
        SELECT term.token, every.slope, {_WEIGHT} AS weight,
            sum(term.owners) OVER (ORDER BY {_WEIGHT} DESC, term.token DESC) - term.owners AS before
        FROM (
            SELECT held.id AS token, asked.times, held.{owners} AS owners
            FROM unnest({tokens}::text[], {times}::integer[]) AS asked (token, times)
            CROSS JOIN LATERAL (
                SELECT id, {owners} FROM token
                WHERE generation = %(generation)s AND token.token = asked.token OFFSET 0
            ) AS held
            {phrases}
        ) AS term CROSS JOIN (
            SELECT {every}::float8 AS count, {2 * _K1 * _B}::float8
                / greatest({words}::float8 / greatest({every}, 1), 1e-9) AS slope
            FROM generation WHERE id = %(generation)s AND project = %(project)s
        ) AS every
    """


def holders(table: str, *, owner: str | None = None) -> str:
    """A query for who holds the token `weighed.token`; with `owner` whether this one does.

    Looked up token by token: a planner that thinks of all at once may read the whole table.
    """
    one = "" if owner is None else f"AND {table}.owner = {owner}"
    return f"""
        SELECT owner, halves, length FROM {table}
        WHERE generation = %(generation)s AND {table}.token = weighed.token {one} OFFSET 0
    """


def rounded(score: str) -> str:
    """A score; beyond nine digits it depends on the order in which it was added up."""
    return f"round(({score}) * 1e9) / 1e9"


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
    first = _tokens(kind, question, f"weighed.before < {_FIRST_POSTINGS}")
    by_tokens = f"""
        SELECT owner, sum(value) AS score FROM ({_tokens(kind, question)}) AS hit {seen}
        GROUP BY owner HAVING sum(value) >= (SELECT least - phrases FROM {kind}_bar)
    """
    # What all have that reach the bar.
    sums = [f"{kind}_sums AS NOT MATERIALIZED ({by_tokens})"]
    if question.phrases:
        among = f"((SELECT least <= phrases FROM {kind}_bar) OR {_hashed(f'{kind}_near')})"
        phrases = _phrases(kind, question, among=among)
        hits = f"SELECT owner, score AS value FROM {kind}_near {phrases}"
        sums = [
            f"{kind}_near AS MATERIALIZED ({by_tokens})",
            f"""
            {kind}_sums AS NOT MATERIALIZED (
                SELECT owner, sum(value) AS score FROM ({hits}) AS hit {seen} GROUP BY owner
            )
            """,
        ]
    # To find the first few of all is quick; to find those that equal the last, all are sorted. So
    # this is done where the equals do not end soon.
    return [
        *_terms(kind, question, bound),
        # What all of the best reach, and the most that phrases give.
        f"""
        {kind}_bar AS MATERIALIZED (
            SELECT coalesce((
                SELECT sum(value) AS score FROM ({first}) AS first {seen}
                GROUP BY owner ORDER BY score DESC OFFSET %(last)s LIMIT 1
            ), 0) - {_ROUNDING} AS least,
            coalesce((SELECT sum(weight) FROM {kind}_weighed WHERE token < 0), 0) AS phrases
        )
        """,
        *sums,
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
