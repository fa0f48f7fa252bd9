"""An index that is filled aside, and takes its place when it is whole."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from pincite.errors import LibraryBusy
from pincite.stores.disk import sync_folder
from pincite.stores.sqlite import repair
from pincite.stores.sqlite.connection import translated_errors
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.opening import LOCK_NAME, write_lock
from pincite.stores.sqlite.reader import DATABASE_NAME, LOG_NAME, SEGMENTS_NAME
from pincite.stores.sqlite.store import SqliteStore

_ASIDE = ".part"
_INDEX_FILES = (LOG_NAME, DATABASE_NAME, SEGMENTS_NAME, LOCK_NAME, ".gitignore")


def aside(files: Path) -> Path:
    """Where an index is filled, with all that is kept with it."""
    return files.with_name(files.name + _ASIDE)


@contextmanager
def filled_aside(files: Path, place: Path) -> Iterator[SqliteStore]:
    """An empty store. What is in it when the block ends well takes the place of the index.

    The place is the folder with `files`, or one inside it. Whatever ends the process, it holds the
    old index or the new one. Nobody else can write to it meanwhile.
    """
    folder = aside(files)
    with ExitStack() as held:
        with translated_errors(place / DATABASE_NAME):
            if place.is_dir():
                held.callback(write_lock(place).release)
            folder.mkdir(mode=0o700, exist_ok=True)
            lock = write_lock(folder)
            held.callback(lock.release)
            lock.acquire()  # once more: closing the store must not let go of it
            _empty(folder)  # of what a killed process left
            (folder / ".gitignore").write_text("*\n")
        try:
            with closing(SqliteStore(folder, lock)) as store:
                store.recover()
                yield store
            with translated_errors(place / DATABASE_NAME):
                _put(folder, files, place)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK_NAME:
            path.unlink()


def _put(folder: Path, files: Path, place: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            sync_folder(path)
    if files.is_dir():
        _add_files(folder, files)
        _replace(folder, place)
    else:
        try:
            folder.rename(files)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                raise LibraryBusy(f"another process made {files} meanwhile") from error
            raise
    sync_folder(files.parent)


def _add_files(folder: Path, files: Path) -> None:
    """What else is kept with an index: what is there stays, what is new comes to it."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] in _INDEX_FILES:
            continue
        if path.is_dir():
            (files / name).mkdir(mode=0o700, exist_ok=True)
        elif not (files / name).exists():
            path.rename(files / name)
            sync_folder((files / name).parent)


def _replace(folder: Path, place: Path) -> None:
    """The log decides what an index is; all that follows from it may come after it."""
    repair.take_over(place / DATABASE_NAME, ChunkLog(place / LOG_NAME), folder / LOG_NAME)
    shutil.rmtree(place / SEGMENTS_NAME, ignore_errors=True)
    for name in (SEGMENTS_NAME, DATABASE_NAME):
        if (folder / name).exists():
            (folder / name).rename(place / name)
    sync_folder(place)
    shutil.rmtree(folder)
