"""What it costs that files are read in the sandbox and not in the process that asks.

    python benchmarks/sandbox.py [FOLDER]

Without a folder, 2,000 small Markdown files are made. In one run: every file is read here, read
in the sandbox, and indexed with the hashing model, which is the quickest there is. Times are given
as ratios, because machines differ.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from pathlib import Path

from pincite import open_library
from pincite.errors import FileUnreadable
from pincite.reading.reader import FileReader, LibraryReader, read_here
from pincite.reading.sandbox import Sandbox
from pincite.reading.sniff import kind_by_name
from pincite.sources import Folder


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    chosen = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as made:
        if chosen is None:
            make_files(Path(made), count=2_000)
        else:  # whose own index is left alone
            ignore = shutil.ignore_patterns(".index")
            shutil.copytree(chosen, made, ignore=ignore, dirs_exist_ok=True)
        measure(Path(made))


def make_files(folder: Path, count: int) -> None:
    """Small notes, no two alike."""
    chance = random.Random(4711)
    words = ["".join(chance.choices("aeioulnrst", k=chance.randint(2, 9))) for _ in range(2_000)]
    for number in range(count):
        title, first, second = (" ".join(chance.choices(words, k=length)) for length in (3, 25, 30))
        note = f"# {title}\n\n{first}.\n\n## Later\n\n- {second}\n- {title}\n"
        (folder / f"{number}.md").write_text(note)


def measure(folder: Path) -> None:
    """Read the folder in both ways, and build an index of it."""
    source = Folder(folder)
    files = source.scan(lambda path: kind_by_name(path) is not None).files
    here = seconds_to_read(source, [file.path for file in files], read_here)
    with Sandbox() as sandbox:
        inside = seconds_to_read(source, [file.path for file in files], sandbox.read)
    started = time.perf_counter()
    with open_library(folder) as library:
        library.index(model="hashing")
    build = time.perf_counter() - started
    print(f"{len(files)} files: read here {here:.2f} s, in the sandbox {inside:.2f} s")
    print(f"a build takes {build:.1f} s, of which the sandbox is {(inside - here) / build:.1%}")


def seconds_to_read(source: Folder, paths: list[str], read_file: FileReader) -> float:
    """How long it takes to read all files once."""
    reader = LibraryReader("bench", read_file)
    started = time.perf_counter()
    for path in paths:
        try:
            reader.read(path, source.read(path))
        except FileUnreadable as error:
            print(f"{path} {error}")
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
