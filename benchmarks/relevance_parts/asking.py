"""Questions asked of libraries: what is known of the hits, and which of them answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from meter import Meter
from public_sets.index import build, scratch_folder
from public_sets.sets import Dataset, load
from quality import some

from pincite.ports import Embedder, Store
from pincite.records import Case, Filters, SearchResults
from pincite.retrieve.flow import search
from pincite.retrieve.rarity import rarity_of
from pincite.retrieve.relevance import Signals, signals
from pincite.retrieve.understand.flow import understand
from pincite.settings import SearchSettings

SETTINGS = SearchSettings()


@dataclass(frozen=True)
class Asked:
    """One question: what is known of its hits, best first, and whether each answers it."""

    answerable: bool
    hits: tuple[Signals, ...]  # none where nothing came near enough
    right: tuple[bool, ...]


@dataclass(frozen=True)
class Probed:
    """One library: its own questions, and those that were written for other texts."""

    name: str
    own: Sequence[Asked]
    outside: dict[str, Sequence[Asked]]  # by the set that they are from

    @property
    def answerable(self) -> list[Asked]:
        """Questions whose answer is there, found or not."""
        return [one for one in self.own if one.answerable]

    @property
    def near_misses(self) -> list[Asked]:
        """Questions that were written for the texts, and are not answered there."""
        return [one for one in self.own if not one.answerable]


_loaded = lru_cache(load)


@dataclass(frozen=True)
class Probing:
    """Where sets are, what embeds them, and where their indexes are kept for another run."""

    data: Path
    embedder: Embedder
    indexes: Path | None
    most: int  # questions of a set

    def __call__(self, name: str, outside: Sequence[str]) -> Probed:
        """Ask a library its own questions and those of other sets."""
        dataset = self.dataset(name)
        with self._folder(name) as folder:
            store = build(dataset, self.embedder, folder, Meter(f"{name} index").indexed)
            try:
                answerable = some([case for case in dataset.cases if case.documents], self.most)
                no_answer = some([case for case in dataset.cases if case.unanswerable], self.most)
                own = self._ask(store, [*answerable, *no_answer], f"{name}: its own questions")
                return Probed(
                    name, own, {other: self._outsiders(store, name, other) for other in outside}
                )
            finally:
                store.close()

    def dataset(self, name: str) -> Dataset:
        """A set; `NAME#1` and `NAME#2` are the halves of one, by the titles of its documents."""
        whole, _, half = name.partition("#")
        dataset = _loaded(self.data, whole)
        if not half:
            return dataset
        titles = sorted({document.title or "" for document in dataset.documents})
        chosen = set(titles[int(half) - 1 :: 2])
        documents = tuple(one for one in dataset.documents if (one.title or "") in chosen)
        paths = {document.path for document in documents}
        cases = tuple(
            one for one in dataset.cases if one.documents and paths.issuperset(one.documents)
        )
        return replace(dataset, name=name, documents=documents, cases=cases)

    def _outsiders(self, store: Store, library: str, other: str) -> list[Asked]:
        cases = [case for case in self.dataset(other).cases if case.documents]
        strangers = [
            replace(case, documents={}, terms=(), filters=Filters())
            for case in some(cases, self.most // 5)
        ]
        return self._ask(store, strangers, f"{library}: questions of {other}")

    def _ask(self, store: Store, cases: Sequence[Case], what: str) -> list[Asked]:
        meter, done = Meter(what), []
        for count, case in enumerate(cases, start=1):
            done.append(self._asked(store, case))
            meter(count, len(cases))
        return done

    def _asked(self, store: Store, case: Case) -> Asked:
        found = search(
            case.question,
            store,
            self.embedder,
            mode="hybrid",
            filters=case.filters,
            settings=SETTINGS,
        )
        right = tuple(
            result.document.path in case.documents
            and all(words in result.chunk.text for words in case.terms)
            for result in found.results
        )
        return Asked(bool(case.documents), self._signals(store, case, found), right)

    def _signals(self, store: Store, case: Case, found: SearchResults) -> tuple[Signals, ...]:
        """As the search made them, of every hit."""
        question = understand(case.question, store, self.embedder, SETTINGS).embedded
        known = signals(
            question,
            [one.hit for one in found.results],
            {one.chunk.id: (one.document, one.chunk) for one in found.results},
            rarity_of(question, store),
            best=max((one.hit.score for one in found.results), default=0.0),
            foreignness=self.embedder.foreignness(question),
        )
        return tuple(known[one.chunk.id] for one in found.results)

    @contextmanager
    def _folder(self, name: str) -> Iterator[Path]:
        if self.indexes is not None:
            yield self.indexes / name.replace("/", "_")
            return
        with scratch_folder() as scratch:
            yield scratch / "index"
