"""A service that is killed, overloaded, left by its clients, or whose model fails."""

from __future__ import annotations

import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from model_service import Reply, healthy, running_service
from pincite import ModelAccess, open_library
from pincite.engine.homes import FolderHome
from pincite.engine.jobs import Jobs
from pincite.engine.library import Library
from pincite.engine.models import Embedders
from pincite.engine.serving import FolderLibraries
from pincite.entrypoints.http.app import create_app
from pincite.entrypoints.http.service import Service
from pincite.errors import ModelUnavailable
from pincite.models.hashing import HashingEmbedder
from pincite.ports import Embedder
from pincite.records import LibraryHeader
from pincite.vectors import Vector
from service import HERE, listening, process, served, waited

ASK = {"question": "when does the lease end?"}


def library_of(folder: Path, documents: int) -> None:
    folder.mkdir()
    for number in range(documents):
        text = (
            f"# Note {number}\n\nThe lease of boat {number} ends on {number % 28 + 1} May 2027.\n"
        )
        (folder / f"note-{number}.md").write_text(text * 20)
    with open_library(folder) as library:
        library.index(model="hashing")


def reindexing(address: str) -> str:
    """Where a job is told of that has just begun."""
    begun = httpx.post(f"{address}/rag/admin/reindex", json={"policy": "flat"})
    return str(begun.json()["job"]["url"])


def is_under_way(address: str, at: str) -> bool:
    progress = httpx.get(f"{address}{at}").json()["progress"]
    return bool(0 < progress.get("documents_done", 0) < progress["documents_total"])


