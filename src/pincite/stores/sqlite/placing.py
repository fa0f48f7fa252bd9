"""An index that is filled aside, and takes its place when it is whole."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.errors import LibraryBusy, PinciteError
from pincite.files import make_folder, open_file, remove_ours, replace_file, sync_folder
from pincite.settings import APART_FILE, RUNS_FOLDER
from pincite.stores.sqlite.connection import translated_errors
from pincite.stores.sqlite.opening import LOCK_NAME, remove_index, write_lock
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
        make_folder(folder)
        lock = write_lock(folder)
    try:
        with translated_errors(files / DATABASE_NAME):
            _empty(folder)  # of what a killed process left
            replace_file(folder / ".gitignore", [b"*\n"])
        yield folder, lock
    except BaseException:
        with suppress(PinciteError, OSError):  # why it failed is what is to be told
            _empty(folder)
            remove_ours(folder, *_NOT_MOVED)
        raise
    finally:
        lock.release(force=True)


def move_files(folder: Path, files: Path) -> None:
    """What else is kept with an index: what is there stays, what is new comes to it."""
    with translated_errors(files):
        for path in sorted(folder.rglob("*")):
            target = files / path.relative_to(folder)
            if not path.is_dir() and path.name not in _NOT_MOVED and not target.exists():
                make_folder(target.parent)
                with open_file(path) as file:
                    replace_file(target, [file.read()])
        _empty(folder)
        remove_ours(folder, *_NOT_MOVED)


def _empty(folder: Path) -> None:
    remove_index(folder)
    remove_ours(folder / RUNS_FOLDER, "*")
    remove_ours(folder, APART_FILE)


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
