"""Counts the embedder's tokens in any slice of a text, after looking at the text once."""

from __future__ import annotations

from bisect import bisect_left

from pincite.ports import TokenCounter


class Measure:
    """How many tokens a slice has, and where to cut so that it has so many."""

    def __init__(self, text: str, counter: TokenCounter) -> None:
        self._starts = counter.token_starts(text)

    def tokens(self, start: int, end: int) -> int:
        """Tokens that begin inside the slice."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def offset_after(self, start: int, tokens: int) -> int | None:
        """Where the token begins that no longer fits, counting from `start`; None if all fit."""
        index = bisect_left(self._starts, start) + tokens
        return self._starts[index] if index < len(self._starts) else None

    def offset_before(self, end: int, tokens: int) -> int:
        """Where the last so many tokens before `end` begin."""
        index = bisect_left(self._starts, end) - tokens
        return self._starts[max(index, 0)] if self._starts else 0
