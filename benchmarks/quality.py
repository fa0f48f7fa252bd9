"""How well searches find things: public data sets, one table.

    python benchmarks/quality.py DATA_FOLDER [--sets scifact,fiqa] [--modes words,vector,hybrid]
                                 [--most-questions N] [--cache FILE] [--json FILE]

A mode may be followed by settings: `--modes hybrid,hybrid+route=20,hybrid+fusion=ranks+rrf_k=10`
asks the same index three times, which is how a knob is measured.

DATA_FOLDER holds a folder for each set (`public_sets` says what is in them), or is one set. Each
set is indexed as a library is, in a folder that is thrown away, and every question is asked in each
mode. Vectors are kept in FILE, so that a second run embeds nothing. The table is Markdown; how far
the run has come goes to stderr, and all figures to the JSON file, which grows set by set.

Documents are ranked by their best chunk. Where a place inside a document is looked for, chunks are
ranked, and a chunk that overlaps the place is a hit. The baseline is BM25 over title and text (for
places: over windows of 60 seconds or 150 words), as it was measured when the sets were prepared.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import cast

from meter import Meter
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.index import build, scratch_folder
from public_sets.rows import DatasetError
from public_sets.sets import Dataset, is_set, load, names

from pincite.engine.models import Embedders, ModelAccess
from pincite.entrypoints.cli.tuning import search_settings
from pincite.errors import PinciteError, SettingsError
from pincite.evals.flow import ask_all
from pincite.evals.judge import overlaps
from pincite.evals.measures import ALL, figures_by_kind
from pincite.ports import Embedder, Store
from pincite.records import Case, Found, Mode, SearchResults
from pincite.retrieve.flow import search
from pincite.settings import DEFAULT_MODEL, MODES, SearchSettings, check_search

SEED = 0  # of the choice where not all questions are asked
TOP_K = 10
SHOWN = ("words", "vector", "hybrid")

# What the table shows of a set in which documents are looked for, and of one for places.
OF_DOCUMENTS = ("ndcg@10", "recall@10", "abstention_auroc")
OF_PLACES = ("place_hit@1", "place_hit@5", "place_hit@10")

BASELINES: Mapping[str, Mapping[str, float]] = {
    "scifact": {"ndcg@10": 0.679},
    "fiqa": {"ndcg@10": 0.266},
    "cranfield": {"ndcg@10": 0.360},
    "cacm": {"ndcg@10": 0.500},
    "climate-fever": {"ndcg@10": 0.356},
    "limit-small": {"ndcg@10": 0.991},
    "squad2-a": {"ndcg@10": 0.918, "abstention_auroc": 0.580},
    "lihua-world": {"ndcg@10": 0.762, "abstention_auroc": 0.461},
    "dragonball-finance-en": {"ndcg@10": 0.987, "abstention_auroc": 0.725},
    "xquad-dev/en": {"ndcg@10": 0.967},
    "xquad-dev/de": {"ndcg@10": 0.923},
    "xquad-dev/es": {"ndcg@10": 0.951},
    "xquad-dev/zh": {"ndcg@10": 0.952},
    "xquad-dev/ar": {"ndcg@10": 0.889},
    "cmrc2018-dev": {"ndcg@10": 0.957},
    "btc-talks-timed/within": {"place_hit@1": 0.685, "place_hit@5": 0.903},
    "btc-talks-timed/global": {"place_hit@10": 0.881},
    "qmsum-product": {"place_hit@1": 0.370, "place_hit@5": 0.803},
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What came of one set."""

    name: str
    by_place: bool
    documents: int
    chunks: int
    questions: int
    questions_there: int  # in the set; more than were asked where only some were
    figures: dict[str, dict[str, float]]  # by mode
    seconds: dict[str, float]  # of indexing, and of asking in each mode


def measure(
    dataset: Dataset, embedder: Embedder, modes: Sequence[str], most_questions: int | None
) -> Measured:
    """Index the set and ask its questions in each mode."""
    cases = some(dataset.cases, most_questions)
    figures: dict[str, dict[str, float]] = {}
    seconds: dict[str, float] = {}
    with scratch_folder() as scratch:
        meter = Meter(f"{dataset.name} index")
        store = build(dataset, embedder, scratch / "index", meter.indexed)
        seconds["index"] = meter.seconds
        try:
            chunks = store.stats().chunks
            for mode in modes:
                meter = Meter(f"{dataset.name} {mode}")
                ask = Searcher(store, embedder, *mode_and_settings(mode))
                figures[mode] = figures_of(dataset, cases, ask, meter)
                seconds[mode] = meter.seconds
        finally:
            store.close()
    return Measured(
        name=dataset.name,
        by_place=dataset.by_place,
        documents=len(dataset.documents),
        chunks=chunks,
        questions=len(cases),
        questions_there=len(dataset.cases),
        figures=figures,
        seconds=seconds,
    )


@dataclass(frozen=True)
class Searcher:
    """One index, asked in one mode."""

    store: Store
    embedder: Embedder
    mode: Mode
    settings: SearchSettings

    def __call__(self, case: Case) -> SearchResults:
        """What is found for the case."""
        return search(
            case.question,
            self.store,
            self.embedder,
            mode=self.mode,
            filters=case.filters,
            settings=self.settings,
        )


