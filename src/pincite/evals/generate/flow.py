"""Documents become draft cases: look at each once, then deal the drafts out by turns."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from pincite.errors import ModelError
from pincite.evals.generate.codes import code_keys, from_codes
from pincite.evals.generate.definitions import explained_in, from_definitions
from pincite.evals.generate.draft import Draft, Idea, Source, drafts_of, words_of
from pincite.evals.generate.facts import Groups, from_facts
from pincite.evals.generate.headings import from_headings, heading_keys
from pincite.evals.generate.phrases import without_phrases
from pincite.evals.generate.pool import Pool, Sightings, order
from pincite.evals.generate.spoken import from_speech, thing_keys
from pincite.evals.generate.unanswerable import questions_nowhere
from pincite.evals.generate.written import OnTrouble, Passage, passages_of, written_questions
from pincite.ports import Generator
from pincite.records import Case, Chunk, Document, ExpectedPlace
from pincite.text.words import fold

_TURNS = ("headings", "facts", "definitions", "codes", "speech")
_UNANSWERABLE_EVERY = 8  # drafts
_SAMPLE = 4  # documents to choose from, for each draft that is wanted
_SMALLEST_SAMPLE = 200
_TRIES = 3  # passages that a language model is asked about, for each draft that is wanted

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


def _no_trouble(trouble: ModelError) -> None:
    """Nobody wants to hear of it."""


def draft_cases(
    documents: Iterable[tuple[Document, Sequence[Chunk]]],
    *,
    most: int,
    seed: int = 0,
    generator: Generator | None = None,
    on_trouble: OnTrouble = _no_trouble,
) -> list[Case]:
    """Questions that the documents themselves suggest, with what should be found for them.

    They are spread over documents and kinds, and the same for the same documents and seed. About
    one in eight cannot be answered. With a generator, half of them are written by it, as far as it
    is able to; `on_trouble` is told of each of its failures.
    """
    harvest = _Harvest(max(_SMALLEST_SAMPLE, _SAMPLE * most), seed)
    for document, chunks in documents:
        harvest.take_in(Source(document, chunks))
    drafts = harvest.drafts()
    hand = _Hand()
    answerable = _by_turns([hand.draw_from(drafts[name]) for name in _TURNS])
    if generator is not None:
        passages = islice(harvest.passages, _TRIES * most)
        written = written_questions(passages, generator, on_trouble)
        answerable = _by_turns([written, answerable])
    ((language, _),) = harvest.languages.most_common(1) or [("en", 0)]
    nowhere = questions_nowhere(
        drafts, harvest.sightings, seed, language=language, knows_authors=harvest.knows_authors
    )
    mixed = _mixed(answerable, _by_turns(nowhere))
    taken = (draft.case for draft in islice(filter(hand.take, mixed), max(most, 0)))
    return [replace(case, question=without_phrases(case.question)) for case in taken]


class _Harvest:
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
        # Whatever somebody could tell this document from others by.
        document = source.document
        beside = f"{document.about}\n{document.path}\n{document.metadata.date or ''}"
        keys = chain(
            {*words_of(source.text), *words_of(beside)},
            _LONG_NUMBER.findall(f"{beside}\n{source.text}"),
            code_keys(source),
            heading_keys(source),
            [f"title {fold(source.title)}"],
            thing_keys(source),
            *(one.keys for one in explained),
        )
        self.sightings.note(keys)
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


class _Hand:
    """What was taken so far, so that no document and no place comes up too often."""

    def __init__(self) -> None:
        self._questions: set[str] = set()
        self._places: set[ExpectedPlace] = set()
        self._taken: Counter[str] = Counter()

    def draw_from(self, drafts: Iterable[Draft]) -> Iterator[Draft]:
        """One after the other, those about documents that were hardly asked for first."""
        drawn: Counter[str] = Counter()

        def urgency(draft: Draft) -> tuple[int, int, int]:
            return _often(draft, drawn), draft.rank, _often(draft, self._taken)

        left = [(urgency(draft), place, draft) for place, draft in enumerate(drafts)]
        heapq.heapify(left)
        while left:
            before, place, draft = heapq.heappop(left)
            if (now := urgency(draft)) > before:  # it never falls, so the rest may wait as it is
                heapq.heappush(left, (now, place, draft))
                continue
            drawn.update(draft.case.documents.keys())
            yield draft

    def take(self, draft: Draft) -> bool:
        """Whether the draft says something new; it counts as taken then."""
        case = draft.case
        question = fold(case.question)
        if question in self._questions or self._places.intersection(case.places):
            return False
        self._questions.add(question)
        self._places.update(case.places)
        self._taken.update(case.documents.keys())
        return True


def _often(draft: Draft, documents: Counter[str]) -> int:
    return max((documents[path] for path in draft.case.documents), default=0)


def _by_turns(sources: Sequence[Iterator[Draft]]) -> Iterator[Draft]:
    """One draft of each source after the other, as long as any has one."""
    left = list(sources)
    while left:
        for source in tuple(left):
            draft = next(source, None)
            if draft is None:
                left = [one for one in left if one is not source]
            else:
                yield draft


def _mixed(answerable: Iterator[Draft], unanswerable: Iterator[Draft]) -> Iterator[Draft]:
    """About one in eight of the second."""
    while batch := list(islice(answerable, _UNANSWERABLE_EVERY - 1)):
        yield from batch
        yield from islice(unanswerable, 1)
