"""Step two of `peers.py`: one engine, measured in a process of its own.

    python -m peers_parts.measure ENGINE INPUTS_FOLDER RESULT_FILE

Index time is that of `build`, without imports; a question's
time is that of its search, text of the results included. Memory is how much higher the peak is than
it was when the inputs were loaded and nothing of the engine was.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import ir_measures
import numpy as np

from peers_parts.engines.corpus import Corpus, Question, Search, load

WARM_UP = 20  # questions asked before time counts
DOCUMENTS = 10  # that are judged


@dataclass(frozen=True, kw_only=True)
class Searched:
    """One mode of an engine."""

    ndcg_at_10: float
    p50_ms: float
    p95_ms: float
    fewest_documents: int  # found for a question


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One engine."""

    name: str
    version: str
    setup: str
    index_seconds: float
    disk_bytes: int  # 0: it is in memory only
    memory_bytes: int
    modes: Mapping[str, Searched]


def measure(name: str, corpus: Corpus) -> Measured:
    """Import the engine, index the corpus, ask every question in every mode."""
    before = _peak_bytes()
    engine = import_module(f"peers_parts.engines.with_{name}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        started = time.perf_counter()
        searches: Mapping[str, Search] = engine.build(corpus, Path(folder))
        seconds = time.perf_counter() - started
        modes = {mode: _asked(corpus.questions, search) for mode, search in searches.items()}
        files = [file for file in Path(folder).rglob("*") if file.is_file()]
        return Measured(
            name=name,
            version=version(engine.DISTRIBUTION),
            setup=engine.SETUP,
            index_seconds=seconds,
            disk_bytes=sum(file.stat().st_size for file in files),
            memory_bytes=_peak_bytes() - before,
            modes=modes,
        )


def _asked(questions: Sequence[Question], search: Search) -> Searched:
    for question in questions[:WARM_UP]:
        search(question)
    found: dict[str, list[str]] = {}
    milliseconds = []
    for question in questions:
        started = time.perf_counter()
        documents = search(question)
        milliseconds.append((time.perf_counter() - started) * 1_000)
        found[question.id] = list(dict.fromkeys(documents))[:DOCUMENTS]
    p50, p95 = np.percentile(milliseconds, [50, 95]).tolist()
    return Searched(
        ndcg_at_10=_ndcg(questions, found),
        p50_ms=p50,
        p95_ms=p95,
        fewest_documents=min(map(len, found.values())),
    )


def _ndcg(questions: Sequence[Question], found: Mapping[str, Sequence[str]]) -> float:
    expected = {question.id: dict(question.documents) for question in questions}
    run = {
        question: {document: float(-place) for place, document in enumerate(documents)}
        for question, documents in found.items()
    }
    wanted = ir_measures.nDCG @ DOCUMENTS
    return float(ir_measures.calc_aggregate([wanted], expected, run)[wanted])


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(name: str, inputs: str, result: str) -> None:
    """Write the engine's figures as JSON."""
    measured = measure(name, load(Path(inputs)))
    Path(result).write_text(json.dumps(asdict(measured)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
