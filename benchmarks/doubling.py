"""Text of a shape that nobody writes, doubled: time and memory may at most double with it.

    python benchmarks/doubling.py [--policy vault] [--sizes 1,2,4,8]

Each size is read and cut, and, in a library of its own, indexed without a model and searched; each
in a fresh process. Seconds are of the processor; megabytes are what the process took beyond what it
had before, at its most. In brackets stands the ratio to the size before.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pincite import open_library
from pincite.chunking.flow import chunk_document
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.settings import POLICIES, policy_named

SHAPES = {
    "no-space.txt": "x",
    "headings.md": "# h\n",
    "one-word-lines.txt": "w\n",
    "one-word-paragraphs.md": "w\n\n",
    "number.json": "1",
    "rows.csv": "a,b\n",
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--policy", choices=POLICIES, default="vault")
    parser.add_argument("--sizes", default="1,2,4,8", help="megabytes")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, size, policy = options.child
        _measure(name, int(size), policy)
        return
    print("| shape | MB | read and cut | | index and search | |\n|---|--:|--:|--:|--:|--:|")
    for name in SHAPES:
        before: Sequence[float] = ()
        for size in options.sizes.split(","):
            measured = _in_a_child(name, size, options.policy)
            ratios = [now / max(was, 0.01) for now, was in zip(measured, before, strict=False)]
            told = [f" ({ratio:.1f})" for ratio in ratios] or [""] * 4
            units = (" s", " MB", " s", " MB")
            cells = [
                f"{value:.1f}{unit}{ratio}"
                for value, unit, ratio in zip(measured, units, told, strict=True)
            ]
            print(f"| {name} | {size} | {' | '.join(cells)} |", flush=True)
            before = measured


def _in_a_child(name: str, size: str, policy: str) -> list[float]:
    """Seconds and megabytes of the one, then of the other."""
    measured = []
    for step in (policy, ""):
        command = [sys.executable, __file__, "--child", name, size, step]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        measured += [float(number) for number in done.stdout.split()]
    return measured


def _measure(name: str, megabytes: int, policy: str) -> None:
    """Print seconds and megabytes: of reading and cutting, or without a policy of all."""
    text = SHAPES[name] * (megabytes * 1_000_000 // len(SHAPES[name]))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_text(text)
        del text
        run = _reading_and_cutting(folder, name, policy) if policy else _indexing(folder)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        run()
        seconds = time.process_time() - started
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    print(seconds, memory * (1 if sys.platform == "darwin" else 1024) / 1e6)


def _reading_and_cutting(folder: str, name: str, policy: str) -> Callable[[], object]:
    data = Path(folder, name).read_bytes()
    reader, embedder = LibraryReader("library"), HashingEmbedder()
    return lambda: chunk_document(reader.read(name, data), policy_named(policy), embedder)


def _indexing(folder: str) -> Callable[[], object]:
    def run() -> None:
        with open_library(folder) as library:
            library.index(model="hashing")
            library.search("what is h?")

    return run


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
