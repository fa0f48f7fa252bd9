"""Pieces → runs of pieces within a size, cut at the best places.

A shortest path over the possible cuts: every run costs something for being small, for the kind of
cut it begins with, and for the headings it runs across. The cheapest way through the document is
found exactly, so the same document is always cut the same way.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import inf

from pincite.chunking.pieces import Boundary, Piece

Run = tuple[int, int]
"""Indexes of the first piece and of the one after the last."""

Way = tuple[float, int]
"""What a way costs, and where its last run begins."""

# A run below the minimum costs at least 1: more than a cut in the middle of a paragraph or than
# putting small sections together, less than tearing a table or a heading from its text.
_TOO_SMALL = 1.0
_CUT = {
    Boundary.HEADING: 0.0,
    Boundary.BLOCK: 0.3,
    Boundary.SENTENCE: 0.7,
    Boundary.INSIDE: 3.0,
    Boundary.UNDER_HEADING: 6.0,
}
# Running across a level-1 heading mixes more than running across a level-4 heading.
ACROSS_HEADING = 0.5
_EACH_RUN = 0.05
_MOST_PIECES = 100  # looked at for one run, so that a million one-word lines stay affordable
_WIDEST_GAP = 10_000  # blank characters that no run goes across
_UNEVEN = 0.3  # keeps the runs of one long stretch about equally long


def cut(
    pieces: Sequence[Piece], *, minimum: int, maximum: int, across: float = ACROSS_HEADING
) -> list[Run]:
    """Runs that cover all pieces, each of at most `maximum` tokens, `minimum` where possible.

    `across` is what it costs to run across a level-1 heading.
    """
    tokens_of = [piece.tokens for piece in pieces]
    across_each = [across / piece.level if piece.level else 0.0 for piece in pieces]
    for at, (before, after) in enumerate(pairwise(pieces), start=1):
        if after.start - before.end > _WIDEST_GAP:
            across_each[at] = inf
    size_costs = _size_costs(minimum, maximum)
    begun: list[float] = []  # what the best way to each piece costs, with the cut before it

    def way_to(end: int, best: Sequence[float]) -> Way:
        begun.append(best[-1] + (_CUT[pieces[end - 1].boundary] if end > 1 else 0.0))
        start = end - 1
        tokens = tokens_of[start]
        size_cost = (
            size_costs[tokens] if tokens <= maximum else _size_cost(tokens, minimum, maximum)
        )
        lowest, chosen = begun[start] + size_cost, start
        crossed = across_each[start]
        # The hottest loop of indexing: lists and plain names are what it has time for.
        for start in range(end - 2, max(end - 1 - _MOST_PIECES, -1), -1):
            tokens += tokens_of[start]
            if tokens > maximum:
                break
            cost = begun[start] + crossed + size_costs[tokens]
            if cost <= lowest:
                lowest, chosen = cost, start
            crossed += across_each[start]
        return lowest, chosen

    return cheapest(len(pieces), way_to)


def cheapest(count: int, way_to: Callable[[int, Sequence[float]], Way]) -> list[Run]:
    """The runs of the cheapest way through so many pieces.

    `way_to` is given an end, and what the best way to each place before it costs.
    """
    best = array("d", [0.0])
    came_from = array("I", [0])
    for end in range(1, count + 1):
        cost, start = way_to(end, best)
        best.append(cost)
        came_from.append(start)
    runs = []
    end = count
    while end > 0:
        runs.append((came_from[end], end))
        end = came_from[end]
    return runs[::-1]


@lru_cache(maxsize=16)
def _size_costs(minimum: int, maximum: int) -> list[float]:
    return [_size_cost(tokens, minimum, maximum) for tokens in range(maximum + 1)]


def _size_cost(tokens: int, minimum: int, maximum: int) -> float:
    if tokens < minimum:
        return _EACH_RUN + _TOO_SMALL * (1 + (minimum - tokens) / minimum)
    return _EACH_RUN + _UNEVEN * (1 - tokens / maximum) ** 2
