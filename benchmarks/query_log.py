"""What the log of queries adds to a search, as a ratio.

    python benchmarks/query_log.py [LIBRARY]

The same library is open twice, with the log and without, and both are asked the same questions in
turns. Given are medians of the clock, from the question to the results, and of the processor's
time, until the log is written as well; and ratios, because machines differ.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from pincite import Library, open_library
from pincite.records import Mode

SAMPLE = Path(__file__).parent.parent / "examples" / "library"
QUESTIONS = (
    "how should boats lie in the boat basin?",
    "what does the harbour board grant in 2026?",
    "when does a child stand on a chair in the tide talk?",
    "how often does the buoy send its data?",
    "what is the plumber's telephone number?",
)


def seconds(library: Library, question: str, mode: Mode) -> tuple[float, float]:
    """Of the clock until there are results, and of the processor until all of it is done."""
    processor, clock = time.process_time(), time.perf_counter()
    library.search(question, mode=mode)
    answered = time.perf_counter() - clock
    library.journal.settle()
    return answered, time.process_time() - processor


def compared(folder: Path, mode: Mode, rounds: int) -> str:
    """A row of the table."""
    taken: dict[str, list[tuple[float, float]]] = {"off": [], "full": []}
    with open_library(folder, log="off") as off, open_library(folder) as full:
        libraries = {"off": off, "full": full}
        for number in range(rounds + 10):
            # Each question is a new one: what was asked before would be remembered.
            question = f"{QUESTIONS[number % len(QUESTIONS)]} {number}"
            for name in sorted(libraries, reverse=bool(number % 2)):
                spent = seconds(libraries[name], question, mode)
                if number >= 10:
                    taken[name].append(spent)
    clock, processor = (
        [statistics.median(one[what] for one in taken[name]) for name in ("off", "full")]
        for what in (0, 1)
    )
    return (
        f"{mode:<8} {clock[0] * 1000:>7.2f} {clock[1] * 1000:>7.2f} {clock[1] / clock[0]:>7.3f} "
        f"{processor[0] * 1000:>13.2f} {processor[1] * 1000:>7.2f} "
        f"{processor[1] / processor[0]:>7.3f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--rounds", type=int, default=400)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "library"
        shutil.copytree(arguments.library, folder, ignore=shutil.ignore_patterns(".index"))
        with open_library(folder) as library:
            library.index()
        print(f"{'':<8} {'off, ms':>7} {'full':>7} {'ratio':>7} {'processor, ms':>13} {'full':>7}")
        for mode in ("hybrid", "words"):
            print(compared(folder, mode, arguments.rounds))
        size = (folder / ".index" / "journal.sqlite").stat().st_size
        with open_library(folder) as library:
            print(f"bytes of the journal for each query: {size / len(library.queries()):,.0f}")


if __name__ == "__main__":
    main()
