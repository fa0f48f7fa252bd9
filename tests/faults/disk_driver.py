"""Indexes while the disk is full; see test_disk.py. One job on standard input, one answer."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fault_library import INDEX_FOLDER, Acknowledgements, embedded, files_of
from kill_driver import index_naively, index_soundly

from pincite.engine import open_library
from pincite.errors import PinciteError
from pincite.records import Progress
from pincite.stores.sqlite.opening import open_for_writing


def limit_files_to(size: int | None) -> None:
    """No file may grow beyond this: the nearest to a full disk that needs no rights."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))


def index(job: dict[str, Any]) -> None:
    """Each acknowledgement is written without the limit, or the test would lose its memory."""
    root = Path(job["root"])
    acknowledgements = Acknowledgements(Path(job["acks"]))
    files = files_of(root)
    acknowledgements.begin(files)

    def acknowledge(progress: Progress) -> None:
        limit_files_to(None)
        acknowledgements.stored(progress.path, files[progress.path])
        limit_files_to(job["limit"])

    limit_files_to(job["limit"])
    try:
        (index_naively if job["naive"] else index_soundly)(root, acknowledge)
    finally:
        limit_files_to(None)


def go_on_with_the_same_store(job: dict[str, Any]) -> None:
    """A write that found no room, then one that does; both documents must be there in the end."""
    refused = embedded("refused.md", "# Refused\n\nThere was no room for this valve.\n")
    later = embedded("later.md", "# Later\n\nThere is room again for this pump.\n")
    store = open_for_writing(Path(job["root"]) / INDEX_FOLDER)
    try:
        limit_files_to(job["limit"])
        try:
            store.replace_document(refused)
        finally:
            limit_files_to(None)
            store.replace_document(later)
    finally:
        store.close()


def load_everything() -> None:
    """Modules are loaded when first needed, and another user may not read this Python's."""
    with TemporaryDirectory() as folder:
        Path(folder, "a.md").write_text("# Valve\n\nA valve.\n")
        with open_library(folder) as library:
            library.index(model="hashing")
            library.search("valve")
            library.show("a.md:1")


def use(job: dict[str, Any]) -> None:
    """One verb of a library, as another user where asked for, who allows it for this time only."""
    if job["user"] is not None:
        load_everything()
        os.setgroups([])
        os.setgid(job["user"])
        os.setuid(job["user"])
        os.environ["XDG_CONFIG_HOME"] = "/nowhere"
    with open_library(job["root"], consent=lambda place, requests: True) as library:
        getattr(library, job["verb"])(*job["arguments"])


WORK = {"index": index, "go on": go_on_with_the_same_store, "use": use}

if __name__ == "__main__":
    for line in sys.stdin:
        job = json.loads(line)
        answer: dict[str, str | None] = {"error": None, "message": None}
        try:
            WORK[job["work"]](job)
        except PinciteError as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        except Exception as error:  # noqa: BLE001 — the test wants to see whatever comes out
            answer = {"error": f"raw {type(error).__name__}", "message": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
