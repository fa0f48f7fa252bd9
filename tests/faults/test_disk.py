"""A full disk, a folder that cannot be written, and two processes that want to write at once."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from fault_library import (
    INDEX_FOLDER,
    Acknowledgements,
    assert_same_rows,
    broken_promises,
    build,
    build_elsewhere,
    change_folder,
    documents_of,
    files_of,
    quick_folder,
    rows_of,
)
from small_disk import small_disk

from pincite.engine import open_library
from pincite.errors import LibraryBusy
from pincite.records import Progress
from pincite.stores.sqlite.reader import LOG_NAME
from soak import times

NOBODY = 65534
QUESTION = "valve7 signal9"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        yield folder


class Driver:
    """A process that works under the limits of each job."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, **job: object) -> tuple[str | None, str | None]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"naive": False, **job}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["error"], answer["message"]


@contextmanager
def started_driver() -> Iterator[Driver]:
    script = Path(__file__).with_name("disk_driver.py")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Driver(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with started_driver() as driver:
        yield driver


@pytest.fixture
def stranger() -> Iterator[Driver]:
    """Becomes another user, and stays one."""
    with started_driver() as driver:
        yield driver


def changed_library(folder: Path) -> Path:
    """A library with an index, and changes in the folder that the index has not seen."""
    root = folder / "library"
    root.mkdir()
    change_folder(root, "disk/0")
    build(root)
    change_folder(root, "disk/1")
    change_folder(root, "disk/2")
    return root


def largest_file(root: Path) -> int:
    return max(path.stat().st_size for path in (root / INDEX_FOLDER).iterdir())


def limits(root: Path, count: int) -> list[int]:
    """From nothing to nearly enough for all."""
    whole = root.with_name("whole")
    shutil.copytree(root, whole)
    build(whole)
    most = largest_file(whole)
    shutil.rmtree(whole)
    return [number * most // count for number in range(count)]


@pytest.mark.parametrize("part", range(times(1, soak=2)))
def test_a_full_disk_is_our_error_and_loses_nothing_that_was_acknowledged(
    driver: Driver, folder: Path, part: int
) -> None:
    root = changed_library(folder)
    fresh = build_elsewhere(root, folder / "fresh")
    held = documents_of(root)
    for limit in limits(root, times(8, soak=80))[part :: times(1, soak=2)]:
        copy = folder / f"limit{limit}"
        shutil.copytree(root, copy)
        acks = Acknowledgements(folder / f"limit{limit}.acks")
        acks.held(held)

        error, message = driver.run(
            work="index", root=str(copy), acks=str(folder / f"limit{limit}.acks"), limit=limit
        )

        why = f"at {limit} bytes: {error}: {message}"
        assert error in {"StoreFull", "StoreError", None}, why
        assert error is None or "run " in str(message), why
        assert broken_promises(copy, acks.read()) == [], why
        build(copy)
        assert_same_rows(rows_of(copy), fresh, why)
        shutil.rmtree(copy)


@pytest.mark.parametrize("room", [1, 700, 1500, 10_000])
@pytest.mark.parametrize("long_log", [True, False])
def test_a_store_that_found_no_room_goes_on_without_losing_its_place(
    driver: Driver, folder: Path, long_log: bool, room: int
) -> None:
    root = folder / "library"
    root.mkdir()
    (root / "a").mkdir()
    (root / "a" / "note.md").write_text("# Note\n\nA valve.\n")
    build(root)
    if long_log:  # so that the log alone runs out of room, not the database's changes
        with open_library(root) as library:
            while log_size(root) < 200_000:
                library.index(fresh=True)

    error, _ = driver.run(work="go on", root=str(root), limit=log_size(root) + room)

    assert (error is None) == (long_log and room == 10_000)
    with open_library(root) as library:
        assert library.verify() == []
    assert documents_of(root).keys() >= {"a/note.md", "later.md"}


def log_size(root: Path) -> int:
    return (root / INDEX_FOLDER / LOG_NAME).stat().st_size


def test_a_store_that_writes_row_by_row_does_not_survive_a_full_disk(
    driver: Driver, folder: Path
) -> None:
    root = changed_library(folder)
    held = documents_of(root)
    caught = 0
    for limit in limits(root, 12):
        copy = folder / f"limit{limit}"
        shutil.copytree(root, copy)
        acks = Acknowledgements(folder / f"limit{limit}.acks")
        acks.held(held)
        driver.run(
            work="index",
            root=str(copy),
            acks=str(folder / f"limit{limit}.acks"),
            limit=limit,
            naive=True,
        )
        caught += bool(broken_promises(copy, acks.read()))
    assert caught >= 2


@pytest.mark.parametrize("kilobytes", [200, 700, 1300])
def test_a_disk_that_is_really_full_goes_on_once_there_is_room(
    driver: Driver, folder: Path, kilobytes: int
) -> None:
    with small_disk("8m") as disk:
        root = changed_library(disk)
        fresh = build_elsewhere(root, folder / "fresh")
        acks = Acknowledgements(folder / "acks")
        acks.held(documents_of(root))
        ballast = disk / "ballast"
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        ballast.write_bytes(bytes(free - kilobytes * 1000))

        error, message = driver.run(
            work="index", root=str(root), acks=str(folder / "acks"), limit=None
        )

        assert error in {"StoreFull", None}, f"{error}: {message}"
        ballast.unlink()
        assert broken_promises(root, acks.read()) == []
        build(root)
        assert_same_rows(rows_of(root), fresh)


LEAVER = """
import os, sys
from pathlib import Path
from fault_library import embedded
from pincite.stores.sqlite.opening import open_for_writing
store = open_for_writing(Path(sys.argv[1]))
store.replace_document(embedded("late.md", "# Late\\n\\nA late valve7.\\n"))
if sys.argv[2] == "behind":
    store._log.append({"event": "removed", "documents": [], "time": None})
os._exit(0)
"""


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("state", ["at rest", "ahead", "behind"])
def test_searches_go_on_when_nothing_can_be_written(
    driver: Driver, state: str, shared: bool
) -> None:
    """Whether a killed writer left changes in the database, or in the log alone."""
    with small_disk("8m") as disk:
        root = changed_library(disk)
        index = root / INDEX_FOLDER
        if state != "at rest":
            environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
            subprocess.run(
                [sys.executable, "-c", LEAVER, str(index), state], check=True, env=environment
            )
            assert (index / "index.db-wal").stat().st_size
        if not shared:
            (index / "index.db-shm").unlink(missing_ok=True)
        with (disk / "ballast").open("ab", buffering=0) as ballast, suppress(OSError):
            while True:
                ballast.write(bytes(4096))

        for verb, arguments in (("search", [QUESTION]), ("documents", []), ("stats", [])):
            answer = driver.run(
                work="use", root=str(root), verb=verb, arguments=arguments, user=None
            )
            assert answer == (None, None)

        (disk / "ballast").unlink()
        build(root)
        with open_library(root) as library:
            assert library.verify() == []


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_a_log_of_queries_that_cannot_be_written_hinders_nobody(
    folder: Path, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    with small_disk("8m") as disk:
        root = changed_library(disk)
        if state == "read-only":
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        else:
            with (disk / "ballast").open("ab", buffering=0) as ballast, suppress(OSError):
                while True:
                    ballast.write(bytes(4096))
        with open_library(root) as library:
            for _ in range(3):
                assert library.search(QUESTION).results
        told = [one.message for one in caplog.records if one.levelno >= logging.WARNING]
        # SQLite calls it an I/O error where it is the journal's shared memory that has no space.
        full = [re.search("no space left|disk I/O error", one) is not None for one in told]
        assert full == [True] * (state == "full")

        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        (disk / "ballast").unlink(missing_ok=True)
        with open_library(root) as library:
            library.search(QUESTION)
            assert len(library.journal.queries()) == 1


# A folder that cannot be written


@pytest.fixture
def others_library(folder: Path) -> Path:
    """A library that another user may read and not write."""
    root = changed_library(folder)
    folder.chmod(0o755)
    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return root


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can work as another user")
@pytest.mark.parametrize(
    ("verb", "arguments"),
    [("search", [QUESTION]), ("stats", []), ("documents", []), ("show", ["{path}:1"])],
)
def test_a_library_that_cannot_be_written_can_be_read(
    stranger: Driver, others_library: Path, verb: str, arguments: list[str]
) -> None:
    path = sorted(documents_of_read_only(others_library))[0]

    error, message = stranger.run(
        work="use",
        root=str(others_library),
        verb=verb,
        arguments=[argument.format(path=path) for argument in arguments],
        user=NOBODY,
    )

    assert (error, message) == (None, None)


def documents_of_read_only(root: Path) -> list[str]:
    with open_library(root) as library:
        return [document.path for document in library.documents()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can work as another user")
def test_a_library_that_cannot_be_written_says_so(stranger: Driver, others_library: Path) -> None:
    error, message = stranger.run(
        work="use", root=str(others_library), verb="index", arguments=[], user=NOBODY
    )

    assert error == "StoreReadOnly"
    assert "permissions" in str(message)


@pytest.mark.parametrize("verb", ["index", "search"])
def test_a_disk_that_became_read_only_is_our_error_and_can_still_be_read(
    driver: Driver, folder: Path, verb: str
) -> None:
    with small_disk("8m") as disk:
        root = changed_library(disk)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

        error, _ = driver.run(
            work="use",
            root=str(root),
            verb=verb,
            arguments=[QUESTION][: verb == "search"],
            user=None,
        )

    assert error == {"index": "StoreReadOnly", "search": None}[verb]


# Two that want to write


def test_a_second_writer_is_refused_at_once_and_readers_go_on(folder: Path) -> None:
    root = changed_library(folder)
    at_work, go_on = threading.Event(), threading.Event()

    def wait(_: Progress) -> None:
        at_work.set()
        go_on.wait(60)

    with open_library(root) as first, open_library(root) as second, open_library(root) as reader:
        writing = threading.Thread(target=first.index, kwargs={"on_progress": wait})
        writing.start()
        assert at_work.wait(60)
        try:
            with pytest.raises(LibraryBusy, match="process is indexing"):
                second.index()
            with pytest.raises(LibraryBusy, match="process is indexing"):
                second.verify()
            assert reader.search(QUESTION).results
            assert reader.stats().store.documents
        finally:
            go_on.set()
            writing.join()
        second.index()
        assert second.verify() == []


def test_a_second_process_is_refused_at_once_and_its_readers_go_on(
    driver: Driver, folder: Path
) -> None:
    root = changed_library(folder)
    at_work, go_on = threading.Event(), threading.Event()

    def wait(_: Progress) -> None:
        at_work.set()
        go_on.wait(60)

    with open_library(root) as library:
        writing = threading.Thread(target=library.index, kwargs={"on_progress": wait})
        writing.start()
        assert at_work.wait(60)
        try:
            refused, _ = driver.run(
                work="use", root=str(root), verb="index", arguments=[], user=None
            )
            read, _ = driver.run(
                work="use", root=str(root), verb="search", arguments=[QUESTION], user=None
            )
        finally:
            go_on.set()
            writing.join()
    assert (refused, read) == ("LibraryBusy", None)


WRITER = """
import sys, time
from pincite.engine import open_library
def wait(progress):
    print("at work", flush=True)
    time.sleep(600)
open_library(sys.argv[1]).index(on_progress=wait)
"""


def test_the_lock_of_a_killed_writer_does_not_remain(folder: Path) -> None:
    root = changed_library(folder)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "at work\n"
        with open_library(root) as library, pytest.raises(LibraryBusy):
            library.index()
        writer.kill()
    build(root)

    assert files_of(root) == documents_of(root)
    with open_library(root) as library:
        assert library.verify() == []
