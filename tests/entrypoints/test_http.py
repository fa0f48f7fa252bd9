"""The service: the requests that other programs send, and what they are told."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from jsonschema_rs import Draft202012Validator

from pincite import open_library
from pincite.entrypoints.http.guard import Limits
from pincite.entrypoints.http.service import RIGHTS
from pincite.records.journal import Job
from pincite.stores.journal import new_id
from service import folders, process, served, waited

SCRIPT = "<script>alert(1)</script>"
HELLO = {"filename": "test.txt", "content": "Hello world"}
END = {"question": "when does the lease end?"}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text(f"# Lease\n\nThe lease ends on 3 May 2027. {SCRIPT}\n")
    return folder


@pytest.fixture
def client(notes: Path) -> Iterator[TestClient]:
    with served(folders(notes)) as client:
        yield client


def test_a_text_is_indexed_then_deduplicated_searched_listed_and_deleted(
    client: TestClient, notes: Path
) -> None:
    first = client.post("/rag/index", json=HELLO).json()
    again = client.post("/rag/index", json=HELLO).json()
    assert (first["status"], first["chunks"]) == ("indexed", 1)
    assert (again["status"], again["id"]) == ("deduplicated", first["id"])
    found = client.post("/rag/search", json={"query": "hello"}).json()["results"][0]
    assert found["document"]["id"] == first["id"]
    assert {"rrf_score", "vector_score", "text_score"} <= found.keys()
    listed = client.get("/rag/documents").json()["documents"]
    assert first["id"] in {one["id"] for one in listed}
    at = f"/rag/documents/{first['id']}"
    assert client.get(f"{at}/text?start=6").text == "world"
    file = client.get(f"{at}/file")
    assert (file.content, file.headers["content-type"]) == (
        b"Hello world",
        "application/octet-stream",
    )
    assert client.delete(at).json()["status"] == "deleted"
    assert not (notes / "uploads").exists()
    assert client.get(at).status_code == 404


def test_files_of_a_form_are_made_searchable_and_each_that_cannot_be_is_told(
    client: TestClient,
) -> None:
    files = [
        ("file", ("pump.md", b"# Pump\n\nThe pump leaks.")),
        ("file", ("broken.pdf", b"%PDF-1.7 no")),
    ]
    told = client.post(
        "/rag/index", files=files, data={"metadata": json.dumps({"tags": ["pump"]})}
    ).json()["documents"]
    assert [one["status"] for one in told] == ["indexed", "failed"]
    assert told[0]["metadata"]["tags"] == ["pump"]
    assert (told[1]["filename"], "reason" in told[1]) == ("broken.pdf", True)
    found = client.post("/rag/search", json={"query": "leaks", "filters": {"tag": "pump"}}).json()
    assert [one["document"]["id"] for one in found["results"]] == [told[0]["id"]]


def test_a_file_that_takes_long_is_a_job(client: TestClient) -> None:
    large = "\n\n".join(f"Paragraph {number} of the logbook." for number in range(40_000))
    told = client.post("/rag/index", json={"filename": "log.txt", "content": large})
    assert (told.status_code, told.json()["status"]) == (202, "accepted")
    at = told.json()["job"]["url"]
    waited(lambda: client.get(at).json()["state"] == "done", 120)
    names = {one["filename"] for one in client.get("/rag/documents").json()["documents"]}
    assert "log.txt" in names


def test_while_an_index_run_is_under_way_files_wait_as_jobs_and_searches_go_on(
    notes: Path,
) -> None:
    libraries = folders(notes)
    with served(libraries) as client:
        with libraries.libraries["notes"]._home.held(1):
            told = client.post("/rag/index", json=HELLO)
            assert (told.status_code, told.json()["status"]) == (202, "accepted")
            assert client.post("/rag/search", json={"query": "lease"}).json()["results"]
        at = told.json()["job"]["url"]
        waited(lambda: client.get(at).json()["state"] == "done")


def test_what_waits_to_be_indexed_is_told_with_every_answer(
    client: TestClient, notes: Path
) -> None:
    with open_library(notes) as other, other._home.held(1):
        client.post("/rag/index", json=HELLO)
        for path, asked in (
            ("search", {"query": "hello"}),
            ("search", {"query": "hello", "per_document": False}),
            ("context", {"query": "hello"}),
            ("ask", END),
        ):
            told = client.post(f"/rag/{path}", json=asked).json()
            assert "a file that was handed in is still being indexed" in told["notes"]
            assert not told["complete"]
    waited(lambda: client.post("/rag/ask", json=END).json()["complete"])
    assert client.post("/rag/ask", json=END).json()["notes"] == []


def test_nothing_is_deleted_while_a_job_is_at_work_and_the_job_is_named(
    client: TestClient,
) -> None:
    document = client.post("/rag/index", json=HELLO).json()["id"]
    text = "".join(f"The valve {number} sticks.\n" for number in range(60_000))
    sent = {"filename": "log.txt", "content": text}
    job = client.post("/rag/index", json=sent).json()["job"]
    waited(lambda: client.get(job["url"]).json()["state"] == "running")
    began = time.monotonic()
    told = client.delete(f"/rag/documents/{document}")
    assert (told.status_code, told.json()["code"]) == (503, "busy")
    assert job["id"] in told.json()["detail"]
    assert told.headers["retry-after"]
    assert time.monotonic() - began < 5
    client.post(job["url"].replace("?", "/cancel?"))


def test_who_is_lost_is_told_where_the_routes_are_described(client: TestClient) -> None:
    for told in (client.get("/rag/nothing"), client.put("/rag/search")):
        assert "/openapi.json" in told.json()["detail"]


def test_a_large_file_may_be_the_first_one(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with served(folders(empty)) as client:
        text = "The boat is moored.\n\n" * 60_000
        told = client.post("/rag/index", json={"filename": "log.txt", "content": text})
        assert told.json()["status"] == "indexed"


def test_a_reindex_is_a_job_whose_progress_can_be_followed(client: TestClient) -> None:
    begun = client.post("/rag/admin/reindex", json={"policy": "flat"})
    job = begun.json()["job"]
    assert (begun.status_code, begun.json()["status"]) == (202, "accepted")
    followed = client.get(job["url"].replace("?", "/events?")).text
    last = json.loads(followed.strip().splitlines()[-1].removeprefix("data: "))
    assert (last["state"], last["message"]) == ("done", "searches use the new index")
    assert client.get("/rag/jobs").json()["jobs"][0]["id"] == job["id"]
    unknown = client.post("/rag/admin/reindex", json={"policy": "nosuch"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "invalid")


def test_who_follows_a_job_counts_as_a_request_and_is_told_when_the_job_is_gone(
    notes: Path,
) -> None:
    libraries = folders(notes)
    with served(libraries) as client, ThreadPoolExecutor(1) as thread:
        journal = libraries.libraries["notes"].journal
        # A team's job, which a folder's service does not do.
        job = journal.save_job(Job(new_id(time.time()), "notes", "index", user="ada"))
        following = thread.submit(client.get, f"/rag/jobs/{job.id}/events")
        waited(lambda: "requests_under_way 2.0" in client.get("/metrics").text)
        journal._delete("job", [job.id])
        *before, last = following.result(30).text.strip().split("\n\n")
        for told in before:  # none where it was gone before the first look
            assert json.loads(told.partition("data: ")[2])["state"] == "waiting"
        assert last.startswith("event: problem\n")
        assert json.loads(last.partition("data: ")[2])["code"] == "not_found"
        waited(lambda: "requests_under_way 1.0" in client.get("/metrics").text)


def test_an_answer_carries_the_address_that_opens_it_at_its_words(client: TestClient) -> None:
    told = client.post("/rag/ask", json=END).json()
    assert told["outcome"] == "answer"
    page = client.get(told["claims"][0]["citations"][0]["url"])
    assert "<mark id=quote>The lease ends on 3 May 2027." in page.text
    assert told["claims"][0]["citations"][0]["citation"] in page.text  # its place, not the chunk's
    assert "<script" not in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")


def test_an_artifact_is_made_with_links_to_its_places_and_markdown_that_can_be_checked(
    client: TestClient,
) -> None:
    told = client.post("/rag/artifacts", json={"kind": "build-plan", "about": "the lease"})
    assert told.status_code == 200
    made = told.json()
    (claim,) = (one for part in made["sections"] for one in part["claims"])
    assert (
        "<mark id=quote>The lease ends on 3 May 2027."
        in client.get(claim["citations"][0]["url"]).text
    )
    assert all(bool(part["claims"]) is not bool(part["open"]) for part in made["sections"])
    checked = client.post("/rag/check", json={"receipt": made["markdown"]}).json()
    assert checked["counts"] == {"valid": 1}
    for wrong in ({"kind": "poem", "about": "x"}, {"kind": "pdr", "about": " "}, {"kind": "pdr"}):
        assert client.post("/rag/artifacts", json=wrong).status_code == 422
    unseen = {"kind": "pdr", "about": "the lease", "filters": {"type": "pdf"}}
    parts = client.post("/rag/artifacts", json=unseen).json()["sections"]
    assert not any(part["claims"] for part in parts)


def test_offsets_that_the_text_does_not_have_mark_nothing(client: TestClient) -> None:
    link = client.post("/rag/ask", json=END).json()["claims"][0]["citations"][0]["url"]
    for at in ("999999999-999999999", "0-999999999", "9-2", "0-0", ""):
        page = client.get(re.sub(r"at=[\d-]+", f"at={at}", link))
        assert page.status_code == 200
        assert "<mark" not in page.text, at


def test_claims_are_sent_as_they_are_checked(client: TestClient) -> None:
    told = client.post("/rag/ask", json=END, headers={"Accept": "text/event-stream"}).text
    events = [one.split("\n") for one in told.strip().split("\n\n")]
    *claims, outcome = (json.loads(data.removeprefix("data: ")) for _, data in events)
    assert [event for event, _ in events] == ["event: claim"] * len(claims) + ["event: outcome"]
    assert claims
    assert outcome["claims"] == claims


def test_a_stream_that_cannot_begin_tells_the_problem(client: TestClient) -> None:
    told = client.post(
        "/rag/ask",
        json={**END, "filters": {"no such": "filter"}},
        headers={"Accept": "text/event-stream"},
    ).text
    assert told.startswith("event: problem\n")
    assert json.loads(told.split("data: ")[1])["code"] == "invalid"


def test_a_document_that_came_with_the_folder_is_deleted_only_where_that_is_said(
    client: TestClient, notes: Path
) -> None:
    (one,) = client.get("/rag/documents").json()["documents"]
    refused = client.delete(f"/rag/documents/{one['id']}")
    assert (refused.status_code, refused.json()["code"]) == (403, "denied")
    assert (notes / "lease.md").exists()
    gone = client.delete(f"/rag/documents/{one['id']}?of_folder=true")
    assert gone.json()["status"] == "deleted"
    assert client.get("/rag/documents").json()["documents"] == []
    again = client.post("/rag/index", json={"filename": "a.txt", "content": "Hello"}).json()
    assert again["status"] == "indexed"


def test_documents_are_listed_page_by_page_and_filtered(client: TestClient) -> None:
    for name in "abc":
        client.post("/rag/index", json={"filename": f"{name}.txt", "content": f"Text {name}"})
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = client.get("/rag/documents", params={"after": after, "limit": 1}).json()
        seen += [one["filename"] for one in page["documents"]]
        after = page["after"]
    assert sorted(seen) == ["a.txt", "b.txt", "c.txt", "lease.md"]
    only = client.get("/rag/documents", params={"where": "type = md"}).json()["documents"]
    assert [one["filename"] for one in only] == ["lease.md"]


def test_a_receipt_is_checked_and_a_citation_shown(client: TestClient, notes: Path) -> None:
    cited = client.get("/rag/show", params={"citation": "lease.md:3"}).json()
    assert cited["lines"][2].startswith("The lease ends on 3 May 2027.")
    assert client.get("/rag/show", params={"citation": "none.md:3"}).status_code == 404
    proven = client.post("/rag/ask", json={**END, "receipt": True}).json()["receipt"]
    checked = client.post("/rag/check", json={"receipt": proven}).json()
    assert set(checked["counts"]) == {"valid"}
    for opened in (cited, checked["citations"][0]):  # each can be looked at in a browser
        assert "The lease ends on 3 May 2027." in client.get(opened["url"]).text
    wrong = client.post("/rag/check", json={"receipt": "{}"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_receipt")


def test_every_query_is_logged_and_can_be_judged(client: TestClient) -> None:
    client.post("/rag/search", json={"query": "lease"}, headers={"User-Agent": "robot/1"})
    asked = client.post("/rag/ask", json=END).json()
    logged = client.get("/rag/log").json()["queries"]
    assert [(one["verb"], one["door"], one["outcome"]) for one in logged] == [
        ("ask", "http", "answer"),
        ("search", "http", "results"),
    ]
    assert (logged[1]["question"], logged[1]["agent"]) == ("lease", "robot/1")
    assert logged[0]["id"] == asked["query_id"]
    liked = client.post("/rag/feedback", json={"query_id": asked["query_id"], "good": True})
    assert liked.status_code == 200
    nothing = client.post("/rag/feedback", json={"query_id": "none", "good": True})
    assert nothing.status_code == 404


def test_a_file_that_cannot_be_read_is_refused_and_leaves_nothing(
    client: TestClient, notes: Path
) -> None:
    refused = client.post("/rag/index", files={"file": ("x.pdf", b"%PDF-1.7 no")})
    assert (refused.status_code, refused.json()["code"]) == (422, "unreadable")
    assert not (notes / "uploads").exists()


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a\nb", ".bashrc"])
def test_names_that_no_file_should_have_are_refused(client: TestClient, name: str) -> None:
    refused = client.post("/rag/index", json={"filename": name, "content": "x"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")


def test_a_method_that_the_library_does_not_cut_by_is_refused_with_the_reason(
    client: TestClient,
) -> None:
    refused = client.post("/rag/index", json={**HELLO, "method": "semantic"})
    assert refused.status_code == 422
    assert "semantic" in refused.json()["detail"]
    assert "reindex" in refused.json()["detail"]


def test_a_request_names_no_model(client: TestClient) -> None:
    for settings in ({"rerank": "/tmp/model"}, {"expand": "openai:gpt"}, {"nosuch": 1}):
        refused = client.post("/rag/search", json={"query": "lease", "settings": settings})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    body = {"query": "lease", "settings": {"typos": False}}
    assert client.post("/rag/search", json=body).status_code == 200


def test_a_context_tells_that_the_index_is_away(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with served(folders(empty)) as client:
        told = client.post("/rag/context", json={"query": "lease"})
        assert (told.status_code, told.json()["reason"]) == (200, "error")
        missing = client.post("/rag/search", json={"query": "lease"})
        assert (missing.status_code, missing.json()["code"]) == (409, "no_index")
        assert client.get("/readyz").json()["status"] == "ready"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        '"x"',
        "{",
        '{"query": 1}',
        '{"query": "x", "top_k": 0}',
        '{"query": "x", "top_k": 1.5}',
        '{"query": "x", "top_k": NaN}',
        '{"query": "x", "other": 1}',
        '{"query": "\\ud800"}',
        "[" * 1_000_000,
        '{"query": "x", "filters": ' + '{"a":' * 50_000 + "1" + "}" * 50_001,
    ],
)
def test_wrong_bodies_are_told_as_problems(client: TestClient, body: str) -> None:
    told = client.post("/rag/search", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= told.status_code < 500
    assert told.headers["content-type"] == "application/problem+json"
    assert client.post("/rag/search", json={"query": "x", "library": "no"}).status_code == 404


def test_libraries_are_asked_one_at_a_time_and_the_first_is_meant(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"# {name}\n\nThe pump is in the cellar.\n")
    with served(folders(tmp_path / "first", tmp_path / "second")) as client:
        assert client.get("/rag/libraries").json() == {"libraries": ["first", "second"]}
        query = {"query": "where is the pump"}
        for named, expected in (
            ({}, "first.md"),
            ({"library": "second"}, "second.md"),
            ({"library": str(tmp_path / "second")}, "second.md"),
        ):
            found = client.post("/rag/search", json={**query, **named}).json()["results"]
            assert [one["document"]["path"] for one in found] == [expected]


def test_a_body_that_is_too_large_is_refused_whether_its_length_is_told_or_not(
    notes: Path,
) -> None:
    with served(folders(notes), limits=Limits(body_bytes=10_000)) as client:
        large = json.dumps({"query": "x" * 20_000}).encode()
        told = client.post("/rag/search", content=large)
        streamed = client.post("/rag/search", content=iter([large[:9_000], large[9_000:]]))
        assert [told.status_code, streamed.status_code] == [413, 413]
    parts = [("file", (f"{number}.txt", b"x")) for number in range(20)]
    with served(folders(notes), limits=Limits(parts=5)) as client:
        assert client.post("/rag/index", files=parts).status_code == 400


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/rag/search", 1_000_000),
        ("/rag/feedback", 1_000_000),
        ("/nowhere", 1_000_000),
        ("/rag/check", 10_000_000),
        ("/v1/chat/completions", 10_000_000),
        ("/mcp", 20_000_000),
        ("/rag/index", 20_000_000),
    ],
)
def test_a_body_is_as_large_as_its_route_needs_and_no_larger_than_allowed(
    notes: Path, path: str, most: int
) -> None:
    kind = {"Content-Type": "application/json"}
    with served(folders(notes), limits=Limits(body_bytes=20_000_000)) as client:
        for streamed in (False, True):
            told = []
            for size in (most, most + 1):
                content: bytes | Iterator[bytes] = b" " * size
                if streamed:
                    content = iter([b" " * 1_000, b" " * (size - 1_000)])
                told.append(client.post(path, content=content, headers=kind).status_code)
            assert [one == 413 for one in told] == [False, path != "/nowhere" or not streamed]


def test_whoever_asks_too_often_is_told_when_to_come_again(notes: Path) -> None:
    with served(folders(notes), limits=Limits(rate="3/minute")) as client:
        told = [client.get("/rag/documents") for _ in range(5)]
        assert [one.status_code for one in told] == [200, 200, 200, 429, 429]
        assert int(told[-1].headers["retry-after"]) > 0
        assert client.get("/healthz").status_code == 200


def test_the_description_of_the_service_is_made_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = client.get("/openapi.json")
    assert first.json()["info"]["title"] == "pincite"
    monkeypatch.setattr("pincite.entrypoints.http.app.get_openapi", None)
    again = client.get("/openapi.json")
    assert (again.status_code, again.content) == (200, first.content)


def test_the_description_of_the_service_has_examples_that_work(client: TestClient) -> None:
    told = client.get("/openapi.json").json()
    assert {(method.upper(), path) for path, one in told["paths"].items() for method in one} == {
        (method, path.replace(":path", ""))
        for method, path in RIGHTS
        if path not in ("/openapi.json", "/mcp")
    }
    client.post("/rag/index", json=HELLO)
    known = {"query_id": client.post("/rag/ask", json=END).json()["query_id"]}
    tried = set()
    for path, operations in told["paths"].items():
        body = operations.get("post", {}).get("requestBody", {"content": {}})["content"]
        if "application/json" in body:
            schema = body["application/json"]["schema"]
            name = re.search(r"schemas/(\w+)", str(schema))
            schema = told["components"]["schemas"][name[1]] if name else schema
            examples = {
                field: one["examples"][0]
                for field, one in schema["properties"].items()
                if "examples" in one
            }
            assert examples.keys() >= set(schema.get("required", ())), path
            answer = client.post(path, json=examples | (known if "query_id" in examples else {}))
            assert answer.status_code in (200, 202), (path, answer.text)
            tried.add(path)
            if path == "/rag/check":
                assert answer.json()["counts"] == {"valid": 1}
    assert tried == {
        *(f"/rag/{name}" for name in ("index", "search", "context", "ask", "artifacts", "check")),
        *("/rag/admin/reindex", "/rag/feedback", "/v1/chat/completions"),
    }


def test_answers_are_as_the_description_says(client: TestClient) -> None:
    told = client.get("/openapi.json").json()
    files = [("file", ("a.md", b"# A\n\nThe pump leaks.")), ("file", ("b.pdf", b"%PDF-1.7 no"))]
    large = {"filename": "log.txt", "content": "The boat is moored.\n\n" * 60_000}
    chat = {"model": "pincite", "messages": [{"role": "user", "content": END["question"]}]}
    asked: list[tuple[str, Any]] = [
        *(("/rag/index", {"json": given}) for given in (HELLO, HELLO, large)),
        ("/rag/index", {"files": files}),
        ("/rag/search", {"json": {"query": "lease"}}),
        ("/rag/search", {"json": {"query": "lease", "mode": "words", "per_document": False}}),
        ("/rag/search", {"json": {"query": "lease", "filters": {"type": []}}}),
        *(("/rag/ask", {"json": given}) for given in (END, {"question": "who?"})),
        ("/rag/admin/reindex", {}),
        ("/v1/chat/completions", {"json": chat}),
    ]
    answers = [("post", path, client.post(path, **more)) for path, more in asked]
    one = answers[0][2].json()["id"]
    job = answers[2][2].json()["job"]["id"]
    for path in ("documents", "log", f"documents/{one}", f"jobs/{job}"):
        known = path.replace(one, "{document_id}").replace(job, "{job_id}")
        answers.append(("get", f"/rag/{known}", client.get(f"/rag/{path}")))
    for method, path, answer in answers:
        described = told["paths"][path][method]["responses"][str(answer.status_code)]
        schema = described["content"]["application/json"]["schema"]
        check = Draft202012Validator({**schema, "components": told["components"]})
        check.validate(answer.json())
        assert not check.is_valid({"error": "something else"})
    assert {path for _, path, _ in answers} == {
        path
        for path, operations in told["paths"].items()
        for operation in operations.values()
        for each in operation["responses"].values()
        if any(
            one.get("schema") and kind == "application/json"
            for kind, one in each.get("content", {}).items()
        )
    }


def test_counts_and_times_are_told_to_prometheus(client: TestClient) -> None:
    client.post("/rag/search", json={"query": "a secret question"})
    told = client.get("/metrics").text
    assert 'pincite_requests_total{route="/rag/search",status="200"} 1.0' in told
    assert "secret" not in told


def test_on_an_empty_machine_the_first_request_makes_a_library(tmp_path: Path) -> None:
    import httpx

    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    models = {"PINCITE_MODELS": _models_folder()}
    with process(cwd=tmp_path, environment={**home, **models}) as (_, address):
        told = httpx.post(f"{address}/rag/index", json=HELLO, timeout=60).json()
        assert (told["status"], told["chunks"]) == ("indexed", 1)
        found = httpx.post(f"{address}/rag/search", json={"query": "hello"}, timeout=60).json()
        assert found["results"][0]["document"]["id"] == told["id"]


def _models_folder() -> str:
    from pincite.models.catalog import default_models_folder

    return str(default_models_folder())
