"""The last few of anything, remembered by a key."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pincite.recent import Recent


def held(recent: Recent[str, int], keys: str) -> str:
    """The keys that are still known; asking counts as use."""
    return "".join(key for key in keys if recent.get(key) is not None)


def test_what_is_asked_for_stays_longer() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    recent.get("a")
    recent.get("x")
    recent.put("c", 3)
    assert held(recent, "abc") == "ac"


def test_what_is_put_again_has_its_new_value_takes_no_more_room_and_stays_longer() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    recent.put("a", 3)
    assert held(recent, "ab") == "ab"
    recent.put("a", 4)
    recent.put("c", 5)
    assert recent.get("a") == 4
    assert held(recent, "bc") == "c"


def test_with_room_for_none_nothing_is_remembered() -> None:
    recent: Recent[str, int] = Recent(0)
    recent.put("a", 1)
    assert recent.get("a") is None


@dataclass(frozen=True)
class Slow:
    """A key that lets other threads go first whenever it is looked up."""

    number: int

    def __hash__(self) -> int:
        time.sleep(0)
        return self.number


def test_threads_may_share_it() -> None:
    recent: Recent[Slow, int] = Recent(2)

    def use(thread: int) -> None:
        for turn in range(100):
            recent.put(Slow((thread + turn) % 5), (thread + turn) % 5)
            assert recent.get(Slow(turn % 5)) in (None, turn % 5)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(8)))
    assert sum(recent.get(Slow(number)) is not None for number in range(5)) == 2
