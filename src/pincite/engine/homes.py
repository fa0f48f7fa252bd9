"""Where the indexes of a library live, and how they are opened there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from pincite.errors import (
    IndexBuildFailed,
    IndexMissing,
    LibraryBusy,
    PinciteError,
    SettingsError,
    StoreDamaged,
)

if TYPE_CHECKING:
    from pincite.ports import Store
    from pincite.records import Generations
    from pincite.stores.journal import Journal
    from pincite.stores.lines import Entry
    from pincite.stores.sqlite.generations import GenerationFolders
    from pincite.stores.sqlite.log import ChunkLog
    from pincite.stores.sqlite.store import SqliteStore

JOURNAL_FILE = "journal.sqlite"
_PATIENCE = 30.0  # seconds for which whoever changes one document waits for another writer
_SECONDS_BETWEEN_TRIES = 0.1

Done = TypeVar("Done")


def patiently(action: Callable[[], Done], *, seconds: float = _PATIENCE) -> Done:
    """Do what another writer may be in the way of, as soon as it is not; LibraryBusy in the end."""
    until = time.monotonic() + seconds
    while True:
        try:
            return action()
        except LibraryBusy:
            if time.monotonic() > until:
                raise
            time.sleep(_SECONDS_BETWEEN_TRIES)


def try_index(store: Store) -> IndexBuildFailed | None:
    """Make the index of a store that is about to become the live one, where that is due.

    Why it cannot be made is no reason to stop: whoever asks raises it when all else is done.
    """
    try:
        store.make_index()
    except IndexBuildFailed as error:
        return error
    return None


@dataclass(frozen=True)
class Aside:
    """An empty index that is being filled, and the folder for what is kept with it."""

    store: Store
    files: Path


class MovingHome(Protocol):
    """What moving a library needs of its home."""

    @property
    def files(self) -> Path:
        """A folder for what is kept beside the index: eval runs, indexes of other policies."""
        ...

    def place(self) -> str:
        """Where it is, for people; empty where it is in the library's own folder."""
        ...

    def sight(self) -> tuple[str, str]:
        """As whom the index is read, and up to which label; empty where everybody sees all."""
        ...

    def read(self) -> Store:
        """A store to search in, of the live generation; IndexMissing where there is none."""
        ...

    def anew(self) -> AbstractContextManager[Aside]:
        """An empty index that takes the place of the one there is when the block ends well.

        Until then, and if the block fails or the process dies, the old one is as it was; what was
        kept with it (eval runs) stays with the new one. Nobody else can write meanwhile.
        """
        ...


class Home(MovingHome, Protocol):
    """A place for the index of one library, in generations. Whoever opens a store closes it.

    A library mostly has one generation. Another model or chunk policy fills a next one beside it,
    which then becomes the live one in one step, and the way back is one step, too.
    """

    def exists(self) -> bool:
        """Whether there is an index yet."""
        ...

    def write(self) -> Store:
        """A store to write to the live generation, made where there is none.

        It stays the live one until the store is closed, but for a `switch` by whoever holds it.
        """
        ...

    def mend(self) -> Store:
        """A store to repair the live generation, whatever its state."""
        ...

    def generations(self) -> Generations:
        """Which there are. Asked before each search, so it has to be quick."""
        ...

    def identity(self) -> tuple[int, ...]:
        """Which index `read` would open; also asked before each search."""
        ...

    def at(self, number: int) -> Home:
        """The same place with another generation as its live one, for whoever holds it only."""
        ...

    def held(self, number: int) -> AbstractContextManager[None]:
        """Nobody else writes to a generation meanwhile; LibraryBusy where someone does."""
        ...

    def is_written(self) -> bool:
        """Whether a run is under way in the live generation."""
        ...

    def journal(self) -> Journal:
        """Keys, jobs and the log of queries; whoever opens it closes it."""
        ...

    def known_as(self) -> tuple[str, str]:
        """How the log calls the library, and who asks it where the door names nobody."""
        ...

    def write_next(self) -> Store:
        """A store to write to the next generation, begun where there is none."""
        ...

    def switch(self) -> None:
        """Make the next generation the live one. The caller has both open for writing."""
        ...

    def rollback(self) -> None:
        """Make the generation before the live one again; LibraryBusy while someone writes."""
        ...

    def cancel(self) -> None:
        """Give up the next generation; LibraryBusy while someone writes to it."""
        ...

    def drop_before(self) -> None:
        """Forget the generation before, and with it the way back."""
        ...

    def is_of_folder(self) -> bool:
        """Whether the index was made from this folder, and so may be made equal to it."""
        ...

    def settle(self) -> None:
        """Note that the index is made from this folder, after a run that went well."""
        ...

    def refuse_folder(self) -> None:
        """A run makes the index equal to a folder: refused where something came from elsewhere."""
        ...

    def close(self) -> None:
        """Give back what the home itself holds; stores that were opened are closed by then."""
        ...


