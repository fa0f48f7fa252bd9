"""Moves libraries to another model, and is killed or finds no room; see test_reindex_faults.py."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from disk_driver import limit_files_to
from fault_library import INDEX_FOLDER
from kill_driver import KillAtPoint, run_in_child

from pincite.engine import forgetting
from pincite.engine.homes import FolderHome
from pincite.errors import PinciteError
from pincite.stores.lines import encode
from two_models import NEW, open_with_models

READY = (forgetting,)  # imported before the first child is forked: all points are the work's own
SECRET = "a/zebrafinch.md"


def move(job: dict[str, Any]) -> None:
    with open_with_models(Path(job["root"])) as library:
        match job["work"]:
            case "reindex":
                library.reindex(model=NEW)
            case "in place":
                library.index(model=NEW)
            case "rollback":
                library.rollback()
            case "drop":
                library.generations.drop_before()
            case "forget":
                library.forget(SECRET)
            case "forget in place":
                forget_in_place(Path(job["root"]))


def forget_in_place(root: Path) -> None:
    """What one writes first: the log is rewritten where it stands, then the database made anew."""
    home = FolderHome(root, root / INDEX_FOLDER)
    log = home.logs()[0]
    kept = [one.entry for one in log.lines() if one.entry and SECRET not in str(one.entry)]
    with log.path.open("wb", buffering=0) as file:
        for entry in kept:
            file.write(encode(entry))
    for name in ("index.db", "index.db-wal"):
        log.path.with_name(name).unlink(missing_ok=True)
    home.write().close()


def killed(job: dict[str, Any], said: int) -> None:
    points = KillAtPoint(job["at"])
    begun = time.monotonic()
    with points:
        move(job)
    os.write(said, json.dumps([points.seen, time.monotonic() - begun]).encode())


def without_room(job: dict[str, Any]) -> dict[str, str | None]:
    limit_files_to(job["limit"])
    try:
        move(job)
    except PinciteError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except Exception as error:  # noqa: BLE001 — the test wants to see whatever comes out
        return {"error": f"raw {type(error).__name__}", "message": str(error)}
    finally:
        limit_files_to(None)
    return {"error": None, "message": None}


if __name__ == "__main__":
    for line in sys.stdin:
        job = json.loads(line)
        answer = without_room(job) if "limit" in job else run_in_child(job, killed)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
