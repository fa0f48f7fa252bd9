"""Rankings from segments: BM25 over postings, cosine over vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pincite.recent import Recent
from pincite.records import ChunkId, DocumentId, Filters
from pincite.stores.sqlite.segments.making import term_key
from pincite.stores.sqlite.segments.segment import HALVES, ID_BYTES, Segment, signs_of
from pincite.vectors import Vector

_K1, _B = 1.2, 0.75  # BM25's usual constants, as in FTS5
_LEAST_IDF = 1e-6  # of a term that more than half of the chunks have, as in FTS5
# Up to so many windows every one is compared. Beyond, signs choose which, this many times the root
# of their number: 1,200 of 77,000 real windows hold .998 of the true first 15, .973 of the 100.
_COMPARED_ALL = 16_000
_COMPARED = 4.3
_LETTERS = 2 * ID_BYTES  # of an id as text
_DECIMALS = 6  # beyond, a product depends on which numbers were multiplied together with it

Scores = list[NDArray[np.float32]]
"""A score for each chunk of each segment; 0 or less where there is none."""

Visible = Sequence[NDArray[np.bool_]]
"""Whether a chunk may be seen, for each segment."""

_FILTERS_KNOWN = 16  # of which it is remembered what they let through; a byte for each chunk


class Found(NamedTuple):
    """A chunk's row with its score, and its best window where that was looked for."""

    chunk: int
    score: float
    window: tuple[int, int] | None = None
    vector: Vector | None = None


@dataclass(frozen=True)
class _Living:
    """A segment, and which of its chunks are still there."""

    segment: Segment
    alive: NDArray[np.bool_] | None  # None: all of them

    def windows(self, visible: NDArray[np.bool_] | None) -> NDArray[np.intp]:
        """The places of the windows that may be seen."""
        if visible is None:
            return self._every_window
        owners = self.segment.window_chunks
        seen = visible if self.alive is None else visible & self.alive
        return np.flatnonzero(seen[owners])

    @cached_property
    def _every_window(self) -> NDArray[np.intp]:
        owners = self.segment.window_chunks
        if self.alive is None:
            return np.arange(len(owners))
        return np.flatnonzero(self.alive[owners])

    @property
    def count(self) -> int:
        return self.segment.size if self.alive is None else int(self.alive.sum())

    @property
    def length(self) -> float:
        lengths = self.segment.lengths
        return float(lengths.sum() if self.alive is None else lengths[self.alive].sum())


