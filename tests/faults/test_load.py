"""Eight who search, two who update and one who reindexes, all at once: no search may fail."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from fault_library import INDEX_FOLDER, NAME, POLICY, note, quick_folder

from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.generations import GenerationFolders
from soak import times
from two_models import OLD, open_with_models

SECONDS = times(4, soak=180)
DRIVER = Path(__file__).with_name("load_driver.py")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as folder:
        root = folder / "library"
        root.mkdir()
        for number in range(12):
            (root / f"note{number}.md").write_text(note(random.Random(number)))
        with open_with_models(root) as library:
            library.index(name=NAME, model=OLD, policy=POLICY)
        yield root


def test_searches_go_on_while_others_update_and_reindex(root: Path) -> None:
    paths = [str(DRIVER.parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, str(DRIVER), role, str(root)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=environment,
                )
            )
            for role in ("search", "search", "update", "reindex")
        ]
        time.sleep(SECONDS)
        told: list[list[Any]] = [json.loads(one.communicate("")[0]) for one in processes]

    *searchers, updates, reindexes = told
    seen = [one for each in searchers for one in each]
    searches = sum(one["searches"] for one in seen)
    live = GenerationFolders(root / INDEX_FOLDER).numbers().live
    sys.stdout.write(f"{searches} searches, {updates} updates, {reindexes} reindexes: {live}\n")
    assert Counter(wrong for one in seen for wrong in one["wrong"]) == Counter()
    assert live > 1
    assert all(one["searches"] for one in seen)


def test_whoever_opens_a_database_waits_for_its_lock(root: Path) -> None:
    database = root / INDEX_FOLDER / "index.db"
    alone = connect(database, writable=True)
    alone.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    alone.execute("BEGIN IMMEDIATE")
    alone.execute("COMMIT")
    leaving = threading.Timer(0.3, alone.close)
    leaving.start()
    try:
        with closing(connect(database, writable=False)) as connection:
            assert connection.execute("SELECT count(*) FROM document").get
    finally:
        leaving.join()
