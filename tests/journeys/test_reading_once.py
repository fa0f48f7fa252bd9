"""No byte of a user's file is read for nothing: how many are is counted, not timed."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from pincite.engine import open_library
from pincite.engine.library import Library
from pincite.records import Progress
from pincite.settings import SourceSettings
from pincite.sources import Checksums, Folder

LATER = 10_000_000_000  # nanoseconds: the files of a test were written long ago


class CountedFile:
    """A file that counts the bytes that are read from it."""

    def __init__(self, file: BinaryIO, path: str, read: Counter[str]) -> None:
        self._file, self._path, self._bytes = file, path, read

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._bytes[self._path] += len(data)
        return data

    def fileno(self) -> int:
        return self._file.fileno()


class CountedFolder(Folder):
    """A folder that counts the bytes that are read from each of its files."""

    read_bytes: Counter[str]

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        with super().open(path) as file:
            yield cast("BinaryIO", CountedFile(file, path, self.read_bytes))


class CountedLibrary(Library):
    """A library of such a folder."""

    after = LATER  # how long after its files were changed the library looks at them

    @cached_property
    def read_bytes(self) -> Counter[str]:
        return Counter()

    def _folder(self, max_file_bytes: int) -> Folder:
        settings = SourceSettings(max_file_bytes=max_file_bytes)
        folder = CountedFolder(self.root, settings, self._checksums)
        folder.read_bytes = self.read_bytes
        return folder

    @cached_property
    def _checksums(self) -> Checksums:
        kept = self._home.files / "checksums.json"
        return Checksums(kept, lambda: time.time_ns() + self.after)

    def bytes_read(self) -> dict[str, int]:
        """Since this was asked last."""
        read = dict(self.read_bytes)
        self.read_bytes.clear()
        return read


FILES = {"pumps.md": "The pump leaks.", "deep/valves.md": "The valve sticks in winter."}
SIZES = {path: len(text) for path, text in FILES.items()}


def opened(root: Path) -> CountedLibrary:
    plain = open_library(root)
    return CountedLibrary(plain.root, plain._embedders, plain._home)


@pytest.fixture
def library(tmp_path: Path) -> CountedLibrary:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return opened(tmp_path)


def test_a_first_build_reads_each_byte_once(library: CountedLibrary) -> None:
    library.index(model="hashing")
    assert library.bytes_read() == SIZES


def test_what_did_not_change_is_not_read_again_by_any_process(library: CountedLibrary) -> None:
    library.index(model="hashing")
    again = opened(library.root)
    assert again.index().unchanged == 2
    assert not again.search("pump").changed
    assert not again.show("pumps.md:1").changed
    assert again.bytes_read() == {}


def test_what_a_stopped_build_stored_is_not_read_again(library: CountedLibrary) -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.index(model="hashing", on_progress=stop)
    (stored,) = library.documents()
    again = opened(library.root)
    assert again.index().unchanged == 1
    assert stored.path not in again.bytes_read()


def test_only_the_file_that_changed_is_read(library: CountedLibrary) -> None:
    library.index(model="hashing")
    library.bytes_read()
    (library.root / "pumps.md").write_text("The pump leaks no more.")
    assert library.search("pump").changed == ("pumps.md",)
    assert library.bytes_read() == {"pumps.md": 23}
    assert library.search("pump").changed == ("pumps.md",)
    assert library.index().changed == 1
    assert library.bytes_read() == {"pumps.md": 23}


def test_following_a_folder_reads_only_what_changes(library: CountedLibrary) -> None:
    library.index(model="hashing")
    library.bytes_read()
    stop = threading.Event()
    reports = library.watch(stop)
    assert next(reports).unchanged == 2
    assert library.bytes_read() == {}
    (library.root / "pumps.md").write_text("Dry.")
    assert next(reports).changed == 1
    assert library.bytes_read() == {"pumps.md": 4}
    stop.set()
    assert list(reports) == []


def test_a_moved_file_is_followed_whether_its_bytes_are_known_or_not(
    library: CountedLibrary,
) -> None:
    library.index(model="hashing")
    (library.root / "pumps.md").rename(library.root / "taps.md")
    assert library.index().moved == 1


def test_without_what_was_noted_every_file_is_read_once(library: CountedLibrary) -> None:
    library.index(model="hashing")
    kept = library.root / ".index" / "checksums.json"
    for damage in (b"", b"{}", b'{"pumps.md": 3}', b"\xff"):
        kept.write_bytes(damage)
        again = opened(library.root)
        assert again.index().unchanged == 2
        assert again.bytes_read() == SIZES
        assert again.index().unchanged == 2
        assert again.bytes_read() == {}


@pytest.mark.parametrize("after", [0, LATER])
def test_a_change_that_size_and_time_do_not_show_is_noticed(
    library: CountedLibrary, after: int
) -> None:
    library.after = after
    library.index(model="hashing")
    file = library.root / "pumps.md"
    before = file.stat()
    file.write_text("The pump LEAKS.")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert library.search("pump").changed == ("pumps.md",)
    assert library.index().changed == 1