class SegmentSearch:
    """The searches over all segments of an index at one moment."""

    def __init__(self, segments: Sequence[Segment], forgotten: NDArray[np.int64]) -> None:
        self._living = [_Living(one, _alive(one, forgotten)) for one in segments]
        self.seen_before: Recent[Filters, Visible] = Recent(_FILTERS_KNOWN)
        self.count = sum(one.count for one in self._living)
        average = sum(one.length for one in self._living) / max(self.count, 1)
        # What BM25 weighs a count against: the longer the chunk, the more.
        self._norms = [
            (_K1 * (1 - _B + _B / max(average, 1e-9) * one.lengths)).astype(np.float32)
            for one in segments
        ]

    def visible(self, chunks: NDArray[np.int64]) -> Visible:
        """Which chunks are among these rows."""
        return [_marked(one.segment, chunks) for one in self._living]

    def word_scores(
        self, tokens: Mapping[str, int], others: Mapping[int, float], visible: Visible | None
    ) -> Scores:
        """BM25 of every chunk for tokens that count so often.

        `others` are chunk rows with what is to be added for them: terms that are no single token.
        """
        scores = [np.zeros(one.segment.size, np.float32) for one in self._living]
        for token, times in tokens.items():
            self._add(scores, term_key(token), times)
        for score, living in zip(scores, self._living, strict=True):
            _add_at(score, living.segment, others)
            if living.alive is not None:
                score[~living.alive] = 0
        if visible is not None:
            for score, seen in zip(scores, visible, strict=True):
                score[~seen] = 0
        return scores

    def _add(self, scores: Scores, key: np.uint64, times: int) -> None:
        postings = [one.segment.postings(key) for one in self._living]
        having = sum(
            len(chunks) if one.alive is None else int(one.alive[chunks].sum())
            for one, (chunks, _) in zip(self._living, postings, strict=True)
        )
        idf = max(math.log((self.count - having + 0.5) / (having + 0.5)), _LEAST_IDF)
        for score, norm, (chunks, halves) in zip(scores, self._norms, postings, strict=True):
            counts = halves / np.float32(HALVES)
            score[chunks] += counts * np.float32(times * idf * (_K1 + 1)) / (counts + norm[chunks])

    def best(self, scores: Scores, limit: int) -> list[Found]:
        """The chunks with the highest scores above zero, and all that equal the last of them."""
        if not self.count:
            return []
        every = np.concatenate(scores)
        least = np.partition(every, -limit)[-limit] if limit < len(every) else 0.0
        found: list[Found] = []
        for living, score in zip(self._living, scores, strict=True):
            places = np.flatnonzero((score >= least) & (score > 0))
            rows = living.segment.chunks[places]
            found.extend(map(Found, rows.tolist(), score[places].tolist()))
        return found

    def nearest(self, vector: Vector, limit: int, visible: Visible | None) -> list[Found]:
        """The chunks whose best windows are nearest, and all that equal the last of them."""
        if not self.count:
            return []
        chosen = [
            one.windows(None if visible is None else visible[number])
            for number, one in enumerate(self._living)
        ]
        count = sum(map(len, chosen))
        if count <= _COMPARED_ALL:
            return self._nearest_of(vector, chosen, limit)
        signs = signs_of(vector[np.newaxis])[:, 0]
        distances = [
            _distances(one.segment.signs, signs, places)
            for one, places in zip(self._living, chosen, strict=True)
        ]
        compared = max(round(_COMPARED * math.sqrt(count)), 8 * limit)
        while True:
            close = _closest(distances, chosen, compared)
            found = self._nearest_of(vector, close, limit)
            everything = sum(map(len, close)) == count
            # One long document may own all windows that were compared.
            if len(found) >= limit or everything:
                return found
            compared *= 4

    def compared(self, vector: Vector, rows: Sequence[int]) -> list[Found]:
        """These chunks with their best windows."""
        if not rows:
            return []
        wanted = np.array(sorted(rows), np.int64)
        chosen = []
        for living in self._living:
            places, here = _places(living.segment, wanted)
            owners = living.segment.window_chunks
            starts = np.searchsorted(owners, places[here], "left")
            ends = np.searchsorted(owners, places[here], "right")
            chosen.append(_ranges(starts, ends))
        return self._nearest_of(vector, chosen, len(rows))

    def at(self, scores: Scores, rows: Sequence[int]) -> list[Found]:
        """These chunks with their scores, as far as they have one."""
        found: list[Found] = []
        wanted = np.array(rows, np.int64)
        for living, score in zip(self._living, scores, strict=True):
            places, here = _places(living.segment, wanted)
            found.extend(map(Found, wanted[here].tolist(), score[places[here]].tolist()))
        return [one for one in found if one.score > 0]

    def names(self, rows: Sequence[int]) -> dict[int, tuple[ChunkId, DocumentId]]:
        """The ids of these chunks and of their documents, by row."""
        wanted = np.array(rows, np.int64)
        names: dict[int, tuple[ChunkId, DocumentId]] = {}
        for living in self._living:
            places, here = _places(living.segment, wanted)
            chunks = living.segment.chunk_ids[places[here]].tobytes().hex()
            documents = living.segment.document_ids[places[here]].tobytes().hex()
            for at, row in enumerate(wanted[here].tolist()):
                letters = slice(at * _LETTERS, (at + 1) * _LETTERS)
                names[row] = ChunkId(chunks[letters]), DocumentId(documents[letters])
        return names

    def _nearest_of(
        self, vector: Vector, chosen: Sequence[NDArray[np.intp]], limit: int
    ) -> list[Found]:
        """The nearest chunks, going by these windows alone."""
        parts = [
            _compared(living.segment, places, vector)
            for living, places in zip(self._living, chosen, strict=True)
        ]
        every = np.concatenate([part.best for part in parts])
        least = np.partition(every, -limit)[-limit] if limit < len(every) else -np.inf
        return [found for part in parts for found in part.at_least(least)]


