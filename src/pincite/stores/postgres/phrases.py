"""Which chunks hold a phrase, and how often: by its tokens first, then by their positions."""

from __future__ import annotations

from typing import Any

from pincite.stores.postgres.words import stored
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


def phrase_counts(term: Term, bound: Bound, *, letters: str = "ABCD") -> str | None:
    """A query for the chunks that hold the term and how often, in halves; None if nothing can.

    Gives `owner`, `halves` and `length`. Counted is what stands in columns with these letters.
    As arrays, candidates are looked up once, whatever the planner thinks of their number.
    """
    tokens = stems(term)
    if not tokens:
        return None
    wanted = f"{bound(tokens)}::text[]"
    same = "held.lexeme = wanted.token"
    if term.prefix:
        same = (
            f"(held.lexeme = wanted.token OR wanted.place = {len(tokens)} "
            "AND starts_with(held.lexeme, wanted.token))"
        )
    return f"""
        SELECT chunk.row AS owner, found.halves, chunk.length
        FROM chunk CROSS JOIN LATERAL (
            SELECT sum(CASE letter WHEN 'A' THEN 4 WHEN 'B' THEN 3 ELSE 2 END) AS halves
            FROM (
                SELECT min(at.letter) AS letter
                FROM unnest({wanted}) WITH ORDINALITY AS wanted (token, place)
                JOIN unnest(chunk.words) AS held ON {same}
                CROSS JOIN unnest(held.positions, held.weights) AS at (position, letter)
                WHERE strpos({bound(letters)}::text, at.letter) > 0
                GROUP BY at.position - wanted.place
                HAVING count(DISTINCT wanted.place) = {len(tokens)}
            ) AS occurrence
        ) AS found
        WHERE chunk.generation = %(generation)s AND found.halves IS NOT NULL
        AND chunk.row = ANY (ARRAY({_candidates(tokens, bound, prefix=term.prefix)}))
    """


def holding_phrase(term: Term, bound: Bound, *, letters: str = "ABCD") -> str | None:
    """A query for the rows of the chunks that hold the term."""
    counts = phrase_counts(term, bound, letters=letters)
    return None if counts is None else f"SELECT owner FROM ({counts}) AS held_phrase"


def _candidates(tokens: list[str], bound: Bound, *, prefix: bool) -> str:
    """The chunks that have all the tokens, wherever they stand."""
    whole = sorted(set(tokens[:-1] if prefix else tokens))
    if not whole:
        first, last = bound(tokens[-1]), bound(tokens[-1] + _LAST_CHARACTER)
        return (
            "SELECT posting.owner FROM posting WHERE posting.generation = %(generation)s "
            f"AND posting.token >= {first} AND posting.token < {last}"
        )
    return (
        "SELECT posting.owner FROM posting WHERE posting.generation = %(generation)s "
        f"AND posting.token = ANY ({bound(whole)}::text[]) "
        f"GROUP BY posting.owner HAVING count(*) = {len(whole)}"
    )
