"""Images, scanned pages and recordings become Markdown beside the library. Read this file first.

Look at which files were recognised before, recognise the others one by one, write each text as soon
as it is there. Whatever stops a run, what was written stays, and the next run goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Protocol

from pincite.converting.converted_folder import ConvertedFolder
from pincite.converting.markdown import Recognition, body_of, markdown_of
from pincite.converting.wire import (
    Finished,
    Job,
    Need,
    Opened,
    Page,
    Part,
    Said,
    SourceKind,
    kind_of,
)
from pincite.errors import FileUnreadable
from pincite.records import Failure, FoundFile, Progress, Skipped

_SCANS = "scanned pages"  # what is noted of a PDF that has none


class FileRecogniser(Protocol):
    """Recognises what is in a file, part by part: what it is, then its pages or what is said."""

    @property
    def engine(self) -> str:
        """What recognises, with its version."""

    def recognise(self, file: BinaryIO, job: Job) -> Iterator[Part]:
        """The parts, in order; FileUnreadable in plain words where that cannot be done."""


@dataclass(frozen=True)
class Parts:
    """What the journey is made of."""

    open_file: Callable[[str], AbstractContextManager[BinaryIO]]
    converted: ConvertedFolder
    look: FileRecogniser  # tells which pages of a PDF are scanned, and recognises nothing
    recognisers: Mapping[Need, FileRecogniser] = field(default_factory=dict)  # those asked for


def known_empty(root: Path) -> frozenset[str]:
    """Checksums of the files that were looked at and hold nothing to recognise."""
    return ConvertedFolder(root).empty_checksums()


def convert(
    files: Sequence[FoundFile],
    parts: Parts,
    *,
    force: bool = False,
    passwords: tuple[str, ...] = (),
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> ConversionReport:
    """Write the text of every file that can be recognised and was not yet.

    With `force` all are recognised again, also those whose text was corrected by hand.
    """
    moved, orphaned = parts.converted.follow_moves(files)
    tasks, tally = _planned(files, parts, force=force)
    steps = _Steps(tasks, on_progress)
    run = _Run(parts, tally, steps, passwords, force)
    for file in tasks:
        try:
            run.convert(file)
        except FileUnreadable as error:
            tally.failures.append(Failure(file.path, str(error)))
        steps.finish(file)
    return replace(
        tally.report(),
        moved=tuple(moved),
        orphaned=tuple(orphaned),
        engines={need: one.engine for need, one in parts.recognisers.items()} if tasks else {},
    )


def _planned(
    files: Sequence[FoundFile], parts: Parts, *, force: bool
) -> tuple[list[FoundFile], _Tally]:
    """The files to open; the others are counted."""
    tally, tasks = _Tally(), []
    for file in files:
        try:
            state = parts.converted.state(file)
        except FileUnreadable as error:
            tally.failures.append(Failure(file.path, str(error)))
            continue
        if force or state in ("absent", "outdated"):
            tasks.append(file)
        elif state == "current":
            tally.unchanged += 1
        else:
            tally.kept.append(file.path)
    return tasks, tally


@dataclass(frozen=True)
class _Run:
    """What the steps of one run share."""

    parts: Parts
    tally: _Tally
    steps: _Steps
    passwords: tuple[str, ...]
    force: bool

    def convert(self, file: FoundFile) -> None:
        """Recognise one file, or say what that would take."""
        kind = kind_of(file.path)
        recogniser = self.parts.recognisers.get(kind.need) if kind else None
        if kind is None or self._is_known_empty(file, kind, recogniser):
            self.tally.without_text += 1
            return
        job = Job(kind=kind, size=file.size, passwords=self.passwords)
        if recogniser is None:
            self._look(file, job)
            return
        with self.parts.open_file(file.path) as opened:
            recognition = _gathered(
                recogniser, opened, job, lambda share: self.steps.show(file, share)
            )
        if kind is SourceKind.PDF and not recognition.opened.scanned:
            self._note_empty(file, _SCANS)
        elif text := markdown_of(file, recognition):
            self._write(file, text)
        else:
            self._note_empty(file, recogniser.engine)

    def _is_known_empty(
        self, file: FoundFile, kind: SourceKind, recogniser: FileRecogniser | None
    ) -> bool:
        if self.force:
            return False
        holds_nothing = self.parts.converted.holds_nothing
        return (kind is SourceKind.PDF and holds_nothing(file, _SCANS)) or (
            recogniser is not None and holds_nothing(file, recogniser.engine)
        )

    def _look(self, file: FoundFile, job: Job) -> None:
        """Tell what it would take to read the file; of PDFs only some hold scanned pages."""
        if job.kind is not SourceKind.PDF:
            self.tally.waiting.append(Waiting(file.path, job.kind))
            return
        with self.parts.open_file(file.path) as opened:
            looked = _gathered(self.parts.look, opened, job, lambda share: None)
        if pages := len(looked.opened.scanned):
            self.tally.waiting.append(Waiting(file.path, job.kind, pages=pages))
        else:
            self.tally.without_text += 1

    def _note_empty(self, file: FoundFile, engine: str) -> None:
        self.parts.converted.note_nothing(file, engine)
        self.parts.converted.remove_as_written(file.path)  # of the file as it was before
        self.tally.without_text += 1

    def _write(self, file: FoundFile, text: str) -> None:
        if self.parts.converted.is_corrected(file.path):
            self.tally.overwritten.append(file.path)
        self.parts.converted.write(file.path, text)
        self.tally.written.append(file.path)
        self.tally.characters += len(body_of(text))


def _gathered(
    recogniser: FileRecogniser, file: BinaryIO, job: Job, on_share: Callable[[float], None]
) -> Recognition:
    """All parts of a file together; `on_share` is told which share of it is done."""
    found = Recognition(job.kind, recogniser.engine, Opened())
    pages: list[Page] = []
    said: list[Said] = []
    for part in recogniser.recognise(file, job):
        match part:
            case Opened():
                found = replace(found, opened=part)
            case Page():
                pages.append(part)
                on_share(len(pages) / max(len(found.opened.scanned), 1))
            case Said():
                said.append(part)
                on_share(part.end / max(found.opened.duration or part.end, 1.0))
            case Finished():
                found = replace(found, language=part.language)
    return replace(found, pages=pages, said=said)


@dataclass
class _Tally:
    """Counts what happens in a run."""

    written: list[str] = field(default_factory=list)
    overwritten: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unchanged: int = 0
    without_text: int = 0
    characters: int = 0

    def report(self) -> ConversionReport:
        return ConversionReport(
            written=tuple(self.written),
            overwritten=tuple(self.overwritten),
            kept=tuple(self.kept),
            waiting=tuple(self.waiting),
            failures=tuple(self.failures),
            unchanged=self.unchanged,
            without_text=self.without_text,
            characters=self.characters,
        )


class _Steps:
    """Tells how far a run is, also within a file: a scanned book takes an hour."""

    def __init__(self, tasks: Sequence[FoundFile], on_progress: Callable[[Progress], None]) -> None:
        self._total = len(tasks)
        self._bytes = sum(file.size for file in tasks)
        self._on_progress = on_progress
        self._done = 0
        self._bytes_done = 0

    def show(self, file: FoundFile, share: float) -> None:
        begun = self._bytes_done + int(file.size * min(share, 1.0))
        self._on_progress(Progress(self._done, self._total, begun, self._bytes, file.path))

    def finish(self, file: FoundFile) -> None:
        self._done += 1
        self._bytes_done += file.size
        self.show(file, 0.0)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file that could be recognised, had that been asked for."""

    path: str
    kind: SourceKind
    pages: int = 0  # scanned pages of a PDF


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """What was recognised, and what not and why."""

    written: tuple[str, ...] = ()  # paths of the files whose text was written
    overwritten: tuple[str, ...] = ()  # of those, the ones that had been corrected by hand
    unchanged: int = 0  # recognised before, and the same since
    without_text: int = 0  # hold nothing to read
    kept: tuple[str, ...] = ()  # have changed, but their text was corrected by hand
    moved: tuple[str, ...] = ()  # to where a text followed its file
    orphaned: tuple[str, ...] = ()  # whose text is there, but not the file itself any more
    waiting: tuple[Waiting, ...] = ()
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    characters: int = 0  # recognised
    engines: Mapping[Need, str] = field(default_factory=dict)
