"""Long work of a service: for whom it is done, what it waits for, how it ends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import apsw
import psycopg
import pytest
from fastapi.testclient import TestClient

from pincite import open_library
from pincite.engine.serving import FolderLibraries
from pincite.engine.teams import made_team
from pincite.files import lock_file
from pincite.records.journal import Job
from pincite.stores.journal import new_id
from service import folders, key_for, served, team, waited

NONE: Mapping[str, str] = {}
LARGE = "\n\n".join(f"Paragraph {number} of the logbook." for number in range(40_000))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return folder(tmp_path / "notes")


def folder(root: Path) -> Path:
    root.mkdir()
    (root / "lease.md").write_text("# Lease\n\nThe lease ends on 3 May 2027.\n")
    return root


def another_service(root: Path) -> BinaryIO:
    """Does the jobs of the folder, that is none, until it is closed."""
    lock = lock_file(root / ".index" / "jobs.lock")
    assert lock is not None
    return lock


def handed_in(client: TestClient, **headers: str) -> str:
    """Where the job of a large file is told of."""
    text = {"filename": "log.txt", "content": LARGE}
    told = client.post("/rag/index", json=text, headers=headers)
    assert told.status_code == 202
    return str(told.json()["job"]["url"])


def reindexed(client: TestClient, headers: Mapping[str, str] = NONE, **options: object) -> str:
    told = client.post("/rag/admin/reindex", json=options, headers=headers)
    return str(told.json()["job"]["url"])


def cancelled(client: TestClient, at: str) -> dict[str, Any]:
    told: dict[str, Any] = client.post(at.replace("?", "/cancel?")).json()
    return told


def is_in(client: TestClient, state: str, at: str, headers: Mapping[str, str] = NONE) -> None:
    """Wait until the job is in that state."""
    waited(lambda: client.get(at, headers=headers).json()["state"] == state, 60)


def test_a_waiting_job_that_is_cancelled_takes_its_file_away(notes: Path) -> None:
    libraries = folders(notes)
    with another_service(notes), served(libraries) as client:
        at = handed_in(client)
        assert list((notes / "uploads").rglob("log.txt"))
        assert cancelled(client, at)["state"] == "cancelled"
        assert not (notes / "uploads").exists()


def test_a_job_that_waits_for_another_writer_is_cancelled_at_once(notes: Path) -> None:
    libraries = folders(notes)
    with served(libraries) as client, libraries.libraries["notes"]._home.held(1):
        at = handed_in(client)
        waited(lambda: "process is indexing" in client.get(at).json()["message"])
        began = time.monotonic()
        assert cancelled(client, at)["state"] == "cancelled"
        assert time.monotonic() - began < 5
        assert not (notes / "uploads").exists()
        assert client.get(at).json()["state"] == "cancelled"


def test_a_job_that_is_cancelled_in_its_midst_takes_its_file_away(notes: Path) -> None:
    with served(folders(notes)) as client:
        at = handed_in(client)
        waited(lambda: client.get(at).json()["progress"].get("windows_done", 0) > 0)
        cancelled(client, at)
        waited(lambda: not (notes / "uploads").exists())
        next_one = reindexed(client)
        is_in(client, "done", next_one)
        assert client.get(at).json()["state"] == "cancelled"
        assert [one["path"] for one in client.get("/rag/documents").json()["documents"]] == [
            "lease.md"
        ]


def test_a_cancelled_job_leaves_a_file_that_stood_there_before(notes: Path) -> None:
    (notes / "own.txt").write_text(LARGE)
    libraries = folders(notes)
    with another_service(notes), served(libraries) as client:
        at = handed_in(client)
        assert cancelled(client, at)["state"] == "cancelled"
        assert (notes / "own.txt").exists()


def test_a_library_that_is_busy_does_not_hold_up_the_jobs_of_others(
    notes: Path, tmp_path: Path
) -> None:
    other = folder(tmp_path / "other")
    libraries = folders(notes, other)
    with served(libraries) as client:
        with libraries.libraries["notes"]._home.held(1):
            first = reindexed(client)
            waited(lambda: client.get(first).json()["message"].startswith("waiting: this process"))
            assert client.get(first).json()["state"] == "waiting"
            is_in(client, "done", reindexed(client, library="other"))
        is_in(client, "done", first)
        assert client.get(first).json()["attempts"] == 1


def test_a_job_outlives_a_journal_that_is_locked_for_some_seconds(notes: Path) -> None:
    with served(folders(notes)) as client:
        at = handed_in(client)
        is_in(client, "running", at)
        with closing(apsw.Connection(str(notes / ".index" / "journal.sqlite"))) as journal:
            journal.execute("BEGIN IMMEDIATE")
            waited(lambda: len(client.get("/rag/documents").json()["documents"]) == 2, 60)
            time.sleep(3)  # longer than a job's end is tried to be noted at once
            assert client.get(at).json()["state"] == "running"
        is_in(client, "done", at)


# For whom.


def test_a_job_of_a_key_that_ended_meanwhile_is_not_done(notes: Path) -> None:
    libraries = folders(notes)
    with another_service(notes) as before, served(libraries) as client:
        gone, stays = (key_for(libraries, name=name) for name in ("gone", "stays"))
        at, next_one = (reindexed(client, key, policy="flat") for key in (gone, stays))
        next(libraries.journals()).revoke("gone")
        before.close()
        is_in(client, "done", next_one, stays)
        job = next(libraries.journals()).jobs()[0]
        assert at.startswith(f"/rag/jobs/{job.id}")
        assert job.state == "failed"
        assert job.message == "the key that asked for this is no longer valid"


def test_what_a_key_may_not_see_its_jobs_may_not_read(database: str) -> None:
    libraries = team(database)
    with served(libraries) as client:
        ada = key_for(libraries, "ada", "plans")
        low = key_for(libraries, "ada", "plans", name="low", clearance="internal")
        for level in ("public", "restricted"):
            text = {"filename": f"{level}.txt", "content": f"The {level} pump plan"}
            body = {**text, "metadata": {"confidentiality": level}}
            assert client.post("/rag/index", json=body, headers=ada).json()["status"] == "indexed"
        at = reindexed(client, low, policy="flat")
        is_in(client, "failed", at, low)
        told = client.get(at, headers=low)
        assert "is made by whoever sees all of its documents" in told.json()["message"]
        assert "restricted.txt" not in told.text
        is_in(client, "done", reindexed(client, ada, policy="flat"), ada)


def test_a_project_is_made_anew_where_that_is_asked_for(database: str) -> None:
    libraries = team(database)
    with served(libraries) as client:
        ada = key_for(libraries, "ada", "plans")
        text = {"filename": "plan.txt", "content": "The pump plan"}
        client.post("/rag/index", json=text, headers=ada)
        told = {}
        for fresh in (False, True):
            at = reindexed(client, ada, fresh=fresh)
            is_in(client, "done", at, ada)
            told[fresh] = client.get(at, headers=ada).json()["message"]
        assert told == {False: "nothing had to be done", True: "searches use the new index"}


# Several services.


def test_of_two_services_for_a_database_one_does_the_jobs(database: str) -> None:
    with closing(made_team(database)) as first, closing(made_team(database)) as second:
        assert [first.does_jobs(), second.does_jobs(), first.does_jobs()] == [True, False, True]
        with psycopg.connect(database, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            )
        waited(second.does_jobs)
        assert not first.does_jobs()
        second.close()
        assert first.does_jobs()


def test_a_job_that_was_given_to_any_service_is_done_by_the_first(database: str) -> None:
    libraries = team(database)
    other = team(database)
    with served(libraries) as first, served(other) as second:
        ada = key_for(libraries, "ada", "plans")
        text = {"filename": "plan.txt", "content": "The pump plan"}
        first.post("/rag/index", json=text, headers=ada)
        for client in (first, second):
            at = reindexed(client, ada, fresh=True)
            is_in(client, "done", at, ada)
            assert client.get(at, headers=ada).json()["attempts"] == 1


def test_a_folder_that_is_indexed_in_a_database_does_no_jobs_of_its_projects(
    notes: Path, database: str
) -> None:
    with open_library(notes, store=database, user="ada", project="lease") as library:
        library.index(model="hashing")
    projects = team(database)
    here = FolderLibraries({"notes": open_library(notes, store=database)})
    with closing(projects):
        # That of a project, of this folder, and of a folder of the same name on another machine.
        for user, project in (("ada", "ada/lease"), ("", "ada/lease"), ("", "bob/lease")):
            job = Job(new_id(1.0), "notes", "reindex", user=user, project=project)
            next(projects.journals()).save_job(job)
        assert [job.user for _, job in projects.jobs()] == ["ada"]
        with closing(here):
            assert [(job.user, job.project) for _, job in here.jobs()] == [("", "ada/lease")]
