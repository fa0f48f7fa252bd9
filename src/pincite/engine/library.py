"""A library: index, search, show, verify. Each verb is one call of a journey."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pincite.engine.eval_wishes import Gate
from pincite.engine.folders import begun, is_apart, refuse_unread_labels
from pincite.engine.homes import Home
from pincite.engine.live import LiveStore
from pincite.engine.models import Embedders, Wishes
from pincite.engine.patience import patiently
from pincite.engine.stopwatch import Stopwatch
from pincite.errors import (
    FileUnreadable,
    PinciteError,
    SettingsError,
)
from pincite.records import Filters
from pincite.settings import (
    DEFAULT_BUDGET,
    DEFAULT_MAX_FILE_BYTES,
    SearchSettings,
    SourceSettings,
    check_search,
)

if TYPE_CHECKING:
    from pincite.converting.engines import OcrEngine
    from pincite.converting.report import ConversionReport
    from pincite.engine.evaluation import Evaluation
    from pincite.engine.reindexing import LibraryGenerations
    from pincite.engine.searching import Searching
    from pincite.ports import Embedder, Store
    from pincite.records import (
        CatalogEntry,
        CitedPlace,
        Context,
        Document,
        DocumentEntry,
        Finding,
        FoundDocuments,
        IndexReport,
        LibraryHeader,
        LibraryStats,
        Mode,
        Moment,
        MoveReport,
        Progress,
        ReindexReport,
        Result,
        Retrieved,
        SearchResults,
    )
    from pincite.sources import Folder


class Library:
    """One folder of documents and its index. Safe to search from several threads at once."""

    def __init__(self, root: Path, embedders: Embedders, home: Home) -> None:
        self.root = root
        self._home = home
        self._embedders = embedders
        self._live = LiveStore(home)

    @cached_property
    def _searching(self) -> Searching:
        from pincite.engine.searching import Searching

        return Searching(self.root, self._embedders)

    def index(  # noqa: PLR0913 — each is a choice of the user's
        self,
        *,
        name: str | None = None,
        policy: str | None = None,
        model: str | None = None,
        max_file_bytes: int | None = None,
        options: tuple[str, ...] | None = None,
        summaries: str | None = None,
        fresh: bool = False,
        passwords: tuple[str, ...] = (),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> IndexReport:
        """Make the index equal to the folder: new, changed, moved and deleted files are followed.

        Name, chunk policy, model, size limit and options (`comments` and `tracked-changes` of Word
        documents are read, too) are remembered in the index; give them to change them. So is the
        language model that writes the `summaries` ("" takes them from the text). Passwords open
        encrypted files and are not remembered. With `fresh` everything is read, cut and embedded
        again.
        """
        from pincite.engine.indexing import Run

        wishes = Wishes(
            name=name,
            policy=policy,
            model=model,
            max_file_bytes=max_file_bytes,
            options=options,
            summaries=summaries,
            fresh=fresh,
        )
        run = Run(self.root, wishes, self._embedders, passwords, on_progress)
        return run.go(self._home)

    def reindex(  # noqa: PLR0913 — each is a choice of the user's
        self,
        *,
        policy: str | None = None,
        model: str | None = None,
        fresh: bool = False,
        gate: Gate = Gate(),
        switch: bool = True,
        passwords: tuple[str, ...] = (),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ReindexReport:
        """Move to another model or chunk policy while searches go on in the index as it was.

        A new generation is made beside it. Once it is complete, and answers the gate's questions
        as well, searches use it. What was stopped goes on where it was, also without arguments.
        """
        from pincite.engine.indexing import Run

        wishes = Wishes(policy=policy, model=model, fresh=fresh)
        run = Run(self.root, wishes, self._embedders, passwords, on_progress)
        return self.generations.reindex(run, gate, switch=switch)

    def rollback(self) -> LibraryHeader:
        """Go back to the generation before the last switch; how that is made."""
        return self.generations.rollback()

    @property
    def generations(self) -> LibraryGenerations:
        """The indexes of this library side by side, while it moves to another model or policy."""
        from pincite.engine.reindexing import LibraryGenerations

        return LibraryGenerations(self, self._home, self._embedders)

    def watch(
        self,
        stop: threading.Event,
        *,
        passwords: tuple[str, ...] = (),
        on_trouble: Callable[[PinciteError], None] = lambda trouble: None,
    ) -> Iterator[IndexReport]:
        """Follow the folder until `stop` is set: a first report, then one for each change.

        What may pass (another writer, a full disk, a service that does not answer, an empty
        folder) is told to `on_trouble` and tried again.
        """
        index = partial(self.index, passwords=passwords)
        first = patiently(index, stop, on_trouble)
        if first is not None:
            yield first
        for _ in self._folder(DEFAULT_MAX_FILE_BYTES).watch(stop):
            report = patiently(index, stop, on_trouble)
            if report is not None and (report.paths or report.failures):
                yield report

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

    def _differs(self, document: Document | DocumentEntry) -> bool:
        """Whether the file is not any more what was indexed."""
        try:
            file = self._folder(sys.maxsize).digest(document.path)
        except FileUnreadable:
            return not is_apart(self._home.files)  # imported without its files: nothing to compare
        return file.checksum != document.checksum

    def documents(self) -> list[DocumentEntry]:
        """Every document of the library, by path."""
        return self._store().documents()

    def catalog(self, question: str = "") -> list[CatalogEntry]:
        """The library's files and how they stand: all by path, or those a question describes."""
        from pincite.engine.catalog import catalog

        return catalog(self._store(), self.root, question)

    def convert(  # noqa: PLR0913 — each is a choice of the user's
        self,
        *,
        ocr: bool = False,
        engine: OcrEngine | None = None,
        speech_model: str | Path | None = None,
        language: str | None = None,
        force: bool = False,
        passwords: tuple[str, ...] = (),
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ConversionReport:
        """Recognise the text of images, scanned pages and recordings, as Markdown in `.converted`.

        Without `ocr` and `speech_model` it only tells what there is. What was recognised before,
        or was corrected by hand, is left alone unless `force` is given.
        """
        from pincite.engine.converting import ConversionWishes, convert_library

        wishes = ConversionWishes(
            ocr=ocr,
            engine=engine,
            speech_model=None if speech_model is None else Path(speech_model),
            language=language,
            force=force,
            passwords=passwords,
        )
        return convert_library(self.root, wishes, on_progress)

    @property
    def evaluation(self) -> Evaluation:
        """Stored questions asked and judged: how well this library finds things."""
        from pincite.engine.evaluation import Evaluation

        return Evaluation(self, self._store(), self._embedders, self._home.files)

    def stats(self) -> LibraryStats:
        """What the index is and holds."""
        store = self._store()
        from pincite.records import LibraryStats

        return LibraryStats(str(self.root), begun(store.header(), self.root), store.stats())

    def verify(self, *, repair: bool = False) -> list[Finding]:
        """What does not agree inside the index; with `repair`, what was mended."""
        self.close()  # a repair replaces the database under an open reader
        with closing(self._home.mend()) as store:
            findings = store.verify()
            if repair and findings:
                store.repair()
            return findings

    def export_to(
        self,
        file: str | Path,
        *,
        history: bool = False,
        overwrite: bool = False,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> MoveReport:
        """Write the whole library into one file, as it stands now, while others go on writing.

        With `history` also what it held before, for a backup; without, what was deleted stays
        here.
        """
        from pincite.engine.exporting import export_library

        return export_library(
            self.root,
            self._home,
            Path(file),
            history=history,
            overwrite=overwrite,
            on_progress=on_progress,
        )

    def import_from(
        self,
        file: str | Path,
        *,
        replace: bool = False,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> MoveReport:
        """Become the library that a file holds, whole or not at all; nothing is embedded again.

        Where there is an index already, only with `replace`.
        """
        from pincite.engine.importing import import_library

        self.close()  # the index is replaced under an open reader
        return import_library(
            Path(file), self.root, self._home, replace=replace, on_progress=on_progress
        )

    def close(self) -> None:
        """Give back every resource, and forget what was asked."""
        self.__dict__.pop("_searching", None)
        self._live.close()
        self._home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _folder(self, max_file_bytes: int) -> Folder:
        from pincite.sources import Folder

        return Folder(self.root, SourceSettings(max_file_bytes=max_file_bytes))

    def _store(self) -> Store:
        return self._live.get()
