"""BM25 over postings: exact, without adding up what cannot matter.

Terms are taken from the one that can add most to the one that can add least. As soon as those that
are left cannot bring a chunk that holds none of the others among the best, they are looked up for
the chunks that can still be among them, instead of being added for all that hold them. This is
known as MaxScore. What comes out is added up once more in the order of the question, so that a
chunk's score does not depend on what was left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pincite.stores.sqlite.segments.making import term_key
from pincite.stores.sqlite.segments.segment import HALVES, Found, Living, Visible, places_of

_K1, _B = 1.2, 0.75  # BM25's usual constants, as in FTS5
_LEAST_IDF = 1e-6  # of a term that more than half of the chunks have, as in FTS5
_ALL_ADDED = 100_000  # postings in a segment: up to so many are added up without further ado
_LOOKED_UP = 6  # adding costs a chunk of the postings so many times less than looking one up
_TRIED = 4  # times the limit: so many chunks are scored early, to know what the best score

Places = NDArray[np.intp]
Scored = tuple[Places, NDArray[np.float32]]


class RowScores(NamedTuple):
    """What is to be added to the scores of some chunks, for terms that are no single token."""

    rows: NDArray[np.int64]  # ascending
    scores: NDArray[np.float32]


class _Postings(Protocol):
    """What one term of the question adds to the scores of a segment's chunks."""

    @property
    def chunks(self) -> NDArray[np.int32]:
        """Those that hold it, ascending."""

    @property
    def most(self) -> float:
        """No chunk gets more."""

    def added(self, which: Places | slice) -> NDArray[np.float32]:
        """What these of the postings add."""


@dataclass(frozen=True)
class _Counted:
    """A token, counted in halves."""

    chunks: NDArray[np.int32]
    halves: NDArray[np.uint16]
    weight: np.float32
    norms: NDArray[np.float32]

    @property
    def most(self) -> float:
        return float(self.weight)

    def added(self, which: Places | slice) -> NDArray[np.float32]:
        counts = self.halves[which].astype(np.float32)
        counts /= np.float32(HALVES)
        norms = self.norms[self.chunks[which].astype(np.intp)]
        norms += counts
        counts *= self.weight
        counts /= norms
        return counts


@dataclass(frozen=True)
class _Given:
    """Terms whose scores are known already."""

    chunks: NDArray[np.int32]
    scores: NDArray[np.float32]

    @property
    def most(self) -> float:
        return float(self.scores.max(initial=0))

    def added(self, which: Places | slice) -> NDArray[np.float32]:
        return self.scores[which]


@dataclass(frozen=True)
class _Part:
    """The question in one segment."""

    living: Living
    seen: NDArray[np.bool_] | None
    terms: Sequence[_Postings]  # in the order of the question

    def scores(self, places: Places) -> NDArray[np.float32]:
        """The scores of these chunks, which are ascending."""
        scores = np.zeros(len(places), np.float32)
        for term in self.terms:
            held, which = _looked_up(term.chunks, places)
            scores[held] += term.added(which)
        return scores

    def only_seen(self, places: Places) -> Places:
        """Those of the chunks that may be seen."""
        return places if self.seen is None else places[self.seen[places]]

    def best(self, limit: int, least: float) -> Scored:
        """The best chunks, as far as they score so much, and some that are not among them."""
        if sum(len(term.chunks) for term in self.terms) <= _ALL_ADDED:
            sums = np.zeros(self.living.segment.size, np.float32)
            for term in self.terms:
                _add_all(sums, term)
            places = self.only_seen(np.flatnonzero(sums >= least if least > 0 else sums > 0))
            return places, sums[places]
        places = _Pruning(self, limit, least).candidates()
        scores = self.scores(places)
        kept = (scores >= least) & (scores > 0)
        return places[kept], scores[kept]


class _Pruning:
    """Adds up one segment's postings until few chunks can be among the best."""

    def __init__(self, part: _Part, limit: int, least: float) -> None:
        self._part = part
        self._limit = limit
        self._least = least  # what the best score at least
        self._sums = np.zeros(part.living.segment.size, np.float32)
        self._total = self._left = math.fsum(term.most for term in part.terms)
        # Sums in another order differ in their last digits.
        self._rounding = self._total * float(np.finfo(np.float32).eps) * (len(part.terms) + 4)
        self._places: Places | None = None  # None: any chunk may be among the best
        if part.seen is not None and np.count_nonzero(part.seen) * _LOOKED_UP <= len(part.seen):
            self._places = np.flatnonzero(part.seen)

    def candidates(self) -> Places:
        """Every chunk that can be among the best, ascending."""
        for term in sorted(self._part.terms, key=lambda one: -one.most):
            if self._places is None and self._bar > 0:
                self._places = self._reaching()
            if self._places is None or len(self._places) * _LOOKED_UP > len(term.chunks):
                _add_all(self._sums, term)
            else:
                held, which = _looked_up(term.chunks, self._places)
                self._sums[self._places[held]] += term.added(which)
            self._left -= term.most
            if self._places is not None:
                self._places = self._places[self._sums[self._places] >= self._bar]
            elif self._least <= 0 and self._left < self._total / 2:
                self._try(term.chunks)
        return self._reaching() if self._places is None else self._places

    @property
    def _bar(self) -> float:
        """What a chunk must have by now to be among the best in the end."""
        return self._least - self._left - self._rounding

    def _reaching(self) -> Places:
        reach = self._sums >= self._bar if self._bar > 0 else self._sums > 0
        return self._part.only_seen(np.flatnonzero(reach))

    def _try(self, chunks: NDArray[np.int32]) -> None:
        """Score the most promising of these chunks: the best of all are no worse."""
        places = self._part.only_seen(chunks.astype(np.intp))
        if len(places) < self._limit:
            return
        tried = self._limit * _TRIED
        if tried < len(places):
            places = np.sort(places[np.argpartition(self._sums[places], -tried)[-tried:]])
        self._least = max(self._least, _last(self._part.scores(places), self._limit))


