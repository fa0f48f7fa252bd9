"""Files of ours inside a folder that may have come from anywhere: no link in it is followed.

A received library may hold a link in place of a file or a folder, and what is written or removed
through it lies elsewhere. So each folder on the way is opened by itself, and files are opened, put
in their place and removed below the last one. Paths are absolute, and whoever opens a library
resolves its folder once: above it, links are the user's own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, cast

from pincite.errors import PathRefused

# On Linux a folder need not be readable to be on the way.
_ON_THE_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
_MODES = {"rb": os.O_RDONLY, "r+b": os.O_RDWR, "ab": os.O_WRONLY | os.O_APPEND | os.O_CREAT}
_LONGEST = 60  # characters of a name, so that the name of its part is not too long


@contextmanager
def _inside(folder: Path) -> Iterator[int]:
    """A descriptor of the folder, below which names can be used."""
    reached = os.open(folder.anchor, _ON_THE_WAY)
    try:
        for number, name in enumerate(folder.parts[1:], start=2):
            try:
                inner = os.open(name, _ON_THE_WAY, dir_fd=reached)
            except OSError:
                with suppress(FileNotFoundError):
                    state = os.stat(name, dir_fd=reached, follow_symlinks=False)
                    if stat.S_ISLNK(state.st_mode):
                        raise PathRefused(Path(*folder.parts[:number]), "is a link") from None
                raise
            os.close(reached)
            reached = inner
        yield reached
    finally:
        os.close(reached)


def _refuse_unusual(path: Path, state: os.stat_result) -> None:
    if stat.S_ISLNK(state.st_mode):
        raise PathRefused(path, "is a link")
    if not stat.S_ISREG(state.st_mode):
        raise PathRefused(path, "is not a regular file")


def _refuse_unusual_at(folder: int, path: Path) -> None:
    with suppress(FileNotFoundError):
        _refuse_unusual(path, os.stat(path.name, dir_fd=folder, follow_symlinks=False))


def refuse_links(path: Path) -> None:
    """PathRefused where a link, a pipe or a device is in the way of who opens a file by its path.

    A file that is not there yet is fine.
    """
    with _inside(path.parent) as folder:
        _refuse_unusual_at(folder, path)


def open_file(path: Path, mode: str = "rb", *, buffering: int = -1) -> BinaryIO:
    """A regular file, to read (rb), to change (r+b) or to append to (ab), which also makes it."""
    with _inside(path.parent) as folder:
        # Before opening, as that alone can stir a device; once open, the file is asked again.
        _refuse_unusual_at(folder, path)
        flags = _MODES[mode] | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path.name, flags, 0o666, dir_fd=folder)
    try:
        _refuse_unusual(path, os.fstat(descriptor))
        return cast("BinaryIO", os.fdopen(descriptor, mode, buffering))
    except BaseException:
        os.close(descriptor)
        raise


def lock_file(path: Path) -> BinaryIO | None:
    """A file that nobody else can lock until it is closed; None where somebody has locked it."""
    import fcntl

    file = open_file(path, "ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def replace_file(path: Path, parts: Iterable[bytes | memoryview], *, mode: int = 0o666) -> None:
    """Put a file in its place, the whole of it or nothing; on disk when this returns."""
    part = f".{path.name[-_LONGEST:]}.part"
    with _inside(path.parent) as folder:
        _refuse_unusual_at(folder, path)
        _unlink(part, folder)  # left by a killed process, or a link that somebody put there
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        descriptor = os.open(part, flags, mode, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            _unlink(part, folder)
            raise
    sync_folder(path.parent)


def make_folder(folder: Path, mode: int = 0o700) -> None:
    """Make a folder and those above it, where they are not there; on disk when this returns."""
    if not os.path.lexists(folder):
        make_folder(folder.parent, mode)
        with _inside(folder.parent) as above, suppress(FileExistsError):
            os.mkdir(folder.name, mode, dir_fd=above)
        sync_folder(folder.parent)
    with _inside(folder):
        return  # it is a folder, and no link


def sync_folder(folder: Path) -> None:
    """A new file's name must reach the disk as well as its bytes."""
    with _opened(folder) as descriptor:
        os.fsync(descriptor)


def remove(path: Path) -> None:
    """Remove a file, or a link itself, where there is one."""
    with suppress(FileNotFoundError), _inside(path.parent) as folder:
        _unlink(path.name, folder)


def remove_ours(folder: Path, *names: str) -> None:
    """Remove the files in a folder that match these names, and the folder if it is empty then.

    What somebody else put there stays. Of a link nothing is removed but the link itself.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        with _opened(folder) as descriptor:
            for name in os.listdir(descriptor):  # noqa: PTH208 — a path could lead elsewhere by now
                if any(fnmatchcase(name, one) for one in names):
                    with suppress(IsADirectoryError):
                        _unlink(name, descriptor)
        with suppress(OSError), _inside(folder.parent) as above:
            os.rmdir(folder.name, dir_fd=above)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """A descriptor of the folder itself, which is more than to be on the way."""
    with _inside(folder) as reached:
        descriptor = os.open(".", os.O_RDONLY, dir_fd=reached)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _unlink(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
