"""The store that a library is asked through, whichever generation is live."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pincite.engine.homes import Home

if TYPE_CHECKING:
    from pincite.ports import Store


class LiveStore:
    """The store that searches use: opened once, and another one after a switch.

    A search that began before a switch goes on in the store it has; so that one is closed only
    when the one after it is left as well, or with everything.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._opening = threading.Lock()
        self._number = 0
        self._stores: list[Store] = []  # the last one is used

    def get(self) -> Store:
        """The live one."""
        with self._opening:
            live = self._home.generations().live
            if not self._stores or live != self._number:
                self._stores.append(self._home.read())
                self._number = live
                for store in self._stores[:-2]:
                    store.close()
                del self._stores[:-2]
            return self._stores[-1]

    def close(self) -> None:
        """Give back every resource."""
        with self._opening:
            for store in self._stores:
                store.close()
            self._stores.clear()
