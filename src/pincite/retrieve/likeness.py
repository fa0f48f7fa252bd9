"""Which texts say the same: identical ones, and those that differ in a word or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from pincite.text.words import fold, words_in

_SHORT = 8  # words; so short a text is the same only where it is identical
_DENIALS = frozenset(
    ["no", "not", "never", "none", "without", "cannot", "nor", "neither", "t"]
)  # t: don't
_MOST_COMPARED = 50  # texts
_SIZES = 0.8  # of two lengths; texts that differ more are not looked at


@dataclass(frozen=True)
class _Text:
    text: str

    @cached_property
    def words(self) -> Sequence[str]:
        return words_in(fold(self.text))

    @cached_property
    def distinct(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset(pairwise(self.words))

    @cached_property
    def decisive(self) -> list[str]:
        """Figures and denials: in one of them two texts may say the opposite."""
        return sorted(
            word for word in self.words if word in _DENIALS or any(map(str.isdigit, word))
        )


class Likeness:
    """Remembers texts, and tells of another one which of them it repeats.

    Two texts are the same from this share of common word pairs on; 1 is identical but for case and
    punctuation, 0 keeps everything. Texts with other figures, or with a `not` more, are never the
    same: the fee of this year is not that of last year.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._known: list[_Text] = []

    def add(self, text: str) -> None:
        """Remember it."""
        self._known.append(_Text(text))

    def repeats(self, text: str) -> int | None:
        """The number of the text that it repeats, from 0; None where it is new."""
        if self._least <= 0:
            return None
        new = _Text(text)
        # In a list that nobody reads to its end, only the first can be repeated.
        for number, known in enumerate(self._known[:_MOST_COMPARED]):
            shorter, longer = sorted((len(known.text), len(text)))
            if shorter >= _SIZES * longer and self._are_same(known, new):
                return number
        return None

    def _are_same(self, one: _Text, other: _Text) -> bool:
        if one.words == other.words:
            return bool(one.words) or one.text == other.text
        if min(len(one.words), len(other.words)) < _SHORT or self._least >= 1:
            return False
        # A word that only one of them has makes a pair that only one has, and so do two at most
        # together: where there are many, the pairs need not be counted.
        all_pairs = len(one.words) + len(other.words)
        if len(one.distinct ^ other.distinct) > 2 * (1 - self._least) * all_pairs:
            return False
        common = len(one.pairs & other.pairs)
        likeness = common / (len(one.pairs) + len(other.pairs) - common)
        return likeness >= self._least and one.decisive == other.decisive
