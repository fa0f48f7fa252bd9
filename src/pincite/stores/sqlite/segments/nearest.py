"""The nearest windows: chosen by the signs of their numbers, then compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pincite.stores.sqlite.segments.segment import (
    Found,
    Living,
    Segment,
    Visible,
    places_of,
    signs_of,
)
from pincite.vectors import Vector

# Up to so many windows every one is compared. Beyond, signs choose which, this many times the root
# of their number: 1,400 of 77,000 real windows hold .998 of the true first 15, .98 of the 100.
_COMPARED_ALL = 16_000
_CLOSE, _LEAST_CLOSE = 5.0, 8  # times the root; times the limit
# Where vectors must be read, so many of these are, after a closer look at their signs.
_READ, _LEAST_READ = 0.4, 5  # of the close ones; times the limit
_DECIMALS = 6  # beyond, a product depends on which numbers were multiplied together with it

Places = NDArray[np.intp]


class VectorSearch:
    """The nearest windows of all segments."""

    def __init__(self, every: Sequence[Living]) -> None:
        self._every = every

    def nearest(self, vector: Vector, limit: int, visible: Visible | None) -> list[Found]:
        """The chunks whose best windows are nearest, and all that equal the last of them."""
        chosen = [
            one.windows(None if visible is None else visible[number])
            for number, one in enumerate(self._every)
        ]
        count = sum(map(len, chosen))
        if count <= _COMPARED_ALL:
            return self._nearest_of(vector, chosen, limit)
        signs = signs_of(vector[np.newaxis])[:, 0]
        distances = [
            _distances(one.segment.signs, signs, places)
            for one, places in zip(self._every, chosen, strict=True)
        ]
        close = max(round(_CLOSE * math.sqrt(count)), _LEAST_CLOSE * limit)
        while True:
            nearest = _closest(distances, chosen, close)
            if any(one.segment.vector_file for one in self._every):
                read = max(round(_READ * close), _LEAST_READ * limit)
                nearest = self._promising(vector, nearest, read)
            found = self._nearest_of(vector, nearest, limit)
            everything = sum(map(len, nearest)) == count
            # One long document may own all windows that were compared.
            if len(found) >= limit or everything:
                return found
            close *= 4

    def of_chunks(self, vector: Vector, rows: Sequence[int]) -> list[Found]:
        """These chunks with their best windows."""
        wanted = np.array(sorted(rows), np.int64)
        chosen = []
        for living in self._every:
            places, here = places_of(living.segment, wanted)
            owners = living.segment.window_chunks
            # As long as the owners' numbers, or all of them would be copied.
            places = places[here].astype(owners.dtype)
            starts = np.searchsorted(owners, places, "left")
            ends = np.searchsorted(owners, places, "right")
            # All numbers from each start up to its end.
            sizes = ends - starts
            before = np.cumsum(sizes) - sizes
            numbers: Places = np.arange(sizes.sum()) + np.repeat(starts - before, sizes)
            chosen.append(numbers)
        return self._nearest_of(vector, chosen, len(rows))

    def _promising(self, vector: Vector, close: Sequence[Places], count: int) -> list[Places]:
        """So many of the windows, going by the question's numbers and by their signs."""
        estimates = [
            _estimates(one.segment.signs, places, vector)
            for one, places in zip(self._every, close, strict=True)
        ]
        every = np.concatenate(
            [np.empty(0, np.float32), *(part for part in estimates if part is not None)]
        )
        if count >= len(every):
            return list(close)
        least = np.partition(every, -count)[-count]
        return [
            places if part is None else places[np.flatnonzero(part >= least)]
            for places, part in zip(close, estimates, strict=True)
        ]

    def _nearest_of(self, vector: Vector, chosen: Sequence[Places], limit: int) -> list[Found]:
        """The nearest chunks, going by these windows alone."""
        parts = [
            _compared(living.segment, places, vector)
            for living, places in zip(self._every, chosen, strict=True)
            if len(places)
        ]
        if not parts:
            return []
        every = np.concatenate([part.best for part in parts])
        least = np.partition(every, -limit)[-limit] if limit < len(every) else -np.inf
        return [found for part in parts for found in part.at_least(least)]


@dataclass(frozen=True)
class _Compared:
    """Some windows of a segment with their scores, and the best score of each chunk they are of."""

    segment: Segment
    places: Places  # of the windows, ascending, so that a chunk's stand together
    vectors: NDArray[np.float32]
    scores: NDArray[np.float64]
    starts: NDArray[np.intp]  # in `places`: where the windows of another chunk begin
    best: NDArray[np.float64]

    def at_least(self, least: float) -> list[Found]:
        """The chunks that score so much, each with its best window; of equals the first."""
        high = np.flatnonzero(self.scores >= least)
        owners = np.searchsorted(self.starts, high, "right") - 1
        are_best = self.scores[high] == self.best[owners]
        _, first = np.unique(owners[are_best], return_index=True)
        kept = high[are_best][first]
        windows = self.places[kept]
        rows = self.segment.chunks[self.segment.window_chunks[windows]].tolist()
        spans = map(tuple, self.segment.window_spans[windows].tolist())
        return list(map(Found, rows, self.scores[kept].tolist(), spans, self.vectors[kept]))


def _compared(segment: Segment, places: Places, vector: Vector) -> _Compared:
    vectors = segment.vectors_at(places)
    products: NDArray[np.float64] = (vectors @ vector).astype(np.float64)
    scores = np.round(products, _DECIMALS)
    starts = np.flatnonzero(np.diff(segment.window_chunks[places], prepend=-1))
    best = np.maximum.reduceat(scores, starts)
    return _Compared(segment, places, vectors, scores, starts, best)


_FEW = 4  # times fewer places than windows: then only theirs are looked at


def _distances(
    signs: NDArray[np.uint64], asked: NDArray[np.uint64], places: Places
) -> NDArray[np.uint16] | None:
    """In how many signs each of these windows differs from what is asked; None: none are kept."""
    if not len(signs):
        return None
    if len(places) * _FEW < signs.shape[1]:
        return _distances_of_all(signs[:, places], asked)
    distances = _distances_of_all(signs, asked)
    return distances if len(places) == len(distances) else distances[places]


def _distances_of_all(signs: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.uint16]:
    distances = np.zeros(signs.shape[1], np.uint16)
    for row, word in zip(signs, asked, strict=True):
        distances += np.bitwise_count(row ^ word)
    return distances


def _closest(
    distances: Sequence[NDArray[np.uint16] | None], chosen: Sequence[Places], count: int
) -> list[Places]:
    """The windows with the smallest distances: at least so many, and all that equal the last.

    Of a segment without signs, all.
    """
    known = [part for part in distances if part is not None]
    if count >= sum(map(len, known)):
        return list(chosen)
    # Distances are small numbers: counting them is quicker than putting them in order.
    longest = 1 + max(int(part.max(initial=0)) for part in known)
    counted = sum(np.bincount(part, minlength=longest) for part in known)
    most = int(np.searchsorted(np.cumsum(counted), count))
    return [
        places if part is None else places[np.flatnonzero(part <= most)]
        for part, places in zip(distances, chosen, strict=True)
    ]


def _estimates(
    signs: NDArray[np.uint64], places: Places, vector: Vector
) -> NDArray[np.float32] | None:
    """What windows with these signs and numbers of one size would score; None: none are kept.

    All numbers of the question count, so this tells more than in how many signs they differ.
    """
    if not len(signs):
        return None
    words = np.ascontiguousarray(signs[:, places].T)
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=len(vector))
    estimates: NDArray[np.float32] = bits @ vector
    return estimates
