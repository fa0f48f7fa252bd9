"""Which chunks hold a phrase, and how often: by its tokens first, then by their positions."""

from __future__ import annotations

from typing import Any

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
