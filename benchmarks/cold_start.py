"""How long a user waits for one search on the command line, from nothing to the last line.

    python benchmarks/cold_start.py [LIBRARY]

Each way is a process of its own; they take turns, so that a busy moment of the machine hits all of
them. Given are medians of the clock and of the processor's time (without the service's own), and
ratios to a Python that does nothing, because machines differ.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pincite import open_library

SAMPLE = Path(__file__).parent.parent / "examples" / "library"
QUESTION = "how often does the buoy send its data?"
PINCITE = (sys.executable, "-m", "pincite")
_BASE = "python -c pass"


def ways(library: Path) -> dict[str, tuple[list[str], str]]:
    """Name → the command, and whether it may use the service."""
    search, ask = ([*PINCITE, one, "-l", str(library), QUESTION] for one in ("search", "ask"))
    return {
        _BASE: ([sys.executable, "-c", "pass"], "off"),
        "import numpy": ([sys.executable, "-c", "import numpy"], "off"),
        "pincite --version": ([*PINCITE, "--version"], "off"),
        "search, words": ([*search, "--mode", "words"], "off"),
        "search, hybrid": (search, "off"),
        "search, hybrid, service": (search, "on"),
        "ask": (ask, "off"),
        "ask, service": (ask, "on"),
    }


def seconds(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Of the clock and of the processor, from the start of the process to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    passed = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def service(library: Path, environment: dict[str, str]) -> Iterator[None]:
    """A service for the library, which ends with it."""
    run = partial(subprocess.run, check=True, stdout=sys.stderr, env=environment)
    run([*PINCITE, "service", "start", str(library)])
    try:
        yield
    finally:
        run([*PINCITE, "service", "stop"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    # Whatever keeps compiled modules from being written would be measured instead.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:
        environment |= {"XDG_RUNTIME_DIR": scratch, "XDG_STATE_HOME": scratch}
        copy = Path(scratch) / "library"
        shutil.copytree(arguments.library, copy, ignore=shutil.ignore_patterns(".index"))
        with open_library(copy) as library:
            library.index(model=arguments.model)
        taken: dict[str, list[tuple[float, float]]] = {}
        with service(copy, environment):
            for number in range(arguments.rounds + 1):
                for name, (command, use) in ways(copy).items():
                    passed = seconds(command, {**environment, "PINCITE_SERVICE": use})
                    if number:  # the first round fills the caches
                        taken.setdefault(name, []).append(passed)
    print(f"{'':<24} {'ms':>6} {'ratio':>6} {'processor ms':>13} {'ratio':>6}")
    middles = {
        name: [statistics.median(one) for one in zip(*all_of_it, strict=True)]
        for name, all_of_it in taken.items()
    }
    for name, (clock, processor) in middles.items():
        print(
            f"{name:<24} {clock * 1000:>6.0f} {clock / middles[_BASE][0]:>6.1f} "
            f"{processor * 1000:>13.0f} {processor / middles[_BASE][1]:>6.1f}"
        )


if __name__ == "__main__":
    main()
