"""Works in child processes that are killed; see test_kill.py.

Each line on standard input is a job; each is done in a child of its own and answered in one line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from fault_library import (
    GUARDED,
    INDEX_FOLDER,
    MODEL,
    NAME,
    POLICY,
    SECRET,
    Acknowledgements,
    change_folder,
    files_of,
    header,
    open_naive,
)

from pincite.chunking.flow import chunk_document
from pincite.engine import open_library
from pincite.ingest.flow import Parts, sync
from pincite.models import catalog
from pincite.models.hashing import HashingEmbedder
from pincite.reading.reader import LibraryReader
from pincite.records import FoundFile, Progress
from pincite.settings import LABELS_FILE, policy_named
from pincite.sources import Folder

# Imported before the first child is forked, so that a child goes to work at once.
READY = (catalog,)

# Everything that reaches the disk from Python; SQLite's own writes happen inside `execute`.
POINTS = {
    "write",
    "flush",
    "fsync",
    "ftruncate",
    "truncate",
    "link",
    "replace",
    "rename",
    "unlink",
    "execute",
}


class KillAtPoint:
    """Counts the calls that reach the disk, and ends this process at one of them."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.seen = 0

    def __enter__(self) -> None:
        if self.at is not None:
            sys.setprofile(self._look)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, what: object) -> None:
        ours = "fault_library" in frame.f_code.co_filename
        if event == "c_call" and getattr(what, "__name__", "") in POINTS and not ours:
            self.seen += 1
            if self.seen == self.at:
                os.kill(os.getpid(), signal.SIGKILL)


def index_soundly(root: Path, on_progress: Callable[[Progress], None]) -> None:
    with open_library(root) as library:
        library.index(name=NAME, model=MODEL, policy=POLICY, on_progress=on_progress)


def index_naively(root: Path, on_progress: Callable[[Progress], None]) -> None:
    """As Library.index does, with a store that writes row by row."""
    embedder = HashingEmbedder()
    begun_with = header()
    folder = Folder(root)
    store = open_naive(root / INDEX_FOLDER)
    try:
        store.begin(begun_with)
        parts = Parts(
            read_file=folder.read,
            read=LibraryReader(NAME).read,
            chunk=partial(chunk_document, policy=policy_named(POLICY), embedder=embedder),
            embedder=embedder,
            store=store,
        )
        sync(
            [
                FoundFile(file.path, file.size, file.checksum)
                for file in folder.scan(lambda path: path.endswith(".md")).files
            ],
            parts,
            recipe_of=lambda path: begun_with.recipe,
            on_progress=on_progress,
        )
    finally:
        store.close()


def change_and_index(job: dict[str, Any], points: AbstractContextManager[None]) -> None:
    """Some rounds of changes to the folder, each followed by the index."""
    root, acknowledgements = Path(job["root"]), Acknowledgements(Path(job["acks"]))
    index = index_naively if job["naive"] else index_soundly
    for step in range(job["steps"]):
        change_folder(root, f"{job['seed']}/{step}")
        files = files_of(root)
        acknowledgements.begin(files)

        def acknowledge(progress: Progress, files: dict[str, str] = files) -> None:
            acknowledgements.stored(progress.path, files[progress.path])

        with points:
            index(root, acknowledge)
        acknowledgements.finished()


def verify_and_repair(job: dict[str, Any], points: KillAtPoint) -> None:
    with points, open_library(job["root"]) as library:
        library.verify(repair=True)


def search(job: dict[str, Any], points: KillAtPoint) -> None:
    """A reader takes over what a killed writer left, so it writes as well."""
    with points, open_library(job["root"]) as library:
        library.search("valve")


def hand_in(job: dict[str, Any], points: KillAtPoint) -> None:
    with open_library(job["root"]) as library, points:
        if not job["naive"]:
            library.index_document(*SECRET, labels=GUARDED)
            return
        # As somebody might who thinks of the labels when all else is done.
        path = library.index_document(*SECRET).document.path
        file = Path(job["root"], path).with_name(LABELS_FILE)
        label = {"files": path, **GUARDED}
        file.write_text(json.dumps({"version": 1, "labels": [label]}))
        library.index()


WORK = {
    "index": change_and_index,
    "repair": verify_and_repair,
    "search": search,
    "hand in": hand_in,
}


def in_child(job: dict[str, Any], said: int) -> None:
    if "delay" in job:
        os.write(said, b"started\n")
    begun = time.monotonic()
    points = KillAtPoint(job.get("at"))
    WORK[job["work"]](job, points)
    if "delay" not in job:
        os.write(said, json.dumps([points.seen, time.monotonic() - begun]).encode())


def run_in_child(
    job: dict[str, Any], in_child: Callable[[dict[str, Any], int], None] = in_child
) -> dict[str, Any]:
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(heard)
            in_child(job, said)
            status = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(status)
    os.close(said)
    if "delay" in job:
        os.read(heard, len(b"started\n"))
        time.sleep(job["delay"])
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    answer = b"" if "delay" in job else os.read(heard, 100)
    os.close(heard)
    points, seconds = json.loads(answer) if answer else (None, None)
    return {"status": os.waitstatus_to_exitcode(status), "points": points, "seconds": seconds}


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_in_child(json.loads(line))) + "\n")
        sys.stdout.flush()
