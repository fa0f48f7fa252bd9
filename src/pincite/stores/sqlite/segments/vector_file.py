"""Single vectors of a large segment, read from its file.

A vector that is touched in a mapped file brings its neighbours into the memory of the process, so
after some questions all of them are there: 1.5 GB for a million. Reading takes a microsecond or
two more for each, and no memory.
"""

from __future__ import annotations

import os
import weakref
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_MAPPED_AT_MOST = 128 * 2**20  # bytes; smaller ones fit into memory


class VectorFile:
    """The vectors of one segment's file."""

    def __init__(self, path: Path, start: int, dimensions: int) -> None:
        self._start = start
        self._dimensions = dimensions
        self._descriptor = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._descriptor)

    def read(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """The vectors at these places, ascending; those that stand together at once."""
        size = self._dimensions * np.dtype(np.float32).itemsize
        firsts = np.flatnonzero(np.diff(places, prepend=-2) != 1)
        lengths = np.diff(firsts, append=len(places)) * size
        offsets = self._start + places[firsts] * size
        read = map(os.pread, repeat(self._descriptor), lengths.tolist(), offsets.tolist())
        return np.frombuffer(b"".join(read), np.float32).reshape(len(places), self._dimensions)


CAN_READ = hasattr(os, "pread")  # not on Windows, where vectors are mapped all the same


def reads_single_vectors(vectors: NDArray[np.float32]) -> bool:
    """Whether so many vectors are better read than mapped, and the system can read them so."""
    return CAN_READ and vectors.nbytes > _MAPPED_AT_MOST
