"""The index for vectors makes searches quick; that it cannot be made is no reason to stop."""

from __future__ import annotations

from pincite.errors import IndexBuildFailed
from pincite.ports import Store


class IndexMaking:
    """Makes the index of a store that is about to become the live one.

    Before that, so that searches are quick from the first on. Whether it can be made or not decides
    nothing, and so is told when all else is done.
    """

    def __init__(self) -> None:
        self._failure: IndexBuildFailed | None = None

    def make(self, store: Store) -> None:
        """Make it where that is due."""
        try:
            store.make_index()
        except IndexBuildFailed as error:
            self._failure = error

    def tell(self) -> None:
        """IndexBuildFailed where it could not be made."""
        if self._failure is not None:
            raise self._failure