def mode_and_settings(asked: str) -> tuple[Mode, SearchSettings]:
    """What `hybrid+route=20` means: a mode, and settings that are not the default."""
    mode, *given = asked.split("+")
    if mode not in MODES:
        raise SettingsError(f"unknown mode {mode!r}; choose from: {', '.join(MODES)}")
    settings = search_settings(tuple(given), top_k=TOP_K, per_document=1)
    check_search(mode, settings)
    return cast(Mode, mode), settings


def figures_of(
    dataset: Dataset, cases: Sequence[Case], ask: Searcher, meter: Meter
) -> dict[str, float]:
    """The set's figures in one mode."""
    if dataset.by_place:
        ask = replace(ask, settings=replace(ask.settings, per_document=0))
    results = ask_all(cases, ask, on_progress=meter)
    figures = figures_by_kind(results)[ALL]
    if dataset.by_place:
        figures["place_hit@5"] = fmean(
            hits_a_place(result.case, result.found[:5]) for result in results
        )
    return figures


def hits_a_place(case: Case, found: Sequence[Found]) -> bool:
    """Whether one of the chunks has some of an expected place."""
    return any(overlaps(place, one.document, one.locator) for place in case.places for one in found)


def some(cases: Sequence[Case], most: int | None) -> Sequence[Case]:
    """At most so many of the cases, the same ones each time, in their order."""
    if most is None or len(cases) <= most:
        return cases
    chosen = random.Random(SEED).sample(range(len(cases)), most)
    return [cases[at] for at in sorted(chosen)]


def heading(modes: Sequence[str]) -> str:
    """The head of the table."""
    columns = ["set", "documents", "chunks", "questions", "figure", "baseline", *modes]
    aligned = ["---", "---:", "---:", "---:", "---", "---:", *["---:"] * len(modes)]
    return f"{row(columns)}\n{row(aligned)}"


def row(cells: Sequence[str]) -> str:
    """One row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def table_rows(measured: Measured, modes: Sequence[str]) -> list[str]:
    """A row for each figure that the set has; only the first says what the set is."""
    asked = f"{measured.questions:,}"
    if measured.questions < measured.questions_there:
        asked += f" of {measured.questions_there:,} (seed {SEED})"
    counts = [measured.name, f"{measured.documents:,}", f"{measured.chunks:,}", asked]
    written = []
    for figure in OF_PLACES if measured.by_place else OF_DOCUMENTS:
        values = [measured.figures[mode].get(figure) for mode in modes]
        if any(value is not None for value in values):
            baseline = BASELINES.get(measured.name, {}).get(figure)
            written.append(row([*counts, figure, *map(number, [baseline, *values])]))
            counts = [""] * len(counts)
    return written


def failure_row(name: str, error: Exception, modes: Sequence[str]) -> str:
    """What stands in the table for a set that could not be measured."""
    why = " ".join(str(error).replace("|", "/").split())
    return row([name, "", "", "", f"failed: {why}", "", *[""] * len(modes)])


def number(value: float | None) -> str:
    """Three places, or nothing where there is none."""
    return "" if value is None else f"{value:.3f}"


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--sets", type=listed, default=(), help="all that are there, by default")
    parser.add_argument("--modes", type=listed, default=SHOWN, help=",".join(SHOWN))
    parser.add_argument("--most-questions", type=int, metavar="N", help="of each set")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    if is_set(chosen.data):
        whole = chosen.data.resolve()
        chosen.data, chosen.sets = whole.parent, (whole.name,)
    try:
        chosen.sets = names(chosen.data, chosen.sets)
    except DatasetError as error:
        parser.error(str(error))
    try:
        for mode in chosen.modes:
            mode_and_settings(mode)
    except SettingsError as error:
        parser.error(str(error))
    if chosen.most_questions is not None and chosen.most_questions < 1:
        parser.error("--most-questions must be at least 1")
    return chosen


def listed(names: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name.strip() for name in names.split(",") if name.strip())


def main() -> int:
    """Print the table as the sets are done; 1 where a set could not be measured."""
    chosen = arguments()
    # Stopped from outside, too, a run takes its scratch folder with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    chosen.cache.parent.mkdir(parents=True, exist_ok=True)
    model = Embedders(ModelAccess()).named(chosen.model)
    print(heading(chosen.modes), flush=True)
    done: list[Measured] = []
    failed = False
    with CachedEmbedder(model, chosen.cache) as embedder:
        for name in chosen.sets:
            try:
                dataset = load(chosen.data, name)
                done.append(measure(dataset, embedder, chosen.modes, chosen.most_questions))
            except (DatasetError, PinciteError) as error:
                failed = True
                print(failure_row(name, error, chosen.modes), flush=True)
                continue
            print("\n".join(table_rows(done[-1], chosen.modes)), flush=True)
            if chosen.json:
                chosen.json.write_text(json.dumps([asdict(one) for one in done], indent=1))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
