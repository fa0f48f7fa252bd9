"""`kill -9` and a full disk while a library moves to another model, or forgets: old or new."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fault_library import INDEX_FOLDER, NAME, POLICY, Rows, change_folder, quick_folder, rows_in
from reindex_driver import SECRET

from forgetting import traces
from pincite.engine.homes import FolderHome
from pincite.errors import PinciteError, StoreDamaged
from pincite.stores.sqlite.generations import GenerationFolders
from soak import times
from two_models import NEW, OLD, open_with_models

KILLS = times(4, soak=100)
LAST = times(12, soak=30)  # where it is all there, and has to be switched to
QUESTION = "valve7 signal9"


class Driver:
    """A process that does jobs one by one."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, root: Path, *, work: str = "reindex", **job: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = json.dumps({"root": str(root), "work": work, **job})
        self._process.stdin.write(told + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    script = Path(__file__).with_name("reindex_driver.py")
    paths = [str(script.parent.parent), os.environ.get("PYTHONPATH", "")]
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    ) as process:
        yield Driver(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        yield folder


@pytest.fixture
def prepared(folder: Path) -> Path:
    root = folder / "prepared"
    root.mkdir()
    change_folder(root, "reindex")
    with open_with_models(root) as library:
        library.index(name=NAME, model=OLD, policy=POLICY)
    return root


@pytest.fixture
def moved(folder: Path, prepared: Path) -> Rows:
    """The rows of an index that was made by the new model from the beginning."""
    root = folder / "moved"
    shutil.copytree(prepared, root, ignore=shutil.ignore_patterns(INDEX_FOLDER))
    with open_with_models(root) as library:
        library.index(name=NAME, model=NEW, policy=POLICY)
    return live_rows(root)


def live_rows(root: Path) -> Rows:
    folders = GenerationFolders(root / INDEX_FOLDER)
    return rows_in(folders.folder(folders.numbers().live))


def faults(root: Path, *states: Rows) -> list[str]:
    """What is wrong with the index: it must be one of these states as a whole, and answer."""
    try:
        with open_with_models(root) as library:
            found = [f"{one.part}: {one.problem}" for one in library.verify()]
            if not library.search(QUESTION).results:
                found.append("nothing is found")
    except PinciteError as error:
        return [f"{type(error).__name__}: {error}"]
    return found if live_rows(root) in states else [*found, "neither the old index nor the new"]


def assert_goes_on_to_the_end(root: Path, moved: Rows, why: str) -> None:
    with open_with_models(root) as library:
        assert library.reindex(model=NEW).outcome in {"switched", "already"}, why
    assert faults(root, moved) == [], why
    home = FolderHome(root, root / INDEX_FOLDER)
    with closing(home.write_next()):  # tidies up after whoever was killed
        numbers = home.generations()
    on_disk = {int(one.name) for one in (root / INDEX_FOLDER / "generations").iterdir()}
    assert on_disk == numbers.kept - {1}, why


def kills(
    driver: Driver, prepared: Path, *, most: int, last: int, work: str = "reindex"
) -> Iterator[tuple[str, Path]]:
    """Before calls that reach the disk: some evenly spread, and each of the last."""
    root = prepared.with_name("killed")
    shutil.copytree(prepared, root)
    points = int(driver.run(root, at=0, work=work)["points"])
    shutil.rmtree(root)
    spread = {1 + number * points // most for number in range(most)}
    for at in sorted(spread | set(range(max(1, points - last), points + 1))):
        shutil.copytree(prepared, root)
        ended = driver.run(root, at=at, work=work)
        # The same work takes a write more or less, so that the very last may not come.
        assert ended["status"] == -9 or at > points - LAST, f"{at} of {points} was not reached"
        if ended["status"] == -9:
            yield f"killed at point {at} of {points}", root
        shutil.rmtree(root)


def test_a_reindex_killed_at_any_point_leaves_the_old_index_or_the_new_one_and_goes_on(
    driver: Driver, prepared: Path, moved: Rows
) -> None:
    old = live_rows(prepared)
    seen = []
    for why, root in kills(driver, prepared, most=KILLS, last=LAST):
        assert faults(root, old, moved) == [], why
        seen.append("old" if live_rows(root) == old else "new")
        assert_goes_on_to_the_end(root, moved, why)
    sys.stdout.write(f"{why}: old {seen.count('old')} times, new {seen.count('new')} times\n")
    assert set(seen) == {"old", "new"}, "the kills come too early or too late"


def test_a_change_of_model_in_place_does_not_survive_the_same_kills(
    driver: Driver, prepared: Path, moved: Rows
) -> None:
    old = live_rows(prepared)
    caught = [
        bool(faults(root, old, moved))
        for _, root in kills(driver, prepared, most=6, last=0, work="in place")
    ]
    sys.stdout.write(f"in place: {sum(caught)} of {len(caught)} points caught\n")
    assert sum(caught) >= len(caught) // 3


@pytest.mark.parametrize("work", ["rollback", "drop"])
def test_a_rollback_or_a_removal_killed_at_any_point_is_done_or_can_be_done(
    driver: Driver, prepared: Path, moved: Rows, work: str
) -> None:
    old = live_rows(prepared)
    driver.run(prepared, at=0)
    states = [moved, old] if work == "rollback" else [moved]
    for why, root in kills(driver, prepared, most=KILLS, last=times(3, soak=10), work=work):
        assert faults(root, *states) == [], why
        assert_goes_on_to_the_end(root, moved, why)


@pytest.mark.parametrize("gone", ["generations/2", "generations/2/*"])
def test_a_live_generation_that_is_gone_is_told_and_not_taken_for_an_empty_one(
    prepared: Path, gone: str
) -> None:
    old = live_rows(prepared)
    with open_with_models(prepared) as library:
        library.reindex(model=NEW)
    for path in (prepared / INDEX_FOLDER).glob(gone):
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    with open_with_models(prepared) as library:
        for verb in (library.verify, library.index, library.stats, lambda: library.search("valve")):
            with pytest.raises(StoreDamaged, match=r"/generations/2 .* gone; .* --rollback"):
                verb()
        library.rollback()
        assert library.verify() == []
        assert library.search(QUESTION).results
    assert live_rows(prepared) == old


def test_without_room_for_the_new_index_the_old_one_answers(
    driver: Driver, prepared: Path, moved: Rows
) -> None:
    old = live_rows(prepared)
    root = prepared.with_name("full")
    shutil.copytree(prepared, root)
    driver.run(root, at=0)
    most = max(file.stat().st_size for file in (root / INDEX_FOLDER / "generations").rglob("*"))
    shutil.rmtree(root)
    refused = 0
    limits = times(4, soak=20)
    for limit in (number * most // limits for number in range(limits)):
        shutil.copytree(prepared, root)

        answer = driver.run(root, limit=limit)

        why = f"at {limit} bytes: {answer}"
        assert answer["error"] in {"StoreFull", "StoreError", None}, why
        assert faults(root, old, moved) == [], why
        refused += answer["error"] is not None
        if answer["error"] is not None:
            assert live_rows(root) == old, why
        assert_goes_on_to_the_end(root, moved, why)
        shutil.rmtree(root)
    assert refused >= limits // 2


@pytest.fixture
def with_a_secret(folder: Path) -> Path:
    """A library with two generations, which both hold what is to be forgotten."""
    root = folder / "prepared"
    root.mkdir()
    change_folder(root, "forget")
    (root / SECRET).write_text("# Zebrafinch\n\nThe zebrafinch sings.\n")
    with open_with_models(root) as library:
        library.index(name=NAME, model=OLD, policy=POLICY)
        library.reindex(model=NEW)
        (root / SECRET).unlink()
    return root


def without_it(rows: Rows) -> Rows:
    return {one: row for one, row in rows.items() if row[0][1] != SECRET}


def test_forgetting_killed_at_any_point_leaves_the_old_index_or_the_new_and_can_be_finished(
    driver: Driver,
    with_a_secret: Path,
) -> None:
    old = live_rows(with_a_secret)
    new = without_it(old)
    assert len(new) == len(old) - 1
    seen = []
    for why, root in kills(
        driver, with_a_secret, most=times(5, soak=100), last=times(15, soak=60), work="forget"
    ):
        assert faults(root, old, new) == [], why
        seen.append("old" if live_rows(root) == old else "new")
        with open_with_models(root) as library:
            library.forget(SECRET)
        assert faults(root, new) == [], why
        assert traces(root, "zebrafinch", SECRET) == [], why
    sys.stdout.write(f"{why}: old {seen.count('old')} times, new {seen.count('new')} times\n")
    assert set(seen) == {"old", "new"}, "the kills come too early or too late"


def test_a_log_rewritten_in_place_does_not_survive_the_same_kills(
    driver: Driver,
    with_a_secret: Path,
) -> None:
    old = live_rows(with_a_secret)
    caught = [
        bool(faults(root, old, without_it(old)))
        for _, root in kills(driver, with_a_secret, most=6, last=0, work="forget in place")
    ]
    sys.stdout.write(f"in place: {sum(caught)} of {len(caught)} points caught\n")
    assert any(caught)
