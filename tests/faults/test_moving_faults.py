"""Exports and imports that are killed, and backups of libraries that are being written to."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fault_library import (
    INDEX_FOLDER,
    build,
    change_folder,
    disagreements,
    documents_of,
    live_folder,
    quick_folder,
)
from moving_driver import DOCUMENTS, version

from moving import MemoryHome, export, home_in, take
from pincite.engine import open_library
from pincite.engine.exporting import export_library
from pincite.engine.homes import FolderHome
from pincite.errors import ArchiveInvalid, IndexMissing, PinciteError
from pincite.ports import Store
from pincite.records import Progress
from pincite.stores.archive import opened_archive
from soak import times

DRIVER = Path(__file__).with_name("moving_driver.py")
MOST = times(3, soak=50)  # points at which each work is killed
_PATIENCE = 60.0  # seconds; only a failing test waits that long

Work = Callable[[int], dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        yield folder


@pytest.fixture(scope="module")
def driver() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, str(DRIVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def run(driver: subprocess.Popen[str], **job: object) -> dict[str, Any]:
    assert driver.stdin is not None
    assert driver.stdout is not None
    driver.stdin.write(json.dumps({"naive": False, **job}) + "\n")
    driver.stdin.flush()
    answer: dict[str, Any] = json.loads(driver.stdout.readline())
    return answer


def kills(work: Work, prepare: Callable[[], None]) -> Iterator[str]:
    """Do the work again and again, killed before one of its calls that reach the disk."""
    prepare()
    whole = work(0)
    assert whole["status"] == 0
    points = int(whole["points"])
    spread = {1 + number * points // MOST for number in range(MOST)}
    for at in sorted(spread | set(range(max(1, points - MOST), points + 1))):
        prepare()
        # The same work takes a write more or less, so that the very last may not come.
        is_killed = work(at)["status"] == -9
        assert is_killed or at > points - MOST, f"point {at} of {points} was not reached"
        if is_killed:
            yield f"killed at point {at} of {points}"


@pytest.fixture
def library(folder: Path) -> Path:
    """A library with some past."""
    root = folder / "library"
    root.mkdir()
    for step in range(3):
        change_folder(root, f"moving/{step}")
        build(root)
    return root


@pytest.fixture
def archive(library: Path, folder: Path) -> Path:
    with open_library(library) as opened:
        opened.export_to(folder / "library.pincite", history=True)
    return folder / "library.pincite"


# Exports


def is_whole(file: Path) -> bool:
    try:
        with opened_archive(file) as archive:
            return sum(1 for _ in archive.lines()) > 0
    except ArchiveInvalid:
        return False


@pytest.mark.parametrize("naive", [False, True])
def test_an_export_that_is_killed_leaves_the_file_that_was_there_or_a_whole_one(
    driver: subprocess.Popen[str], library: Path, archive: Path, folder: Path, naive: bool
) -> None:
    target = folder / "target.pincite"

    def work(at: int) -> dict[str, Any]:
        job = {"root": str(library), "file": str(target), "naive": naive}
        return run(driver, work="export", at=at, **job)

    def prepare() -> None:
        shutil.copy(archive, target)

    torn = [why for why in kills(work, prepare) if not is_whole(target)]
    assert bool(torn) == naive, torn
    with open_library(library) as opened:
        opened.export_to(target, history=True, overwrite=True)
    assert target.read_bytes() == archive.read_bytes()
    left = {path.name for path in folder.iterdir()} - {"library", archive.name, target.name}
    assert left == set()


# Imports


def state_of(root: Path) -> dict[str, str] | None:
    """Path → checksum of what is searched there; None where there is no index."""
    if not (root / INDEX_FOLDER).exists():
        return None
    with open_library(root) as opened:
        assert opened.verify() == []
        try:
            complete = opened.search("valve", mode="words").complete
        except IndexMissing:
            return {"begun": ""}
    if not complete:
        return {"unfinished": ""}
    assert disagreements(live_folder(root)) == []
    return documents_of(root)


@pytest.mark.parametrize("naive", [False, True])
@pytest.mark.parametrize("replaced", [False, True])
def test_an_import_that_is_killed_leaves_what_was_there_or_all_of_the_new(
    driver: subprocess.Popen[str],
    library: Path,
    archive: Path,
    folder: Path,
    replaced: bool,
    naive: bool,
) -> None:
    old, root = folder / "old", folder / "root"
    old.mkdir()
    if replaced:
        change_folder(old, "another")
        build(old)
        with open_library(old) as opened:
            assert opened.reindex(policy="flat").outcome == "switched"
    before, after = state_of(old), state_of(library)
    assert before != after

    def prepare() -> None:
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(old, root)

    def work(at: int) -> dict[str, Any]:
        job = {"root": str(root), "file": str(archive), "naive": naive}
        return run(driver, work="import", at=at, **job)

    seen = []
    for why in kills(work, prepare):
        state = state_of(root)
        seen.append(state)
        if naive:
            continue
        assert state in (before, after), why
        leads_back = home_in(root).generations().before is not None
        assert leads_back == (replaced and state == before), why
        with open_library(root) as opened:
            opened.import_from(archive, replace=True)
        assert state_of(root) == after, why
        assert not (root / f"{INDEX_FOLDER}.part").exists(), why
    if naive:
        assert any(state not in (before, after) for state in seen)
    elif replaced:
        assert before in seen
        assert after in seen, "no kill came after the index was replaced"


# Writers that go on


@contextmanager
def writer(index: Path) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, str(DRIVER), "write", str(index)])
    try:
        log = index / "chunks.jsonl"
        wait_until(lambda: log.exists() and log.read_bytes().count(b"\n") > 2 * DOCUMENTS)
        yield
        assert process.poll() is None, "the writer gave up"
    finally:
        process.kill()
        process.wait()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the writer does not write"
        time.sleep(0.005)


class Unfrozen:
    """A store that reads on while others write; what one does without a snapshot."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    @contextmanager
    def snapshot(self) -> Iterator[Store]:
        yield self._store


