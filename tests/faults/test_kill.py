"""`kill -9` at any moment: nothing acknowledged is lost, nothing is half done."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fault_library import (
    GUARDED,
    INDEX_FOLDER,
    SECRET,
    Acknowledgements,
    assert_same_rows,
    broken_promises,
    build,
    build_elsewhere,
    change_folder,
    files_of,
    quick_folder,
    rows_of,
)

from pincite.engine import open_library
from pincite.stores.sqlite.reader import DATABASE_NAME, LOG_NAME
from soak import SEED, times

BATCHES = times(1, soak=4)  # so that several test workers share the kills
KILLS = times(4, soak=50)  # that come at some point of the work, in each batch
POINTS = times(6, soak=100)  # of a work, at each of which it is killed
STEPS = 3
LAST = times(3, soak=10)  # where the end is reached, and nothing but the record of it is missing
ENOUGH = 5  # kills that must show the naive store's faults


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        yield folder


class Driver:
    """A process that does jobs in children of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, **job: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"naive": False, "steps": STEPS, **job}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def started_driver() -> Iterator[Driver]:
    script = Path(__file__).with_name("kill_driver.py")
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Driver(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with started_driver() as driver:
        yield driver


@dataclass
class Outcome:
    """What some kills did."""

    kills: int = 0
    in_the_middle: int = 0  # of an index run
    caught: int = 0  # kills after which a promise was broken


def kill_at_random(
    driver: Driver, folder: Path, *, kills: int, seed: str, naive: bool = False
) -> Outcome:
    """Kill until so many kills came in the middle of an index run, however busy the machine is.

    All in one library, which goes on from wherever it was left.
    """
    rng = random.Random(seed)
    root, outcome = folder / "library", Outcome()
    root.mkdir()
    trial = folder / "trial"
    trial.mkdir()
    whole = driver.run(
        work="index", root=str(trial), acks=str(folder / "trial.acks"), seed=seed, naive=naive
    )
    for number in range(20 * kills):
        if outcome.in_the_middle == kills or outcome.caught == ENOUGH:
            break
        if number % 4 == 0 or naive:
            shutil.rmtree(root / INDEX_FOLDER, ignore_errors=True)
        acks = Acknowledgements(folder / f"{number}.acks")
        acks.held(files_of(root) if (root / INDEX_FOLDER).exists() else {})
        ended = driver.run(
            work="index",
            root=str(root),
            acks=str(folder / f"{number}.acks"),
            seed=f"{seed}/{number}",
            naive=naive,
            delay=rng.uniform(0, whole["seconds"]),
        )
        promised = acks.read()
        outcome.kills += 1
        outcome.in_the_middle += ended["status"] == -9 and promised.in_the_middle
        broken = broken_promises(root, promised)
        if naive:
            outcome.caught += bool(broken)
            continue
        assert broken == [], f"seed {seed}, kill {number}"
        if files_of(root):
            build(root)
            assert_same_rows(
                rows_of(root),
                build_elsewhere(root, folder / "fresh"),
                f"seed {seed}, kill {number}",
            )
    return outcome


@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_process_killed_at_any_moment_loses_nothing_and_leaves_nothing_half_done(
    driver: Driver, folder: Path, batch: int
) -> None:
    outcome = kill_at_random(driver, folder, kills=KILLS, seed=f"{SEED}/{batch}")

    sys.stdout.write(f"seed {SEED}/{batch}: {outcome}\n")
    assert outcome.in_the_middle == KILLS, "the kills come too early or too late"


def test_a_store_that_writes_row_by_row_does_not_survive_the_same_kills(
    driver: Driver, tmp_path: Path
) -> None:
    outcome = kill_at_random(driver, tmp_path, kills=60, seed=f"{SEED}/naive", naive=True)

    sys.stdout.write(f"seed {SEED}/naive: {outcome}\n")
    assert outcome.caught >= ENOUGH


@dataclass(frozen=True)
class Scene:
    """A library and the work that is killed in it, at each point anew."""

    driver: Driver
    folder: Path
    job: dict[str, Any]
    prepared: Path | None = None  # a library to start from

    def killed(self, at: int) -> tuple[dict[str, Any], Path, Acknowledgements]:
        root, acks = self.folder / f"at{at}", self.folder / f"at{at}.acks"
        if self.prepared is None:
            root.mkdir()
        else:
            shutil.copytree(self.prepared, root)
            Acknowledgements(acks).held(files_of(root))
        ended = self.driver.run(**self.job, root=str(root), acks=str(acks), steps=2, at=at)
        return ended, root, Acknowledgements(acks)

    def points(self) -> int:
        whole, root, _ = self.killed(0)
        assert whole["status"] == 0
        shutil.rmtree(root)
        return int(whole["points"])

    def kills(self, *, most: int, last: int = LAST) -> Iterator[tuple[str, Path, Acknowledgements]]:
        """Before calls that reach the disk: some evenly spread, and each of the last."""
        points = self.points()
        spread = {1 + number * points // most for number in range(most)}
        for at in sorted(spread | set(range(max(1, points - last), points + 1))):
            ended, root, acks = self.killed(at)
            # The same work takes a write more or less, so that the very last may not come.
            assert ended["status"] == -9 or at > points - LAST, f"{at} of {points} was not reached"
            if ended["status"] == -9:
                yield f"killed at point {at} of {points}", root, acks
            shutil.rmtree(root)


@pytest.mark.parametrize("part", range(times(1, soak=2)))
def test_a_process_killed_before_any_single_write_loses_nothing(
    driver: Driver, folder: Path, part: int
) -> None:
    scene = Scene(driver, folder, {"work": "index", "seed": f"{SEED}/exact{part}"})

    for why, root, acks in scene.kills(most=POINTS):
        assert broken_promises(root, acks.read()) == [], why
        build(root)
        assert_same_rows(rows_of(root), build_elsewhere(root, folder / "fresh"), why)


def test_a_store_that_writes_row_by_row_fails_at_most_of_these_points(
    driver: Driver, folder: Path
) -> None:
    scene = Scene(driver, folder, {"work": "index", "seed": f"{SEED}/exact", "naive": True})

    # Not the last ones: there the documents are written, and segments are made of them.
    kills = scene.kills(most=times(9, soak=20), last=0)
    caught = [bool(broken_promises(root, acks.read())) for _, root, acks in kills]

    sys.stdout.write(f"naive: {sum(caught)} of {len(caught)} points caught\n")
    assert sum(caught) >= len(caught) // 3


@pytest.fixture
def prepared(folder: Path) -> Path:
    root = folder / "prepared"
    root.mkdir()
    for step in range(3):
        change_folder(root, f"{SEED}/prepared/{step}")
        build(root)
    return root


@pytest.mark.parametrize("work", ["search", "index", "repair"])
def test_a_database_being_made_anew_may_be_killed_at_any_point(
    driver: Driver, folder: Path, prepared: Path, work: str
) -> None:
    before = rows_of(prepared)
    (prepared / INDEX_FOLDER / DATABASE_NAME).unlink()
    scene = Scene(driver, folder, {"work": work, "seed": f"{SEED}/anew"}, prepared)

    for why, root, acks in scene.kills(most=POINTS // 2):
        assert broken_promises(root, acks.read()) == [], why
        if work != "index":
            assert_same_rows(rows_of(root), before, why)


def test_a_repair_may_be_killed_at_any_point_and_is_finished_by_the_next(
    driver: Driver, folder: Path, prepared: Path
) -> None:
    before = rows_of(prepared)
    log = prepared / INDEX_FOLDER / LOG_NAME
    lines = log.read_bytes().splitlines(keepends=True)
    last_document = max(n for n, line in enumerate(lines) if b'"event":"document"' in line)
    lines[last_document] = lines[last_document].replace(b'"text":"', b'"text":"X', 1)
    log.write_bytes(b"".join(lines))
    scene = Scene(driver, folder, {"work": "repair"}, prepared)

    for why, root, _ in scene.kills(most=POINTS):
        with open_library(root) as library:
            library.verify(repair=True)
            assert library.verify() == [], why
        assert_same_rows(rows_of(root), before, why)


@pytest.mark.parametrize("naive", [False, True])
def test_a_file_that_is_handed_in_is_there_with_its_labels_or_not_at_all(
    driver: Driver, folder: Path, prepared: Path, naive: bool
) -> None:
    scene = Scene(driver, folder, {"work": "hand in", "naive": naive}, prepared)
    unguarded = []

    for why, root, _ in scene.kills(most=POINTS // 2 if naive else POINTS, last=LAST - 1):
        with open_library(root) as library:
            library.index()
            held = library.documents()
            there = [one for one in held if one.name == SECRET[0]]
            unguarded += [why for one in there if one.metadata.confidentiality is None]
            if naive:
                continue
            again = library.index_document(*SECRET, labels=GUARDED)
            assert again.status == ("deduplicated" if there else "indexed"), why
            assert len(library.documents()) == len(held) + (not there), why
            assert library.verify() == [], why
    assert bool(unguarded) is naive, unguarded
