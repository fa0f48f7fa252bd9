"""The store that a library is asked through, whichever generation is live."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pincite.engine.homes import Home
from pincite.errors import LibraryBusy

if TYPE_CHECKING:
    from pincite.ports import Store


class LiveStore:
    """The store that searches use: opened once, and another one after a switch or a repair.

    A search that began before a switch goes on in the store it has; so that one is closed only
    when the one after it is left as well, or with everything.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._opening = threading.Lock()
        self._identity: tuple[int, ...] = ()
        self._stores: list[Store] = []  # the last one is used

    def get(self) -> Store:
        """The live one."""
        with self._opening:
            identity = self._home.identity()
            if not self._stores or identity != self._identity:
                self._open(identity)
            return self._stores[-1]

    def _open(self, identity: tuple[int, ...]) -> None:
        try:
            self._stores.append(self._home.read())
        except LibraryBusy:
            # While it is repaired, or brought up to date, the one there was answers as before.
            if self._stores and identity[0] == self._identity[0]:
                return
            raise
        self._identity = identity
        for store in self._stores[:-2]:
            store.close()
        del self._stores[:-2]

    def close(self) -> None:
        """Give back every resource."""
        with self._opening:
            for store in self._stores:
                store.close()
            self._stores.clear()