class FolderHome:
    """Embedded indexes in a folder of their own, usually inside the library's."""

    def __init__(self, root: Path, index: Path, *, number: int | None = None) -> None:
        self._root = root
        self._number = number
        self.files = index

    def exists(self) -> bool:
        """Whether there is an index yet."""
        return self.files.is_dir()

    def read(self) -> Store:
        """A store to search in; IndexMissing where there is none."""
        from pincite.stores.sqlite.opening import open_for_reading

        self._refuse_missing()
        return self._open_live(open_for_reading)

    def journal(self) -> Journal:
        """A small file beside the index."""
        from pincite.stores.journal import open_journal

        self._refuse_missing()
        return open_journal(self.files / JOURNAL_FILE)

    def known_as(self) -> tuple[str, str]:
        """The folder's name; who works in a folder has none."""
        return self._root.name, ""

    def write(self) -> Store:
        """The only store that writes; the folder is made where there is none."""
        from pincite.stores.sqlite.opening import open_for_writing

        return self._open_live(open_for_writing)

    def mend(self) -> Store:
        """A store to repair, whatever its state."""
        from pincite.stores.sqlite.opening import open_to_mend

        self._refuse_missing()
        return self._open_live(open_to_mend)

    def generations(self) -> Generations:
        """Which there are."""
        numbers = self._folders.numbers()
        return numbers if self._number is None else replace(numbers, live=self._number)

    def identity(self) -> tuple[int, ...]:
        """The generation and its database: a repair puts another one in its place."""
        return self._folders.identity(self.generations().live)

    def at(self, number: int) -> FolderHome:
        """The same folder with another generation as its live one."""
        return FolderHome(self._root, self.files, number=number)

    def held(self, number: int) -> AbstractContextManager[None]:
        """Nobody else writes to a generation meanwhile."""
        return self._folders.locked(number)

    def is_written(self) -> bool:
        """Whether a run is under way in the live generation."""
        from pincite.stores.sqlite.opening import is_written

        return is_written(self._folders.folder(self.generations().live))

    def write_next(self) -> SqliteStore:
        """The only store that writes to the next generation."""
        from pincite.records import Generations
        from pincite.stores.sqlite.opening import open_for_writing

        self._refuse_missing()
        self._folders.sweep()  # what a process left that was killed while it tidied up
        while True:
            number = self._folders.change(Generations.begun).last
            store = open_for_writing(self._folders.folder(number))
            if self.generations().next == number:
                return store
            store.close()  # another process gave it up, or switched to it, just now

    def switch(self) -> None:
        """Make the next generation the live one."""
        from pincite.records import Generations

        self._folders.change(Generations.switched)
        self._folders.sweep()  # only one generation is kept to go back to

    def rollback(self) -> None:
        """Make the generation before the live one again."""
        live = self.generations().live

        def rolled_back(numbers: Generations) -> Generations:
            _refuse_changed(numbers.live == live)
            return numbers.rolled_back()

        with self.held(live):
            self._folders.change(rolled_back)

    def cancel(self) -> None:
        """Give up the next generation."""
        number = self.generations().next
        if number is None:
            raise IndexMissing(f"no other generation of {self._root} is being made")

        def without_it(numbers: Generations) -> Generations:
            _refuse_changed(numbers.next == number)
            return numbers.without_next()

        with self.held(number):
            self._folders.change(without_it)
        self._folders.sweep()

    def drop_before(self) -> None:
        """Forget the generation before."""
        from pincite.records import Generations

        self._folders.change(Generations.without_before)
        self._folders.sweep()

    def place(self) -> str:
        """In the library's own folder."""
        return ""

    def sight(self) -> tuple[str, str]:
        """Whoever can read the folder sees all of it."""
        return "", ""

    def is_of_folder(self) -> bool:
        """An index that lives in a folder is of that folder."""
        return True

    def settle(self) -> None:
        """The folder itself is the note."""

    def refuse_folder(self) -> None:
        """All that is here came from the folder."""

    def close(self) -> None:
        """A folder holds nothing open."""

    @cached_property
    def _folders(self) -> GenerationFolders:
        from pincite.stores.sqlite.generations import GenerationFolders

        return GenerationFolders(self.files)

    def _open_live(self, opened: Callable[[Path], Store]) -> Store:
        """Another generation may become live while this one is opened: then that one is."""
        while True:
            live = self.generations().live
            self._refuse_lost(live)
            try:
                store = opened(self._folders.folder(live))
            except IndexMissing:
                if self.generations().live == live:
                    raise
                continue
            if self.generations().live == live:
                return store
            store.close()

    def _refuse_lost(self, live: int) -> None:
        """Whatever is left of a live generation must not be taken for a new one."""
        numbers = self.generations()
        was_begun = numbers.last > 1 and self._number is None
        if not was_begun or self._folders.holds(live) or numbers.live != live:
            return
        back = "go back with `pincite reindex --rollback`, " if numbers.before else ""
        raise StoreDamaged(
            f"{self._folders.folder(live)} is the index that is searched, and it is gone; {back}"
            f"put it back from a backup, or remove {self.files / 'generation'} and run "
            f"`pincite index build {self._root}`"
        )

    @contextmanager
    def anew(self) -> Iterator[Aside]:
        """An empty index that takes the place of the one there is when the block ends well."""
        from pincite.stores.sqlite.placing import filled_aside

        if self.exists():
            with self._beside() as (store, folder):
                yield Aside(store, folder)
            self._folders.sweep()
        else:
            with filled_aside(self.files) as (store, folder):
                yield Aside(store, folder)

    @contextmanager
    def _beside(self) -> Iterator[tuple[SqliteStore, Path]]:
        """A next generation that nobody else can make meanwhile, nor write to the live one."""
        from pincite.records import Generations
        from pincite.stores.sqlite.placing import emptied_aside, move_files

        live = self.generations().live
        with self.held(live):
            _refuse_changed(self.generations().live == live)
            if self.generations().next is not None:
                self.cancel()
            try:
                with closing(self.write_next()) as store, emptied_aside(self.files) as (folder, _):
                    yield store, folder
                    move_files(folder, self.files)
                    self._folders.change(Generations.replaced)
            except BaseException:
                with suppress(PinciteError):  # why it failed is what is to be told
                    self.cancel()
                raise

    def logs(self) -> list[ChunkLog]:
        """The live log, then those of other generations and damaged ones that were kept."""
        from pincite.stores.sqlite.log import ChunkLog
        from pincite.stores.sqlite.reader import LOG_NAME

        self._refuse_missing()
        numbers = self.generations()
        live = self._folders.folder(numbers.live) / LOG_NAME
        kept = (self._folders.folder(one).glob(f"{LOG_NAME}*") for one in sorted(numbers.kept))
        return [ChunkLog(path) for path in dict.fromkeys([live, *chain(*kept)])]

    def rewrite(self, changed: Callable[[ChunkLog], Iterable[Entry]]) -> None:
        """Put an index of the changed log in the place of the live one; nothing leads back."""
        with self._beside() as (store, _):
            store.take_over(changed(self.logs()[0]))

    def sweep(self) -> None:
        """Remove all that other generations left; LibraryBusy where someone writes there."""
        self._folders.sweep()
        if self._folders.unwanted():
            raise LibraryBusy(
                f"another process still writes to an index of {self._root} that is to be removed; "
                "run the same command again when it has finished"
            )

    def _refuse_missing(self) -> None:
        if not self.exists():
            raise IndexMissing(
                f"{self._root} has no index yet; run `pincite index build {self._root}`"
            )


def refuse_team(home: Home) -> FolderHome:
    """What is forgotten for good was in files of our own."""
    _ = home.files  # LibraryClosed after `close`
    if isinstance(home, FolderHome):
        return home
    raise SettingsError(
        "`forget` is not offered for a team's database; delete the file and update the index, "
        "or drop the project to remove earlier versions, too (`pincite team drop`)"
    )


def _refuse_changed(as_it_was: bool) -> None:  # noqa: FBT001 — it is all there is to say
    if not as_it_was:
        raise LibraryBusy(
            "another process switched to another generation just now; see what there is with "
            "`pincite reindex --status`"
        )
