"""Where the index of a library lives, and how it is opened there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pincite.errors import IndexMissing

if TYPE_CHECKING:
    from pincite.ports import Store


@dataclass(frozen=True)
class Aside:
    """An empty index that is being filled, and the folder for what is kept with it."""

    store: Store
    files: Path


class Home(Protocol):
    """A place for one index. Whoever opens a store closes it."""

    @property
    def files(self) -> Path:
        """A folder for what is kept beside the index: eval runs, indexes of other policies."""
        ...

    def exists(self) -> bool:
        """Whether there is an index yet."""
        ...

    def read(self) -> Store:
        """A store to search in; IndexMissing where there is none."""
        ...

    def write(self) -> Store:
        """A store to write to, made where there is none."""
        ...

    def mend(self) -> Store:
        """A store to repair, whatever its state."""
        ...

    def anew(self) -> AbstractContextManager[Aside]:
        """An empty index that takes the place of the one there is when the block ends well.

        Until then, and if the block fails or the process dies, the old one is as it was; what was
        kept with it (eval runs) stays with the new one. Nobody else can write meanwhile.
        """
        ...


class FolderHome:
    """An embedded index in a folder of its own, usually inside the library's."""

    def __init__(self, root: Path, index: Path) -> None:
        self._root = root
        self.files = index

    def exists(self) -> bool:
        """Whether there is an index yet."""
        return self.files.is_dir()

    def read(self) -> Store:
        """A store to search in; IndexMissing where there is none."""
        from pincite.stores.sqlite.opening import open_for_reading

        self._refuse_missing()
        return open_for_reading(self.files)

    def write(self) -> Store:
        """The only store that writes; the folder is made where there is none."""
        from pincite.stores.sqlite.opening import open_for_writing

        return open_for_writing(self.files)

    def mend(self) -> Store:
        """A store to repair, whatever its state."""
        from pincite.errors import StoreDamaged
        from pincite.stores.sqlite.opening import open_for_repair, open_for_writing

        self._refuse_missing()
        try:
            return open_for_writing(self.files)
        except StoreDamaged:
            return open_for_repair(self.files)

    @contextmanager
    def anew(self) -> Iterator[Aside]:
        """An empty index that takes the place of the one there is when the block ends well."""
        from pincite.stores.sqlite.placing import aside, filled_aside

        with filled_aside(self.files, self.files) as store:
            yield Aside(store, aside(self.files))

    def _refuse_missing(self) -> None:
        if not self.exists():
            raise IndexMissing(
                f"{self._root} has no index yet; run `pincite index build {self._root}`"
            )
