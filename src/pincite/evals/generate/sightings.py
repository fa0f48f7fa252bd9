"""In how many documents something stands, counted in a fixed small memory."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

_SLOTS = 1 << 24  # of a byte each; ten thousand documents fill a sixth of them
_MOST = 255


class Sightings:
    """Counts documents by what stands in them; at times too many, never too few.

    Different things may share a slot, so what seems to stand in one document only truly does, and
    what seems to stand nowhere truly does not.
    """

    def __init__(self) -> None:
        self._counts = bytearray(_SLOTS)

    def note(self, keys: Iterable[str]) -> None:
        """Everything one document holds; to be called once for each document."""
        for slot in {_slot(key) for key in keys}:
            self._counts[slot] = min(self._counts[slot] + 1, _MOST)

    def count(self, key: str) -> int:
        """How many documents hold it, at most; from 255 on it is not known how many more."""
        return self._counts[_slot(key)]


def _slot(key: str) -> int:
    return crc32(key.encode("utf-8", "surrogatepass")) % _SLOTS
