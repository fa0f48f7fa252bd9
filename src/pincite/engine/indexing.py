"""One index run: how the index is to be made, which files there are, and what reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from pincite.converting.flow import known_empty
from pincite.engine.folders import (
    is_readable,
    join_files,
    refuse_empty,
    refuse_forgetting,
    refuse_forgetting_apart,
)
from pincite.engine.homes import Home
from pincite.engine.models import Embedders, Wishes, header_for
from pincite.errors import FileUnreadable, SettingsError
from pincite.ingest.catalog import summarized
from pincite.ingest.flow import Parts, sync
from pincite.ingest.summaries import Summarize, WrittenSummaries
from pincite.ports import Chunker, Embedder
from pincite.reading.analysis import AnalysisFile, parse_analysis
from pincite.reading.labels import LabelsFile, parse_labels
from pincite.reading.reader import LibraryReader
from pincite.reading.sandbox import Sandbox
from pincite.records import Failure, FoundFile, IndexReport, LibraryHeader, Progress
from pincite.settings import (
    ANALYSIS_FILE,
    CONVERTED_FOLDER,
    DEFAULT_MAX_FILE_BYTES,
    LABELS_FILE,
    SourceSettings,
    policy_named,
)
from pincite.sources import Folder, Scan

Parsed = TypeVar("Parsed")


@dataclass(frozen=True)
class Run:
    """An index run over one folder."""

    root: Path
    wishes: Wishes
    embedders: Embedders
    passwords: tuple[str, ...] = ()
    on_progress: Callable[[Progress], None] = lambda progress: None

    def go(self, home: Home) -> IndexReport:
        """Make the index equal to the folder."""
        if not home.exists():
            limit = self.wishes.max_file_bytes or DEFAULT_MAX_FILE_BYTES
            refuse_empty(self.root, self._folder(limit).scan(is_readable))
        analysis, analysis_checksum = self._own_file(ANALYSIS_FILE, parse_analysis)
        labels, labels_checksum = self._own_file(LABELS_FILE, parse_labels)
        wishes = replace(self.wishes, analysis=analysis_checksum, labels=labels_checksum)
        with closing(home.write()) as store:
            header = header_for(
                store.header(),
                wishes,
                self.embedders,
                folder_name=self.root.name or "library",
            )
            # Under the lock: what another process indexed meanwhile must not look deleted.
            folder = self._folder(header.max_file_bytes)
            scan = _without_orphans(folder.scan(is_readable), self.root)
            if not self.wishes.fresh:
                documents = store.documents()
                refuse_forgetting(self.root, scan, len(documents))
                refuse_forgetting_apart(self.root, home.files, scan, documents)
            embedder = self.embedders.named(header.model.name)
            store.begin(header)
            with Sandbox() as sandbox:
                report = sync(
                    scan.files,
                    Parts(
                        read_file=folder.read,
                        read=self._reader(header, sandbox, scan, analysis, labels).read,
                        chunk=_chunker(header.policy, embedder),
                        embedder=embedder,
                        store=store,
                        summarize=self._summaries(header),
                    ),
                    recipe=header.recipe,
                    unreadable=[
                        Failure(one.path, one.reason)
                        for one in scan.skipped
                        if one.kind == "unreadable"
                    ],
                    reuse=not self.wishes.fresh,
                    on_progress=self.on_progress,
                )
        join_files(home.files)
        skipped = [one for one in scan.skipped if one.kind != "unreadable"]
        return replace(report, skipped=(*skipped, *report.skipped), unsupported=scan.unsupported)

    def _reader(
        self,
        header: LibraryHeader,
        sandbox: Sandbox,
        scan: Scan,
        analysis: AnalysisFile | None,
        labels: LabelsFile | None,
    ) -> LibraryReader:
        return LibraryReader(
            header.name,
            sandbox.read,
            passwords=self.passwords,
            options=frozenset(header.options),
            converted=frozenset(map(_recognised_from, scan.files)),
            without_text=known_empty(self.root),
            analysis_of=analysis.of if analysis else lambda path, title: None,
            labelled=(labels or LabelsFile()).labelled,
        )

    def _summaries(self, header: LibraryHeader) -> Summarize:
        if not header.summaries:
            return summarized
        return WrittenSummaries(self.embedders.generator(header.summaries), summarized)

    def _own_file(self, name: str, parse: Callable[[bytes], Parsed]) -> tuple[Parsed | None, str]:
        """What the user says in a file of ours, with its checksum; nothing where there is none."""
        if not (self.root / name).is_file():
            return None, ""
        try:
            data = self._folder(DEFAULT_MAX_FILE_BYTES).read(name)
            return parse(data), hashlib.sha256(data).hexdigest()
        except FileUnreadable as error:
            raise SettingsError(f"{name} {error}") from error

    def _folder(self, max_file_bytes: int) -> Folder:
        return Folder(self.root, SourceSettings(max_file_bytes=max_file_bytes))


def _chunker(policy: str, embedder: Embedder) -> Chunker:
    from pincite.chunking.flow import chunk_document

    return partial(chunk_document, policy=policy_named(policy), embedder=embedder)


def _recognised_from(file: FoundFile) -> str:
    """The path of the file whose recognised text this is; empty where it is no such text."""
    folder, _, path = file.path.partition("/")
    return path.removesuffix(".md") if folder == CONVERTED_FOLDER else ""


def _without_orphans(scan: Scan, root: Path) -> Scan:
    """Without the text that was recognised in files that are gone."""
    files = tuple(
        file
        for file in scan.files
        if not (source := _recognised_from(file)) or (root / source).is_file()
    )
    return replace(scan, files=files)
