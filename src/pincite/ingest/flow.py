"""A folder becomes searchable: compare, read, cut, embed, store. Read this file first.

While one document is being embedded the next ones are read and cut, and those before are stored,
so that the model never waits. Each document is stored whole in one step: whatever stops a run,
what was stored stays, and the next run goes on from there. A file that is handed in is read, cut
and embedded in the same way, by itself (`made`).
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pincite.errors import FileConverted, FileEmpty, FileUnreadable, ModelError, StoreDenied
from pincite.ingest.catalog import summarized
from pincite.ingest.embed import EmbeddingPool, KnownVectors, Pending, nothing_known, unanswered
from pincite.ingest.sync import Sources, Task, compare
from pincite.ports import Chunker, Embedder, Reader, Store
from pincite.records import (
    ChunkId,
    Document,
    EmbeddedDocument,
    Failure,
    FoundFile,
    IndexReport,
    Progress,
    SkipKind,
    Skipped,
)

_WORK_AHEAD = 64  # windows under way at once: enough for the threads, little for the memory
_LARGE = 10_000_000  # bytes of a file that takes a while to be read and cut
_PACKED = ("pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "epub", "doc", "xls", "msg")
_GIVE_UP_AFTER = 3  # documents in a row that the embedding service did not answer for


@dataclass(frozen=True)
class Parts:
    """What the journey is made of."""

    read_file: Callable[[str], bytes]
    read: Reader
    chunk: Chunker
    embedder: Embedder
    store: Store
    summarize: Callable[[Document], Document] = summarized
    elsewhere: KnownVectors = nothing_known  # vectors that need not be made again
    sources_of: Sources = lambda path, title: ()
    checksum: Callable[[FoundFile], str] = lambda file: file.checksum
    on_read: Callable[[str, str], None] = lambda path, checksum: None  # of what `read_file` gave


@dataclass(frozen=True)
class _UnderWay:
    task: Task
    document: Document
    pending: Pending

    @property
    def work(self) -> int:
        """Windows to wait for, and one for the document: it too is held in memory."""
        return 1 + self.pending.windows


def sync(
    files: Sequence[FoundFile],
    parts: Parts,
    *,
    recipe_of: Callable[[str], str],
    unreadable: Sequence[Failure] = (),
    reuse: bool = True,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> IndexReport:
    """Make the store equal to the files. Without `reuse` every text is embedded again."""
    plan = compare(
        files,
        parts.store.documents(),
        recipe_of=recipe_of,
        unreadable={failure.path for failure in unreadable},
        sources_of=parts.sources_of,
        checksum=parts.checksum,
    )
    tally = _Tally(plan.tasks, files, on_progress)
    tally.failures.extend(unreadable)
    with EmbeddingPool(parts.embedder, parts.store, reuse=reuse, elsewhere=parts.elsewhere) as pool:
        for one in _ahead(_begun(plan.tasks, parts, pool, tally)):
            tally.embeds(one.task.path, one.pending)
            _finish(one, recipe_of(one.task.path), parts.store, pool, tally)
    # Deletions last: until here a file that came back elsewhere could take over old vectors.
    parts.store.remove_documents([document.id for document in plan.deleted])
    parts.store.finish(tally.failures)
    return IndexReport(
        added=len(tally.paths["added"]),
        changed=len(tally.paths["changed"]),
        moved=len(tally.paths["moved"]),
        recut=len(tally.paths["recut"]),
        retried=len(tally.paths["retried"]),
        deleted=len(plan.deleted),
        unchanged=plan.unchanged + tally.unchanged,
        chunks=tally.chunks,
        embedded=pool.embedded,
        failures=tuple(tally.failures),
        skipped=tuple(tally.skipped),
        partly=tuple(tally.partly),
        lacking=tuple(tally.lacking),
        paths={
            **{what: tuple(paths) for what, paths in tally.paths.items() if paths},
            **({"deleted": tuple(one.path for one in plan.deleted)} if plan.deleted else {}),
        },
    )


def made(
    path: str, parts: Parts, on_progress: Callable[[Progress], None] = lambda progress: None
) -> EmbeddedDocument:
    """One file as a document with its vectors; texts that the model refuses are `lacking` theirs.

    FileUnreadable says why there is none, ModelUnavailable that the service does not answer.
    """
    document = _read(path, parts)
    with EmbeddingPool(parts.embedder, parts.store) as pool:
        pending = pool.submit(parts.chunk(document))
        done = 0
        for windows in pending.batches():
            done += windows
            on_progress(Progress(0, 1, 0, document.size, path, "", done, pending.windows))
        chunks, failed = pool.collect(pending)
    if (trouble := unanswered(failed.values())) is not None:
        raise trouble
    return EmbeddedDocument(document, chunks)


def _read(path: str, parts: Parts) -> Document:
    document = parts.read(path, parts.read_file(path))
    parts.on_read(path, document.checksum)
    return parts.summarize(document)


def _begun(
    tasks: Iterable[Task], parts: Parts, pool: EmbeddingPool, tally: _Tally
) -> Iterator[_UnderWay]:
    """Each task read, cut and handed to the embedder; a file that cannot be read is a failure."""
    for task in tasks:
        tally.reads(task.path)
        try:
            document = _read(task.path, parts)
        except FileEmpty as error:
            parts.store.remove_documents(task.replaces)
            kind: SkipKind = "converted" if isinstance(error, FileConverted) else "empty"
            tally.left_out(Skipped(task.path, str(error), kind))
            continue
        except FileUnreadable as error:
            tally.failed(Failure(task.path, str(error)))
            continue
        pending = pool.submit(parts.chunk(document))
        tally.cut(task.path, pending.windows)
        yield _UnderWay(task, document, pending)


def _ahead(begun: Iterable[_UnderWay]) -> Iterator[_UnderWay]:
    """The same in the same order, but begun some work before each is finished."""
    queue: deque[_UnderWay] = deque()
    work = 0
    for one in begun:
        queue.append(one)
        work += one.work
        while work > _WORK_AHEAD:
            first = queue.popleft()
            work -= first.work
            yield first
    yield from queue


def _finish(one: _UnderWay, recipe: str, store: Store, pool: EmbeddingPool, tally: _Tally) -> None:
    """Wait for the vectors and store the document, or report why not.

    A chunk without one is found by its words; a document without any stays as it was where it is
    the service that did not answer.
    """
    try:
        chunks, failed = pool.collect(one.pending)
    finally:
        pool.forget(one.pending)
    embedded = EmbeddedDocument(one.document, chunks)
    trouble = unanswered(failed.values())
    if trouble is not None and embedded.lacking == len(chunks):
        tally.failed(Failure(one.task.path, str(trouble), tuple(failed)))
    else:
        in_vain = 0 < one.task.lacking == embedded.lacking
        try:
            if not in_vain:
                store.replace_document(embedded, replaces=one.task.replaces, recipe=recipe)
        except StoreDenied as denied:  # this one document, to this user
            tally.failed(Failure(one.task.path, str(denied)))
        else:
            if failed:
                tally.lacks(one.task.path, len(chunks), failed)
            if in_vain:
                tally.unchanged += 1
                tally.advance(one.task.path)
            else:
                tally.stored(one.task, len(chunks), one.document.metadata.notes)
    tally.give_up_if_hopeless(trouble)


class _Tally:
    """Counts what happens in a run and tells how far it is."""

    def __init__(
        self,
        tasks: Sequence[Task],
        files: Sequence[FoundFile],
        on_progress: Callable[[Progress], None],
    ) -> None:
        sizes = {file.path: file.size for file in files}
        self._sizes = {task.path: sizes[task.path] for task in tasks}
        self._bytes_total = sum(self._sizes.values())
        # By the kind of file: a kilobyte of a PDF is far less text than one of Markdown.
        self._unread: Counter[str] = Counter()  # bytes
        for path, size in self._sizes.items():
            self._unread[_kind(path)] += size
        self._read: Counter[str] = Counter()  # bytes
        self._windows: Counter[str] = Counter()
        self._windows_done = 0
        self._on_progress = on_progress
        self._done = 0
        self._bytes_done = 0
        self._unanswered = 0
        self.paths: defaultdict[str, list[str]] = defaultdict(list)
        self.chunks = 0
        self.failures: list[Failure] = []
        self.skipped: list[Skipped] = []
        self.partly: list[Failure] = []
        self.lacking: list[Failure] = []
        self.unchanged = 0  # beside those that were not looked at

    def reads(self, path: str) -> None:
        """A file is about to be read; one that takes long is named."""
        self._unread[_kind(path)] -= self._sizes[path]
        self._read[_kind(path)] += self._sizes[path]
        if self._sizes[path] > _LARGE:
            self._tell(path, doing=f"Reading {path}")

    def cut(self, path: str, windows: int) -> None:
        """So many windows of a file have to be embedded."""
        self._windows[_kind(path)] += windows

    def embeds(self, path: str, pending: Pending) -> None:
        """Wait for the windows of a document, and tell how far it is while some are left."""
        left = pending.windows
        for windows in pending.batches():
            self._windows_done += windows
            left -= windows
            if left:
                self._tell(path)

    def stored(self, task: Task, chunks: int, notes: tuple[str, ...]) -> None:
        """A document is searchable, but for what the notes say."""
        if notes:
            self.partly.append(Failure(task.path, "; ".join(notes)))
        self.paths[task.change].append(task.path)
        self.chunks += chunks
        self.advance(task.path)

    def lacks(self, path: str, chunks: int, failed: Mapping[ChunkId, ModelError]) -> None:
        """Some chunks of a document that is stored have no vector."""
        have = f"chunk{'' if chunks == 1 else 's'} {'has' if len(failed) == 1 else 'have'}"
        why = next(iter(failed.values()))
        reason = (
            f"{len(failed)} of {chunks} {have} no vector yet ({why}): found by words only; the "
            "next update tries again"
        )
        self.lacking.append(Failure(path, reason, tuple(failed)))

    def failed(self, failure: Failure) -> None:
        """A file is left as it was."""
        self.failures.append(failure)
        self.advance(failure.path)

    def left_out(self, skipped: Skipped) -> None:
        """A file turned out to hold nothing."""
        self.skipped.append(skipped)
        self.advance(skipped.path)

    def give_up_if_hopeless(self, cause: ModelError | None) -> None:
        """A service that does not answer will not answer for the next thousand files either."""
        self._unanswered = 0 if cause is None else self._unanswered + 1
        if cause is not None and self._unanswered >= _GIVE_UP_AFTER:
            raise cause

    def advance(self, path: str) -> None:
        """One more file is done."""
        self._done += 1
        self._bytes_done += self._sizes[path]
        self._tell(path)

    def _tell(self, path: str, *, doing: str = "") -> None:
        paces = {kind: self._windows[kind] / max(size, 1) for kind, size in self._read.items()}
        # Of kinds of which none is read yet; most of a PDF or of a zipped document is not text.
        pace = self._windows.total() / max(self._read.total(), 1)
        packed = {kind: pace / 10 for kind in _PACKED}
        paces = {**packed, **paces}
        left = sum(size * paces.get(kind, pace) for kind, size in self._unread.items())
        windows = (self._windows_done, self._windows.total() + round(left))
        done = (self._done, len(self._sizes), self._bytes_done, self._bytes_total)
        self._on_progress(Progress(*done, path, doing, *windows))


def _kind(path: str) -> str:
    return path.rpartition(".")[2].lower()
