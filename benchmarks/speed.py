"""What building, updating and searching an index cost, from a thousand chunks to a million.

    python benchmarks/speed.py DATA_FOLDER [--sizes 1k,10k,50k,1m] [--cache FILE] [--json FILE]
                               [--plots FOLDER]

Small sizes are the first documents of FiQA, 50k is all of it; beyond, texts are drawn from its
words and vectors lie around its vectors. The index is the real one on a real disk (TMPDIR says
where; a million chunks take some 10 GB and half an hour). Everything is compared with references
of the same run: embedding alone, a NumPy scan of the same vectors, bm25s with the same words, both
in memory. Each step has a process of its own; what is timed and its reference take turns, and
medians are taken, because machines are noisy.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from statistics import median

from platformdirs import user_cache_path
from speed_parts.steps import ROUNDS, Figures, Job
from speed_parts.table import markdown

_HERE = Path(__file__).parent
_BUSY = 1.5  # load at the start above which times are not to be trusted
_SMALL = 10_000  # chunks up to which a build is repeated
_MB_PER_CHUNK = 0.015  # of free disk that is asked for
_PACKAGES = ("numpy", "bm25s", "apsw", "sqlite-vec", "onnxruntime")
# The store searches with one thread, so the references do.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def measure(job: Job) -> Figures:
    """All figures of one size."""
    seen: defaultdict[str, list[float]] = defaultdict(list)

    def take(step: str) -> None:
        for name, value in _figures_of(step, job).items():
            seen[name].append(value)

    # The model's speed is taken before and after each build.
    take("embed")
    for _ in range(ROUNDS if job.size <= _SMALL else 1):
        shutil.rmtree(job.index, ignore_errors=True)
        take("build")
        take("embed")
    for step in ("latency", "memory", "update"):
        take(step)
    figures = {name: median(values) for name, values in seen.items()}
    figures["embedding_s"] = figures["vectors"] / figures["windows_per_s"]
    figures["disk_mb"] = sum(figures[f"{one}_mb"] for one in ("database", "segments", "log"))
    figures["content_mb"] = figures["text_mb"] + figures["vectors_mb"]
    return figures


def _figures_of(step: str, job: Job) -> Figures:
    """A step's figures, from a process of its own."""
    print(f"{job.size:,}: {step} …", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "speed_parts.steps", step, json.dumps(asdict(job))]
    environment = {
        **os.environ,
        **_ONE_THREAD,
        "PYTHONPATH": os.pathsep.join([str(_HERE), *sys.path]),
    }
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{step} at {job.size:,} chunks failed; see above")
    figures: Figures = json.loads(done.stdout)
    return figures


def machine() -> dict[str, object]:
    """What the figures depend on."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in _PACKAGES},
        "load": os.getloadavg()[0],
    }


def _size(text: str) -> int:
    number, factor = text.strip().lower(), 1
    for letter, times in (("k", 1_000), ("m", 1_000_000)):
        if number.endswith(letter):
            number, factor = number[:-1], times
    if not number.isdecimal() or not 100 <= int(number) * factor <= 10_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; say 1k, 50k or 1m")
    return int(number) * factor


def sizes_from(text: str) -> list[int]:
    """The sizes that a user lists, smallest first."""
    return sorted({_size(one) for one in text.split(",")})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder in which fiqa/ lies")
    parser.add_argument("--sizes", type=sizes_from, default=sizes_from("1k,10k,50k,1m"))
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="FILE",
        default=user_cache_path("pincite") / "benchmarks.db",
        help="vectors kept between runs",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw cost against size")
    arguments = parser.parse_args()
    for package in ("bm25s", *(["matplotlib"] if arguments.plots else [])):
        if importlib.util.find_spec(package) is None:
            parser.error(f"{package} is missing; run `make bench-env` and use .venv-bench")
    if not (arguments.data / "fiqa").is_dir():
        parser.error(f"{arguments.data} holds no folder fiqa")
    needed = max(arguments.sizes) * _MB_PER_CHUNK
    free = shutil.disk_usage(tempfile.gettempdir()).free / 1e6
    if free < needed:
        parser.error(f"{needed:,.0f} MB are needed in {tempfile.gettempdir()}; set TMPDIR")
    return arguments


def main() -> None:
    """Measure each size, then print the tables."""
    arguments = _arguments()
    about = machine()
    if os.getloadavg()[0] > _BUSY:
        print(
            f"warning: the load is {os.getloadavg()[0]:.1f}; other programs are running, so times "
            "will be too long",
            file=sys.stderr,
        )
    arguments.cache.parent.mkdir(parents=True, exist_ok=True)
    sizes = []
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as scratch:
            questions = 100 if size <= 100_000 else 20
            job = Job(
                data=str(arguments.data),
                cache=str(arguments.cache),
                size=size,
                index=str(Path(scratch) / "index"),
                questions=questions,
            )
            sizes.append(measure(job))
        if arguments.json:
            # After each size: the next one may take long.
            told = {"machine": about, "sizes": sizes}
            arguments.json.write_text(json.dumps(told, indent=1) + "\n")
    if arguments.plots:
        from speed_parts.plot import draw

        draw(sizes, arguments.plots)
    print(markdown(sizes))


if __name__ == "__main__":
    main()
