"""Threads that ask first, all at once: what is opened for one of them serves them all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest

from helpers import next_project, shared_team
from pincite import open_library
from pincite.engine.addresses import Address
from pincite.engine.searching import Searching
from pincite.engine.team_home import TeamHome

THREADS = 2
CHANCE = 0.5  # seconds in which another thread could begin the same


class Slow:
    """Makes something, and before that gives the other threads the chance to make it too."""

    def __init__(self, make: Callable[..., object]) -> None:
        self.calls = 0
        self._make = make
        self._together = Barrier(THREADS)

    def __call__(self, *given: object) -> object:
        self.calls += 1
        with suppress(BrokenBarrierError):
            self._together.wait(CHANCE)
        return self._make(*given)


def ask_at_once(ask: Callable[[], object]) -> list[object]:
    with ThreadPoolExecutor(THREADS) as threads:
        return [one.result() for one in [threads.submit(ask) for _ in range(THREADS)]]


def test_a_teams_database_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opening = Slow(lambda url: shared_team())
    monkeypatch.setattr("pincite.engine.team_home.opened_team", opening)
    address = Address("postgresql://shared", "ada", next_project())
    home = TeamHome(address, tmp_path / ".index" / "store.json")

    assert ask_at_once(home.exists) == [False, False]
    assert opening.calls == 1


def test_what_was_asked_is_remembered_in_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    making = Slow(Searching)
    monkeypatch.setattr("pincite.engine.searching.Searching", making)
    library = open_library(tmp_path)

    first, second = ask_at_once(lambda: library._searching)
    assert first is second
    assert making.calls == 1
