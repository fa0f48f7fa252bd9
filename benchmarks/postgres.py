"""The team's store beside the embedded one: the same questions, the same vectors, one run.

    python benchmarks/postgres.py DATA_FOLDER [--set fiqa] [--index FOLDER] [--server FOLDER]

Documents are embedded once, into an embedded index, and moved to PostgreSQL with their vectors.
Asked is by words and meaning at once, without the embedding: of SQLite, of PostgreSQL in its one
statement, and in two statements, one for words and one for vectors. Then two more projects get
1 % and 0.1 % of the documents beside the large one, and are asked for 20 results each, which are
compared with all vectors of the project. With --index and --server both are kept, and taken up
again by the next run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from statistics import fmean
from time import perf_counter

import numpy as np
from meter import Meter
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.index import build, scratch_folder
from public_sets.sets import load
from quality import row, some

from pincite.engine.models import Embedders, ModelAccess
from pincite.ports import Store
from pincite.records import EmbeddedDocument, Filters, Progress, Scope
from pincite.settings import DEFAULT_MODEL
from pincite.stores.postgres.indexes import IndexSettings
from pincite.stores.postgres.store import PostgresStore
from pincite.stores.postgres.team import Team
from pincite.vectors import Vector

EVERYTHING = Filters()
ROUNDS = 3
LIMIT = 100  # of each ranking, as a search asks for
WANTED = 20  # results of a small project
USER = "bench"

Question = tuple[str, Vector]
Ask = Callable[[Question], object]


def filled(team: Team, project: str, source: Store, share: int) -> PostgresStore:
    """A project with every so manyth document of the source, with its vectors."""
    scope = Scope(USER, project)
    team.create(scope)
    store = team.store(scope)
    header = source.header()
    assert header is not None
    store.begin(header)
    entries = source.documents()[::share]
    there = {one.id for one in store.documents()}
    meter = Meter(f"{project} into PostgreSQL")
    for done, entry in enumerate(entries, start=1):
        embedded = source.load_embedded(entry.id) if entry.id not in there else None
        if embedded is not None:
            store.replace_document(embedded)
        meter.indexed(Progress(done, len(entries), done, len(entries), entry.path))
    if not store.is_complete():
        store.finish()
        store.make_index()
    return store


def asked_together(store: Store) -> Ask:
    """All rankings at once."""
    return lambda one: store.search(one[0], one[1], filters=EVERYTHING, limit=LIMIT)


def asked_apart(store: Store) -> Ask:
    """Words and vectors each by itself; what one alone lists is then not known to the other."""

    def ask(question: Question) -> object:
        text, vector = question
        return (
            store.search(text, None, filters=EVERYTHING, limit=LIMIT),
            store.search(None, vector, filters=EVERYTHING, limit=LIMIT),
        )

    return ask


def timed(asks: Sequence[Ask], questions: Sequence[Question]) -> list[list[float]]:
    """Seconds of each way to ask, in turns, after one round that is not timed."""
    times: list[list[float]] = [[] for _ in asks]
    for number in range(ROUNDS + 1):
        for question in questions:
            for ask, seconds in zip(asks, times, strict=True):
                start = perf_counter()
                ask(question)
                if number:
                    seconds.append(perf_counter() - start)
    return times


def recall(store: PostgresStore, source: Store, share: int, questions: Sequence[Question]) -> str:
    """How full the lists of a small project are, and how right."""
    vectors, owners = all_vectors(source, share)
    full, right = 0, []
    for text, vector in questions:
        found = store.search(text, vector, filters=EVERYTHING, limit=WANTED)["vector"]
        ids = [str(one.chunk_id) for one in found if one.listed]
        best = best_chunks(vectors @ vector, owners)[:WANTED]
        full += len(ids) == min(WANTED, len(best))
        right.append(len(set(ids) & set(best)) / max(len(best), 1))
    return row([f"1 of {share}", f"{full} of {len(questions)}", f"{fmean(right):.4f}"])


def all_vectors(source: Store, share: int) -> tuple[np.ndarray, list[str]]:
    """Every vector of the documents that a small project got, and whose it is."""
    vectors: list[Vector] = []
    owners: list[str] = []
    for embedded in documents_of(source, share):
        for part in embedded.chunks:
            for window in part.windows:
                vectors.append(window.vector)
                owners.append(str(part.chunk.id))
    return np.array(vectors), owners


def documents_of(source: Store, share: int) -> Iterator[EmbeddedDocument]:
    """Every so manyth document, whole."""
    for entry in source.documents()[::share]:
        embedded = source.load_embedded(entry.id)
        if embedded is not None:
            yield embedded


def best_chunks(scores: np.ndarray, owners: Sequence[str]) -> list[str]:
    """The chunks by their best window, ties by id."""
    best: dict[str, float] = {}
    for chunk, score in zip(owners, np.round(scores.astype(np.float64), 6).tolist(), strict=True):
        best[chunk] = max(best.get(chunk, -2.0), score)
    return sorted(best, key=lambda chunk: (-best[chunk], chunk))


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--set", default="fiqa")
    parser.add_argument("--index", type=Path, metavar="FOLDER")
    parser.add_argument("--server", type=Path, metavar="FOLDER")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    chosen = parser.parse_args()
    chosen.cache.parent.mkdir(parents=True, exist_ok=True)
    dataset = load(chosen.data, chosen.set)
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL)
    folder = scratch_folder() if chosen.index is None else nullcontext(chosen.index)
    server = chosen.server or Path(tempfile.mkdtemp(prefix="pincite-bench-"))
    with CachedEmbedder(model, chosen.cache) as embedder, folder as index:
        source = build(dataset, embedder, index / "index", Meter(f"{dataset.name} index").indexed)
        questions = [
            (case.question, embedder.embed_question(case.question))
            for case in some(dataset.cases, chosen.questions)
        ]
        team = Team.at(f"postgresql+embedded://{server.resolve()}", index=IndexSettings())
        with closing(source), closing(team):
            large = filled(team, dataset.name, source, 1)
            ways = {
                "SQLite": asked_together(source),
                "PostgreSQL, one statement": asked_together(large),
                "PostgreSQL, two statements": asked_apart(large),
            }
            print(row(["", "p50, ms", "p95, ms", "p50 to SQLite", "p95 to SQLite"]))
            print(row(["---"] * 5))
            times = timed(list(ways.values()), questions)
            base = np.percentile(times[0], (50, 95))
            for name, seconds in zip(ways, times, strict=True):
                p50, p95 = np.percentile(seconds, (50, 95))
                told = [f"{p50 * 1e3:.1f}", f"{p95 * 1e3:.1f}"]
                print(row([name, *told, f"{p50 / base[0]:.2f}", f"{p95 / base[1]:.2f}"]))
            print()
            print(row(["project", "full lists of 20", "recall@20"]))
            print(row(["---"] * 3))
            print(recall(large, source, 1, questions), flush=True)
            for share in (100, 1_000):
                small = filled(team, f"{dataset.name}-{share}", source, share)
                print(recall(small, source, share, questions), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
