"""Searches, updates or reindexes one library until its standard input ends; see test_load.py."""

from __future__ import annotations

import json
import random
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fault_library import note, save

from pincite.engine import Library
from pincite.errors import LibraryBusy
from pincite.settings import SearchSettings
from two_models import NEW, OLD, open_with_models

SEARCHERS = 4  # in one process, each with a library of its own


def search(root: Path, seed: str, stop: threading.Event) -> dict[str, object]:
    """Ask again and again; what failed, and which citation was not exact."""
    done, wrong = 0, []
    rng = random.Random(seed)
    with open_with_models(root) as library:
        while not stop.is_set():
            done += 1
            question = f"part {rng.randrange(2)} valve{rng.randrange(50)}"
            try:
                found = library.search(question, settings=SearchSettings(top_k=5))
                wrong += [what for what in map(_inexact, found.results) if what]
                if not found.results:
                    wrong.append("nothing was found")
            except Exception as error:  # noqa: BLE001 — nothing at all may be raised here
                wrong.append(repr(error))
    return {"searches": done, "wrong": wrong}


def _inexact(result: object) -> str:
    chunk, quote = result.chunk, result.quote  # type: ignore[attr-defined]
    held = chunk.text[quote.start - chunk.start : quote.end - chunk.start]
    return "" if held == quote.text else f"{held!r} is quoted as {quote.text!r}"


def repeat(root: Path, stop: threading.Event, work: Callable[[Library, int], None]) -> int:
    """Work as often as there is time for; how often nobody was in the way."""
    done = times = 0
    while not stop.is_set():
        times += 1
        with open_with_models(root) as library, suppress(LibraryBusy):
            work(library, times)
            done += 1
        stop.wait(0.05)
    return done


def update(library: Library, times: int) -> None:
    rng = random.Random(f"{threading.get_native_id()}/{times}")
    save(library.root / f"note{rng.randrange(12)}.md", note(rng))
    library.index()


def reindex(library: Library, times: int) -> None:
    library.reindex(model=(NEW, OLD)[times % 2])


def run(role: str, root: Path, stop: threading.Event) -> list[object]:
    told: list[object] = []
    works: list[Callable[[], object]] = [
        *((lambda: repeat(root, stop, update),) * 2 * (role == "update")),
        *((lambda: repeat(root, stop, reindex),) * (role == "reindex")),
        *(
            (lambda seed=str(number): search(root, seed, stop))
            for number in range(SEARCHERS * (role == "search"))
        ),
    ]
    threads = [threading.Thread(target=lambda work=work: told.append(work())) for work in works]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()
    return told


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(sys.argv[1], Path(sys.argv[2]), threading.Event())) + "\n")
