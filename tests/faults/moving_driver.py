"""Moves libraries in child processes that are killed, and writes while others read.

See test_moving_faults.py. Each line on standard input is a job; each is done in a child of its own
and answered in one line.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from fault_library import INDEX_FOLDER, embedded, header
from kill_driver import KillAtPoint, run_in_child

from pincite.engine import exporting, importing, open_library
from pincite.engine.homes import FolderHome
from pincite.stores import archive as writing
from pincite.stores.archive import (
    DocumentLine,
    LibraryLine,
    opened_archive,
    sound_document,
)
from pincite.stores.sqlite.opening import open_for_writing

# Imported before the first child is forked, so that all points are the work's own.
READY = (exporting, importing, writing)
DOCUMENTS = 12


def export(job: dict[str, Any]) -> None:
    with open_library(job["root"]) as library:
        library.export_to(job["file"], history=True, overwrite=True)


def export_naively(job: dict[str, Any]) -> None:
    """What one writes first: under its name from the first byte on."""
    home = FolderHome(Path(job["root"]), Path(job["root"]) / INDEX_FOLDER)
    with closing(home.read()) as store, Path(job["file"]).open("wb") as file:
        made = store.header()
        assert made is not None
        archive = writing.ArchiveWriter(file)
        archive.add(LibraryLine(1, "0", made, True, [], len(store.documents())))
        for entry in store.documents():
            document = store.load_embedded(entry.id)
            assert document is not None
            archive.add_document(document, made, entry.recipe)
            file.flush()
        archive.finish()


def take(job: dict[str, Any]) -> None:
    with open_library(job["root"]) as library:
        library.import_from(job["file"], replace=True)


def take_naively(job: dict[str, Any]) -> None:
    """What one writes first: document by document into the index that is there."""
    with (
        closing(FolderHome(Path(job["root"]), Path(job["root"]) / INDEX_FOLDER).write()) as store,
        opened_archive(Path(job["file"])) as archive,
    ):
        first, lines = archive.opened()
        store.begin(first.header)
        store.remove_documents([entry.id for entry in store.documents()])
        for line in lines:
            if isinstance(line, DocumentLine):
                store.replace_document(sound_document(line, first.header))
        store.finish()


WORK = {
    ("export", False): export,
    ("export", True): export_naively,
    ("import", False): take,
    ("import", True): take_naively,
}


def in_child(job: dict[str, Any], said: int) -> None:
    points = KillAtPoint(job["at"])
    with points:
        WORK[job["work"], job["naive"]](job)
    os.write(said, json.dumps([points.seen, 0]).encode())


def version(number: int) -> tuple[str, str]:
    """Path and text of the document that the commit of this number stores."""
    return f"{number % DOCUMENTS:02}.md", f"# Note\n\nVersion {number // DOCUMENTS} of it.\n"


def write_on(index: Path) -> None:
    """Commit after commit, until somebody ends this process."""
    with closing(open_for_writing(index)) as store:
        store.begin(header())
        number = 0
        while True:
            store.replace_document(embedded(*version(number)))
            number += 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write_on(Path(sys.argv[2]))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_in_child(json.loads(line), in_child)) + "\n")
        sys.stdout.flush()
