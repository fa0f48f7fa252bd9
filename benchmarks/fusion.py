"""Which weights the fusion of scores should have, and how much they help where they were not seen.

    python benchmarks/fusion.py DATA_FOLDER [--sets scifact,fiqa,…] [--most-questions N]
                                [--cache FILE]

Every question is searched as a library is, and each candidate described by what the fusion adds up:
the heights of its scores, and how foreign the question is to the model. Weights are fitted so that
relevant documents come first (softmax over a question's candidates, every set counting the same).
The table tells of each set what weights reach that were fitted without its questions: on its train
split where it has one, and on the other sets, but for those that ask the same in another language.
The last line is fitted on everything, and is what `SearchSettings` holds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import numpy as np
from meter import Meter
from numpy.typing import NDArray
from platformdirs import user_cache_path
from public_sets.embedding_cache import CachedEmbedder
from public_sets.index import build, scratch_folder
from public_sets.sets import has_train_split, load, names, train_cases
from quality import listed, number, row, some
from scipy.optimize import minimize

from pincite.engine.models import Embedders, ModelAccess
from pincite.ports import Embedder, Store
from pincite.records import Case, DocumentId
from pincite.retrieve.fuse import LOOKED_AT, best_by_score, feedback, fuse_ranks, fuse_scores
from pincite.settings import DEFAULT_MODEL, SearchSettings

SETS = (
    *("scifact", "fiqa", "cranfield", "cacm", "climate-fever", "squad2-a", "lihua-world"),
    *("policyqa-dev", "dragonball-finance-en", "limit-small", "xquad-dev", "cmrc2018-dev"),
)
SIGNALS = ("words", "vector", "feedback", "foreign × words", "foreign × vector")
HEIGHTS = {"words": 1.0, "vector": 1.0, "feedback": 1.0}
USUAL = SearchSettings()
RIDGE = 1e-3  # against weights that only fit one set's noise

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A question's candidates: their documents, what is known of them, and what is relevant."""

    documents: tuple[str, ...]
    signals: NDArray[np.float64]  # a row for each candidate
    ranks: NDArray[np.float64]  # their sum of 1 / (60 + rank)
    relevant: Mapping[str, int]

    def ndcg(self, scores: NDArray[np.float64]) -> float:
        """Of the documents in the order of their best candidates."""
        order = np.argsort(-scores, kind="stable")
        best = list(dict.fromkeys(self.documents[at] for at in order))[:10]
        run = {"q": {document: float(-place) for place, document in enumerate(best)}}
        wanted = ir_measures.nDCG @ 10
        qrels = {"q": dict(self.relevant)}
        return float(ir_measures.calc_aggregate([wanted], qrels, run)[wanted])


@dataclass(frozen=True)
class Fitted:
    """One set: the questions to fit on, and those to tell by."""

    name: str
    fit: Sequence[Asked]
    tell: Sequence[Asked]
    has_train: bool

    @property
    def family(self) -> str:
        """Sets of one family ask the same, or of the same texts, in other languages."""
        return "passages" if self.name.startswith(("xquad", "cmrc")) else self.name


def ask(case: Case, store: Store, embedder: Embedder, paths: Mapping[DocumentId, str]) -> Asked:
    """Search and fuse once with the usual weights, and describe all candidates."""
    vector = embedder.embed_question(case.question)
    foreign = embedder.foreignness(case.question)
    rankings = store.search(case.question, vector, filters=case.filters, limit=USUAL.top_k_words)
    rankings.pop("codes", None)
    usual = {"words": USUAL.words_weight, "vector": USUAL.vector_weight}
    by_rank = {hit.chunk_id: hit.score for hit in fuse_ranks(rankings)}
    rankings["feedback"] = feedback(rankings, best_by_score(rankings, usual, LOOKED_AT))
    hits = fuse_scores(rankings, HEIGHTS)
    heights = np.array(
        [
            [hit.shares[name].contribution if name in hit.shares else 0.0 for name in HEIGHTS]
            for hit in hits
        ]
    ).reshape(len(hits), len(HEIGHTS))
    return Asked(
        documents=tuple(paths[hit.document_id] for hit in hits),
        signals=np.hstack([heights, foreign * heights[:, :2]]),
        ranks=np.array([by_rank[hit.chunk_id] for hit in hits]),
        relevant=case.documents,
    )


