"""The ways to open an index: to write, to read, to mend."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from pincite.errors import (
    IndexMissing,
    LibraryBusy,
    PathRefused,
    StoreDamaged,
    StoreError,
    StoreTooNew,
)
from pincite.files import make_folder, open_file, refuse_links, remove_ours, replace_file
from pincite.stores.sqlite.connection import translated_errors
from pincite.stores.sqlite.reader import DATABASE_NAME, LOG_NAME, SEGMENTS_NAME
from pincite.stores.sqlite.segments.shelf import SUFFIX
from pincite.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from filelock import FileLock

LOCK_NAME = "lock"
_OURS = tuple((f"{name}*", f".{name}*") for name in (LOG_NAME, DATABASE_NAME))
_held_here: WeakValueDictionary[Path, FileLock] = WeakValueDictionary()  # by this process
_PATIENCE = 0.2  # seconds; a search may look just then whether somebody writes


def open_for_writing(folder: Path) -> SqliteStore:
    """The only writer of the index in this folder; made if it is not there."""
    with translated_errors(folder / DATABASE_NAME):
        is_new = not folder.is_dir()
        if is_new:
            # The index holds the text of every document, whatever their own permissions are.
            make_folder(folder)
        lock = write_lock(folder)
    store = SqliteStore(folder, lock)
    try:
        if is_new:
            with translated_errors(folder / DATABASE_NAME):
                replace_file(folder / ".gitignore", [b"*\n"])
        store.recover()
    except BaseException:
        store.close()
        raise
    return store


def open_for_repair(folder: Path) -> SqliteStore:
    """The only writer, without looking at what the files hold: they may be damaged."""
    _refuse_missing(folder)
    with translated_errors(folder / DATABASE_NAME):
        return SqliteStore(folder, write_lock(folder))


def open_to_mend(folder: Path) -> SqliteStore:
    """The only writer of an index that may be damaged, or not."""
    try:
        return open_for_writing(folder)
    except StoreDamaged:
        return open_for_repair(folder)


def open_for_reading(folder: Path) -> SqliteStore:
    """A reader. What a killed writer left in the log is taken over first where that can be done."""
    _refuse_missing(folder)
    store = SqliteStore(folder, None)
    try:
        if store.is_behind():
            _recover_if_free(folder, needed=store.is_of_older_schema())
        store.header()
    except BaseException:
        store.close()
        raise
    return store


def _refuse_missing(folder: Path) -> None:
    if not (folder / LOG_NAME).exists() and not (folder / DATABASE_NAME).exists():
        raise IndexMissing(
            f"{_library_of(folder)} has no index yet; "
            f"run `pincite index build {_library_of(folder)}`"
        )


def _recover_if_free(folder: Path, *, needed: bool) -> None:
    """A busy library is being recovered or written by someone else; without room, it cannot be.

    What an older pincite made can only be read when it was brought up to date once.
    """
    try:
        open_for_writing(folder).close()
    except (StoreDamaged, StoreTooNew):
        raise
    except (LibraryBusy, StoreError) as error:
        if needed:
            raise type(error)(
                f"the index of {_library_of(folder)} is not there or was made by an older pincite, "
                f"and cannot be brought up to date now: {error}"
            ) from error


def remove_index(folder: Path) -> None:
    """Remove an index from its folder; whoever does holds its lock.

    The log goes first: without it nobody takes what is left for an index that is to be recovered.
    """
    for names in _OURS:
        remove_ours(folder, *names)
    remove_ours(folder / SEGMENTS_NAME, f"*{SUFFIX}*")


def is_left(folder: Path) -> bool:
    """Whether a file of an index is there that `remove_index` would remove."""
    ours = (folder.glob(one) for one in (*chain(*_OURS), f"{SEGMENTS_NAME}/*{SUFFIX}*"))
    return any(one.is_symlink() or one.is_file() for one in chain(*ours))


def write_lock(folder: Path) -> FileLock:
    """Held by the one who writes to the index in this folder; LibraryBusy where someone does."""
    from filelock import FileLock, Timeout

    refuse_links(folder / LOCK_NAME)
    lock = FileLock(folder / LOCK_NAME)
    try:
        lock.acquire(timeout=_PATIENCE, poll_interval=_PATIENCE / 10)
    except Timeout:
        library = _library_of(folder)
        if folder in _held_here:
            raise LibraryBusy(
                f"this process is indexing {library} already; wait until it has finished"
            ) from None
        raise LibraryBusy(
            f"another process is indexing {library}; wait until it has finished, or stop it"
        ) from None
    _held_here[folder] = lock
    return lock


def is_written(folder: Path) -> bool:
    """Whether somebody writes to the index in this folder.

    Asked by a shared lock, so that those who ask do not take each other for a writer.
    """
    import fcntl

    try:
        with open_file(folder / LOCK_NAME) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, PathRefused):  # nobody ever wrote here, or it cannot be told
        return False
    return False


def _library_of(folder: Path) -> Path:
    """The folder that a user knows; a generation lies deeper in it than the first one."""
    return folder.parents[2] if folder.parent.name == "generations" else folder.parent