@dataclass(frozen=True)
class _Compared:
    """Some windows of a segment with their scores, and the best score of each chunk they are of."""

    segment: Segment
    places: NDArray[np.intp]  # of the windows, ascending, so that a chunk's stand together
    scores: NDArray[np.float64]
    starts: NDArray[np.intp]  # in `places`: where the windows of another chunk begin
    best: NDArray[np.float64]

    def at_least(self, least: float) -> list[Found]:
        """The chunks that score so much, each with its best window; of equals the first."""
        sizes = np.diff(self.starts, append=len(self.places))
        owners = np.repeat(np.arange(len(self.starts)), sizes)
        are_best = np.flatnonzero((self.scores == self.best[owners]) & (self.scores >= least))
        _, first = np.unique(owners[are_best], return_index=True)
        windows = self.places[are_best[first]]
        rows = self.segment.chunks[self.segment.window_chunks[windows]].tolist()
        spans = map(tuple, self.segment.window_spans[windows].tolist())
        scores = self.scores[are_best[first]].tolist()
        return list(map(Found, rows, scores, spans, self.segment.vectors[windows]))


def _compared(segment: Segment, places: NDArray[np.intp], vector: Vector) -> _Compared:
    whole = len(places) == len(segment.vectors)
    vectors = segment.vectors if whole else segment.vectors[places]
    products: NDArray[np.float64] = (vectors @ vector).astype(np.float64)
    scores = np.round(products, _DECIMALS)
    starts = np.flatnonzero(np.diff(segment.window_chunks[places], prepend=-1))
    best = np.maximum.reduceat(scores, starts) if len(starts) else scores
    return _Compared(segment, places, scores, starts, best)


def _ranges(starts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """All numbers from each start up to its end."""
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    numbers: NDArray[np.intp] = np.arange(sizes.sum()) + np.repeat(starts - before, sizes)
    return numbers


def _distances(
    signs: NDArray[np.uint64], asked: NDArray[np.uint64], places: NDArray[np.intp]
) -> NDArray[np.uint16]:
    """In how many signs each of these windows differs from what is asked; 0 where none are kept."""
    distances = np.zeros(signs.shape[1], np.uint16)
    for row, word in zip(signs, asked, strict=False):
        distances += np.bitwise_count(row ^ word)
    return distances if len(places) == len(distances) else distances[places]


def _closest(
    distances: Sequence[NDArray[np.uint16]], chosen: Sequence[NDArray[np.intp]], count: int
) -> list[NDArray[np.intp]]:
    """The windows with the smallest distances: at least so many, and all that equal the last."""
    if count >= sum(map(len, distances)):
        return list(chosen)
    # Distances are small numbers: counting them is quicker than putting them in order.
    most = int(np.searchsorted(np.cumsum(np.bincount(np.concatenate(distances))), count))
    return [places[part <= most] for part, places in zip(distances, chosen, strict=True)]


def _alive(segment: Segment, forgotten: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    dead = _marked(segment, forgotten)
    return ~dead if dead.any() else None


def _marked(segment: Segment, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the segment's chunks are among these rows."""
    marked = np.zeros(segment.size, np.bool_)
    places, here = _places(segment, rows)
    marked[places[here]] = True
    return marked


def _add_at(score: NDArray[np.float32], segment: Segment, others: Mapping[int, float]) -> None:
    rows = np.fromiter(others.keys(), np.int64, len(others))
    added = np.fromiter(others.values(), np.float32, len(others))
    places, here = _places(segment, rows)
    score[places[here]] += added[here]


def _places(
    segment: Segment, rows: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where these rows would stand in the segment, and whether they do."""
    places = np.searchsorted(segment.chunks, rows)
    here = places < segment.size
    here[here] = segment.chunks[places[here]] == rows[here]
    return places, here
