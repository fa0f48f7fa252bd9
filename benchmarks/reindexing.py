"""Moving to another model while others search: failed searches, mixed answers, what it costs them.

    python benchmarks/reindexing.py DATA_FOLDER [--documents 5000] [--model hashing] [--cache FILE]

FiQA's first documents become files of a folder, indexed once in the folder itself and once in
PostgreSQL. While each is moved to another model, four readers ask questions, a tenth of a second
apart. Every answer must come from one generation: all results of it were made by one recipe and one
model. At the end the library goes back to the old generation.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
from meter import Meter
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.sets import load
from quality import row, some

from pincite.engine.addresses import Address
from pincite.engine.homes import FolderHome, Home
from pincite.engine.library import Library
from pincite.engine.models import Embedders, ModelAccess
from pincite.engine.team_home import TeamHome
from pincite.errors import PinciteError
from pincite.ports import Embedder
from pincite.settings import DEFAULT_MODEL

READERS = 4
PAUSE = 0.1  # seconds between two questions of a reader


class Cached(Embedders):
    """The default model by way of the cache, any other as it is."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(ModelAccess())
        self._cached = embedder

    def named(self, name: str) -> Embedder:
        """The model of this name."""
        return self._cached if name == DEFAULT_MODEL else super().named(name)


@dataclass
class Reader(threading.Thread):
    """Asks one question after the other until it is told to stop."""

    library: Library
    questions: Sequence[str]
    stop: threading.Event
    seconds: list[float] = field(default_factory=list)
    recipes: Counter[str] = field(default_factory=Counter)
    mixed: int = 0
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        """Ask and look at what comes back."""
        while not self.stop.is_set():
            for question in self.questions:
                if self.stop.wait(PAUSE):
                    break
                self._ask(question)

    def _ask(self, question: str) -> None:
        start = perf_counter()
        try:
            found = self.library.search(question).results
        except PinciteError as error:
            self.failures.append(f"{type(error).__name__}: {error}")
            return
        self.seconds.append(perf_counter() - start)
        recipes = {one.document.recipe for one in found}
        self.mixed += len(recipes) > 1
        self.recipes.update(recipes)


def moved(
    name: str, root: Path, home: Home, embedders: Embedders, model: str, questions: Sequence[str]
) -> str:
    """Build, move while readers ask, go back; one row of the table."""
    with Library(root, embedders, home) as library:
        library.index(on_progress=Meter(f"{name}, build").indexed)
        before = library.stats().header
        stop = threading.Event()
        readers = [Reader(library, questions[n::READERS], stop) for n in range(READERS)]
        for reader in readers:
            reader.start()
        start = perf_counter()
        report = library.reindex(model=model, on_progress=Meter(f"{name}, reindex").indexed)
        seconds = perf_counter() - start
        after = library.stats().header
        for question in questions[:READERS]:
            library.search(question)
        stop.set()
        for reader in readers:
            reader.join()
        library.rollback()
        back = library.stats().header == before and bool(library.search(questions[0]).results)
    failures = [one for reader in readers for one in reader.failures]
    for one in failures[:5]:
        print(f"failed: {one}", file=sys.stderr)
    times = np.percentile([one for reader in readers for one in reader.seconds], (50, 95)) * 1e3
    cells = [
        name,
        f"{report.outcome}, {after.model.name}",
        f"{seconds:.0f}",
        f"{sum(len(reader.seconds) for reader in readers):,}",
        str(len(failures)),
        str(sum(reader.mixed for reader in readers)),
        f"{times[0]:.0f} / {times[1]:.0f}",
        "yes" if back else "NO",
    ]
    return row(cells)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--model", default="hashing")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    chosen = parser.parse_args()
    chosen.cache.parent.mkdir(parents=True, exist_ok=True)
    dataset = load(chosen.data, "fiqa")
    questions = [case.question for case in some(dataset.cases, 100)]
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL)
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as server,
        CachedEmbedder(model, chosen.cache) as embedder,
    ):
        root = Path(folder) / "fiqa"
        root.mkdir()
        for document in dataset.documents[: chosen.documents]:
            (root / f"{document.checksum[:16]}.txt").write_text(document.text, "utf-8")
        Path(server).chmod(0o755)
        address = Address(f"postgresql+embedded://{server}/db", "bench", "fiqa")
        homes: dict[str, Home] = {
            "SQLite": FolderHome(root, root / ".index"),
            "PostgreSQL": TeamHome(address, Path(folder) / "team" / "store.json"),
        }
        columns = ["", "reindex", "seconds", "searches", "failed", "mixed", "p50 / p95, ms"]
        print(row([*columns, "rolled back"]))
        print(row(["---"] * 8))
        for name, home in homes.items():
            told = moved(name, root, home, Cached(embedder), chosen.model, questions)
            print(told, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