class UnfrozenHome(FolderHome):
    def read(self) -> Store:
        return Unfrozen(super().read())  # type: ignore[return-value]


def back_up(home: FolderHome, target: Path, root: Path) -> None:
    """A backup in whose middle the writer commits, again and again."""
    log = home.files / "chunks.jsonl"

    def wait(progress: Progress) -> None:
        before = log.stat().st_size
        wait_until(lambda: log.stat().st_size > before)

    export_library(root, home, target, history=True, overwrite=True, on_progress=wait)


def is_a_state(file: Path, root: Path) -> bool:
    """Whether the backup is what the library was after some commit, its past included."""
    home = MemoryHome()
    take(file, home, root=root)
    store = home.read()
    held = {entry.path: store.load_document(entry.id) for entry in store.documents()}
    commits = len(held) + len(list(store.past_versions()))
    expected = dict(version(number) for number in range(commits))
    return {path: one and one.text for path, one in held.items()} == expected


def test_a_backup_is_one_state_of_the_library_however_it_is_written_to(folder: Path) -> None:
    home = FolderHome(folder, folder / INDEX_FOLDER)
    with writer(home.files):
        for _ in range(times(2, soak=20)):
            back_up(home, folder / "backup.pincite", folder)
            assert is_a_state(folder / "backup.pincite", folder)


def test_without_a_snapshot_a_backup_is_no_state_of_the_library(folder: Path) -> None:
    home = UnfrozenHome(folder, folder / INDEX_FOLDER)
    with writer(home.files):
        try:
            back_up(home, folder / "backup.pincite", folder)
        except PinciteError:
            return  # a document that was listed is gone
        assert not is_a_state(folder / "backup.pincite", folder)


def test_an_export_of_a_library_at_rest_is_the_same_file_each_time(
    library: Path, archive: Path, folder: Path
) -> None:
    home = FolderHome(library, library / INDEX_FOLDER)
    export(home, folder / "again.pincite", root=library, history=True)
    assert (folder / "again.pincite").read_bytes() == archive.read_bytes()
