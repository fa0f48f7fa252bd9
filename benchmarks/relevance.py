"""How likely a hit is relevant: fits the weights of `retrieve/relevance.json`.

    python benchmarks/relevance.py DATA_FOLDER [--sets scifact,fiqa,…] [--most-questions N]
                                   [--rerank maxsim] [--cache FILE] [--indexes FOLDER] [--write]

Every question is searched as a library is, one chunk of a document, and each of the best 20 hits
described by its signals. Logistic weights are fitted so that the probability of a hit is right,
every set counting the same, and the first hit of a question as much as all others together:
it is the one that people read. Questions without an answer are asked, too.

The tables tell of each set what weights reach that never saw it: fitted on the other sets, and on
its train split where it has one. Sets over the same texts are left out together. `--rerank` adds a
column, and much time. `--write` puts the weights fitted on everything in their place.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from meter import Meter
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.index import build, scratch_folder
from public_sets.sets import load
from quality import listed, number, row
from relevance_parts.asking import SIGNALS, Asked, Asking, Numbers, Probed, probe
from relevance_parts.fitting import BINS, auroc, calibration_error, fit, ndcg, probabilities

from pincite.engine.models import Embedders, ModelAccess
from pincite.models.rerankers import open_reranker
from pincite.retrieve import relevance
from pincite.settings import DEFAULT_MODEL

SETS = (
    *("scifact", "fiqa", "cranfield", "cacm", "climate-fever", "squad2-a", "lihua-world"),
    *("dragonball-finance-en", "policyqa-dev", "xquad-dev/en"),
)

RANKING = ("set", "questions", "words", "vector", "hybrid", "by probability", "reranked")
CALIBRATION = (
    *("set", "first hit relevant", "its probability", "Brier", "Brier of a constant"),
    *("calibration error", "AUROC of hits", "answerable by cosine", "by probability"),
)


def ranking_row(one: Probed, told: Sequence[Numbers]) -> list[str]:
    """nDCG@10 of each way to order."""

    def by_probability(at: int, asked: Asked) -> Sequence[str]:
        return [asked.orders["hybrid"][place] for place in np.argsort(-told[at], kind="stable")]

    figures = [
        ndcg(one.tell, lambda _, asked, way=way: asked.orders[way])  # type: ignore[misc]
        for way in ("words", "vector", "hybrid")
    ]
    figures.append(ndcg(one.tell, by_probability))
    if "reranked" in one.tell[0].orders:
        figures.append(ndcg(one.tell, lambda _, asked: asked.orders["reranked"]))
    judged = sum(bool(asked.relevant) for asked in one.tell)
    return [one.name, f"{judged:,}", *map(number, figures)]


def calibration_row(one: Probed, told: Sequence[Numbers]) -> list[str]:
    """How right the probabilities are: of the first hits, of all, and of whole questions."""
    first = np.array([each[0] for each in told])
    came = np.array([asked.is_relevant[0] for asked in one.tell])
    every, all_came = np.concatenate(told), np.concatenate([a.is_relevant for a in one.tell])
    no_answer = np.array([asked.unanswerable for asked in one.tell])
    best = np.array([each.max() for each in told])
    cosine = np.array([asked.signals[:, SIGNALS.index("cosine")].max() for asked in one.tell])
    figures = [
        float(came.mean()),
        float(first.mean()),
        float(((first - came) ** 2).mean()),
        float(came.mean() * (1 - came.mean())),
        calibration_error(every, all_came),
        auroc(every[all_came > 0], every[all_came == 0]),
        auroc(cosine[~no_answer], cosine[no_answer]),
        auroc(best[~no_answer], best[no_answer]),
    ]
    return [one.name, *map(number, figures)]


def reliability(sets: Sequence[Probed], told: Mapping[str, Sequence[Numbers]]) -> Iterator[str]:
    """What came of the first hits of each probability, over all sets."""
    first = np.array([each[0] for one in sets for each in told[one.name]])
    came = np.array([asked.is_relevant[0] for one in sets for asked in one.tell])
    bins = np.minimum((first * BINS).astype(int), BINS - 1)
    for one in range(BINS):
        held = bins == one
        if held.any():
            said = f"{one / BINS:.1f}–{(one + 1) / BINS:.1f}"
            yield row(
                [said, f"{held.sum():,}", number(first[held].mean()), number(came[held].mean())]
            )


@contextmanager
def index_folder(kept: Path | None, name: str) -> Iterator[Path]:
    """Where a set's index is: kept for the next run, or thrown away."""
    if kept is not None:
        yield kept / name.replace("/", "_")
        return
    with scratch_folder() as scratch:
        yield scratch / "index"


def collect(chosen: argparse.Namespace) -> Iterator[Probed]:
    """Index each set and ask its questions."""
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL)
    reranker = None
    if chosen.rerank:
        reranker = open_reranker(
            chosen.rerank, embedder=lambda: model, base_url=None, api_key=None, seconds=60
        )
    with CachedEmbedder(model, chosen.cache) as embedder:
        for name in chosen.sets:
            dataset = load(chosen.data, name)
            with index_folder(chosen.indexes, name) as folder:
                store = build(dataset, embedder, folder, Meter(f"{name} index").indexed)
                try:
                    asking = Asking(store, embedder, reranker)
                    yield probe(
                        chosen.data,
                        dataset,
                        asking,
                        chosen.most_questions,
                        reranked=reranker is not None,
                    )
                finally:
                    store.close()


def write(weights: Numbers) -> Path:
    """Put the weights where the search finds them."""
    file = Path(relevance.__file__).with_suffix(".json")
    rounded = [round(float(weight), 3) for weight in weights]
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL).card.fingerprint
    told = {"model": model, **dict(zip(("constant", *SIGNALS), rounded, strict=True))}
    file.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return file


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--sets", type=listed, default=SETS)
    parser.add_argument("--most-questions", type=int, default=1_000, metavar="N")
    parser.add_argument("--rerank", metavar="NAME")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    parser.add_argument("--indexes", type=Path, metavar="FOLDER", help="kept there for another run")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Print the tables, then the weights."""
    chosen = arguments()
    sets = list(collect(chosen))
    told = {}
    for one in sets:
        others = [other.fit for other in sets if other.family != one.family]
        own = [one.fit] if one.has_train and one.fit is not one.tell else []
        told[one.name] = probabilities(one.tell, fit([*others, *own]))
    _print_table(RANKING, [ranking_row(one, told[one.name]) for one in sets])
    _print_table(CALIBRATION, [calibration_row(one, told[one.name]) for one in sets])
    print(row(["probability of the first hit", "questions", "mean", "relevant"]))
    print(row(["---", "---:", "---:", "---:"]))
    print("\n".join(reliability(sets, told)))
    weights = fit([one.fit for one in sets])
    named = zip(("constant", *SIGNALS), weights, strict=True)
    print("\nFitted on everything:", ", ".join(f"{name} {weight:.3f}" for name, weight in named))
    if chosen.write:
        print(f"Written to {write(weights)}")


def _print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    columns = len(rows[0])
    print(row(names[:columns]))
    print(row(["---", *["---:"] * (columns - 1)]))
    for cells in rows:
        print(row(cells))
    print()


if __name__ == "__main__":
    main()
