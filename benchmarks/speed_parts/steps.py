"""The steps that `speed.py` measures. Each runs in a process of its own and prints its figures.

python -m speed_parts.steps STEP JOB_AS_JSON
"""

from __future__ import annotations

import gc
import json
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from public_sets.embedding_cache import CachedEmbedder

from pincite.engine.models import Embedders, ModelAccess
from pincite.ports import Embedder
from pincite.records import Filters
from pincite.retrieve.flow import search
from pincite.settings import DEFAULT_MODEL, SearchSettings
from pincite.stores.sqlite.opening import open_for_reading
from pincite.stores.sqlite.reader import DATABASE_NAME, LOG_NAME
from pincite.stores.sqlite.store import SqliteStore
from pincite.vectors import Vector
from speed_parts.corpora import corpus_of, edited, fiqa, window_texts
from speed_parts.indexing import indexed

Figures = dict[str, float]

ROUNDS = 3  # of everything that is timed more than once; the median counts
_SAMPLE = 200  # documents that are embedded to know how long embedding takes
_QUESTIONS_NAME = "questions.json"
_SETTINGS = SearchSettings()


@dataclass(frozen=True)
class Job:
    """What a step works on."""

    data: str  # folder of data sets
    cache: str  # file of vectors
    size: int
    index: str  # folder of the index, which the first step makes
    questions: int