class WordSearch:
    """One question's BM25 over all segments."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts

    def best(self, limit: int) -> list[Found]:
        """The chunks with the highest scores above zero, and all that equal the last of them."""
        least = 0.0
        scored: list[tuple[_Part, Scored]] = []
        # What a large segment's best score rules out most of the others.
        for part in sorted(self._parts, key=lambda one: -one.living.segment.size):
            scored.append((part, part.best(limit, least)))
            every = np.concatenate([scores for _, (_, scores) in scored])
            least = max(least, _last(every, limit))
        found: list[Found] = []
        for part, (places, scores) in scored:
            kept = scores >= least
            rows = part.living.segment.chunks[places[kept]]
            found.extend(map(Found, rows.tolist(), scores[kept].tolist()))
        return found

    def at(self, rows: Sequence[int]) -> list[Found]:
        """These chunks with their scores, as far as they have one."""
        found: list[Found] = []
        wanted = np.array(sorted(rows), np.int64)
        for part in self._parts:
            places, here = places_of(part.living.segment, wanted)
            places = part.only_seen(places[here])
            scores = part.scores(places)
            rows_here = part.living.segment.chunks[places]
            found.extend(map(Found, rows_here.tolist(), scores.tolist()))
        return [one for one in found if one.score > 0]


class WordWeights:
    """What the words of the chunks that are there count for."""

    def __init__(self, every: Sequence[Living]) -> None:
        self._every = every
        self._count = sum(one.count for one in every)
        average = sum(one.length for one in every) / max(self._count, 1)
        # What BM25 weighs a count against: the longer the chunk, the more.
        self._norms = [
            (_K1 * (1 - _B + _B / max(average, 1e-9) * one.segment.lengths)).astype(np.float32)
            for one in every
        ]

    def search(
        self, tokens: Mapping[str, int], others: RowScores | None, visible: Visible | None
    ) -> WordSearch:
        """The search for tokens that count so often, and for `others`, which are no tokens."""
        terms: list[list[_Postings]] = [[] for _ in self._every]
        for token, times in tokens.items():
            for of_segment, counted in zip(terms, self._counted(token, times), strict=True):
                of_segment.append(counted)
        parts: list[_Part] = []
        for number, living in enumerate(self._every):
            if others is not None:
                places, here = places_of(living.segment, others.rows)
                terms[number].append(_Given(places[here].astype(np.int32), others.scores[here]))
            seen = living.seen(None if visible is None else visible[number])
            parts.append(_Part(living, seen, [one for one in terms[number] if len(one.chunks)]))
        return WordSearch(parts)

    def _counted(self, token: str, times: int) -> list[_Counted]:
        key = term_key(token)
        postings = [one.segment.postings(key) for one in self._every]
        having = sum(
            len(chunks) if one.alive is None else int(np.count_nonzero(one.alive[chunks]))
            for one, (chunks, _) in zip(self._every, postings, strict=True)
        )
        idf = max(math.log((self._count - having + 0.5) / (having + 0.5)), _LEAST_IDF)
        weight = np.float32(times * idf * (_K1 + 1))
        return [
            _Counted(chunks, halves, weight, norms)
            for norms, (chunks, halves) in zip(self._norms, postings, strict=True)
        ]


def _add_all(sums: NDArray[np.float32], term: _Postings) -> None:
    # Twice as quick as `sums[chunks] += …`.
    np.add.at(sums, term.chunks.astype(np.intp), term.added(slice(None)))


def _looked_up(chunks: NDArray[np.int32], places: Places) -> tuple[Places, Places]:
    """Which of the places are among the chunks, and where there. Both are ascending."""
    wanted = places.astype(np.int32)  # else the chunks would be copied as longer numbers
    where = np.searchsorted(chunks, wanted)
    where[where == len(chunks)] = 0
    held = np.flatnonzero(chunks[where] == wanted)
    return held, where[held]


def _last(scores: NDArray[np.float32], limit: int) -> float:
    """The last of so many highest scores; 0 where there are fewer."""
    return float(np.partition(scores, -limit)[-limit]) if limit <= len(scores) else 0.0
