"""`kill -9` at any moment: nothing acknowledged is lost, nothing is half done."""

from __future__ import annotations

import json
import os
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
    INDEX_FOLDER,
    Acknowledgements,
    broken_promises,
    build,
    build_elsewhere,
    change_folder,
    files_of,
    rows_of,
)

from pincite.engine import open_library

KILLS = int(os.environ.get("PINCITE_KILLS", "40"))
BATCHES = 4  # so that several test workers share the kills
STEPS = 3
SEED = int(os.environ.get("PINCITE_SEED", "1"))


class Driver:
    """A process that does jobs in children of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, **job: Any) -> dict[str, Any]:
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
    """Kill again and again in one library, which goes on from wherever it was left."""
    rng = random.Random(seed)
    root, outcome = folder / "library", Outcome()
    root.mkdir()
    trial = folder / "trial"
    trial.mkdir()
    whole = driver.run(
        work="index", root=str(trial), acks=str(folder / "trial.acks"), seed=seed, naive=naive
    )
    for number in range(kills):
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
            assert rows_of(root) == build_elsewhere(root, folder / "fresh"), (
                f"seed {seed}, kill {number}"
            )
    return outcome


@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_process_killed_at_any_moment_loses_nothing_and_leaves_nothing_half_done(
    driver: Driver, tmp_path: Path, batch: int
) -> None:
    outcome = kill_at_random(
        driver, tmp_path, kills=max(1, KILLS // BATCHES), seed=f"{SEED}/{batch}"
    )

    sys.stdout.write(f"seed {SEED}/{batch}: {outcome}\n")
    assert outcome.in_the_middle >= outcome.kills // 3, "the kills come too early or too late"


def test_a_store_that_writes_row_by_row_does_not_survive_the_same_kills(
    driver: Driver, tmp_path: Path
) -> None:
    outcome = kill_at_random(
        driver, tmp_path, kills=max(12, KILLS // 8), seed=f"{SEED}/naive", naive=True
    )

    sys.stdout.write(f"seed {SEED}/naive: {outcome}\n")
    assert outcome.caught >= outcome.kills // 3


def exact_kills(
    driver: Driver, folder: Path, *, naive: bool = False, stride: int
) -> Iterator[tuple[int, list[str]]]:
    """Kill a build with an update after it before every `stride`-th call that reaches the disk."""
    folder.mkdir(exist_ok=True)
    seed = f"{SEED}/exact"

    def run(name: str, at: int | None) -> tuple[dict[str, Any], Path, Acknowledgements]:
        root, acks = folder / name, folder / f"{name}.acks"
        root.mkdir()
        job = {"work": "index", "root": str(root), "acks": str(acks), "seed": seed}
        return driver.run(**job, at=at, naive=naive, steps=2), root, Acknowledgements(acks)

    whole, *_ = run("whole", None)
    assert whole["points"] > 100
    for at in range(1, whole["points"] + 1, stride):
        ended, root, acks = run(str(at), at)
        assert ended["status"] == -9, f"point {at} of {whole['points']} was not reached"
        broken = broken_promises(root, acks.read())
        if not naive:
            build(root)
            if rows_of(root) != build_elsewhere(root, folder / "fresh"):
                broken.append("the next run does not reach what a fresh build gives")
        yield at, broken
        shutil.rmtree(root)


@pytest.mark.parametrize("offset", range(2))
def test_a_process_killed_before_any_single_write_loses_nothing(
    driver: Driver, tmp_path: Path, offset: int
) -> None:
    stride = 13 if KILLS < 200 else 2
    broken = {at: what for at, what in exact_kills(driver, tmp_path, stride=stride + offset) if what}

    assert broken == {}
