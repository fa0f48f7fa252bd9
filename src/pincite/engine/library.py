"""A library: index, search, show, verify. Each verb is one call of a journey."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pincite.engine.folders import (
    INDEX_FOLDER,
    existing_index,
    is_readable,
    refuse_empty,
    refuse_forgetting,
)
from pincite.engine.models import Embedders, ModelAccess, Wishes, header_for
from pincite.errors import (
    FileUnreadable,
    FolderMissing,
    IndexMissing,
    LibraryBusy,
    ModelUnavailable,
    NothingToIndex,
    PinciteError,
    StoreDamaged,
    StoreFull,
)
from pincite.ports import Chunker, Embedder
from pincite.records import (
    CitedPlace,
    Document,
    DocumentEntry,
    Failure,
    Filters,
    Finding,
    IndexReport,
    LibraryHeader,
    LibraryStats,
    Mode,
    Progress,
    SearchResults,
)
from pincite.settings import (
    DEFAULT_MAX_FILE_BYTES,
    SearchSettings,
    SourceSettings,
    check_search,
    policy_named,
)

if TYPE_CHECKING:
    from pincite.sources import Folder
    from pincite.stores.sqlite.store import SqliteStore

_SECONDS_BETWEEN_TRIES = 5.0


def open_library(
    folder: str | Path = ".",
    *,
    models: ModelAccess = ModelAccess(),
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
    return Library(root.resolve(), models)


class Library:
    """One folder of documents and its index. Safe to search from several threads at once."""

    def __init__(self, root: Path, models: ModelAccess) -> None:
        self.root = root
        self._embedders = Embedders(models)
        self._opening = threading.Lock()
        self._reader: SqliteStore | None = None

    def index(
        self,
        *,
        name: str | None = None,
        policy: str | None = None,
        model: str | None = None,
        max_file_bytes: int | None = None,
        fresh: bool = False,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> IndexReport:
        """Make the index equal to the folder: new, changed, moved and deleted files are followed.

        Name, chunk policy, model and the size limit are remembered in the index; give them to
        change them. With `fresh` everything is read, cut and embedded again.
        """
        from pincite.ingest.flow import Parts, sync
        from pincite.reading import sniff

        wishes = Wishes(
            name=name, policy=policy, model=model, max_file_bytes=max_file_bytes, fresh=fresh
        )
        if not (self.root / INDEX_FOLDER).exists():
            limit = max_file_bytes or DEFAULT_MAX_FILE_BYTES
            refuse_empty(self.root, self._folder(limit).scan(is_readable))
        with self._writer() as store:
            header = header_for(
                store.header(), wishes, self._embedders, folder_name=self.root.name or "library"
            )
            # Under the lock: what another process indexed meanwhile must not look deleted.
            folder = self._folder(header.max_file_bytes)
            scan = folder.scan(is_readable)
            if not fresh:
                refuse_forgetting(self.root, scan, len(store.documents()))
            embedder = self._embedders.named(header.model.name)
            store.begin(header)
            report = sync(
                scan.files,
                Parts(
                    read_file=folder.read,
                    read=partial(sniff.read, header.name),
                    chunk=_chunker(header.policy, embedder),
                    embedder=embedder,
                    store=store,
                ),
                recipe=header.recipe,
                unreadable=[
                    Failure(one.path, one.reason)
                    for one in scan.skipped
                    if one.kind == "unreadable"
                ],
                reuse=not fresh,
                on_progress=on_progress,
            )
        skipped = [one for one in scan.skipped if one.kind != "unreadable"]
        return replace(report, skipped=(*skipped, *report.skipped), unsupported=scan.unsupported)

    def watch(
        self,
        stop: threading.Event,
        *,
        on_trouble: Callable[[PinciteError], None] = lambda trouble: None,
    ) -> Iterator[IndexReport]:
        """Follow the folder until `stop` is set: a first report, then one for each change.

        What may pass (another writer, a full disk, a service that does not answer, an empty
        folder) is told to `on_trouble` and tried again.
        """
        first = self._index_patiently(stop, on_trouble)
        if first is not None:
            yield first
        for _ in self._folder(DEFAULT_MAX_FILE_BYTES).watch(stop):
            report = self._index_patiently(stop, on_trouble)
            if report is not None and (report.paths or report.failures):
                yield report

    def _index_patiently(
        self, stop: threading.Event, on_trouble: Callable[[PinciteError], None]
    ) -> IndexReport | None:
        while not stop.is_set():
            try:
                return self.index()
            except (LibraryBusy, NothingToIndex, StoreFull, ModelUnavailable) as trouble:
                on_trouble(trouble)
                stop.wait(_SECONDS_BETWEEN_TRIES)
        return None

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

        check_search(mode, settings)
        store = self._store()
        header = _begun(store.header(), self.root)
        by_words_only = mode == "words" or not question.strip()
        embedder = None if by_words_only else self._embedders.of(header)
        found = search(question, store, embedder, mode=mode, filters=filters, settings=settings)
        documents = {result.document.path: result.document for result in found.results}
        return replace(
            found,
            changed=tuple(path for path, one in documents.items() if self._differs(one)),
            complete=store.is_complete(),
        )

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
            return True
        return file.checksum != document.checksum

    def documents(self) -> list[DocumentEntry]:
        """Every document of the library, by path."""
        return self._store().documents()

    def stats(self) -> LibraryStats:
        """What the index is and holds."""
        store = self._store()
        return LibraryStats(str(self.root), _begun(store.header(), self.root), store.stats())

    def verify(self, *, repair: bool = False) -> list[Finding]:
        """What does not agree inside the index; with `repair`, what was mended."""
        from pincite.stores.sqlite.opening import open_for_repair, open_for_writing

        index = existing_index(self.root)
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

    def _folder(self, max_file_bytes: int) -> Folder:
        from pincite.sources import Folder

        return Folder(self.root, SourceSettings(max_file_bytes=max_file_bytes))

    @contextmanager
    def _writer(self) -> Iterator[SqliteStore]:
        """The library's only writer."""
        from pincite.stores.sqlite.opening import open_for_writing

        with closing(open_for_writing(self.root / INDEX_FOLDER)) as store:
            yield store

    def _store(self) -> SqliteStore:
        from pincite.stores.sqlite.opening import open_for_reading

        with self._opening:
            if self._reader is None:
                self._reader = open_for_reading(existing_index(self.root))
            return self._reader


def _chunker(policy: str, embedder: Embedder) -> Chunker:
    from pincite.chunking.sections import chunk_document

    return partial(chunk_document, policy=policy_named(policy), embedder=embedder)


def _begun(header: LibraryHeader | None, root: Path) -> LibraryHeader:
    if header is None:
        raise IndexMissing(f"the index of {root} is empty; run `pincite index build {root}`")
    return header
