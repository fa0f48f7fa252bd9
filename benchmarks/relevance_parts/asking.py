"""The questions of a set, asked: what each search found, and what is known of the hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from meter import Meter
from numpy.typing import NDArray
from public_sets.sets import Dataset, has_train_split, train_cases
from quality import some

from pincite.ports import Embedder, Reranker, Store
from pincite.records import Case, Mode, SearchResults
from pincite.retrieve import relevance
from pincite.retrieve.flow import search
from pincite.settings import SearchSettings

SAME_TEXTS = ("squad2-a", "xquad-dev/en")
SIGNALS = ("share", "cosine", "coverage")
SETTINGS = SearchSettings(
    top_k=relevance.POOL, per_document=1, similarity_floor=-1, near_identical=0
)

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """One question: what each way of searching found, and what is known of the hybrid's hits."""

    relevant: Mapping[str, int]
    unanswerable: bool
    orders: Mapping[str, Sequence[str]]  # documents, best first
    signals: Numbers  # a row for each hit of the hybrid search
    is_relevant: Numbers  # 1 or 0 for each

    @property
    def counts(self) -> Numbers:
        """How much each hit counts: the first as much as all others."""
        others = len(self.is_relevant) - 1
        return np.array([0.5, *[0.5 / others] * others] if others else [0.5])


@dataclass(frozen=True)
class Probed:
    """One set: the questions to fit on, and those to tell by."""

    name: str
    fit: Sequence[Asked]
    tell: Sequence[Asked]
    has_train: bool

    @property
    def family(self) -> str:
        """Sets over the same texts have one."""
        return "squad" if self.name in SAME_TEXTS else self.name


@dataclass(frozen=True)
class Asking:
    """How a question of one set is asked."""

    store: Store
    embedder: Embedder
    reranker: Reranker | None

    def __call__(self, case: Case) -> Asked | None:
        """None where nothing is found."""
        hybrid = self._search(case, "hybrid")
        if not hybrid.results:
            return None
        orders = {
            "words": _documents(self._search(case, "words")),
            "vector": _documents(self._search(case, "vector")),
            "hybrid": _documents(hybrid),
        }
        if self.reranker is not None:
            orders["reranked"] = _documents(self._search(case, "hybrid", self.reranker))
        loaded = {one.chunk.id: (one.document, one.chunk) for one in hybrid.results}
        hits = [one.hit for one in hybrid.results]
        known = relevance.signals(case.question, hits, loaded, hits)
        return Asked(
            relevant=case.documents,
            unanswerable=case.unanswerable,
            orders=orders,
            signals=np.array(
                [[asdict(known[one.chunk.id])[name] for name in SIGNALS] for one in hybrid.results]
            ),
            is_relevant=np.array(
                [float(case.documents.get(path, 0) > 0) for path in orders["hybrid"]]
            ),
        )

    def _search(self, case: Case, mode: Mode, reranker: Reranker | None = None) -> SearchResults:
        return search(
            case.question,
            self.store,
            self.embedder,
            mode=mode,
            filters=case.filters,
            settings=SETTINGS,
            reranker=reranker,
        )


def _documents(found: SearchResults) -> list[str]:
    return [result.document.path for result in found.results]


def probe(data: Path, dataset: Dataset, asking: Asking, most: int, *, reranked: bool) -> Probed:
    """Ask the set's questions, and those of its train split where it has one."""

    def asked(cases: Sequence[Case], what: str, ask: Asking) -> list[Asked]:
        answerable = some([case for case in cases if case.documents], most)
        chosen = [*answerable, *some([case for case in cases if case.unanswerable], most)]
        meter, done = Meter(f"{dataset.name} {what}"), []
        for count, case in enumerate(chosen, start=1):
            done.append(ask(case))
            meter(count, len(chosen))
        return [one for one in done if one is not None]

    tell = asked(dataset.cases, "questions", asking)
    trained = has_train_split(data, dataset.name)
    fit_on = tell
    if trained and not reranked:
        cases = train_cases(data, dataset.name)
        fit_on = asked(cases, "train questions", replace(asking, reranker=None))
    return Probed(dataset.name, fit_on, tell, trained)
