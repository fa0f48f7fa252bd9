"""What the tests of exports and imports share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from memory_store import MemoryStore
from pincite.engine.exporting import export_library
from pincite.engine.homes import Aside, FolderHome, MovingHome
from pincite.engine.importing import import_library
from pincite.errors import IndexMissing
from pincite.ports import Store
from pincite.records import MoveReport
from pincite.stores.archive import AnyLine, opened_archive, written_archive
from pincite.stores.lines import sealed


class MemoryHome:
    """A home without a disk: whatever works with it needs nothing but the ports."""

    def __init__(self, store: Store | None = None, files: Path | None = None) -> None:
        self.store = store
        self.files = files or Path(tempfile.gettempdir()) / "not-there"

    def exists(self) -> bool:
        return self.store is not None

    def place(self) -> str:
        return ""

    def sight(self) -> tuple[str, str]:
        return "", ""

    def read(self) -> Store:
        if self.store is None:
            raise IndexMissing("nothing was indexed here yet")
        return self.store

    def write(self) -> Store:
        self.store = self.store or MemoryStore()
        return self.store

    def mend(self) -> Store:
        return self.read()

    @contextmanager
    def anew(self) -> Iterator[Aside]:
        filled = MemoryStore()
        with tempfile.TemporaryDirectory() as files:
            yield Aside(filled, Path(files))
        self.store = filled


def export(home: MovingHome, target: Path, *, root: Path, history: bool = False) -> MoveReport:
    return export_library(
        root, home, target, history=history, overwrite=True, on_progress=lambda progress: None
    )


def take(file: Path, home: MovingHome, *, root: Path, replace: bool = False) -> MoveReport:
    return import_library(file, root, home, replace=replace, on_progress=lambda progress: None)


def home_in(root: Path) -> FolderHome:
    root.mkdir(exist_ok=True)
    return FolderHome(root, root / ".index")


def lines_of(file: Path) -> list[dict[str, Any]]:
    """The lines of an archive but for its end, as plain values to forge others from."""
    with opened_archive(file) as archive:
        plain = [msgspec.to_builtins(line) for line in archive.lines()]
    return plain[:-1]


def forge(target: Path, lines: Sequence[dict[str, Any] | AnyLine]) -> Path:
    """An archive of these lines, whole by all its checksums, as whoever wants harm would write."""
    with written_archive(target, overwrite=True) as archive:
        for line in lines:
            archive._pack(sealed(msgspec.json.encode(line)))
    return target
