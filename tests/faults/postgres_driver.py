"""Works on a team's database in child processes that are killed; see test_postgres_faults.py.

One job is given as an argument and done in this very process; else each line on standard input is
one, done in a child of its own and answered in one line.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from kill_driver import run_in_child
from postgres_world import Changes, document

from pincite.stores.postgres import migrating
from pincite.stores.postgres.indexes import IndexSettings
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.team import Team
from postgres_server import SCHEMA_OPTIONS, SCOPE, opened


def change_documents(job: dict[str, Any], said: int) -> None:
    """Change documents without end, and note each change before it is made and after."""
    journal = os.open(Path(job["journal"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with opened(job["url"], naive=job["naive"]) as store:
        changes = Changes(store, job["seed"], job["held"], first=job["first"])
        os.write(said, b"started\n")
        while True:
            change = changes.next()
            line = [change.path, change.version]
            os.write(journal, json.dumps([*line, "begun"]).encode() + b"\n")
            changes.apply(change)
            os.write(journal, json.dumps([*line, "done"]).encode() + b"\n")


def make_indexes(job: dict[str, Any], said: int) -> None:
    """Add documents without end, and make the index for vectors anew after each."""
    with closing(Team.at(job["url"], index=IndexSettings(from_windows=1, rebuilt_after=1))) as team:
        store = team.store(SCOPE)
        os.write(said, b"started\n")
        for version in itertools.count(job["first"]):
            store.replace_document(document(f"note{version}.md", version))
            store.make_index()


def migrate(job: dict[str, Any], said: int) -> None:
    """Make the tables; with `naive` each statement on its own."""
    make = migrating._bring_up_to_date if job["naive"] else migrating.migrate
    with psycopg.connect(job["url"], autocommit=True, options=SCHEMA_OPTIONS) as connection:
        if "after" in job:
            wait_after(job["after"], said)
        else:
            os.write(said, b"started\n")
        make(connection)


def wait_after(step: int, said: int) -> None:
    """Let the migration say that it has come so far, and wait there to be killed."""

    def wait(connection: Connection) -> None:
        os.write(said, b"started\n")
        connection.execute("SELECT pg_sleep(60)")

    migrating.MIGRATIONS = (*migrating.MIGRATIONS[:step], wait, *migrating.MIGRATIONS[step:])


def hold(job: dict[str, Any], said: int) -> None:
    """Be the only writer of a generation, and stay so."""
    with closing(Team.at(job["url"])) as team, closing(team.only_writer(SCOPE, 1)):
        os.write(said, b"started\n")
        time.sleep(60)


WORK = {"change": change_documents, "index": make_indexes, "migrate": migrate, "hold": hold}


def in_child(job: dict[str, Any], said: int) -> None:
    WORK[job["work"]](job, said)


if __name__ == "__main__":
    if sys.argv[1:]:
        in_child(json.loads(sys.argv[1]), sys.stdout.fileno())
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_in_child(json.loads(line), in_child)) + "\n")
        sys.stdout.flush()
