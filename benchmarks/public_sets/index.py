"""A data set becomes an index by the journey that files take, reading apart."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pincite.chunking.flow import chunk_document
from pincite.ingest.flow import Parts, sync
from pincite.ports import Embedder
from pincite.records import FoundFile, IndexReport, LibraryHeader, Progress
from pincite.settings import (
    DEFAULT_MAX_FILE_BYTES,
    DEFAULT_POLICY,
    INGESTION_VERSION,
    policy_named,
)
from pincite.stores.sqlite.opening import open_for_writing
from pincite.stores.sqlite.store import SqliteStore
from public_sets.rows import DatasetError
from public_sets.sets import LIBRARY, Dataset

_MEMORY = Path("/dev/shm")  # a file system in memory, on Linux


def build(
    dataset: Dataset,
    embedder: Embedder,
    folder: Path,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    *,
    policy: str = DEFAULT_POLICY,
) -> SqliteStore:
    """The index of the set's documents in this folder, open; whoever called closes it.

    What an earlier call left in the folder is brought up to date, as with any library.
    """
    documents = {document.path: document for document in dataset.documents}
    header = LibraryHeader(
        name=LIBRARY,
        policy=policy,
        model=embedder.card,
        ingestion_version=INGESTION_VERSION,
        max_file_bytes=DEFAULT_MAX_FILE_BYTES,
    )
    store = open_for_writing(folder)
    try:
        store.begin(header)
        report = sync(
            [FoundFile(one.path, one.size, one.checksum) for one in documents.values()],
            Parts(
                read_file=lambda path: b"",
                read=lambda path, data: documents[path],
                chunk=partial(chunk_document, policy=policy_named(policy), embedder=embedder),
                embedder=embedder,
                store=store,
            ),
            recipe_of=lambda path: header.recipe,
            on_progress=on_progress,
        )
        _refuse_failures(dataset, report)
    except BaseException:
        store.close()
        raise
    return store


def _refuse_failures(dataset: Dataset, report: IndexReport) -> None:
    """Figures of an index that lacks documents would be about something else."""
    for failure in report.failures:
        raise DatasetError(f"{dataset.name}: {failure.path} was not indexed: {failure.reason}")


@contextmanager
def scratch_folder(room: int = 4 << 30) -> Iterator[Path]:
    """A folder for indexes that are thrown away, in memory where there is that much room.

    A library waits for the disk twice for each document, so that a power cut loses none. Where
    only the results count that is minutes of nothing; in memory there is nothing to wait for.
    """
    in_memory = _MEMORY.is_dir() and _free_bytes(_MEMORY) >= room
    where = _MEMORY if in_memory else None
    with tempfile.TemporaryDirectory(dir=where, prefix="pincite-benchmark-") as folder:
        yield Path(folder)


@contextmanager
def index_folder(kept: Path | None, name: str) -> Iterator[Path]:
    """Where a set's index is: kept for the next run, or thrown away."""
    if kept is not None:
        yield kept / name.replace("/", "_")
        return
    with scratch_folder() as scratch:
        yield scratch / "index"


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free
