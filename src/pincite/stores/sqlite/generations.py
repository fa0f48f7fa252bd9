"""Several indexes in one index folder, and the small file that says which of them is live.

The first generation is the index folder itself, the others are folders inside it. Whoever changes
which one is live holds the write lock of the one that was: nobody writes to what is left behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pincite.errors import LibraryBusy, StoreDamaged
from pincite.files import open_file, refuse_links, remove_ours, replace_file
from pincite.records import Generations
from pincite.stores.sqlite.connection import translated_errors
from pincite.stores.sqlite.opening import LOCK_NAME, is_left, remove_index, write_lock
from pincite.stores.sqlite.reader import DATABASE_NAME, LOG_NAME

FIRST = 1
POINTER_NAME = "generation"
FOLDER_NAME = "generations"
_LOCK_NAME = "generations.lock"  # held for a moment, while the pointer is changed
_LONGEST = 10_000  # bytes of the pointer


class GenerationFolders:
    """The generations inside one index folder."""

    def __init__(self, index: Path) -> None:
        self._index = index
        self._pointer = index / POINTER_NAME
        self._known: tuple[tuple[int, ...], Generations] | None = None

    def numbers(self) -> Generations:
        """Which there are; only the first one where nothing else is said."""
        with translated_errors(self._pointer):
            try:
                # The file is never changed, only replaced; it is asked for before each search.
                state = self._pointer.lstat()
                key = (state.st_ino, state.st_mtime_ns, state.st_size)
                if self._known is None or self._known[0] != key:
                    with open_file(self._pointer) as file:
                        self._known = (key, _numbers_in(file.read(_LONGEST), self._pointer))
            except FileNotFoundError:
                return Generations()
            return self._known[1]

    def folder(self, number: int) -> Path:
        """Where a generation is, or would be."""
        return self._index if number == FIRST else self._index / FOLDER_NAME / str(number)

    def holds(self, number: int) -> bool:
        """Whether there is something of an index in a generation."""
        return any((self.folder(number) / one).exists() for one in (LOG_NAME, DATABASE_NAME))

    def identity(self, number: int) -> tuple[int, ...]:
        """Its number and which file its database is, if there is one just now."""
        try:
            database = (self.folder(number) / DATABASE_NAME).lstat()
        except OSError:
            return (number,)
        return number, database.st_dev, database.st_ino

    def change(self, change: Callable[[Generations], Generations]) -> Generations:
        """Replace what the pointer says in one step; on disk when this returns."""
        with translated_errors(self._pointer), self._pointer_locked():
            before = self.numbers()
            after = change(before)
            if after != before:
                self._write(after)
            return after

    def sweep(self) -> None:
        """Remove the files of all generations that are not wanted any more."""
        with translated_errors(self._index), self._pointer_locked():
            for number in sorted(self._on_disk() - self.numbers().kept):
                self._remove(number)

    def unwanted(self) -> set[int]:
        """Those of which there still are files, though nobody wants them any more."""
        others = self._on_disk() - self.numbers().kept
        return {one for one in others if is_left(self.folder(one))}

    @contextmanager
    def locked(self, number: int) -> Iterator[None]:
        """Nobody writes to the generation meanwhile; LibraryBusy where someone does."""
        folder = self.folder(number)
        if not folder.is_dir():
            yield  # it was begun, and ended before anything was written
            return
        with translated_errors(folder):
            lock = write_lock(folder)
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _pointer_locked(self) -> Iterator[None]:
        from filelock import FileLock

        refuse_links(self._index / _LOCK_NAME)
        with FileLock(self._index / _LOCK_NAME):
            yield

    def _write(self, numbers: Generations) -> None:
        replace_file(self._pointer, [json.dumps(asdict(numbers)).encode(), b"\n"])

    def _on_disk(self) -> set[int]:
        # Also what is left by a process that was killed while it removed it.
        others = (self._index / FOLDER_NAME).glob("[1-9]*")
        numbers = {int(one.name) for one in others if one.name.isdecimal() and one.is_dir()}
        return numbers | ({FIRST} if is_left(self._index) else set())

    def _remove(self, number: int) -> None:
        """Unless someone is still writing there, who will find that nobody wants it."""
        try:
            with self.locked(number):
                # Eval runs and the other generations stay.
                remove_index(self.folder(number))
                if number != FIRST:
                    remove_ours(self.folder(number), LOCK_NAME, ".gitignore")
        except LibraryBusy:
            return


def _numbers_in(data: bytes, pointer: Path) -> Generations:
    try:
        value = json.loads(data)
        numbers = Generations(**value)
        sound = all(
            type(one) is int and FIRST <= one <= numbers.last
            for one in (numbers.live, numbers.last, *numbers.kept)
        )
    except (ValueError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise StoreDamaged(
            f"{pointer} is damaged, and it says which of the indexes in {pointer.parent} is to be "
            "searched; put it back from a backup, or remove it to search the first one"
        )
    return numbers
