"""The last few of anything, remembered by a key. Threads may share it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Keeps what was used last, and forgets the rest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """What is remembered under the key; it counts as used."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Remember it; what was not used for longest makes room."""
        with self._lock:
            self._held[key] = value
            self._held.move_to_end(key)
            while len(self._held) > self._most:
                self._held.popitem(last=False)
