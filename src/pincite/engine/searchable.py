"""Whatever can be asked: a folder's library or a team's project. One engine, several shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self

from pincite.engine.folders import begun, refuse_unread_labels
from pincite.engine.homes import Home
from pincite.engine.live import LiveStore
from pincite.engine.models import Embedders
from pincite.engine.stopwatch import Stopwatch
from pincite.errors import ReceiptInvalid, SettingsError
from pincite.records import Filters
from pincite.settings import (
    DEFAULT_BUDGET,
    AskSettings,
    SearchSettings,
    check_ask,
    check_search,
)

if TYPE_CHECKING:
    from pincite.answer.flow import Readers
    from pincite.engine.searching import Searching
    from pincite.ports import Embedder, Store, UnitScorer
    from pincite.records import (
        CheckedCitation,
        CitedPlace,
        Claim,
        Context,
        Document,
        DocumentEntry,
        FoundDocuments,
        LibraryStats,
        Mode,
        Moment,
        Outcome,
        Result,
        Retrieved,
        SearchResults,
    )


class Searchable:
    """An index that is asked. Safe to search from several threads at once."""

    def __init__(self, root: Path, embedders: Embedders, home: Home) -> None:
        self.root = root
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
        mode: Mode = "hybrid",
        filters: Filters = Filters(),
        settings: SearchSettings = SearchSettings(),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> SearchResults:
        """The chunks that speak most to the question, best first, each with its exact place.

        `cancelled` is asked between the stages; where it says yes, SearchCancelled is raised.
        """
        check_search(mode, settings, filters)
        store = self._store()
        header = begun(store.header(), self.root)
        refuse_unread_labels(header, filters)
        watch = Stopwatch(cancelled)
        found = self._searching.search(
            question, store, header, mode=mode, filters=filters, settings=settings, watch=watch
        )
        documents = {result.document.path: result.document for result in found.results}
        changed = tuple(path for path, one in documents.items() if self._differs(one))
        complete = store.is_complete()
        watch.lap("check")
        return replace(found, changed=changed, complete=complete, seconds=watch.seconds)

    def ask(  # noqa: PLR0913 — what is asked, of what, and with whose help
        self,
        question: str,
        *,
        filters: Filters = Filters(),
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
        from pincite.engine.retrieval import token_count

        check_ask(asking)
        if readers is None and profile is not None:
            readers = Readers(
                writer=self._embedders.writer(profile), judge=self._embedders.judge(judge, profile)
            )
        if readers is None or readers.scorer is None:
            readers = replace(readers or Readers(), scorer=self._scorer())
        watch = Stopwatch(cancelled)
        search = partial(self.search, filters=filters, settings=settings, cancelled=cancelled)
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
        return replace(told, seconds={**told.seconds, **watch.seconds})

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
        filters: Filters = Filters(),
        settings: SearchSettings = SearchSettings(),
        asking: AskSettings = AskSettings(),
    ) -> str:
        """What `ask` told with these filters and settings, as the text of a file for `check`.

        It holds the question, each claim, and the words, place and checksums of each citation.
        """
        from pincite import __version__
        from pincite.answer.receipts import as_json, receipt_of

        store = self._store()
        made_with = (("filters", filters), ("search", settings), ("ask", asking))
        return as_json(receipt_of(told, store, dict(made_with), pincite=__version__))

    def check(self, source: str | Path) -> tuple[CheckedCitation, ...]:
        """What became of each citation of a receipt, or of Markdown that `ask --copy` wrote.

        A Path is a file, a str is its text. ReceiptInvalid where it holds no such citations.
        """
        from pincite.answer.checking import check_citations
        from pincite.answer.receipts import LARGEST, citations_in

        if isinstance(source, Path):
            try:
                with source.open("rb") as file:
                    data = file.read(LARGEST + 1)
            except OSError as error:
                raise ReceiptInvalid(f"cannot be read: {error.strerror}") from error
        else:
            data = source.encode(errors="replace")
        cited = citations_in(data)
        _, clearance = self._home.sight()
        with self._store().snapshot() as store:
            return tuple(check_citations(cited, store, differs=self._differs, clearance=clearance))

    def search_documents(
        self,
        question: str,
        *,
        chunks_each: int = 1,
        mode: Mode = "hybrid",
        filters: Filters = Filters(),
        settings: SearchSettings = SearchSettings(),
    ) -> FoundDocuments:
        """The documents that speak most to the question, each with the best of its chunks."""
        from pincite.engine.retrieval import search_documents

        if chunks_each < 1:
            raise SettingsError(f"chunks_each must be at least 1, not {chunks_each}")
        search = partial(self.search, mode=mode, filters=filters)
        return search_documents(question, search, settings, each=chunks_each)

    def retrieve_chunks(
        self,
        question: str,
        *,
        k: int = 8,
        mode: Mode = "hybrid",
        filters: Filters = Filters(),
        settings: SearchSettings = SearchSettings(),
    ) -> Retrieved:
        """The best `k` chunks, those that follow each other as one passage.

        An index or a model that cannot be used is a `reason` with a `message`, and is logged;
        wrong arguments are errors, as everywhere.
        """
        from pincite.engine.retrieval import retrieve_chunks

        search = partial(self.search, mode=mode, filters=filters)
        return retrieve_chunks(question, search, self._store, replace(settings, top_k=k))

    def get_relevant_context(
        self,
        question: str,
        *,
        budget: int = DEFAULT_BUDGET,
        mode: Mode = "hybrid",
        filters: Filters = Filters(),
        settings: SearchSettings = SearchSettings(),
        count_tokens: Callable[[str], int] | None = None,
    ) -> Context:
        """Labelled passages for a language model to read, never more tokens than the budget.

        Tokens are counted by `count_tokens`, the model's own, where it is given; else by the
        embedder's tokenizer and by the characters, whichever gives more.
        """
        from pincite.engine.retrieval import relevant_context, token_count

        if budget < 1:
            raise SettingsError(f"the budget must be at least 1 token, not {budget}")
        settings = replace(settings, top_k=settings.context_chunks)
        retrieved = self.retrieve_chunks(
            question, k=settings.top_k, mode=mode, filters=filters, settings=settings
        )

        def embedder() -> Embedder:
            return self._embedders.of(begun(self._store().header(), self.root))

        count = count_tokens or token_count(None if mode == "words" else embedder)
        return relevant_context(retrieved, self._store, budget, count)

    def moment(self, result: Result, *, filters: Filters = Filters()) -> Moment | None:
        """What was said and seen around a result of a recording; None where it has no time.

        The filters say, as in a search, what of it may be seen.
        """
        from pincite.retrieve.moments import moment

        return moment(self._store(), result, filters)

    def show(self, citation: str, *, around: int = 3, base: str | Path | None = None) -> CitedPlace:
        """The cited lines with some lines around them.

        A citation is a path with lines (`notes/a.md:12-20`), a chunk id, or a line as `search`
        prints it. The id of a chunk that has since changed shows the words as they were. Paths are
        those of the library; with `base` also those seen from there, and absolute ones.
        """
        from pincite.retrieve.cite import find_place

        seen_from = Path(base).resolve() if base is not None else self.root
        place = find_place(
            self._store(), citation, around=around, root=self.root, seen_from=seen_from
        )
        return replace(place, changed=not place.superseded and self._differs(place.document))

    def documents(self) -> list[DocumentEntry]:
        """Every document of the library, by path."""
        return self._store().documents()

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
        """Give back every resource, and forget what was asked."""
        with self._making:
            self._made = None
        self._live.close()
        self._home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _store(self) -> Store:
        return self._live.get()

    def _differs(self, document: Document | DocumentEntry) -> bool:
        """Whether the file is not any more what was indexed."""
        raise NotImplementedError