def collect(data: Path, name: str, embedder: Embedder, most: int) -> Fitted:
    """Index the set and ask its questions."""
    dataset = load(data, name)
    with scratch_folder() as scratch:
        store = build(dataset, embedder, scratch / "index", Meter(f"{name} index").indexed)
        try:
            paths = {document.id: document.path for document in dataset.documents}

            def asked(cases: Sequence[Case], what: str) -> list[Asked]:
                answerable = some([case for case in cases if case.documents], most)
                meter = Meter(f"{name} {what}")
                done = []
                for number_, case in enumerate(answerable, start=1):
                    done.append(ask(case, store, embedder, paths))
                    meter(number_, len(answerable))
                return done

            tell = asked(dataset.cases, "questions")
            trained = has_train_split(data, name)
            fit = asked(train_cases(data, name), "train questions") if trained else tell
            return Fitted(name, fit, tell, trained)
        finally:
            store.close()


def fit(groups: Sequence[Sequence[Asked]]) -> Weights:
    """The weights under which relevant candidates are likeliest, every group counting the same."""
    packed = [_packed(group) for group in groups]

    def loss(weights: Weights) -> tuple[float, Weights]:
        total, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for signals, shares, starts, questions in packed:
            sizes = np.diff([*starts, len(signals)])
            scores = signals @ weights
            highest = np.repeat(np.maximum.reduceat(scores, starts), sizes)
            likely = np.exp(scores - highest)
            sums = np.repeat(np.add.reduceat(likely, starts), sizes)
            likely /= sums
            total -= float(shares @ (scores - highest - np.log(sums))) / questions / len(packed)
            slope = slope - signals.T @ (shares - likely) / questions / len(packed)
        return total, slope

    found = minimize(loss, np.zeros(len(SIGNALS)), jac=True, method="L-BFGS-B")
    weights: Weights = found.x / found.x[:3].sum()
    return weights


def _packed(
    group: Sequence[Asked],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp], int]:
    signals, shares, sizes = [], [], []
    for one in group:
        grades = np.array([one.relevant.get(path, 0) for path in one.documents], np.float64)
        if grades.sum() > 0:
            signals.append(one.signals)
            shares.append(grades / grades.sum())
            sizes.append(len(grades))
    starts = np.cumsum([0, *sizes[:-1]])
    return np.concatenate(signals), np.concatenate(shares), starts, len(sizes)


def mean(asked: Sequence[Asked], scores: Callable[[Asked], NDArray[np.float64]]) -> float:
    """The mean nDCG@10 under these scores."""
    return float(np.mean([one.ndcg(scores(one)) for one in asked]))


def by_weights(*weights: float) -> Callable[[Asked], NDArray[np.float64]]:
    """Scores as the fusion gives them; what is not weighted counts for nothing."""
    padded = np.array([*weights, *[0.0] * (len(SIGNALS) - len(weights))])
    return lambda one: one.signals @ padded


USUAL_WEIGHTS = (
    *(USUAL.words_weight, USUAL.vector_weight, USUAL.feedback_weight),
    *(USUAL.foreign_words, -USUAL.foreign_vector),
)
COLUMNS: Mapping[str, Callable[[Asked], NDArray[np.float64]]] = {
    "words": by_weights(1),
    "vector": by_weights(0, 1),
    "ranks": lambda one: one.ranks,
    "scores, even": by_weights(0.5, 0.5),
    "with feedback": by_weights(0.4, 0.4, 0.2),
    "as set": by_weights(*USUAL_WEIGHTS),
}


def main() -> None:
    """Print the table, then the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, metavar="DATA_FOLDER")
    parser.add_argument("--sets", type=listed, default=SETS)
    parser.add_argument("--most-questions", type=int, default=1_000, metavar="N")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE", default=user_cache_path("pincite") / "benchmarks.db"
    )
    chosen = parser.parse_args()
    model = Embedders(ModelAccess()).named(DEFAULT_MODEL)
    with CachedEmbedder(model, chosen.cache) as embedder:
        sets = [
            collect(chosen.data, name, embedder, chosen.most_questions)
            for name in names(chosen.data, chosen.sets)
        ]
    print(row(["set", "questions", *COLUMNS, "fitted elsewhere"]))
    print(row(["---", "---:", *["---:"] * (len(COLUMNS) + 1)]))
    for one in sets:
        others = [other.fit for other in sets if other.family != one.family]
        elsewhere = fit([*others, *([one.fit] if one.has_train else [])])
        figures = [mean(one.tell, scores) for scores in COLUMNS.values()]
        figures.append(mean(one.tell, by_weights(*elsewhere)))
        print(row([one.name, f"{len(one.tell):,}", *map(number, figures)]), flush=True)
    everything = fit([one.fit for one in sets])
    told = (f"{name} {weight:.2f}" for name, weight in zip(SIGNALS, everything, strict=True))
    print(f"\nFitted on everything: {', '.join(told)}")


if __name__ == "__main__":
    main()
