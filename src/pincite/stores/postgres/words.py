"""A chunk's words as the tables hold them: positions for phrases, counts for BM25."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pincite.text.stems import tokens_of

# Text; title, name, author and tags; headings; codes. How much a word counts there, in halves.
CHUNK_COLUMNS = (("D", 2), ("A", 4), ("B", 3), ("C", 2))
# Title, name, author and tags; folders; summary.
DOCUMENT_COLUMNS = (("A", 6), ("B", 3), ("C", 2))

_GAP = 2  # positions between two columns, so that no phrase runs from one into the next
_LAST_POSITION = 16_383  # that a tsvector knows
_MOST_COUNTED = 0x7FFF
_LONGEST_TOKEN = 200  # bytes; an index entry has room for some 2,700

_tokens = lru_cache(maxsize=64)(tokens_of)  # a document's chunks have title and name in common


@dataclass(frozen=True, slots=True)
class Words:
    """Every token with its positions, written as a tsvector, and with its count."""

    vector: str
    counts: dict[str, int]  # in halves
    length: int


def words_of(columns: Sequence[str], kinds: Sequence[tuple[str, int]]) -> Words:
    """The words of some columns, each of which counts differently."""
    counts: defaultdict[str, int] = defaultdict(int)
    places: defaultdict[str, list[str]] = defaultdict(list)
    position = length = 0
    for text, (letter, halves) in zip(columns, kinds, strict=True):
        for token in map(stored, _tokens(text)):
            position += 1
            length += 1
            counts[token] += halves
            places[token].append(f"{min(position, _LAST_POSITION)}{letter}")
        position += _GAP
    vector = " ".join(f"{quoted(token)}:{','.join(at)}" for token, at in places.items())
    return Words(vector, {t: min(n, _MOST_COUNTED) for t, n in counts.items()}, length)


def stored(token: str) -> str:
    """A token as it is kept: of one that is too long only what tells it from others."""
    data = token.encode("utf-8", "surrogatepass")
    if len(data) <= _LONGEST_TOKEN:
        return token
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def quoted(token: str) -> str:
    """A token as tsvector and tsquery read it."""
    return "'{}'".format(token.replace("\\", "\\\\").replace("'", "''"))
