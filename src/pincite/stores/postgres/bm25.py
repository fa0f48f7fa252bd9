"""BM25 as a query: what each token of a question weighs, and what a chunk gets for holding it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pincite.stores.postgres.phrases import Bound, holding_phrase, occurrences, stems
from pincite.text.words import Term

_K1, _B = 1.2, 0.75  # BM25's usual constants, as in FTS5
_LEAST_IDF = 1e-6  # of a term that more than half of the chunks have, as in FTS5

# Of each table of postings: how many a token has, how many there are, and their words.
_COUNTERS = {
    "posting": ("chunks", "chunks", "words"),
    "about_posting": ("documents", "documents", "about_words"),
}


def _floated(number: float) -> str:
    """A number as PostgreSQL computes with quickly: one with a point is exact to it, and slow."""
    return f"{number}::float8"


# What a term counts that so many have, asked for so often.
_WEIGHT = (
    f"term.times * {_floated(_K1 + 1)} * greatest(ln((every.count - term.owners + {_floated(0.5)}) "
    f"/ (term.owners + {_floated(0.5)})), {_LEAST_IDF})"
)


# What one who holds a term gets for it: always less than the term weighs.
VALUE = (
    "weighed.weight * held.halves / "
    f"(held.halves + {_floated(2 * _K1 * (1 - _B))} + weighed.slope * held.length)"
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
    for term, count in _counted(terms).items():
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
            SELECT {every}::float8 AS count, {_floated(2 * _K1 * _B)}
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


def _counted(terms: Sequence[Term]) -> dict[Term, int]:
    counted: dict[Term, int] = {}
    for term in terms:
        counted[term] = counted.get(term, 0) + 1
    return counted
