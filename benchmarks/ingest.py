"""What indexing costs beyond embedding, on a folder of real documents.

    python benchmarks/ingest.py FOLDER

In one run, each in a process of its own: (1) reading, cutting and embedding the folder's windows
with nothing stored, counting the embedding alone; (2) a full build; (3) an update with nothing
changed. Times are given as ratios, because machines differ; memory is the peak of each process.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pincite import open_library
from pincite.chunking.flow import chunk_document
from pincite.models.catalog import default_models_folder, open_embedder
from pincite.reading.reader import LibraryReader
from pincite.reading.sniff import kind_by_name
from pincite.settings import POLICIES
from pincite.sources import Folder

SAMPLE = Path(__file__).parent.parent / "examples" / "library"


def embed_alone(folder: Path, model: str, policy: str) -> dict[str, float]:
    """Embed every window of the folder, each text once, on all cores; only that is timed."""
    embedder = open_embedder(
        model, models_folder=default_models_folder(), base_url=None, api_key=None
    )
    source = Folder(folder)
    texts: dict[str, None] = {}
    in_band = chunks = documents = without = 0
    for file in source.scan(lambda path: kind_by_name(path) is not None).files:
        document = LibraryReader("bench").read(file.path, source.read(file.path))
        parts = chunk_document(document, POLICIES[policy], embedder)
        documents += 1
        without += not parts
        chunks += len(parts)
        in_band += sum(300 <= part.chunk.tokens <= 800 for part in parts)
        texts.update(dict.fromkeys(window.embedded for part in parts for window in part.windows))
    embedder.embed_passages(["warm up"])
    batches = [list(texts)[at : at + embedder.batch] for at in range(0, len(texts), embedder.batch)]
    started = time.perf_counter()
    with ThreadPoolExecutor(embedder.parallel) as threads:
        list(threads.map(embedder.embed_passages, batches))
    return {
        "seconds": time.perf_counter() - started,
        "windows": len(texts),
        "documents": documents,
        "without_chunks": without,
        "chunks": chunks,
        "in_band": in_band / chunks,
    }


def build(folder: Path, model: str, policy: str) -> dict[str, float]:
    """Index the folder as `pincite index build` does."""
    with open_library(folder) as library:
        # The model is loaded beforehand, as it was for embedding alone.
        library._embedders.named(model).embed_passages(["warm up"])
        started = time.perf_counter()
        report = library.index(model=model, policy=policy)
        return {"seconds": time.perf_counter() - started, "windows": report.embedded}


def update(folder: Path, model: str, policy: str) -> dict[str, float]:
    """Follow a folder in which nothing changed."""
    del model, policy  # the index remembers them
    with open_library(folder) as library:
        started = time.perf_counter()
        report = library.index()
        return {"seconds": time.perf_counter() - started, "windows": report.embedded}


STEPS = {"embed_alone": embed_alone, "build": build, "update": update}


def measured(step: str, folder: Path, model: str, policy: str) -> dict[str, float]:
    """The step's figures, from a process of its own."""
    command = [sys.executable, __file__, str(folder), "--model", model, "--policy", policy]
    done = subprocess.run([*command, "--step", step], check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    """Print the table, or with --step one step's figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--policy", default="vault")
    parser.add_argument("--step", choices=STEPS)
    arguments = parser.parse_args()
    if arguments.step:
        figures = STEPS[arguments.step](arguments.folder, arguments.model, arguments.policy)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({**figures, "peak_mb": peak}))
        return
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "library"
        shutil.copytree(arguments.folder, copy, ignore=shutil.ignore_patterns(".index"))
        steps = {step: measured(step, copy, arguments.model, arguments.policy) for step in STEPS}
        index_bytes = sum(file.stat().st_size for file in (copy / ".index").iterdir())
    alone, built, updated = (steps[step] for step in STEPS)
    print(f"documents {alone['documents']:.0f}, without chunks {alone['without_chunks']:.0f}")
    print(f"chunks {alone['chunks']:.0f}, of 300-800 tokens {alone['in_band']:.1%}")
    print(f"index on disk {index_bytes / 1e6:.1f} MB")
    print(f"{'step':<12} {'seconds':>8} {'windows':>8} {'ratio':>7} {'peak MB':>8}")
    for step, figures in steps.items():
        ratio = figures["seconds"] / alone["seconds"]
        print(
            f"{step:<12} {figures['seconds']:>8.2f} {figures['windows']:>8.0f} {ratio:>7.3f} "
            f"{figures['peak_mb']:>8.0f}"
        )
    print(f"update / build: {updated['seconds'] / built['seconds']:.2%}")


if __name__ == "__main__":
    main()
