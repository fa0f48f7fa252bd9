"""What filters cost, and whether they give all there is: 1 %, 0.1 % and one of the documents.

    python benchmarks/filtered.py DATA_FOLDER [--set fiqa] [--index FOLDER] [--cache FILE]

Ten random filters of each size, each under ten questions, by words and meaning at once, without
the embedding. Every answer is compared with all vectors of the documents that the filter names:
how many results there should be, and which are nearest. Times are told against the same questions
without a filter, in turns; the first question under a filter finds out what it lets through, the
others know. With --index the index is kept, and taken up again by the next run.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np
from meter import Meter
from numpy.typing import NDArray
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.index import build, scratch_folder
from public_sets.sets import Dataset, load
from quality import row, some

from pincite.engine.models import Embedders, ModelAccess
from pincite.ports import Embedder
from pincite.records import DocumentId, Filters
from pincite.settings import DEFAULT_MODEL
from pincite.stores.sqlite.store import SqliteStore
from pincite.vectors import Vector

SEED = 0
FILTERS = 10  # of each size
QUESTIONS = 10  # under each filter
LIMIT = 10
EVERYTHING = Filters()


@dataclass(frozen=True)
class Question:
    """What is asked, and its vector."""

    text: str
    vector: Vector


@dataclass
class Seen:
    """What was measured under filters of one size."""

    first: list[float]
    later: list[float]
    without: list[float]
    full: list[bool]  # as many results as there should be
    recall: list[float]


def measure(store: SqliteStore, questions: Sequence[Question], share: int | None) -> Seen:
    """Ten filters, each with ten questions; `share` is how many documents one passes, None: one."""
    chance = random.Random(SEED)
    documents = [entry.id for entry in store.documents()]
    seen = Seen([], [], [], [], [])
    for _ in range(FILTERS):
        count = 1 if share is None else len(documents) // share
        filters = Filters(document_ids=tuple(chance.sample(documents, count)))
        vectors, owners = vectors_of(store, filters.document_ids or ())
        for number, question in enumerate(chance.sample(list(questions), QUESTIONS)):
            seconds, ids = asked(store, question, filters)
            (seen.later if number else seen.first).append(seconds)
            seen.without.append(asked(store, question, EVERYTHING)[0])
            nearest = best_chunks(vectors @ question.vector, owners)
            wanted = nearest[:LIMIT]
            seen.full.append(len(ids) == len(wanted))
            seen.recall.append(len(set(ids) & set(wanted)) / max(len(wanted), 1))
    return seen


def asked(store: SqliteStore, question: Question, filters: Filters) -> tuple[float, list[str]]:
    """How long both searches took, and the chunks that are nearest by meaning."""
    start = perf_counter()
    found = store.search(question.text, question.vector, filters=filters, limit=100)
    seconds = perf_counter() - start
    return seconds, [str(one.chunk_id) for one in found["vector"] if one.listed][:LIMIT]


def vectors_of(
    store: SqliteStore, documents: Sequence[DocumentId]
) -> tuple[NDArray[np.float32], list[str]]:
    """All vectors of the documents, and whose they are."""
    rows: list[Any] = store._connection.execute(
        "SELECT chunk.id, window_vector.embedding FROM document "
        "JOIN chunk ON chunk.document = document.rowid JOIN window ON window.chunk = chunk.rowid "
        "JOIN window_vector ON window_vector.rowid = window.rowid WHERE document.id IN "
        f"({','.join('?' * len(documents))})",
        tuple(documents),
    ).fetchall()
    vectors = np.array([np.frombuffer(data, np.float32) for _, data in rows])
    return vectors, [chunk for chunk, _ in rows]


def best_chunks(scores: NDArray[np.float32], owners: Sequence[str]) -> list[str]:
    """The chunks by their best window, ties by id."""
    best: dict[str, float] = {}
    for chunk, score in zip(owners, np.round(scores.astype(np.float64), 6).tolist(), strict=True):
        best[chunk] = max(best.get(chunk, -2.0), score)
    return sorted(best, key=lambda chunk: (-best[chunk], chunk))


def told(name: str, seen: Seen) -> str:
    """One row of the table."""
    unfiltered = np.percentile(seen.without, (50, 95))
    cells = [name, f"{sum(seen.full)} of {len(seen.full)}", f"{fmean(seen.recall):.4f}"]
    for times in (seen.first, seen.later):
        p50, p95 = np.percentile(times, (50, 95))
        cells.append(f"{p50 * 1e3:.1f} / {p95 * 1e3:.1f}")
        cells.append(f"{p50 / unfiltered[0]:.2f} / {p95 / unfiltered[1]:.2f}")
    return row([*cells, " / ".join(f"{one * 1e3:.1f}" for one in unfiltered)])


def prepared(dataset: Dataset, embedder: Embedder) -> list[Question]:
    """A hundred of the set's questions with their vectors."""
    return [
        Question(case.question, embedder.embed_question(case.question))
        for case in some(dataset.cases, 100)
    ]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--set", default="fiqa")
    parser.add_argument("--index", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    chosen = parser.parse_args()
    chosen.cache.parent.mkdir(parents=True, exist_ok=True)
    dataset = load(chosen.data, chosen.set)
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL)
    folder = scratch_folder() if chosen.index is None else nullcontext(chosen.index)
    with CachedEmbedder(model, chosen.cache) as embedder, folder as index:
        store = build(dataset, embedder, index / "index", Meter(f"{dataset.name} index").indexed)
        try:
            questions = prepared(dataset, embedder)
            for question in questions:  # what is read from disk for the first time is not timed
                asked(store, question, EVERYTHING)
            columns = ["filter", "full lists", "recall@10", "first, ms", "to unfiltered"]
            print(row([*columns, "later, ms", "to unfiltered", "unfiltered, ms"]))
            print(row(["---"] * 8))
            for name, share in (("1 %", 100), ("0.1 %", 1_000), ("1 document", None)):
                print(told(name, measure(store, questions, share)), flush=True)
        finally:
            store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
