"""A library: index, search, show, verify. Each verb is one call of a journey."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, get_args

from pincite.engine.models import Embedders, ModelAccess, header_for
from pincite.errors import (
    FolderMissing,
    IndexMissing,
    NothingToIndex,
    SettingsError,
    StoreDamaged,
)
from pincite.ports import Chunker, Embedder, Mode
from pincite.records import (
    CitedPlace,
    DocumentEntry,
    Failure,
    Filters,
    Finding,
    IndexReport,
    LibraryHeader,
    LibraryStats,
    Progress,
    SearchResults,
)
from pincite.settings import (
    MOST_RESULTS,
    SearchSettings,
    SourceSettings,
    policy_named,
)

if TYPE_CHECKING:
    from pincite.sources import Scan
    from pincite.stores.sqlite.store import SqliteStore

INDEX_FOLDER = ".index"


def open_library(
    folder: str | Path = ".",
    *,
    models: ModelAccess = ModelAccess(),
    sources: SourceSettings = SourceSettings(),
) -> Library:
    """The library in a folder, whether it has an index yet or not.

    Example:
        >>> with open_library("notes") as library:  # doctest: +SKIP
        ...     library.index()
        ...     for result in library.search("who signs the release?").results:
        ...         print(result.document.path, result.quote.text)
    """
    root = Path(folder).expanduser()
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise FolderMissing(f"{root} {what}; name the folder that holds your documents")
    return Library(root.resolve(), models, sources)


def find_library(start: str | Path = ".") -> Path:
    """The nearest folder with an index, going up from where one stands."""
    here = Path(start).expanduser().resolve()
    if not here.exists():
        raise FolderMissing(f"{start} does not exist")
    for folder in (here, *here.parents):
        if (folder / INDEX_FOLDER / "chunks.jsonl").exists():
            return folder
        if (folder / INDEX_FOLDER / "index.db").exists():
            return folder
    raise IndexMissing(
        f"neither {here} nor a folder above it has an index; run `pincite index build FOLDER`"
    )


class Library:
    """One folder of documents and its index. Safe to search from several threads at once."""

    def __init__(self, root: Path, models: ModelAccess, sources: SourceSettings) -> None:
        self.root = root
        self._sources = sources
        self._embedders = Embedders(models)
        self._opening = threading.Lock()
        self._reader: SqliteStore | None = None

    def index(
        self,
        *,
        name: str | None = None,
        policy: str | None = None,
        model: str | None = None,
        fresh: bool = False,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> IndexReport:
        """Make the index equal to the folder: new, changed, moved and deleted files are followed.

        Name, chunk policy and model are remembered in the index; give them to change them.
        With `fresh` everything is read, cut and embedded again.
        """
        from pincite.ingest.flow import Parts, sync
        from pincite.reading import sniff
        from pincite.sources import Folder

        folder = Folder(self.root, self._sources)
        scan = folder.scan(lambda path: sniff.reader_for(path) is not None)
        with self._writer(scan, fresh=fresh) as store:
            current = store.header()
            known_as = name or (current.name if current else self.root.name or "library")
            header = header_for(current, self._embedders, name=known_as, policy=policy, model=model)
            embedder = self._embedders.named(header.model.name)
            store.begin(header, fresh=fresh)
            parts = Parts(
                read_file=folder.read,
                read=partial(sniff.read, header.name),
                chunk=_chunker(header.policy, embedder),
                embedder=embedder,
                store=store,
            )
            unreadable = [
                Failure(one.path, one.reason) for one in scan.skipped if one.kind == "unreadable"
            ]
            report = sync(
                scan.files,
                parts,
                recipe=header.recipe,
                unreadable=unreadable,
                on_progress=on_progress,
            )
        skipped = tuple(one for one in scan.skipped if one.kind != "unreadable")
        return replace(report, skipped=skipped, unsupported=scan.unsupported)

    def watch(
        self,
        stop: threading.Event,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Iterator[IndexReport]:
        """Follow the folder until `stop` is set, with a report after each burst of changes."""
        from pincite.sources import Folder

        yield self.index(on_progress=on_progress)
        for _ in Folder(self.root, self._sources).watch(stop):
            yield self.index(on_progress=on_progress)

    def search(
        self,
        question: str,
        *,
        mode: Mode = "hybrid",
        filters: Filters = Filters(),
        settings: SearchSettings = SearchSettings(),
    ) -> SearchResults:
        """The chunks that speak most to the question, best first, each with its exact place."""
        from pincite.retrieve.flow import search

        _check_search(mode, settings)
        store = self._store()
        header = _begun(store.header(), self.root)
        by_words_only = mode == "words" or not question.strip()
        embedder = None if by_words_only else self._embedders.of(header)
        return search(question, store, embedder, mode=mode, filters=filters, settings=settings)

    def show(self, citation: str, *, around: int = 3) -> CitedPlace:
        """The cited lines with some lines around them.

        A citation is a path with lines (`notes/a.md:12-20`), a chunk id, or a line as `search`
        prints it. The id of a chunk that has since changed shows the words as they were.
        """
        from pincite.retrieve.cite import find_place

        return find_place(self._store(), citation, around=around)

    def documents(self) -> list[DocumentEntry]:
        """Every document of the library, by path."""
        return self._store().documents()

    def stats(self) -> LibraryStats:
        """What the index is and holds."""
        store = self._store()
        return LibraryStats(str(self.root), _begun(store.header(), self.root), store.stats())

    def verify(self, *, repair: bool = False) -> list[Finding]:
        """What does not agree inside the index; with `repair`, what was mended."""
        from pincite.stores.sqlite.store import open_for_repair, open_for_writing

        index = self._existing_index()
        self.close()  # a repair replaces the database under an open reader
        try:
            store = open_for_writing(index)
        except StoreDamaged:
            store = open_for_repair(index)
        try:
            findings = store.verify()
            if repair and findings:
                store.repair()
            return findings
        finally:
            store.close()

    def close(self) -> None:
        """Give back every resource."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _writer(self, scan: Scan, *, fresh: bool) -> Iterator[SqliteStore]:
        """The library's only writer; an empty folder does not get an index."""
        from pincite.stores.sqlite.store import open_for_writing

        index = self.root / INDEX_FOLDER
        if not scan.files and not index.exists():
            raise NothingToIndex(_nothing_found(self.root, scan))
        store = open_for_writing(index)
        try:
            stored = len(store.documents())
            if not scan.files and stored and not fresh:
                raise NothingToIndex(
                    f"{self.root} holds no file that pincite can read, but its index holds "
                    f"{stored} documents; they are kept. If you meant to empty it, run "
                    "`pincite index build --fresh`"
                )
            yield store
        finally:
            store.close()

    def _store(self) -> SqliteStore:
        from pincite.stores.sqlite.store import open_for_reading

        with self._opening:
            if self._reader is None:
                self._reader = open_for_reading(self._existing_index())
            return self._reader

    def _existing_index(self) -> Path:
        index = self.root / INDEX_FOLDER
        if not index.is_dir():
            raise IndexMissing(
                f"{self.root} has no index yet; run `pincite index build {self.root}`"
            )
        return index


def _chunker(policy: str, embedder: Embedder) -> Chunker:
    from pincite.chunking.sections import chunk_document

    return partial(chunk_document, policy=policy_named(policy), embedder=embedder)


def _begun(header: LibraryHeader | None, root: Path) -> LibraryHeader:
    if header is None:
        raise IndexMissing(f"the index of {root} is empty; run `pincite index build {root}`")
    return header


def _nothing_found(root: Path, scan: Scan) -> str:
    others = ", ".join(
        f"{count} {suffix or 'without suffix'}" for suffix, count in scan.unsupported.items()
    )
    return f"{root} holds no file that pincite can read (Markdown: .md, text: .txt)" + (
        f"; files of other kinds: {others}" if others else "; is it the right folder?"
    )


def _check_search(mode: str, settings: SearchSettings) -> None:
    if mode not in get_args(Mode):
        raise SettingsError(f"unknown mode {mode!r}; choose one of: {', '.join(get_args(Mode))}")
    if not 1 <= settings.top_k <= MOST_RESULTS:
        raise SettingsError(f"top-k must be between 1 and {MOST_RESULTS}, not {settings.top_k}")
