"""An index follows a corpus, against the clock."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from meter import Meter
from public_sets.sets import LIBRARY

from pincite.ingest.flow import Parts, sync
from pincite.records import Document, IndexReport, LibraryHeader
from pincite.settings import DEFAULT_MAX_FILE_BYTES, DEFAULT_POLICY, INGESTION_VERSION
from pincite.stores.sqlite.opening import open_for_writing
from speed_parts.corpora import Corpus


@dataclass(frozen=True)
class Run:
    """What a run of the index did, and what it took."""

    report: IndexReport
    seconds: float  # without reading, as the next
    computing_seconds: float  # of the processor; the rest is waiting for the disk
    text_bytes: int


def indexed(corpus: Corpus, folder: Path) -> Run:
    """Make the index equal to the corpus, as `pincite index` does once it has seen the folder."""
    reading = _Clock()
    text_bytes = 0

    def read(path: str, data: bytes) -> Document:
        nonlocal text_bytes
        with reading:
            document = corpus.read(path)
            text_bytes += len(document.text.encode())
        return document

    header = LibraryHeader(
        name=LIBRARY,
        policy=DEFAULT_POLICY,
        model=corpus.embedder.card,
        ingestion_version=INGESTION_VERSION,
        max_file_bytes=DEFAULT_MAX_FILE_BYTES,
    )
    with _Clock() as clock:
        store = open_for_writing(folder)
        store.begin(header)
        parts = Parts(
            read_file=lambda path: b"",
            read=read,
            chunk=corpus.chunk,
            embedder=corpus.embedder,
            store=store,
        )
        progress = Meter("indexing").indexed
        report = sync(
            corpus.files, parts, recipe_of=lambda path: header.recipe, on_progress=progress
        )
        store.close()
    if report.failures:
        raise RuntimeError(f"not indexed: {report.failures[0]}")
    computing = clock.computing_seconds - reading.computing_seconds
    return Run(report, clock.seconds - reading.seconds, computing, text_bytes)


class _Clock:
    """Adds up how long blocks take, and how long the processor works meanwhile."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.computing_seconds = 0.0

    def __enter__(self) -> Self:
        self.seconds -= time.perf_counter()
        self.computing_seconds -= time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter()
        self.computing_seconds += time.process_time()
