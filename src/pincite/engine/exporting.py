"""A library → one file, from any store, while others go on writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pincite.engine.folders import begun
from pincite.engine.homes import MovingHome
from pincite.errors import FileUnreadable, StoreError
from pincite.ports import KeepsOriginals, Store
from pincite.records import LEVELS, EmbeddedDocument, LibraryHeader, MoveReport, Progress
from pincite.settings import (
    ANALYSIS_FILE,
    EVAL_FILE,
    GLOSSARY_FILE,
    LABELS_FILE,
    RUNS_FOLDER,
    SourceSettings,
)
from pincite.sources import Folder
from pincite.stores.archive import (
    FORMAT,
    MOST_FILE_BYTES,
    ArchiveWriter,
    FileLine,
    LibraryLine,
    RunLine,
    Sink,
    streamed_archive,
    written_archive,
)
from pincite.stores.runs import RunFolder

OWN_FILES = (EVAL_FILE, GLOSSARY_FILE, LABELS_FILE, ANALYSIS_FILE)

OnProgress = Callable[[Progress], None]


def export_library(
    root: Path,
    home: MovingHome,
    target: Path | Sink,
    *,
    history: bool,
    overwrite: bool,
    on_progress: OnProgress,
) -> MoveReport:
    """Write the library as it stands now into one file, whoever goes on writing to it.

    With `history` also the versions of documents that it holds no longer, so that every citation
    ever given still leads to its words.
    """
    with (
        closing(home.read()) as store,
        store.snapshot() as seen,
        _opened(target, overwrite=overwrite) as archive,
    ):
        header = begun(seen.header(), root)
        counts = MoveCounts()
        user, clearance = home.sight()
        _add_library(archive, seen, header, clearance)
        _add_kept_with_it(archive, root, home, counts)
        if history:
            for version in seen.past_versions():
                archive.add_version(version)
                counts.past += 1
        for embedded, recipe in _documents(seen, on_progress):
            archive.add_document(embedded, header, recipe)
            counts.count(embedded)
        if isinstance(seen, KeepsOriginals):
            for one in seen.originals():
                archive.add_original(one)
                counts.originals += 1
    name = str(target) if isinstance(target, Path) else ""
    report = counts.report(name, archive.written, header.name)
    return replace(report, seen_by=user, clearance=clearance)


def _opened(target: Path | Sink, *, overwrite: bool) -> AbstractContextManager[ArchiveWriter]:
    if isinstance(target, Path):
        return written_archive(target, overwrite=overwrite)
    return streamed_archive(target)


def _add_library(
    archive: ArchiveWriter, seen: Store, header: LibraryHeader, clearance: str
) -> None:
    from pincite import __version__

    archive.add(
        LibraryLine(
            format=FORMAT,
            pincite=__version__,
            header=header,
            complete=seen.is_complete(),
            problems=[(one.path, one.reason) for one in seen.problems()],
            documents=len(seen.documents()),
            clearance=cast(Any, "" if clearance == LEVELS[-1] else clearance),
        )
    )


def _add_kept_with_it(
    archive: ArchiveWriter, root: Path, home: MovingHome, counts: MoveCounts
) -> None:
    """The files of ours at the top, and the eval runs."""
    folder = Folder(root, SourceSettings(max_file_bytes=MOST_FILE_BYTES))
    for name in OWN_FILES:
        if (root / name).is_file():
            try:
                archive.add(FileLine(name, folder.read(name)))
            except FileUnreadable as error:
                raise StoreError(f"{name} cannot be exported: it {error}") from error
            counts.files.append(name)
    runs = RunFolder(home.files / RUNS_FOLDER)
    for run_id in runs.ids():
        archive.add(RunLine(runs.load(run_id)))
        counts.runs += 1


def _documents(seen: Store, on_progress: OnProgress) -> Iterator[tuple[EmbeddedDocument, str]]:
    """Every document by path, whole, with how it was made."""
    entries = seen.documents()
    total, done = sum(max(1, entry.size) for entry in entries), 0
    for number, entry in enumerate(entries, start=1):
        embedded = seen.load_embedded(entry.id)
        if embedded is None:
            raise StoreError(f"{entry.path} is listed in the index, but is not there")
        yield embedded, entry.recipe
        done += max(1, entry.size)
        on_progress(Progress(number, len(entries), done, total, entry.path))


@dataclass
class MoveCounts:
    """What was moved so far."""

    documents: int = 0
    chunks: int = 0
    vectors: int = 0
    past: int = 0
    originals: int = 0
    left_out: int = 0
    runs: int = 0
    text_bytes: int = 0
    files: list[str] = field(default_factory=list)

    def count(self, embedded: EmbeddedDocument) -> None:
        """One more document."""
        self.documents += 1
        self.chunks += len(embedded.chunks)
        self.vectors += sum(len(part.windows) for part in embedded.chunks)
        self.text_bytes += len(embedded.document.text.encode())

    def report(
        self,
        file: str,
        file_bytes: int,
        library: str,
        *,
        kept: tuple[str, ...] = (),
        apart: bool = False,
    ) -> MoveReport:
        """All of it, once it is done."""
        return MoveReport(
            file=file,
            file_bytes=file_bytes,
            library=library,
            documents=self.documents,
            chunks=self.chunks,
            vectors=self.vectors,
            past=self.past,
            originals=self.originals,
            left_out=self.left_out,
            runs=self.runs,
            files=tuple(self.files),
            kept=kept,
            text_bytes=self.text_bytes,
            apart=apart,
        )