def test_a_job_of_a_killed_service_is_done_by_the_next_one(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    library_of(notes, 400)
    with process(str(notes), "--no-watch") as (server, address):
        at = reindexing(address)
        waited(lambda: is_under_way(address, at))
        server.send_signal(signal.SIGKILL)
        server.wait(30)
    with open_library(notes) as library:
        (job,) = library.journal.jobs()
        assert (job.state, library.stats().header.policy) == ("running", "vault")
    with process(str(notes), "--no-watch") as (_, address):
        waited(lambda: httpx.get(f"{address}{at}").json()["state"] == "done", 120)
    with open_library(notes) as library:
        assert library.stats().header.policy == "flat"
        assert len(library.documents()) == 400


def test_of_two_services_for_a_folder_one_does_the_jobs_until_it_is_killed(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    library_of(notes, 400)
    with (
        process(str(notes), "--no-watch") as (first, _),
        process(str(notes), "--no-watch") as (_, address),
    ):
        at = reindexing(address)
        waited(lambda: is_under_way(address, at))
        assert httpx.get(f"{address}{at}").json()["attempts"] == 1
        first.send_signal(signal.SIGKILL)
        waited(lambda: httpx.get(f"{address}{at}").json()["state"] == "done", 120)
        assert httpx.get(f"{address}{at}").json()["attempts"] == 2


def test_a_job_is_cancelled_at_its_next_step(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    library_of(notes, 400)
    with process(str(notes), "--no-watch") as (_, address):
        at = reindexing(address)
        waited(lambda: httpx.get(f"{address}{at}").json()["progress"].get("documents_done", 0) > 0)
        cancel = f"{address}{at.replace('?', '/cancel?')}"
        httpx.post(cancel)
        found = httpx.post(f"{address}/rag/search", json={"query": "lease"}).json()
        assert found["results"]
        next_one = httpx.post(f"{address}/rag/admin/reindex").json()["job"]["url"]
        waited(lambda: httpx.get(f"{address}{next_one}").json()["state"] == "done")
        assert httpx.get(f"{address}{at}").json()["state"] == "cancelled"
        assert httpx.post(cancel).json()["state"] == "cancelled"
    with open_library(notes) as library:
        assert library.stats().header.policy == "vault"


def test_a_service_that_is_stopped_leaves_its_job_to_the_next_one(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    library_of(notes, 400)
    with process(str(notes), "--no-watch") as (server, address):
        at = reindexing(address)
        waited(lambda: httpx.get(f"{address}{at}").json()["progress"].get("documents_done", 0) > 0)
        server.terminate()
        assert server.wait(30) in (0, -signal.SIGTERM)
    with open_library(notes) as library:
        (job,) = library.journal.jobs()
        assert job.state == "waiting"


def test_whoever_follows_a_job_is_told_at_once_that_the_service_stops(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    library_of(notes, 400)
    with process(str(notes)) as (server, address):
        at = reindexing(address).replace("?", "/events?")
        with httpx.stream("GET", f"{address}{at}", timeout=30) as events:
            lines = events.iter_lines()
            assert next(lines) == "event: progress"
            began = time.monotonic()
            server.send_signal(signal.SIGINT)
            left = list(lines)
        assert server.wait(30) == 0
        assert time.monotonic() - began < 8
        assert "event: problem" in left
        assert '"stopping"' in left[-2]
        assert server.stderr is not None
        assert "Traceback" not in server.stderr.read()


def test_a_service_tells_how_far_its_first_index_is(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(300):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nThe lease ends.\n" * 40)
    with process(str(notes)) as (_, address):
        said: list[str] = []

        def is_told() -> bool:
            said.append(httpx.post(f"{address}/rag/ask", json=ASK).text)
            far = httpx.get(f"{address}/readyz").json()["message"]
            return bool(re.search(r"indexing notes, [\d,]+ of 300 documents", far))

        waited(is_told)
        assert not any("index build" in one for one in said)


def test_a_folder_that_goes_away_is_not_made_again(tmp_path: Path) -> None:
    notes, elsewhere = tmp_path / "notes", tmp_path / "elsewhere"
    library_of(notes, 1)
    handed_in = {"filename": "new.txt", "content": "Something new"}
    with process(str(notes)) as (_, address):
        waited(lambda: httpx.get(f"{address}/readyz").status_code == 200)
        notes.rename(elsewhere)
        told = httpx.post(f"{address}/rag/index", json=handed_in)
        assert (told.status_code, told.json()["code"]) == (503, "away")
        assert httpx.get(f"{address}/rag/documents").status_code == 503
        ready = httpx.get(f"{address}/readyz")
        assert ready.status_code == 503
        assert "the folder of notes is away" in ready.json()["message"]
        assert not notes.exists()
        elsewhere.rename(notes)
        assert httpx.post(f"{address}/rag/search", json={"query": "lease"}).json()["results"]


def test_a_service_says_which_folder_it_does_not_follow_and_follows_it_again(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "notes"
    library_of(notes, 1)
    labels = notes / "pincite-labels.json"
    with process(str(notes)) as (_, address):
        waited(lambda: httpx.get(f"{address}/readyz").json()["message"] == "ready")
        labels.write_text("{")
        why = "ready; not followed: notes: pincite-labels.json"
        waited(lambda: httpx.get(f"{address}/readyz").json()["message"].startswith(why))
        assert httpx.get(f"{address}/readyz").status_code == 200
        labels.unlink()
        waited(lambda: httpx.get(f"{address}/readyz").json()["message"] == "ready")
        (notes / "late.md").write_text("# Late\n\nThe wombat arrives.\n")
        waited(lambda: len(httpx.get(f"{address}/rag/documents").json()["documents"]) == 2)


def test_more_requests_than_may_wait_are_turned_away_and_nothing_fails(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    library_of(notes, 100)
    with (
        process(str(notes), "--no-watch", "--max-waiting", "2") as (_, address),
        ThreadPoolExecutor(64) as threads,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        told = list(threads.map(lambda _: client.post("/rag/ask", json=ASK), range(256)))
        assert {one.status_code for one in told} == {200, 503}
        assert all("retry-after" in one.headers for one in told if one.status_code == 503)
        assert client.post("/rag/ask", json=ASK).status_code == 200


def test_a_client_that_goes_away_stops_its_work(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The lease ends in May.\n")
    with running_service() as model:
        access = ModelAccess(base_url=model.url)
        library = open_library(tmp_path, models=access)
        library.index(model="openai:m")
        asked = threading.Event()

        def silent(_: list[str]) -> Reply:
            asked.set()
            return Reply({}, is_held=True)

        model.plays(silent, healthy)
        # The request for the measures itself is under way, and nothing else.
        with listening(FolderLibraries({"a": library})) as address:
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(f"{address}/rag/search", json={"query": "lease"}, timeout=4)
            assert asked.is_set()
            waited(lambda: "under_way 1.0" in httpx.get(f"{address}/metrics").text)
            assert not model.released.is_set()  # the model's service still hangs
            (logged,) = httpx.get(f"{address}/rag/log").json()["queries"]
            assert logged["outcome"] == "cancelled"


class _FailsAtFirst(HashingEmbedder):
    """Breaks down with the first question."""

    def __init__(self, failures: list[int]) -> None:
        super().__init__()
        self._failures = failures

    def embed_question(self, text: str) -> Vector:
        if self._failures[0]:
            self._failures[0] -= 1
            raise ModelUnavailable("the model broke down")
        return super().embed_question(text)


class _Models(Embedders):
    def __init__(self, failures: int) -> None:
        super().__init__(ModelAccess())
        self.failures = [failures]
        self.opened = 0

    def named(self, name: str) -> Embedder:
        self.opened += 1
        return _FailsAtFirst(self.failures)

    def of(self, header: LibraryHeader) -> Embedder:
        return self.named(header.model.name)


@pytest.mark.parametrize(("failures", "expected"), [(1, [200, 200]), (3, [503, 503, 200])])
def test_a_model_that_fails_is_opened_anew_once_and_then_reported(
    tmp_path: Path, failures: int, expected: list[int]
) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "lease.md").write_text("# Lease\n\nThe lease ends in May.\n")
    library = Library(root, _Models(0), FolderHome(root, root / ".index"))
    library.index(model="hashing")
    library.close()
    models = _Models(failures)
    library = Library(root, models, FolderHome(root, root / ".index"))
    with served(FolderLibraries({"notes": library}), warm=False) as client:
        told = [
            client.post("/rag/search", json={"query": f"lease {n}"}) for n in range(len(expected))
        ]
        assert [one.status_code for one in told] == expected
        assert all(one.json()["code"] == "model_unavailable" for one in told if one.is_error)


def test_a_service_whose_model_fails_later_is_not_ready_until_it_works_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_SECONDS_READY", "_SECONDS_FAILED"):
        monkeypatch.setattr(f"pincite.entrypoints.http.service.{name}", 0.05)
    (tmp_path / "lease.md").write_text("# Lease\n\nThe lease ends in May.\n")
    models = _Models(0)
    library = Library(tmp_path, models, FolderHome(tmp_path, tmp_path / ".index"))
    library.index(model="hashing")
    libraries = FolderLibraries({"notes": library})
    service = Service(libraries, Jobs(libraries))
    stop = threading.Event()
    looking = threading.Thread(target=service.warm_up, args=(stop,))
    looking.start()
    try:
        with TestClient(create_app(service), base_url=HERE) as client:

            def ready() -> int:
                return client.get("/readyz").status_code

            waited(lambda: ready() == 200)
            models.failures[0] = 1_000_000
            assert client.post("/rag/search", json={"query": "lease"}).status_code == 503
            waited(lambda: ready() == 503)
            assert "the model broke down" in client.get("/readyz").json()["message"]
            models.failures[0] = 0
            waited(lambda: ready() == 200)
    finally:
        stop.set()
        looking.join()
        library.close()
