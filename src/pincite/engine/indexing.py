"""One index run: how the index is to be made, which files there are, and what reads them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from pincite.converting.flow import known_empty
from pincite.engine.folders import (
    is_apart,
    is_readable,
    join_files,
    look_for,
    refuse_empty,
    refuse_forgetting,
    refuse_forgetting_apart,
)
from pincite.engine.homes import Home
from pincite.engine.models import Embedders, Wishes, header_for
from pincite.errors import FileUnreadable, ModelError, NothingToIndex, SettingsError
from pincite.ingest.catalog import summarized
from pincite.ingest.embed import KnownVectors, nothing_known
from pincite.ingest.flow import Parts, made, sync
from pincite.ingest.summaries import WrittenSummaries
from pincite.ports import Chunker, Embedder, Store
from pincite.reading.analysis import AnalysisFile, parse_analysis
from pincite.reading.labels import LabelsFile, parse_labels
from pincite.reading.reader import LibraryReader
from pincite.reading.sandbox import Sandbox
from pincite.records import (
    DocumentEntry,
    Failure,
    FoundFile,
    IndexReport,
    LibraryHeader,
    Metadata,
    Progress,
    Skipped,
    Uploaded,
    UploadStatus,
    differs_in_labels,
    document_id,
    recipe_labelled,
)
from pincite.settings import (
    ANALYSIS_FILE,
    CONVERTED_FOLDER,
    DEFAULT_MAX_FILE_BYTES,
    DEFAULT_MODEL,
    LABELS_FILE,
    policy_named,
)
from pincite.sources import Folder, Scan, labels_file_of

Parsed = TypeVar("Parsed")

_ABOUT_A_WINDOW = "How long does a text of this length take? " * 20


@dataclass(frozen=True)
class _OwnFiles:
    """What the user says of the documents in files of ours, each with its checksum."""

    analysis: AnalysisFile
    analysis_checksum: str
    labels: LabelsFile | None
    labels_checksum: str


@dataclass(frozen=True)
class Run:
    """An index run over one folder."""

    root: Path
    wishes: Wishes
    embedders: Embedders
    folder: Callable[[int], Folder]  # with files of so many bytes at most
    passwords: tuple[str, ...] = ()
    on_progress: Callable[[Progress], None] = lambda progress: None

    def go(self, home: Home) -> IndexReport:
        """Make the index equal to the folder."""
        if not home.exists():
            limit = self.wishes.max_file_bytes or DEFAULT_MAX_FILE_BYTES
            refuse_empty(self.root, self.folder(limit).scan(is_readable))
        self._own_files()  # refused, if they must be, before anything is made
        with closing(home.write()) as store:
            return self.follow(home, store)

    def follow(self, home: Home, store: Store) -> IndexReport:
        """Make the index equal to the folder, with a store that is open for it."""
        if not home.is_of_folder() and not self.wishes.fresh:
            self._refuse_strange(store.documents())
        report = self.fill(store, store.header(), files=home.files)
        join_files(home.files)
        home.settle()
        store.make_index()  # last: where it cannot be made, all else is done
        return report

    def add(self, home: Home, store: Store, sandbox: Sandbox, path: str) -> Uploaded:
        """Make one file of the folder searchable, whatever else changed there.

        All of the folder is only looked at where the index is not one of this folder yet.
        """
        own = self._own_files()
        is_new = False
        begun = store.header() is not None and home.is_of_folder() and not is_apart(home.files)
        if not begun or _is_source(path, own, store):
            is_new = path in self.follow(home, store).paths.get("added", ())
        header = self._header(store.header(), own)
        folder = self.folder(header.max_file_bytes)
        scan = look_for(folder, path)
        document = document_id(header.name, path, folder.checksum(path))
        recipe = _recipe_of(path, header, scan)
        held = store.documents([document])

        def is_there(path: str) -> bool:
            return bool(folder.scan(is_readable, only=(path,)).files)

        status: UploadStatus = "indexed" if is_new or not held else "deduplicated"
        if not held or held[0].recipe != recipe:
            with _changing(store, header, path):
                store.begin(header)
                reader = self._reader(header, sandbox, folder, scan, own, is_there)
                parts = parts_for(header, self.embedders, store, reader, folder.read)
                known = store.load_embedded(document) if held else None
                if known and differs_in_labels(held[0].recipe, recipe):
                    embedded = known.labelled(reader.read(path, folder.read(path)).metadata)
                else:
                    embedded = made(path, parts, self.on_progress)
                    status = "reindexed" if held else status
                store.replace_document(embedded, recipe=recipe)
            held = store.documents([embedded.document.id])
        return Uploaded(status, held[0])

    def drop(self, home: Home, store: Store, entry: DocumentEntry) -> None:
        """Forget one document whose file is gone, whatever else changed in the folder."""
        header = store.header()
        if header is None or _is_source(entry.path, self._own_files(), store):
            self.follow(home, store)
            return
        with _changing(store, header, entry.path):
            store.remove_documents([entry.id])

    def _refuse_strange(self, held: Sequence[DocumentEntry]) -> None:
        """What was indexed from elsewhere would be forgotten."""
        limit = self.wishes.max_file_bytes or DEFAULT_MAX_FILE_BYTES
        here = {file.path for file in self.folder(limit).scan(is_readable).files}
        elsewhere = [one.path for one in held if one.path not in here]
        if elsewhere:
            raise NothingToIndex(
                f"{len(elsewhere)} documents of this project, {elsewhere[0]} among them, are not "
                f"in {self.root}, and a project is made equal to its folder; they are kept. "
                "`pincite index build` takes --project for another project, or --fresh to forget "
                "them"
            )

    def header(self, current: LibraryHeader | None) -> LibraryHeader:
        """How the index is to be made, where it was made so until now."""
        return self._header(current, self._own_files())

    def fill(
        self,
        store: Store,
        current: LibraryHeader | None,
        *,
        files: Path,
        held: Sequence[DocumentEntry] = (),
        elsewhere: KnownVectors = nothing_known,
    ) -> IndexReport:
        """Make a store equal to the folder, as an index of this header would be made now.

        `held` documents would be forgotten with an empty folder, though this store has them not.
        """
        own = self._own_files()
        header = self._header(current, own)
        # Under the lock: what another process indexed meanwhile must not look deleted.
        folder = self.folder(header.max_file_bytes)
        scan = without_orphans(folder.scan(is_readable), self.root)

        def checksum(file: FoundFile) -> str:
            try:
                return file.checksum or folder.checksum(file.path)
            except FileUnreadable:
                return ""  # no document has it, so that the file is read, which tells the reason

        if held or not self.wishes.fresh:
            documents = held or store.documents()
            refuse_forgetting(self.root, scan, len(documents))
            refuse_forgetting_apart(self.root, files, scan, documents, checksum)
        embedder = self.embedders.of(header)
        by_rule: list[Failure] = []
        version = [str(header.ingestion_version)]
        there = {file.path for file in scan.files}
        outdated = sum(
            one.path in there and one.recipe.split("/")[1:2] != version for one in store.documents()
        )
        if outdated:
            self._tell_of_upgrade(outdated, store, embedder)
        store.begin(header)
        with ExitStack() as ending:
            # Also of a run that is stopped: what it read need not be read again.
            seen = [*scan.labels, *(file.path for file in scan.files)]
            ending.callback(folder.checksums.save, seen)
            sandbox = ending.enter_context(Sandbox())
            reader = self._reader(header, sandbox, folder, scan, own, there.__contains__)
            parts = parts_for(header, self.embedders, store, reader, folder.read, by_rule.append)
            report = sync(
                scan.files,
                replace(
                    parts,
                    elsewhere=elsewhere,
                    sources_of=own.analysis.sources,
                    checksum=checksum,
                    on_read=folder.note,
                ),
                recipe_of=lambda path: _recipe_of(path, header, scan),
                unreadable=[
                    Failure(one.path, one.reason)
                    for one in scan.skipped
                    if one.kind == "unreadable"
                ],
                reuse=not self.wishes.fresh,
                on_progress=self.on_progress,
            )
        skipped = [one for one in scan.skipped if one.kind != "unreadable"]
        return replace(
            report,
            skipped=(*skipped, *report.skipped),
            unsupported=scan.unsupported,
            partly=(*report.partly, *by_rule),
        )

    def _tell_of_upgrade(self, documents: int, store: Store, embedder: Embedder) -> None:
        """Say beforehand what another version of pincite has to do again, and for how long."""
        note = (
            "This version of pincite cuts and embeds documents differently. It reads "
            f"{documents:,} document{'' if documents == 1 else 's'} again, and embeds again what "
            "the model would now read differently"
        )
        with suppress(ModelError):  # which the run itself tells
            embedder.embed_passages([_ABOUT_A_WINDOW])  # the first one also loads the model
            started = time.perf_counter()
            embedder.embed_passages([_ABOUT_A_WINDOW])
            seconds = (time.perf_counter() - started) * store.stats().windows / embedder.parallel
            takes = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
            note += f": about {takes} if that is everything"
        note += "."
        self.on_progress(Progress(0, documents, 0, 0, path="", note=note))

    def _header(self, current: LibraryHeader | None, own: _OwnFiles) -> LibraryHeader:
        current_model = current.model.name if current else DEFAULT_MODEL
        self.embedders.prepare(self.wishes.model or current_model, self.on_progress)
        wishes = replace(self.wishes, analysis=own.analysis_checksum, labels=own.labels_checksum)
        folder_name = self.root.name or "library"
        return header_for(current, wishes, self.embedders, folder_name=folder_name)

    def _reader(
        self,
        header: LibraryHeader,
        sandbox: Sandbox,
        folder: Folder,
        scan: Scan,
        own: _OwnFiles,
        is_there: Callable[[str], bool],
    ) -> LibraryReader:
        def labelled(path: str, metadata: Metadata) -> Metadata:
            metadata = (own.labels or LabelsFile()).labelled(path, metadata)
            file = labels_file_of(path)
            if file not in scan.labels:
                return metadata
            try:
                labels = parse_labels(self.folder(DEFAULT_MAX_FILE_BYTES).read(file))
            except FileUnreadable as error:
                raise FileUnreadable(f"cannot be labelled: {file} {error}") from error
            return labels.labelled(path, metadata)

        return LibraryReader(
            header.name,
            sandbox.read,
            passwords=self.passwords,
            options=frozenset(header.options),
            converted=frozenset(recognised_from(file.path) for file in scan.files),
            without_text=known_empty(self.root),
            analysis_of=own.analysis.of,
            other_file=lambda path: folder.read(path) if is_there(path) else None,
            labelled=labelled,
        )

    def _own_files(self) -> _OwnFiles:
        analysis, analysis_checksum = self._own_file(ANALYSIS_FILE, parse_analysis)
        labels, labels_checksum = self._own_file(LABELS_FILE, parse_labels)
        return _OwnFiles(analysis or AnalysisFile(), analysis_checksum, labels, labels_checksum)

    def _own_file(self, name: str, parse: Callable[[bytes], Parsed]) -> tuple[Parsed | None, str]:
        """What the user says in a file of ours, with its checksum; nothing where there is none."""
        if not (self.root / name).is_file():
            return None, ""
        try:
            data = self.folder(DEFAULT_MAX_FILE_BYTES).read(name)
            return parse(data), hashlib.sha256(data).hexdigest()
        except FileUnreadable as error:
            raise SettingsError(f"{name} {error}") from error


def parts_for(
    header: LibraryHeader,
    embedders: Embedders,
    store: Store,
    reader: LibraryReader,
    read_file: Callable[[str], bytes],
    on_failure: Callable[[Failure], None] = lambda failure: None,
) -> Parts:
    """What makes documents of files as a header says; where a model cannot cut one, it is told."""
    from pincite.chunking.flow import chunk_document
    from pincite.chunking.semantic import SemanticChunker

    embedder = embedders.of(header)
    chunk: Chunker = partial(chunk_document, policy=policy_named(header.policy), embedder=embedder)
    if header.policy == "semantic":
        chunk = SemanticChunker(embedders.cutter(header), embedder, on_failure)
    parts = Parts(
        read_file=read_file, read=reader.read, chunk=chunk, embedder=embedder, store=store
    )
    if not header.summaries:
        return parts
    return replace(
        parts, summarize=WrittenSummaries(embedders.generator(header.summaries), summarized)
    )


@contextmanager
def _changing(store: Store, header: LibraryHeader, path: str) -> Iterator[None]:
    """A change of one document, after which the index is as complete as it was."""
    was_complete = store.is_complete() and store.header() == header
    problems = [one for one in store.problems() if one.path != path]
    yield
    if was_complete:
        store.finish(problems)


def _is_source(path: str, own: _OwnFiles, store: Store) -> bool:
    """Whether a page is about this file, which then has to be cut again, too."""
    return bool(own.analysis_checksum) and any(
        path in own.analysis.sources(one.path, one.title)
        for one in store.documents()
        if one.path != path
    )


def _recipe_of(path: str, header: LibraryHeader, scan: Scan) -> str:
    """How the document of a file is made."""
    labels = scan.labels.get(labels_file_of(path), "") if scan.labels else ""
    return recipe_labelled(header.recipe, labels)


def recognised_from(path: str) -> str:
    """The path of the file whose recognised text this is; empty where it is no such text."""
    folder, _, source = path.partition("/")
    return source.removesuffix(".md") if folder == CONVERTED_FOLDER else ""


def without_orphans(scan: Scan, root: Path) -> Scan:
    """Without the text that was recognised in files that are gone; each is named as left out."""
    orphans = {
        file: Skipped(file.path, f"is the text of {source}, which is gone", "orphaned")
        for file in scan.files
        if (source := recognised_from(file.path)) and not (root / source).is_file()
    }
    files = tuple(file for file in scan.files if file not in orphans)
    return replace(scan, files=files, skipped=(*scan.skipped, *orphans.values()))
