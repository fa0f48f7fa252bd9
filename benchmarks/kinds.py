"""How a folder of real files of every kind is read: what, how fast, with how much memory.

    python benchmarks/kinds.py FOLDER [--passwords FILE] [--all]

Each file is read behind the same wall as in an index run, in a process of its own whose time and
peak memory are measured; chunks are those of the default policy. Files of no known kind are listed
too. `--all` names every file, not only those that were refused.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from resource import RLIMIT_AS, RLIMIT_CPU

from pincite.child_process import restrict
from pincite.chunking.flow import chunk_document
from pincite.errors import FileUnreadable
from pincite.models.hashing import HashingEmbedder
from pincite.reading.fork_server import load_everything
from pincite.reading.reader import LibraryReader
from pincite.settings import POLICIES, ReadingLimits

LIMITS = ReadingLimits()


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    path: str
    read: bool
    told: str  # type and chunks, or why it was refused
    chunks: int
    seconds: float
    megabytes: float


def main() -> None:
    """Read every file and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passwords", type=Path)
    parser.add_argument("--all", action="store_true")
    chosen = parser.parse_args()
    passwords = tuple(chosen.passwords.read_text().split("\n")) if chosen.passwords else ()
    reader = LibraryReader("bench", passwords=passwords)
    load_everything()
    by_kind: defaultdict[str, list[Outcome]] = defaultdict(list)
    for path in sorted(chosen.folder.rglob("*")):
        if path.is_file():
            by_kind[path.suffix.lower()].append(tried(reader, chosen.folder, path))
    print("kind     files  read  chunks  refused  slowest  most memory")
    for kind, outcomes in sorted(by_kind.items()):
        print(line(kind, outcomes))
    everything = [outcome for outcomes in by_kind.values() for outcome in outcomes]
    print(line("all", everything))
    print()
    for outcome in everything:
        if chosen.all or not outcome.read:
            print(f"{outcome.path}: {outcome.told}")


def line(kind: str, outcomes: list[Outcome]) -> str:
    """One row of the table."""
    read = sum(outcome.read for outcome in outcomes)
    return (
        f"{kind:<8} {len(outcomes):>5} {read:>5} {sum(one.chunks for one in outcomes):>7} "
        f"{len(outcomes) - read:>8} {max(one.seconds for one in outcomes):>6.2f} s "
        f"{max(one.megabytes for one in outcomes):>8.0f} MB"
    )


def tried(reader: LibraryReader, root: Path, path: Path) -> Outcome:
    """Read and cut one file in a child, and see what it took."""
    ours, theirs = os.pipe()
    data = path.read_bytes()
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        restrict({RLIMIT_AS: LIMITS.memory_bytes, RLIMIT_CPU: LIMITS.seconds})
        os.write(theirs, told(reader, path.relative_to(root).as_posix(), data).encode()[:4_000])
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        answer = pipe.read().decode()
    _, status, usage = os.wait4(child, 0)
    count, _, words = answer.partition("\t")
    return Outcome(
        path=path.relative_to(root).as_posix(),
        read=count.isdigit(),
        told=words or f"died ({status})",
        chunks=int(count) if count.isdigit() else 0,
        seconds=time.perf_counter() - started,
        megabytes=usage.ru_maxrss / 1024,
    )


def told(reader: LibraryReader, path: str, data: bytes) -> str:
    """Number of chunks and type, or why there are none."""
    try:
        document = reader.read(path, data)
    except FileUnreadable as error:
        return f"-\t{error}"
    chunks = chunk_document(document, POLICIES["vault"], HashingEmbedder())
    return f"{len(chunks)}\t{document.type}, {len(document.text):,} characters"


if __name__ == "__main__":
    main()
