"""The same corpus and questions through other engines, with our vectors: one table.

    python benchmarks/peers.py DATA_FOLDER [--set fiqa] [--peers chroma,lancedb] [--questions N]
                               [--cache FILE] [--json FILE]

Run it with the Python of `make bench-env`, on a machine that does nothing else. DATA_FOLDER holds
data sets as `benchmarks/quality.py` takes them. Each engine runs in a fresh process, on one core,
set up as its own manual recommends. All get the same passages and vectors, and each question's
vector, so that engines are compared and not models. Nothing is fetched from anywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from peers_parts.engines import COUNTS, ENGINES
from peers_parts.table import table
from platformdirs import user_cache_path

HERE = Path(__file__).parent

# No engine may tell anyone about itself, or look for a model.
SILENT = {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "LANCEDB_LOG": "error",
    "ORT_DISABLE_TELEMETRY": "1",
    "TQDM_DISABLE": "1",
}


def measured(chosen: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Make the inputs and measure each engine; those that failed are named."""
    inputs = scratch / "inputs"
    inputs.mkdir()
    chosen.cache.parent.mkdir(parents=True, exist_ok=True)
    asked = [chosen.data, chosen.set, chosen.cache, chosen.model, chosen.questions, inputs]
    if not succeeds("peers_parts.inputs", asked):
        sys.exit(1)
    stay_on_one_core()
    engines = []
    failed = []
    for name in chosen.peers:
        result = scratch / f"{name}.json"
        started = time.perf_counter()
        if succeeds("peers_parts.measure", [name, inputs, result]):
            engines.append(json.loads(result.read_text(encoding="utf-8")))
        else:
            failed.append(name)
        outcome = "failed" if name in failed else "done"
        print(f"{name}: {outcome} in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    counts = json.loads((inputs / COUNTS).read_text(encoding="utf-8"))
    return {
        "set": chosen.set,
        "model": chosen.model,
        **counts,
        "engines": engines,
        "failed": failed,
    }


def succeeds(module: str, arguments: Sequence[object]) -> bool:
    """Run a step in a process of its own. There is as little as possible in this one.

    The peak of a process counts from that of the one it was started by.
    """
    command = [sys.executable, "-m", module, *map(str, arguments)]
    environment = {**os.environ, **SILENT, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    done = subprocess.run(command, env=environment, stdout=sys.stderr, check=False)
    return done.returncode == 0


def stay_on_one_core() -> None:
    """This process, and those it starts from now on, where the system lets us choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--set", default="fiqa")
    parser.add_argument("--peers", type=listed, default=tuple(ENGINES), help=",".join(ENGINES))
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="all, by default")
    parser.add_argument("--model", default="minilm")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    for name in chosen.peers:
        if name not in ENGINES:
            parser.error(f"unknown peer {name!r}; choose from: {', '.join(ENGINES)}")
        if find_spec(ENGINES[name]) is None:
            parser.error(
                f"{ENGINES[name]} is not installed; run `make bench-env`, then use its Python: "
                ".venv-bench/bin/python"
            )
    if chosen.questions < 0:
        parser.error("--questions must not be negative")
    return chosen


def listed(names: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name.strip() for name in names.split(",") if name.strip())


def main() -> int:
    """Print the table; 1 where an engine failed."""
    chosen = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        report = measured(chosen, Path(scratch))
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(table(report))
    return int(bool(report["failed"]))


if __name__ == "__main__":
    sys.exit(main())
