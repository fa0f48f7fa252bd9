"""One file → a library, in any store, without embedding anything again."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace as dataclass_replace
from pathlib import Path

from pincite.engine.exporting import OWN_FILES, MoveCounts, OnProgress
from pincite.engine.folders import join_files, set_apart
from pincite.engine.handing_in import labels_of
from pincite.engine.homes import Aside, MovingHome, try_index
from pincite.errors import (
    DatabaseMissing,
    IndexExists,
    IndexMissing,
    ModelError,
    ProjectMissing,
    SettingsError,
    StoreError,
    StoreReadOnly,
)
from pincite.files import replace_file
from pincite.ports import KeepsOriginals
from pincite.records import Failure, LibraryHeader, MoveReport, Progress
from pincite.settings import RUNS_FOLDER
from pincite.stores.archive import (
    MOST_FILE_BYTES,
    AnyLine,
    Archive,
    DocumentLine,
    FileLine,
    LibraryLine,
    OriginalLine,
    PastLine,
    RunLine,
    Unsound,
    opened_archive,
    sound_document,
    sound_original,
    sound_version,
)
from pincite.stores.runs import RUN_ID, RunFolder


def import_library(
    file: Path, root: Path, home: MovingHome, *, replace: bool, on_progress: OnProgress
) -> MoveReport:
    """Make the library in a file the library of this folder; all of it, or nothing."""
    held = _held(home, root, replace=replace)
    with opened_archive(file) as archive:
        first, lines = archive.opened()
        _refuse_other_model(held, first.header)
        with home.anew() as aside:
            taking = _Taking(archive, first, root, aside, on_progress)
            for line in lines:
                taking.take(line)
            report = taking.finish(file)
            no_index = try_index(aside.store)
    if not report.apart:
        join_files(home.files)  # of an index that was apart, and was replaced
    if no_index:
        raise no_index
    return report


def _held(home: MovingHome, root: Path, *, replace: bool) -> LibraryHeader | None:
    """How the index is made that is there; None where there is none, or none that can be read."""
    try:
        with closing(home.read()) as store:
            header = store.header()
    except (DatabaseMissing, IndexMissing, ProjectMissing):
        return None
    except StoreError:
        if not replace:
            raise
        return None  # damaged: that is what backups are for
    if header is not None and not replace:
        raise IndexExists(
            f"{home.place() or root} has an index already; import into another folder or project, "
            "or replace it with --replace"
        )
    return header


def _refuse_other_model(held: LibraryHeader | None, coming: LibraryHeader) -> None:
    """Whoever searches this library has its model at hand, not another one."""
    if held is not None and (held.model.fingerprint, held.model.dimensions) != (
        coming.model.fingerprint,
        coming.model.dimensions,
    ):
        raise ModelError(
            f"model_mismatch: the index that is there was filled with {held.model.name} "
            f"({held.model.fingerprint}), the file's with {coming.model.name} "
            f"({coming.model.fingerprint}); import it into another folder, or remove the index"
        )


class _Taking:
    """Takes the lines of an archive into an index, one by one."""

    def __init__(
        self,
        archive: Archive,
        first: LibraryLine,
        root: Path,
        aside: Aside,
        on_progress: OnProgress,
    ) -> None:
        self._archive = archive
        self._first = first
        self._root = root
        self._aside = aside
        self._on_progress = on_progress
        self._counts = MoveCounts()
        self._own: dict[str, bytes] = {}
        self._here = 0  # documents whose files are in the folder
        aside.store.begin(first.header)

    def take(self, line: AnyLine) -> None:
        """Take one line; ArchiveInvalid where it cannot be believed."""
        try:
            match line:
                case DocumentLine():
                    self._take_document(line)
                case OriginalLine():
                    self._take_original(line)
                case PastLine():
                    self._take_version(line)
                case RunLine():
                    self._take_run(line)
                case FileLine():
                    self._take_file(line)
        except Unsound as unsound:
            raise self._archive.refuse(unsound) from unsound

    def finish(self, file: Path) -> MoveReport:
        """All lines are taken, and were whole: what comes now cannot turn out to be wrong."""
        if self._counts.documents != self._first.documents:
            raise self._archive.refuse(Unsound("holds more or fewer documents than it says"))
        if self._first.complete:
            self._aside.store.finish([Failure(*one) for one in self._first.problems])
        kept = tuple(name for name, data in self._own.items() if not self._put_file(name, data))
        apart = bool(self._counts.documents) and not self._here
        if apart:
            set_apart(self._aside.files)
        report = self._counts.report(
            str(file), file.stat().st_size, self._first.header.name, kept=kept, apart=apart
        )
        return dataclass_replace(report, clearance=self._first.clearance)

    def _take_document(self, line: DocumentLine) -> None:
        embedded = sound_document(line, self._first.header)
        self._aside.store.replace_document(embedded, recipe=line.recipe)
        self._counts.count(embedded)
        self._here += os.path.lexists(self._root / embedded.document.path)
        done = self._counts.documents
        size = self._archive.size
        self._on_progress(
            Progress(
                done,
                max(done, self._first.documents),
                size if done == self._first.documents else self._archive.bytes_read,
                size,
                embedded.document.path,
            )
        )

    def _take_original(self, line: OriginalLine) -> None:
        original = sound_original(line)
        try:
            labels_of(original.path, original.labels)
        except SettingsError as error:
            raise Unsound(
                f"says something of {line.path!r} that cannot be understood: {error}"
            ) from error
        store = self._aside.store
        if not isinstance(store, KeepsOriginals):
            self._counts.left_out += 1
        elif store.keep_original(original):
            self._counts.originals += 1
        else:
            raise Unsound(f"holds a file {line.path!r} without its document")

    def _take_version(self, line: PastLine) -> None:
        """Stored and forgotten, as it was: a store remembers what it forgot."""
        version = sound_version(line.document)
        self._aside.store.replace_document(version)
        self._aside.store.remove_documents([version.document.id])
        self._counts.past += 1

    def _take_run(self, line: RunLine) -> None:
        if not RUN_ID.fullmatch(line.run.id):
            raise Unsound(f"holds an eval run named {line.run.id!r}")
        RunFolder(self._aside.files / RUNS_FOLDER).save(line.run)
        self._counts.runs += 1

    def _take_file(self, line: FileLine) -> None:
        if line.name not in OWN_FILES or line.name in self._own:
            raise Unsound(f"holds a file {line.name!r} that pincite does not know")
        if len(line.data) > MOST_FILE_BYTES:
            raise Unsound(f"holds a {line.name} of {len(line.data):,} bytes")
        self._own[line.name] = line.data
        self._counts.files.append(line.name)

    def _put_file(self, name: str, data: bytes) -> bool:
        """Whether the folder holds it now; what a user wrote there is never overwritten."""
        path = self._root / name
        if os.path.lexists(path):
            return path.is_file() and path.read_bytes() == data
        try:
            replace_file(path, [data])
        except OSError as error:
            raise StoreReadOnly(f"{path} cannot be written: {error.strerror or error}") from error
        return True
