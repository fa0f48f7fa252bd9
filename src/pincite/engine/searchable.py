"""Whatever can be asked: a folder's library or a team's project. One engine, several shapes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, Self

from pincite.engine.folders import begun, refuse_unread_labels
from pincite.engine.homes import Home
from pincite.engine.models import Embedders
from pincite.engine.queries import QueryLog
from pincite.errors import (
    LibraryBusy,
    LibraryClosed,
    LibraryError,
    ModelError,
    ModelInvalid,
    ModelMismatch,
    ModelUnavailable,
    SettingsError,
    StoreError,
)
from pincite.records import DocumentId, Filters, FiltersGiven, filters_of
from pincite.settings import (
    DEFAULT_BUDGET,
    AskSettings,
    SearchSettings,
    check_ask,
    check_search,
)
from pincite.stores.fields import storable

if TYPE_CHECKING:
    from pincite.answer.flow import Readers
    from pincite.answer.receipts import CitedWords
    from pincite.engine.searching import Searching
    from pincite.ports import Embedder, Judge, Store, UnitScorer, Writer
    from pincite.reading.sandbox import Sandbox
    from pincite.records import (
        CatalogEntry,
        CheckedCitation,
        Citation,
        CitedPlace,
        Claim,
        Context,
        Counted,
        Document,
        DocumentEntry,
        DocumentPage,
        FoundDocuments,
        LibraryStats,
        Mode,
        Moment,
        Outcome,
        Progress,
        Reason,
        Result,
        Retrieved,
        SearchResults,
    )
    from pincite.records.journal import LoggedQuery, LogMode
    from pincite.stores.journal import Journal


_LARGEST_PAGE = 1_000
_log = logging.getLogger(__name__)


class LiveStore:
    """The store that searches use: opened once, and another one after a switch or a repair.

    A search that began before a switch goes on in the store it has; so that one is closed only
    when the one after it is left as well, or with everything.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._opening = Lock()
        self._identity: tuple[int, ...] = ()
        self._stores: list[Store] = []  # the last one is used

    def get(self) -> Store:
        """The live one."""
        with self._opening:
            identity = self._home.identity()
            if not self._stores or identity != self._identity:
                self._open(identity)
            return self._stores[-1]

    def _open(self, identity: tuple[int, ...]) -> None:
        try:
            self._stores.append(self._home.read())
        except LibraryBusy:
            # While it is repaired, or brought up to date, the one there was answers as before.
            if self._stores and identity[0] == self._identity[0]:
                return
            raise
        self._identity = identity
        for store in self._stores[:-2]:
            store.close()
        del self._stores[:-2]

    def leave(self) -> None:
        """Use what is there anew; a search that is under way ends with what it began with."""
        with self._opening:
            self._stores.clear()  # each closes when the last one who uses it is done

    def close(self) -> None:
        """Give back every resource."""
        with self._opening:
            for store in self._stores:
                store.close()
            self._stores.clear()


class _Closed:
    """The home of a library that was closed."""

    def __getattr__(self, name: str) -> NoReturn:
        raise LibraryClosed(
            "this library was closed; open it again with open_library or open_project"
        )


