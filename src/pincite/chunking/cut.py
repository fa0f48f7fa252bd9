"""Pieces → runs of pieces within a size, cut at the best places.

A shortest path over the possible cuts: every run costs something for being small, for the kind of
cut it begins with, and for the headings it runs across. The cheapest way through the document is
found exactly, so the same document is always cut the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
_UNEVEN = 0.3  # keeps the runs of one long stretch about equally long


@dataclass(frozen=True, slots=True)
class _Sizes:
    minimum: int
    maximum: int
    across: float


def cut(
    pieces: Sequence[Piece], *, minimum: int, maximum: int, across: float = ACROSS_HEADING
) -> list[Run]:
    """Runs that cover all pieces, each of at most `maximum` tokens, `minimum` where possible.

    `across` is what it costs to run across a level-1 heading.
    """
    sizes = _Sizes(minimum, maximum, across)
    return cheapest(len(pieces), lambda end, best: _runs_ending_at(pieces, end, best, sizes))


def cheapest(count: int, ways_to: Callable[[int, list[float]], list[Way]]) -> list[Run]:
    """The runs of the cheapest way through so many pieces.

    `ways_to` is given an end, and what the best way to each place before it costs.
    """
    best: list[float] = [0.0]
    came_from: list[int] = [0]
    for end in range(1, count + 1):
        cost, start = min(ways_to(end, best))
        best.append(cost)
        came_from.append(start)
    runs = []
    end = count
    while end > 0:
        runs.append((came_from[end], end))
        end = came_from[end]
    return runs[::-1]


def _runs_ending_at(
    pieces: Sequence[Piece], end: int, best: list[float], sizes: _Sizes
) -> list[Way]:
    """The cost of the whole way for every possible start of the run that ends here."""
    ways: list[Way] = []
    tokens = 0
    across = 0.0
    for start in range(end - 1, max(end - 1 - _MOST_PIECES, -1), -1):
        piece = pieces[start]
        tokens += piece.tokens
        if tokens > sizes.maximum and ways:
            break
        begin = _CUT[piece.boundary] if start else 0.0
        ways.append((best[start] + begin + across + _size_cost(tokens, sizes), start))
        if piece.level:
            across += sizes.across / piece.level
    return ways


def _size_cost(tokens: int, sizes: _Sizes) -> float:
    if tokens < sizes.minimum:
        return _EACH_RUN + _TOO_SMALL * (1 + (sizes.minimum - tokens) / sizes.minimum)
    return _EACH_RUN + _UNEVEN * (1 - tokens / sizes.maximum) ** 2
