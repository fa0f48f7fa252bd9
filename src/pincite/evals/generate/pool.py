"""A sample of documents of a fixed size, the same for the same seed in whatever order they come."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

_Kept = TypeVar("_Kept")


def order(seed: int, name: str) -> str:
    """Puts names in an order that looks like chance, another one for each seed."""
    identity = f"{seed}\0{name}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(identity, digest_size=8).hexdigest()


class Pool(Generic[_Kept]):
    """What was found in a sample of the documents in which something was found."""

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
