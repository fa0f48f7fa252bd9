"""A power cut: writes that were not synced are lost or torn, those that were acknowledged stay."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest
from fault_library import (
    Acknowledgements,
    assert_same_rows,
    broken_promises,
    build,
    build_elsewhere,
    documents_of,
    quick_folder,
    rows_of,
)

from pincite.errors import PinciteError
from soak import SEED, times

CUTS = times(12, soak=200)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        yield folder


@dataclass
class Cut:
    at: str
    root: Path
    broken: list[str]
    lost_commits: list[str]  # by the database alone, before the log gives them back


def cuts(folder: Path, *, count: int, seed: str, lying: str | None = None) -> Iterator[Cut]:
    """A build and an update, cut at moments spread over all that reaches the disk."""
    script = Path(__file__).with_name("power_driver.py")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as driver:

        def run(at: int) -> tuple[dict[str, Any], Path, Acknowledgements]:
            assert driver.stdin is not None
            assert driver.stdout is not None
            root, acks = folder / f"cut{at}", folder / f"cut{at}.acks"
            root.mkdir()
            job = {"root": str(root), "acks": str(acks), "seed": seed, "steps": 2}
            driver.stdin.write(json.dumps({**job, "at": at, "lying": lying}) + "\n")
            driver.stdin.flush()
            return json.loads(driver.stdout.readline()), root, Acknowledgements(acks)

        whole, root, _ = run(0)
        assert whole["status"] == 0
        shutil.rmtree(root)
        for at in sorted({1 + number * whole["points"] // count for number in range(count)}):
            ended, root, acks = run(at)
            assert ended["status"] == 9, f"moment {at} of {whole['points']} was not reached"
            # Without any sync the database is damaged rather than behind.
            held = {} if lying == "database" else held_by_the_database(root)
            lost = acks.read().broken_by(held)
            broken = broken_promises(root, acks.read())
            yield Cut(f"seed {seed}, cut at {at} of {whole['points']}", root, broken, lost)
            shutil.rmtree(root)


def held_by_the_database(root: Path) -> dict[str, str]:
    try:
        return documents_of(root)
    except (apsw.Error, PinciteError):
        return {}  # not even begun, or damaged


@pytest.mark.parametrize("part", range(times(1, soak=2)))
def test_a_power_cut_loses_nothing_and_leaves_nothing_half_done(folder: Path, part: int) -> None:
    for cut in cuts(folder, count=CUTS, seed=f"{SEED}/power{part}"):
        assert cut.lost_commits == [], cut.at
        assert cut.broken == [], cut.at
        build(cut.root)
        assert_same_rows(rows_of(cut.root), build_elsewhere(cut.root, folder / "fresh"), cut.at)


def test_commits_that_are_not_synced_are_lost_and_come_back_from_the_log(folder: Path) -> None:
    lost = 0
    for cut in cuts(folder, count=8, seed=f"{SEED}/normal", lying="commits"):
        lost += bool(cut.lost_commits)
        assert cut.broken == [], cut.at

    sys.stdout.write(f"synchronous = NORMAL: commits lost in {lost} of 8 cuts\n")
    assert lost >= 2


@pytest.mark.parametrize(("lying", "count"), [("log", 8), ("database", 16)])
def test_a_disk_that_only_pretends_to_sync_loses_what_was_acknowledged(
    folder: Path, lying: str, count: int
) -> None:
    caught = [
        bool(cut.broken) for cut in cuts(folder, count=count, seed=f"{SEED}/{lying}", lying=lying)
    ]

    sys.stdout.write(f"{lying} without sync: {sum(caught)} of {len(caught)} cuts caught\n")
    assert sum(caught) >= 2