def embed(job: Job) -> Figures:
    """How fast the model alone embeds the windows of a sample, on all cores."""
    embedder = _real_embedder()
    documents = fiqa(Path(job.data)).documents
    texts = window_texts(documents[:: len(documents) // _SAMPLE], embedder)
    embedder.embed_passages(texts[:4])
    batches = [texts[at : at + embedder.batch] for at in range(0, len(texts), embedder.batch)]
    started = time.perf_counter()
    with ThreadPoolExecutor(embedder.parallel) as threads:
        list(threads.map(embedder.embed_passages, batches))
    return {"windows_per_s": len(texts) / (time.perf_counter() - started)}


def build(job: Job) -> Figures:
    """Index everything, with vectors at hand; and leave the questions for the next steps."""
    dataset = fiqa(Path(job.data))
    folder = Path(job.index)
    with CachedEmbedder(_real_embedder(), Path(job.cache)) as embedder:
        corpus = corpus_of(dataset, job.size, embedder)
        run = indexed(corpus, folder)
        if embedder.embedded:
            # The clock ran while something was embedded; from now on it is in the cache.
            shutil.rmtree(folder)
            run = indexed(corpus, folder)
    questions = [case.question for case in dataset.cases[: job.questions]]
    (folder / _QUESTIONS_NAME).write_text(json.dumps(questions))
    store = open_for_reading(folder)
    stats = store.stats()
    store.close()
    return {
        "documents": stats.documents,
        "chunks": stats.chunks,
        "vectors": stats.vectors,
        "build_s": run.seconds,
        "build_computing_s": run.computing_seconds,
        "database_mb": (folder / DATABASE_NAME).stat().st_size / 1e6,
        "segments_mb": stats.segments_bytes / 1e6,
        "log_mb": (folder / LOG_NAME).stat().st_size / 1e6,
        "text_mb": run.text_bytes / 1e6,
        "vectors_mb": stats.vectors * corpus.embedder.card.dimensions * 4 / 1e6,
    }


def update(job: Job) -> Figures:
    """Follow a change to 1 % of the documents, then no change, in turns."""
    with CachedEmbedder(_real_embedder(), Path(job.cache)) as embedder:
        corpus = corpus_of(fiqa(Path(job.data)), job.size, embedder)
        changed, unchanged = [], []
        for number in range(ROUNDS):
            corpus = edited(corpus, every=100, first=number)
            changed.append(indexed(corpus, Path(job.index)))
            unchanged.append(indexed(corpus, Path(job.index)))
    if not all(run.report.changed for run in changed) or any(r.report.written for r in unchanged):
        raise RuntimeError("the update did not store what was changed, and only that")
    return {
        "changed_documents": median(run.report.changed for run in changed),
        "update_s": median(run.seconds for run in changed),
        "unchanged_s": median(run.seconds for run in unchanged),
    }


def latency(job: Job) -> Figures:
    """Each search and each reference, question by question, in turns."""
    from speed_parts.references import Bm25s, NumpyScan

    folder = Path(job.index)
    questions: list[str] = json.loads((folder / _QUESTIONS_NAME).read_text())
    embedder = _real_embedder()
    vectors = [embedder.embed_question(question) for question in questions]
    scan, bm25s = NumpyScan(folder), Bm25s(folder)
    gc.collect()
    gc.freeze()  # the references' many objects must not slow down our collections
    store = open_for_reading(folder)
    limit = _SETTINGS.top_k_words

    def searched(question: str | None, vector: Vector | None) -> object:
        return store.search(question, vector, filters=Filters(), limit=limit)

    measured: Mapping[str, Callable[[int], object]] = {
        "words": lambda number: searched(questions[number], None),
        "bm25s": lambda number: bm25s.search(questions[number], limit),
        "vector": lambda number: searched(None, vectors[number]),
        "numpy": lambda number: scan.search(vectors[number], limit),
        "hybrid": lambda number: searched(questions[number], vectors[number]),
        "embedding": lambda number: embedder.embed_question(questions[number]),
        "whole": lambda number: _whole_search(questions[number], store, embedder),
    }
    figures: Figures = {"questions": len(questions), "references_mb": scan.mb + bm25s.mb}
    for name, seconds in _in_turns(measured, len(questions)).items():
        figures[f"{name}_p50_ms"] = float(np.percentile(seconds, 50)) * 1_000
        figures[f"{name}_p95_ms"] = float(np.percentile(seconds, 95)) * 1_000
    store.close()
    return figures


def memory(job: Job) -> Figures:
    """What a fresh process holds that opens the index and searches."""
    started = time.perf_counter()
    folder = Path(job.index)
    questions: list[str] = json.loads((folder / _QUESTIONS_NAME).read_text())
    embedder = _real_embedder()
    embedder.embed_question(questions[0])
    before, _ = _resident_mb()
    store = open_for_reading(folder)
    _whole_search(questions[0], store, embedder)
    first = time.perf_counter() - started
    for question in questions[1:20]:
        _whole_search(question, store, embedder)
    now, peak = _resident_mb()
    store.close()
    return {"model_mb": before, "memory_mb": now, "peak_mb": peak, "first_search_s": first}


STEPS: Mapping[str, Callable[[Job], Figures]] = {
    "embed": embed,
    "build": build,
    "latency": latency,
    "memory": memory,
    "update": update,
}


def _real_embedder() -> Embedder:
    return Embedders(ModelAccess()).named(DEFAULT_MODEL)


def _whole_search(question: str, store: SqliteStore, embedder: Embedder) -> object:
    """As `pincite search` does: embed, search, fuse, load, quote."""
    return search(question, store, embedder, mode="hybrid", filters=Filters(), settings=_SETTINGS)


def _in_turns(
    measured: Mapping[str, Callable[[int], object]], questions: int
) -> dict[str, list[float]]:
    """Seconds for each question: the median of rounds in which all take turns.

    A burst of other work on the machine then falls on all of them, and counts for none.
    """
    taken: dict[str, list[list[float]]] = {
        name: [[] for _ in range(questions)] for name in measured
    }
    for one in measured.values():
        one(0)  # not timed: what is loaded or cached at first use
    for _ in range(ROUNDS):
        for name, one in measured.items():
            for number in range(questions):
                started = time.perf_counter()
                one(number)
                taken[name][number].append(time.perf_counter() - started)
    return {name: [median(times) for times in rounds] for name, rounds in taken.items()}


def _resident_mb() -> tuple[float, float]:
    """Memory of this process, now and at its peak, as Linux tells it.

    `resource` would do elsewhere, but its peak may be that of the process that started this one.
    """
    status = Path("/proc/self/status").read_text()
    told = {name: value for name, _, value in (line.partition(":") for line in status.splitlines())}
    now, peak = (int(told[name].removesuffix("kB")) * 1_024 / 1e6 for name in ("VmRSS", "VmHWM"))
    return now, peak


if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](Job(**json.loads(sys.argv[2])))))
