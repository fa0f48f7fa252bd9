"""One look at each document: what could be asked about it, and what it shares with others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from pincite.evals.generate.codes import code_keys, from_codes
from pincite.evals.generate.definitions import explained_in, from_definitions
from pincite.evals.generate.draft import Draft, Idea, Source, drafts_of, words_of
from pincite.evals.generate.facts import Groups, from_facts, title_keys
from pincite.evals.generate.headings import from_headings, heading_keys
from pincite.evals.generate.pool import Pool, order
from pincite.evals.generate.sightings import Sightings
from pincite.evals.generate.spoken import from_speech, thing_keys
from pincite.evals.generate.written import Passage, passages_of

_OF_ONE_DOCUMENT = 6  # drafts of each source that are kept
_OF_ONE_RECORDING = 48  # phrases that are; most will prove to be nothing special
_FEWEST_MANY, _SHARE_MANY = 3, 4  # what stands in three documents, and in every fourth, is common
_LONG_NUMBER = re.compile(r"\d{3,}")

_SOURCES: dict[str, Callable[[Source], Iterator[Idea]]] = {
    "headings": from_headings,
    "facts": from_facts,
    "codes": from_codes,
    "speech": from_speech,
}


class Harvest:
    """What a pass over a library brings in; its size does not grow with the library's."""

    def __init__(self, sample: int, seed: int) -> None:
        self.sightings = Sightings()
        self.passages: Pool[Passage] = Pool(sample, seed)
        self.languages: Counter[str] = Counter()
        self._groups = Groups(seed)
        self._definitions: Pool[Draft] = Pool(sample, seed)
        self._pools: dict[str, Pool[Draft]] = {name: Pool(sample, seed) for name in _SOURCES}
        self._seed = seed
        self._documents = 0

    def take_in(self, source: Source) -> None:
        """One more document."""
        self._documents += 1
        explained = list(explained_in(source))
        self.sightings.note(chain(_keys(source), *(one.keys for one in explained)))
        self._groups.note(source)
        if self._definitions.wants(source.path):
            self._keep(self._definitions, source, from_definitions(source, explained))
        for name, find in _SOURCES.items():
            if self._pools[name].wants(source.path):
                self._keep(self._pools[name], source, find(source))
        if self.passages.wants(source.path):
            self.passages.keep(source.path, passages_of(source, self._seed))
        if source.language is not None:
            self.languages[source.language] += 1

    @property
    def knows_authors(self) -> bool:
        """Whether somebody could ask for what one person wrote."""
        return self._groups.have_authors

    def drafts(self) -> dict[str, list[Draft]]:
        """By source, in an order that looks like chance: what can be asked without doubt."""
        drafts = {name: self._clear(pool) for name, pool in self._pools.items()}
        drafts["definitions"] = self._clear(self._definitions)
        drafts["facts"].extend(self._groups.drafts())
        for found in drafts.values():
            found.sort(key=lambda draft: order(self._seed, draft.case.question))
        return drafts

    def _keep(self, pool: Pool[Draft], source: Source, ideas: Iterable[Idea]) -> None:
        drafts = sorted(
            drafts_of(source, ideas),
            key=lambda draft: (draft.rank, order(self._seed, draft.case.question)),
        )
        most = _OF_ONE_RECORDING if source.is_recording else _OF_ONE_DOCUMENT
        pool.keep(source.path, drafts[:most])

    def _clear(self, drafts: Iterable[Draft]) -> list[Draft]:
        count, many = self.sightings.count, max(_FEWEST_MANY, self._documents // _SHARE_MANY)
        return [
            draft for draft in drafts if draft.clear is None or draft.clear.holds(count, many=many)
        ]


def _keys(source: Source) -> Iterator[str]:
    """Whatever somebody could tell this document from others by."""
    document = source.document
    beside = f"{document.about}\n{document.path}\n{document.metadata.date or ''}"
    yield from set(words_of(source.text)).union(words_of(beside))
    yield from _LONG_NUMBER.findall(f"{beside}\n{source.text}")
    yield from code_keys(source)
    yield from heading_keys(source)
    yield from title_keys(source)
    yield from thing_keys(source)
