"""A segment with what is known of it at one moment, and what a search finds in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pincite.stores.sqlite.segments.segment import Segment
from pincite.vectors import Vector

Visible = Sequence[NDArray[np.bool_]]
"""Whether a chunk may be seen, for each segment."""


class Found(NamedTuple):
    """A chunk's row with its score, and its best window where that was looked for."""

    chunk: int
    score: float
    window: tuple[int, int] | None = None
    vector: Vector | None = None


@dataclass(frozen=True)
class Living:
    """A segment, and which of its chunks are still there."""

    segment: Segment
    alive: NDArray[np.bool_] | None  # None: all of them

    def seen(self, visible: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        """Which chunks may be seen and are still there; None: all of them."""
        if visible is None or self.alive is None:
            return self.alive if visible is None else visible
        return visible & self.alive

    def windows(self, visible: NDArray[np.bool_] | None) -> NDArray[np.intp]:
        """The places of the windows that may be seen."""
        seen = self.seen(visible)
        if visible is None or seen is None:
            return self._every_window
        return np.flatnonzero(seen[self.segment.window_chunks])

    @cached_property
    def _every_window(self) -> NDArray[np.intp]:
        owners = self.segment.window_chunks
        if self.alive is None:
            return np.arange(len(owners))
        return np.flatnonzero(self.alive[owners])

    @property
    def count(self) -> int:
        """How many chunks are still there."""
        return self.segment.size if self.alive is None else int(self.alive.sum())

    @property
    def length(self) -> float:
        """How many words they have together."""
        lengths = self.segment.lengths
        return float(lengths.sum() if self.alive is None else lengths[self.alive].sum())


def living(segment: Segment, forgotten: NDArray[np.int64]) -> Living:
    """The segment without the chunks of these rows."""
    dead = marked(segment, forgotten)
    return Living(segment, ~dead if dead.any() else None)


def marked(segment: Segment, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the segment's chunks are among these rows."""
    among = np.zeros(segment.size, np.bool_)
    places, here = places_of(segment, rows)
    among[places[here]] = True
    return among


def places_of(
    segment: Segment, rows: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where these rows would stand in the segment, and whether they do."""
    places = np.searchsorted(segment.chunks, rows)
    here = places < segment.size
    here[here] = segment.chunks[places[here]] == rows[here]
    return places, here
