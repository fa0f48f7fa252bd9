"""An index that is filled aside, and takes its place when it is whole."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.errors import LibraryBusy
from pincite.stores.disk import sync_folder
from pincite.stores.sqlite.connection import translated_errors
from pincite.stores.sqlite.opening import LOCK_NAME, write_lock
from pincite.stores.sqlite.reader import DATABASE_NAME
from pincite.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from filelock import FileLock

_ASIDE = ".part"
_NOT_MOVED = (LOCK_NAME, ".gitignore")


@contextmanager
def filled_aside(files: Path) -> Iterator[tuple[SqliteStore, Path]]:
    """An empty store where there is no index yet, and the folder it is in.

    That folder gets the name `files` when the block ends well.
    """
    with emptied_aside(files) as (folder, lock):
        lock.acquire()  # once more: closing the store must not let go of it
        with closing(SqliteStore(folder, lock)) as store:
            store.recover()
            yield store, folder
        with translated_errors(files / DATABASE_NAME):
            _put(folder, files)


@contextmanager
def emptied_aside(files: Path) -> Iterator[tuple[Path, FileLock]]:
    """An empty folder beside `files`, and the lock of it; it goes if the block fails."""
    folder = files.with_name(files.name + _ASIDE)
    with translated_errors(files / DATABASE_NAME):
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = write_lock(folder)
    try:
        with translated_errors(files / DATABASE_NAME):
            _empty(folder)  # of what a killed process left
            (folder / ".gitignore").write_text("*\n")
        yield folder, lock
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        lock.release(force=True)


def move_files(folder: Path, files: Path) -> None:
    """What else is kept with an index: what is there stays, what is new comes to it."""
    with translated_errors(files):
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if name.parts[0] in _NOT_MOVED:
                continue
            if path.is_dir():
                (files / name).mkdir(mode=0o700, exist_ok=True)
            elif not (files / name).exists():
                path.rename(files / name)
                sync_folder((files / name).parent)
        shutil.rmtree(folder)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK_NAME:
            path.unlink()


def _put(folder: Path, files: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            sync_folder(path)
    try:
        folder.rename(files)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            raise LibraryBusy(f"another process made {files} meanwhile") from error
        raise
    sync_folder(files.parent)
