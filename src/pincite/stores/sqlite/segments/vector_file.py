"""Single vectors of a large segment, read from its file.

A vector that is touched in a mapped file brings its neighbours into the memory of the process, so
after some questions all of them are there: 1.5 GB for a million. Reading takes a microsecond or
two more for each, and no memory.
"""

from __future__ import annotations

import os
import weakref
from itertools import repeat
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

_MAPPED_AT_MOST = 128 * 2**20  # bytes; smaller ones fit into memory


class VectorFile:
    """The vectors of one segment's file."""

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


def reads_single_vectors(vectors: NDArray[np.float32]) -> bool:
    """Whether so many vectors are better read than mapped."""
    return vectors.nbytes > _MAPPED_AT_MOST