class Searchable:
    """An index that is asked. Safe to search from several threads at once."""

    def __init__(
        self,
        root: Path,
        embedders: Embedders,
        home: Home,
        *,
        log: LogMode = "full",
        sandbox: Sandbox | None = None,
    ) -> None:
        self.root = root
        self._shared_sandbox = sandbox  # closed by whoever gave it
        self._model_failed = False
        self.log_mode = log
        self._queries = QueryLog(home, log)
        self._home = home
        self._embedders = embedders
        self._live = LiveStore(home)
        self._making = Lock()
        self._made: Searching | None = None

    @property
    def folder(self) -> Path | None:
        """The folder that its files are in; a team's project has none."""
        return self.root

    @property
    def _searching(self) -> Searching:
        from pincite.engine.searching import Searching

        with self._making:  # of two threads that ask first, one makes it for both
            if self._made is None:
                self._made = Searching(self.folder, self._embedders)
            return self._made

    def forget_questions(self) -> None:
        """Search anew for what was asked before, so that the time it takes is a search's."""
        with self._making:
            self._made = None

    def search(
        self,
        question: str,
        *,
        top_k: int | None = None,
        mode: Mode = "hybrid",
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> SearchResults:
        """The chunks that speak most to the question, best first, each with its exact place.

        Filters may also be a dict: `{"type": "pdf"}`. `cancelled` is asked between the stages and
        while a service embeds; where it says yes, SearchCancelled is raised.
        """
        filters = _checked(question, filters)
        with self._queries.noting("search", question, filters) as noted:
            found, model = self._search(question, top_k, mode, filters, settings, cancelled)
            return noted.found(found, model)

    def _search(
        self,
        question: str,
        top_k: int | None,
        mode: Mode,
        filters: Filters,
        settings: SearchSettings,
        cancelled: Callable[[], bool],
    ) -> tuple[SearchResults, str]:
        """What is found, and the model that the index was made with."""
        from pincite.engine.searching import Stopwatch

        settings = settings if top_k is None else replace(settings, top_k=top_k)
        check_search(mode, settings, filters)
        store = self._store()
        header = begun(store.header(), self.root)
        refuse_unread_labels(header, filters)
        watch = Stopwatch(cancelled)

        def find() -> SearchResults:
            return self._searching.search(
                question, store, header, mode=mode, filters=filters, settings=settings, watch=watch
            )

        try:
            found = find()
        except (ModelUnavailable, ModelInvalid) as error:
            # A model of this machine is opened anew once; a service was asked often enough.
            if self._model_failed or header.model.name.startswith("openai:"):
                raise
            self._model_failed = True
            _log.warning("the model failed and is opened anew: %s", error)
            self.reopen_models()
            found = find()
        self._model_failed = False
        documents = {result.document.path: result.document for result in found.results}
        changed = tuple(path for path, one in documents.items() if self._differs(one))
        complete = store.is_complete()
        so_far = self.so_far()
        notices = found.notices if mode == "words" else (*found.notices, *store.notices())
        watch.lap("check")
        found = replace(found, changed=changed, complete=complete, so_far=so_far, notices=notices)
        return replace(found, seconds=watch.seconds), header.model.name

    def ask(  # noqa: PLR0913 — what is asked, of what, and with whose help
        self,
        question: str,
        *,
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
        asking: AskSettings = AskSettings(),
        profile: str | None = None,
        judge: str = "",
        readers: Readers | None = None,
        on_claim: Callable[[Claim], None] = lambda claim: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Outcome:
        """An Answer, each claim with the very words it rests on, or an Abstention that says why.

        Without a profile it is in the documents' own words. A profile names a language model of
        `ModelAccess`, and the judge who says whether its claims are supported: `model` for the
        same model asked apart, or the path of a folder with an entailment model. `readers` are
        models of one's own instead.
        `on_claim` is told each claim as soon as it is checked; `cancelled` is asked between the
        stages, as in `search`.
        """
        from pincite.answer.flow import Readers, ask
        from pincite.engine.searching import Stopwatch
        from pincite.retrieve.pack import token_count

        check_ask(asking)
        filters = _checked(question, filters)
        with self._queries.noting("ask", question, filters, profile or "") as noted:
            if readers is None and profile is not None:
                readers = Readers(
                    writer=self._embedders.writer(profile),
                    judge=self._embedders.judge(judge, profile),
                )
            if readers is None or readers.scorer is None:
                readers = replace(readers or Readers(), scorer=self._scorer())
            watch = Stopwatch(cancelled)

            def search(words: str) -> SearchResults:
                found, model = self._search(words, None, "hybrid", filters, settings, cancelled)
                return noted.found(found, model)

            told = ask(
                question,
                search,
                self._store(),
                asking,
                count=token_count(None),
                readers=readers,
                on_claim=on_claim,
                lap=watch.lap,
            )
            # The search told its stages itself; what is left of the first lap is gathering.
            watch.seconds["gather"] -= sum(told.seconds.values())
            timed = replace(told, seconds={**told.seconds, **watch.seconds})
            return noted.told(timed, retrieval=told.seconds)

    def count(
        self,
        question: str,
        *,
        filters: FiltersGiven = None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Counted:
        """Look at every document, for a question that asks for all of something.

        Filters choose the documents. It says which have a passage with all telling words of the
        question, or which have none where it asks for those, and cites every passage.
        """
        from pincite.answer.counting import counted

        filters = _checked(question, filters)
        with self._queries.noting("count", question, filters) as noted:
            filters.check()
            store = self._store()
            header = begun(store.header(), self.root)
            refuse_unread_labels(header, filters)
            began = time.perf_counter()
            found = counted(question, store, filters, on_progress=on_progress, cancelled=cancelled)
            noted.fill(
                # One of each document, however many there are: who forgets it finds the query.
                chunk_ids=tuple({one.document_id: one.chunk_id for one in found.hits}.values()),
                model=header.model.name,
                retrieval_seconds=time.perf_counter() - began,
                outcome="results",
            )
            return found

    def writer(self, profile: str) -> Writer:
        """The language model of a profile of `ModelAccess`."""
        return self._embedders.writer(profile)

    def judge(self, spec: str, profile: str) -> Judge | None:
        """Who looks at what it writes; see `ask`."""
        return self._embedders.judge(spec, profile)

    @property
    def known_as(self) -> tuple[str, str]:
        """How the log calls this library, and who asks it where the door names nobody."""
        return self._home.known_as()

    def queries(
        self, *, since: float = 0.0, before: float | None = None, limit: int | None = None
    ) -> list[LoggedQuery]:
        """What was asked of this library, the newest first; of a team's project, by its user."""
        library, user = self.known_as
        mine = {"library": library, "user": user} if self.place else {}
        return self.journal.queries(since=since, before=before, limit=limit, **mine)

    @property
    def journal(self) -> Journal:
        """Keys, jobs, the log of queries and what people thought of the answers."""
        return self._queries.journal()

    def reopen_models(self) -> None:
        """Open every model anew when it is needed next, as one that failed may work then."""
        self._embedders.close()
        self.forget_questions()

    def _scorer(self) -> UnitScorer | None:
        """How near the meaning of a unit is to the question's.

        A service is not asked: it would take its time, and be sent the units once more.
        """
        from pincite.retrieve.quote import by_cosine

        header = begun(self._store().header(), self.root)
        is_service = header.model.name.startswith("openai:")
        return None if is_service else by_cosine(self._embedders.of(header))

    def receipt(
        self,
        told: Outcome,
        *,
        filters: FiltersGiven = None,
        settings: SearchSettings | None = SearchSettings(),
        asking: AskSettings | None = AskSettings(),
    ) -> str:
        """What `ask` told with these filters and settings, as the text of a file for `check`.

        It holds the question, each claim, and the words, place and checksums of each citation.
        None are settings that were not used, as of an artifact: nobody can ask that again.
        """
        from pincite import __version__
        from pincite.answer.receipts import as_json, receipt_of

        store = self._store()
        given = {"filters": filters_of(filters), "search": settings, "ask": asking}
        made_with = {name: one for name, one in given.items() if one is not None}
        return as_json(receipt_of(told, store, made_with, pincite=__version__))

    def check(self, source: str | Path) -> tuple[CheckedCitation, ...]:
        """What became of each citation of a receipt, or of Markdown that `ask --copy` wrote.

        A Path is a file, a str is its text. ReceiptInvalid where it holds no such citations.
        """
        from pincite.answer.receipts import citations_in, read_file

        _ = self._store()  # first of all, there must be something to compare with
        data = source.encode(errors="replace") if isinstance(source, str) else read_file(source)
        return self.check_words(citations_in(data))

    def check_words(
        self, cited: Sequence[CitedWords], moved: Mapping[str, str] | None = None
    ) -> tuple[CheckedCitation, ...]:
        """What became of each of these; `moved` as in `check_citations`."""
        from pincite.answer.checking import check_citations

        _, clearance = self._home.sight()
        with self._store().snapshot() as store:
            checked = check_citations(
                cited, store, differs=self._differs, clearance=clearance, moved=moved
            )
            return tuple(checked)

    def paths(self) -> dict[str, DocumentId]:
        """Which document stands where."""
        return self._store().paths()

    def search_documents(  # noqa: PLR0913 — what is asked, of what, and in which shape
        self,
        question: str,
        *,
        chunks_each: int = 1,
        top_k: int | None = None,
        mode: Mode = "hybrid",
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> FoundDocuments:
        """The documents that speak most to the question, each with the best of its chunks."""
        from pincite.records import FoundDocument, FoundDocuments

        if chunks_each < 1:
            raise SettingsError(f"chunks_each must be at least 1, not {chunks_each}")
        count = settings.top_k if top_k is None else top_k
        # However much some documents hold, so many of each leave room for the others.
        wanted = replace(settings, top_k=count * chunks_each, per_document=chunks_each)
        ask = partial(self.search, question, mode=mode, filters=filters, cancelled=cancelled)
        found = ask(settings=wanted)
        best: dict[str, list[Result]] = {}
        for result in found.results:
            best.setdefault(result.document.id, []).append(result)
        documents = [FoundDocument(each[0].document, tuple(each)) for each in best.values()]
        return FoundDocuments(
            found.question,
            tuple(documents[:count]),
            found.reason,
            found.asides,
            query_id=found.query_id,
        )

    def retrieve_chunks(  # noqa: PLR0913 — as `search`, and what to leave out
        self,
        question: str,
        *,
        k: int = 8,
        mode: Mode = "hybrid",
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
        without: tuple[str, ...] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Retrieved:
        """The best `k` chunks, those that follow each other as one passage.

        Chunks whose ids begin as `without` says are left out, and others take their places.
        An index or a model that cannot be used is a `reason` with a `message`, and is logged;
        wrong arguments are errors, as everywhere.
        """
        from pincite.records import Retrieved
        from pincite.retrieve.passages import passages

        ask = partial(self.search, question, mode=mode, filters=filters, cancelled=cancelled)
        try:
            found = ask(top_k=k + len(without), settings=settings)
            new = [one for one in found.results if not one.chunk.id.startswith(without)]
            merged = passages(new[:k], self._store().text_of)
        except (LibraryError, ModelError, StoreError) as error:
            # Whoever asks on behalf of a conversation must be able to go on with it.
            _log.error("nothing could be retrieved: %s", error)
            reason: Reason = "model_mismatch" if isinstance(error, ModelMismatch) else "error"
            return Retrieved(question, (), reason, str(error))
        return Retrieved(
            found.question,
            tuple(merged),
            found.reason,
            asides=found.asides,
            query_id=found.query_id,
        )

    def get_relevant_context(  # noqa: PLR0913 — as `search`, and how much fits
        self,
        question: str,
        *,
        budget: int = DEFAULT_BUDGET,
        mode: Mode = "hybrid",
        filters: FiltersGiven = None,
        settings: SearchSettings = SearchSettings(),
        count_tokens: Callable[[str], int] | None = None,
        without: tuple[str, ...] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Context:
        """Labelled passages for a language model to read, never more tokens than the budget.

        Tokens are counted by `count_tokens`, the model's own, where it is given; else by the
        embedder's tokenizer and by the characters, whichever gives more. `without`: as above.
        """
        from pincite.retrieve.pack import relevant_context, token_count

        if budget < 1:
            raise SettingsError(f"the budget must be at least 1 token, not {budget}")
        ask = partial(self.retrieve_chunks, question, mode=mode, filters=filters, without=without)
        retrieved = ask(k=settings.context_chunks, settings=settings, cancelled=cancelled)

        def embedder() -> Embedder:
            return self._embedders.of(begun(self._store().header(), self.root))

        count = count_tokens or token_count(None if mode == "words" else embedder)
        return relevant_context(retrieved, self._store, budget, count, without)

    def moment(self, result: Result, *, filters: FiltersGiven = None) -> Moment | None:
        """What was said and seen around a result of a recording; None where it has no time.

        The filters say, as in a search, what of it may be seen.
        """
        from pincite.retrieve.moments import moment

        return moment(self._store(), result, filters_of(filters))

    def show(
        self, citation: str | Citation, *, around: int = 3, base: str | Path | None = None
    ) -> CitedPlace:
        """The cited lines with some lines around them.

        A citation is a path with lines (`notes/a.md:12-20`), a chunk id, the `citation` of a
        result, or a line as `search` prints it. The id of a chunk that has since changed shows the
        words as they were. Paths are those of the library; with `base` also those seen from there,
        and absolute ones.
        """
        from pincite.retrieve.cite import find_place

        seen_from = Path(base).resolve() if base is not None else self.root
        place = find_place(
            self._store(), str(citation), around=around, root=self.root, seen_from=seen_from
        )
        return replace(place, changed=not place.superseded and self._differs(place.document))

    def documents(self) -> list[DocumentEntry]:
        """Every document of the library, by path."""
        return self._store().documents()

    def list_documents(
        self, *, after: str = "", limit: int = 100, filters: FiltersGiven = None
    ) -> DocumentPage:
        """Documents by path, so many at a time; `after` of a page asks for the next one.

        Filters let those through of which they would let something be found.
        """
        from pincite.records import DocumentPage

        if not 1 <= limit <= _LARGEST_PAGE:
            raise SettingsError(f"a page has 1 to {_LARGEST_PAGE:,} documents, not {limit}")
        filters = filters_of(filters)
        filters.check()
        store = self._store()
        if not filters.none_given:
            refuse_unread_labels(begun(store.header(), self.root), filters)
        found = store.documents(after=storable(after), limit=limit + 1, filters=filters)
        more = len(found) > limit
        return DocumentPage(tuple(found[:limit]), found[limit - 1].path if more else None)

    def so_far(self) -> int | None:
        """How many documents can be searched while a run is under way; None where none is."""
        store = self._store()
        is_under_way = not store.is_complete() and self._home.is_written()
        return len(store.paths()) if is_under_way else None

    def entry(self, document_id: str) -> DocumentEntry | None:
        """What is known of a document; None where this user sees none of that id."""
        return next(iter(self._store().documents([DocumentId(storable(document_id))])), None)

    def get_document(self, document_id: str) -> Document | None:
        """A document with its text; None where this user sees none of that id."""
        return self._store().load_document(DocumentId(storable(document_id)))

    def catalog(self, question: str = "", *, filters: FiltersGiven = None) -> list[CatalogEntry]:
        """The library's files and how they stand: all by path, or those a question describes.

        Filters let documents through of which they would let something be found.
        """
        from pincite.engine.catalog import catalog
        from pincite.engine.searching import refuse_unknown_types

        filters, store = filters_of(filters), self._store()
        filters.check()
        if not filters.none_given:
            refuse_unread_labels(begun(store.header(), self.root), filters)
            refuse_unknown_types(store, filters)
        return catalog(store, self.folder, question, filters)

    def stats(self) -> LibraryStats:
        """What the index is and holds."""
        store = self._store()
        from pincite.records import LibraryStats

        header = begun(store.header(), self.root)
        return LibraryStats(str(self.root), header, store.stats(), self.place)

    @property
    def place(self) -> str:
        """Where the index is, for people; empty where it is in the folder."""
        return self._home.place()

    def close(self) -> None:
        """Give back every resource. Whatever is asked of it from now on raises LibraryClosed."""
        if isinstance(self._home, _Closed):
            return
        self._release()
        self._queries.close()
        closed: Any = _Closed()
        self._home, self._live = closed, LiveStore(closed)
        self._queries = QueryLog(closed, "off")

    def _release(self) -> None:
        """Give back every resource, and forget what was asked, to begin anew with what is there."""
        with self._making:
            self._made = None
        self._live.close()
        if self.place:  # in the database that is closed now; a folder's journal is no part of it
            self._queries.close()
            self._queries = QueryLog(self._home, self.log_mode)
        if "_sandbox" in self.__dict__ and self._shared_sandbox is None:
            self._sandbox.close()
        self._home.close()

    def __enter__(self) -> Self:
        _ = self._home.files
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _store(self) -> Store:
        return self._live.get()

    @cached_property
    def _sandbox(self) -> Sandbox:
        """Reads files that are handed in; to start one for each would take longer than the rest."""
        from pincite.reading.sandbox import Sandbox

        return self._shared_sandbox or Sandbox()

    def _differs(self, document: Document | DocumentEntry) -> bool:
        """Whether the file is not any more what was indexed."""
        raise NotImplementedError


def _checked(question: str, filters: FiltersGiven) -> Filters:
    """The filters, however they were given, of a question that is one."""
    if not isinstance(question, str):
        raise SettingsError(f"the question must be a str, not {type(question).__name__}")
    return filters_of(filters)
