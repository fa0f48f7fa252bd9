"""BM25 as FTS5 has it, over lists of stemmed words: the plainest there is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from pincite.text.stems import tokens_of
from pincite.text.words import Term

_K1, _B = 1.2, 0.75  # BM25's usual constants, as in FTS5

_Name = TypeVar("_Name", bound=Hashable)


def bm25(terms: Sequence[Term], words: Mapping[_Name, list[str]]) -> dict[_Name, float]:
    """BM25 of everything that holds one of the terms."""
    average = sum(map(len, words.values())) / max(len(words), 1) or 1
    summed: defaultdict[_Name, float] = defaultdict(float)
    for term in terms:
        found = {name: count for name, tokens in words.items() if (count := count_of(term, tokens))}
        # FTS5's floor: a word in more than half of all chunks weighs next to nothing.
        weight = math.log((len(words) - len(found) + 0.5) / (len(found) + 0.5))
        for name, count in found.items():
            length = _K1 * (1 - _B + _B * len(words[name]) / average)
            summed[name] += max(weight, 1e-6) * count * (_K1 + 1) / (count + length)
    return summed


def count_of(term: Term, tokens: list[str]) -> int:
    """How often the term's words stand next to each other."""
    wanted = [stem for token in term.tokens for stem in tokens_of(token)]
    if not wanted:
        return 0
    *before, last = wanted
    size = len(before)
    return sum(
        tokens[at : at + size] == before
        and (tokens[at + size].startswith(last) if term.prefix else tokens[at + size] == last)
        for at in range(len(tokens) - size)
    )
