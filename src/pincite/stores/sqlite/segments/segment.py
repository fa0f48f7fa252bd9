"""A stretch of the index as plain arrays, in one file that is mapped into memory.

A search sees it `Living`: with what is known of it at one moment.
"""

from __future__ import annotations

import json
import mmap
import os
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pincite.files import open_file, replace_file
from pincite.vectors import Vector

_MAGIC = b"pincite segment\n"
_ALIGNED = 64  # bytes; arrays begin at multiples, as vector instructions like it
ID_BYTES = 20
_MAPPED_AT_MOST = 128 * 2**20  # bytes of vectors; smaller ones fit into memory
HALVES = 2  # counts are kept as whole halves: a word in a heading counts one and a half


class VectorFile:
    """Single vectors of a large segment, read from its file.

    A vector that is touched in a mapped file brings its neighbours into the memory of the process,
    so after some questions all of them are there: 1.5 GB for a million. Reading takes a microsecond
    or two more for each, and no memory.
    """

    def __init__(self, file: BinaryIO, start: int, dimensions: int) -> None:
        self._start = start
        self._dimensions = dimensions
        self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)

    def read(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """The vectors at these places, ascending; those that stand together at once."""
        size = self._dimensions * np.dtype(np.float32).itemsize
        firsts = np.flatnonzero(np.diff(places, prepend=-2) != 1)
        lengths = np.diff(firsts, append=len(places)) * size
        offsets = self._start + places[firsts] * size
        read = map(os.pread, repeat(self._descriptor), lengths.tolist(), offsets.tolist())
        return np.frombuffer(b"".join(read), np.float32).reshape(len(places), self._dimensions)


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Chunks that were indexed one after the other, with their words and their vectors."""

    chunks: NDArray[np.int64]  # their rows in the database, ascending
    chunk_ids: NDArray[np.uint8]  # their ids, and those of their documents: 20 bytes each
    document_ids: NDArray[np.uint8]
    lengths: NDArray[np.float32]  # words in each, in all columns
    term_keys: NDArray[np.uint64]  # ascending; see `making.term_key`
    term_ends: NDArray[np.int64]  # of each term's postings; they begin where the last ones end
    posting_chunks: NDArray[np.int32]  # places in `chunks`, ascending for each term
    posting_counts: NDArray[np.uint16]  # how much the term counts there, in halves
    window_chunks: NDArray[np.int32]  # places in `chunks`, ascending
    window_spans: NDArray[np.int32]  # start and end in the document
    vectors: NDArray[np.float32]  # a row for each window
    signs: NDArray[np.uint64]  # their signs as bits, 64 in each row; no rows where they mislead
    vector_file: VectorFile | None = None  # where single vectors are to be read, not mapped
    mapped: mmap.mmap | None = None  # the file, where there is one

    @property
    def is_whole(self) -> bool:
        """Whether its file is as long as it was: beyond its end, a look ends the process."""
        return self.mapped is None or self.mapped.size() >= len(self.mapped)

    @property
    def size(self) -> int:
        """How many chunks there are."""
        return len(self.chunks)

    def postings(self, key: np.uint64) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """The chunks that hold a term, and how much it counts in each."""
        place = int(np.searchsorted(self.term_keys, key))
        if place == len(self.term_keys) or self.term_keys[place] != key:
            return self.posting_chunks[:0], self.posting_counts[:0]
        start = self.term_ends[place - 1] if place else 0
        end = self.term_ends[place]
        return self.posting_chunks[start:end], self.posting_counts[start:end]

    def vectors_at(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """The vectors of these windows, whose places are ascending."""
        if len(places) == len(self.vectors):
            return self.vectors
        if self.vector_file is None:
            return self.vectors[places]
        return self.vector_file.read(places)


ARRAYS = tuple(one.name for one in fields(Segment) if one.name not in ("vector_file", "mapped"))


def same(one: Segment, other: Segment) -> bool:
    """Whether two segments hold the same."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS)


def signs_of(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One bit for each number: whether it is above zero. The last word is filled up with zeros."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % 8
    words = np.pad(bits, ((0, 0), (0, missing))).view(np.uint64)
    return np.ascontiguousarray(words.T)


_ASKED, _SAMPLED, _CHOSEN, _BEST = 32, 8_000, 0.026, 10
_LEAST_RECALL = 0.9


def telling_signs(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """The signs, where the nearest by them are the nearest; else no rows, for all to be compared.

    Signs say little of vectors with many zeros, few dimensions or one side they all lean to. So
    they are tried: mixtures of vectors are asked for among some of them, as a search would.
    """
    signs = signs_of(vectors)
    chance = np.random.default_rng(len(vectors))
    sample = np.sort(chance.permutation(len(vectors))[:_SAMPLED])
    if len(sample) <= _BEST:
        return signs
    held = vectors[sample]
    pairs = held[chance.integers(len(held), size=(_ASKED, 2))]
    questions = 0.7 * pairs[:, 0] + 0.3 * pairs[:, 1]
    exact = np.argsort(-(questions @ held.T), axis=1, kind="stable")[:, :_BEST]
    count = max(round(_CHOSEN * len(held)), 10 * _BEST)
    asked = signs_of(questions)
    found = 0
    for number in range(_ASKED):
        differing = np.bitwise_count(signs[:, sample] ^ asked[:, number, np.newaxis]).sum(axis=0)
        chosen = np.argsort(differing, kind="stable")[:count]
        found += len(np.intersect1d(chosen, exact[number]))
    return signs if found >= _LEAST_RECALL * _ASKED * _BEST else signs[:0]


def save(segment: Segment, path: Path) -> None:
    """Write the file and wait until it is on the disk."""
    replace_file(path, _written(segment))


def _written(segment: Segment) -> Iterator[bytes | memoryview]:
    arrays = {name: getattr(segment, name) for name in ARRAYS}
    told = json.dumps(
        [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    ).encode()
    yield (head := _MAGIC + len(told).to_bytes(8, "little") + told)
    size = len(head)
    for array in arrays.values():
        yield b"\0" * (-size % _ALIGNED)
        yield np.ascontiguousarray(array).data
        size += -size % _ALIGNED + array.nbytes


def opened(path: Path) -> Segment:
    """The segment in a file; ValueError where the file is not whole."""
    with open_file(path) as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        at = len(_MAGIC) + 8
        if mapped[: len(_MAGIC)] != _MAGIC:
            raise ValueError(f"{path} is no segment")
        end = at + int.from_bytes(mapped[len(_MAGIC) : at], "little")
        arrays: dict[str, Any] = {}
        starts: dict[str, int] = {}
        for name, dtype, shape in json.loads(mapped[at:end]):
            starts[name] = end + -end % _ALIGNED
            count = int(np.prod(shape))
            arrays[name] = np.frombuffer(mapped, dtype, count, starts[name]).reshape(shape)
            end = starts[name] + arrays[name].nbytes
        segment = Segment(**arrays, mapped=mapped)
        if segment.vectors.nbytes <= _MAPPED_AT_MOST:
            return segment
        vector_file = VectorFile(file, starts["vectors"], segment.vectors.shape[1])
        return replace(segment, vector_file=vector_file)


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
