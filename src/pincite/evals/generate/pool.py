"""What is known of a whole library in a fixed small memory: a sample of it, and counts."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar
from zlib import crc32

_SLOTS = 1 << 24  # of a byte each; ten thousand documents fill a sixth of them
_MOST = 255

_Kept = TypeVar("_Kept")


def order(seed: int, name: str) -> str:
    """Puts names in an order that looks like chance, another one for each seed."""
    identity = f"{seed}\0{name}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(identity, digest_size=8).hexdigest()


class Pool(Generic[_Kept]):
    """What was found in a sample of the documents in which something was found.

    The same for the same seed, in whatever order they come.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size = size
        self._seed = seed
        self._worst_first: list[tuple[int, str]] = []  # a heap, by the order turned round
        self._kept: dict[str, list[_Kept]] = {}

    def wants(self, path: str) -> bool:
        """Whether what is found in this document would be kept."""
        return len(self._kept) < self._size or self._place(path) > self._worst_first[0][0]

    def keep(self, path: str, found: Iterable[_Kept]) -> None:
        """Keep what was found, in place of what was found in another document where full."""
        items = list(found)
        if not items or not self.wants(path):
            return
        self._kept[path] = items
        heapq.heappush(self._worst_first, (self._place(path), path))
        if len(self._kept) > self._size:
            _, dropped = heapq.heappop(self._worst_first)
            del self._kept[dropped]

    def __iter__(self) -> Iterator[_Kept]:
        """Everything kept, document by document."""
        for path in sorted(self._kept, key=lambda path: order(self._seed, path)):
            yield from self._kept[path]

    def _place(self, path: str) -> int:
        return -int(order(self._seed, path), 16)


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
