"""Readers meet a document entirely or not at all, however often it is replaced meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from fault_library import (
    INDEX_FOLDER,
    MODEL,
    NAME,
    POLICY,
    embedded,
    header,
    open_naive,
    quick_folder,
    save,
)
from read_driver import Seen, read_until, text_of_version, versions

from pincite.engine import open_library
from pincite.records import DocumentId
from pincite.settings import SearchSettings
from pincite.stores.sqlite.opening import open_for_reading, open_for_writing
from pincite.stores.sqlite.store import SqliteStore
from soak import times

VERSIONS = times(6, soak=60)  # of the document, that each reader meets
MOST = 100 * VERSIONS  # replacements; enough for readers on a busy machine
READERS = 3


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        yield folder


class Writer:
    """Replaces the one document of a library, version after version."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self._version = 0
        self._before: list[DocumentId] = []
        store.begin(header())
        self.replace()

    def replace(self) -> None:
        self._version += 1
        document = embedded("note.md", text_of_version(self._version))
        self.store.replace_document(document, replaces=self._before)
        self._before = [document.document.id]


@contextmanager
def reading_threads(index: Path) -> Iterator[list[Seen]]:
    """Some threads that share a store, as in a server."""
    stop = threading.Event()
    seen = [Seen() for _ in range(READERS)]
    store = open_for_reading(index)
    threads = [threading.Thread(target=read_until, args=(stop, store, one)) for one in seen]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        store.close()


def test_threads_meet_a_document_entirely_or_not_at_all(folder: Path) -> None:
    writer = Writer(open_for_writing(folder / INDEX_FOLDER))
    with reading_threads(folder / INDEX_FOLDER) as seen:
        for _ in range(MOST):
            writer.replace()
            if all(len(one.versions) >= VERSIONS for one in seen):
                break
    writer.store.close()

    assert [wrong for one in seen for wrong in one.wrong] == []
    assert all(len(one.versions) >= VERSIONS for one in seen), seen


def test_processes_meet_a_document_entirely_or_not_at_all(folder: Path) -> None:
    writer = Writer(open_for_writing(folder / INDEX_FOLDER))
    script = Path(__file__).with_name("read_driver.py")
    command = [sys.executable, str(script), str(folder / INDEX_FOLDER), str(VERSIONS)]
    with ExitStack() as stack:
        readers = [
            stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            for _ in range(2)
        ]
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "reading\n"
        for _ in range(MOST):
            writer.replace()
            if all(reader.poll() is not None for reader in readers):
                break
        for reader in readers:
            reader.terminate()  # one that met too few versions
        answers = [json.loads(reader.communicate()[0] or "[0, []]") for reader in readers]
    writer.store.close()

    for met, wrong in answers:
        assert wrong == []
        assert met >= VERSIONS


def test_a_store_that_replaces_row_by_row_shows_half_a_document(folder: Path) -> None:
    writer = Writer(open_naive(folder / INDEX_FOLDER))
    with reading_threads(folder / INDEX_FOLDER) as seen:
        for _ in range(MOST):
            writer.replace()
            if sum(len(one.wrong) for one in seen) > 20:
                break
    writer.store.close()

    wrong = [what for one in seen for what in one.wrong]
    sys.stdout.write(f"naive: {len(wrong)} wrong of {sum(one.searches for one in seen)}\n")
    assert len(wrong) > 20


def test_searches_of_a_library_never_mix_versions_while_it_is_updated(folder: Path) -> None:
    root = folder / "library"
    root.mkdir()
    stop = threading.Event()
    mixed: list[set[str]] = []
    met: set[str] = set()
    failures: list[str] = []

    def search() -> None:
        with open_library(root) as library:
            while not stop.is_set():
                try:
                    found = library.search("valve", settings=SearchSettings(per_document=0))
                except Exception as error:  # noqa: BLE001 — nothing at all may be raised here
                    failures.append(repr(error))
                    return
                seen = versions([result.chunk.text for result in found.results])
                met.update(seen)
                if len(seen) > 1:
                    mixed.append(seen)

    with open_library(root) as library:
        save(root / "note.md", text_of_version(0))
        library.index(name=NAME, model=MODEL, policy=POLICY)
        threads = [threading.Thread(target=search) for _ in range(2)]
        for thread in threads:
            thread.start()
        for version in range(1, MOST):
            save(root / "note.md", text_of_version(version))
            library.index()
            if len(met) > VERSIONS or failures:
                break
        stop.set()
        for thread in threads:
            thread.join()

    assert failures == []
    assert mixed == []
    assert len(met) > VERSIONS
