"""The service: the requests that other programs send, and who is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pincite import open_library
from pincite.entrypoints.http.app import create_app

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text(f"# Lease\n\nThe lease ends on 3 May 2027. {SCRIPT}\n")
    return folder


@pytest.fixture
def client(notes: Path) -> Iterator[TestClient]:
    with open_library(notes) as library:
        library.index(model="hashing")
        yield TestClient(create_app({"notes": library}), base_url="http://localhost:8000")


def test_a_text_is_indexed_then_deduplicated_searched_listed_and_deleted(
    client: TestClient, notes: Path
) -> None:
    given = {"filename": "test.txt", "content": "Hello world"}
    first = client.post("/rag/index", json=given).json()
    again = client.post("/rag/index", json=given).json()
    assert (first["status"], first["chunks"]) == ("indexed", 1)
    assert (again["status"], again["id"]) == ("deduplicated", first["id"])
    found = client.post("/rag/search", json={"query": "hello"}).json()["results"][0]
    assert found["document"]["id"] == first["id"]
    assert {"rrf_score", "vector_score", "text_score"} <= found.keys()
    listed = client.get("/rag/documents").json()["documents"]
    assert first["id"] in {one["id"] for one in listed}
    assert client.get(f"/rag/documents/{first['id']}/text").text == "Hello world"
    gone = client.delete(f"/rag/documents/{first['id']}")
    assert gone.json()["status"] == "deleted"
    assert not (notes / "uploads").exists()
    assert client.get(f"/rag/documents/{first['id']}").status_code == 404


def test_an_answer_carries_the_address_that_opens_it_at_its_words(client: TestClient) -> None:
    told = client.post("/rag/ask", json={"question": "when does the lease end?"}).json()
    assert told["outcome"] == "answer"
    page = client.get(told["claims"][0]["citations"][0]["url"])
    assert "<mark>The lease ends on 3 May 2027." in page.text
    assert "<script" not in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")


def test_a_document_that_came_with_the_folder_is_deleted_only_where_that_is_said(
    client: TestClient, notes: Path
) -> None:
    (one,) = client.get("/rag/documents").json()["documents"]
    refused = client.delete(f"/rag/documents/{one['id']}")
    assert (refused.status_code, refused.json()["code"]) == (403, "denied")
    assert (notes / "lease.md").exists()


def test_the_last_document_can_be_deleted(client: TestClient, notes: Path) -> None:
    (one,) = client.get("/rag/documents").json()["documents"]
    gone = client.delete(f"/rag/documents/{one['id']}?of_folder=true")
    assert gone.json()["status"] == "deleted"
    assert client.get("/rag/documents").json()["documents"] == []
    again = client.post("/rag/index", json={"filename": "a.txt", "content": "Hello"}).json()
    assert again["status"] == "indexed"


def test_a_file_that_cannot_be_read_is_refused_and_leaves_nothing(
    client: TestClient, notes: Path
) -> None:
    refused = client.post("/rag/index/file?filename=x.pdf", content=b"%PDF-1.7 no")
    assert (refused.status_code, refused.json()["code"]) == (422, "unreadable")
    assert not (notes / "uploads").exists()


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a\nb", "../../.bashrc"])
def test_names_that_no_file_should_have_are_refused(client: TestClient, name: str) -> None:
    refused = client.post("/rag/index", json={"filename": name, "content": "x"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "localhost.evil.example:8000"},
        {"host": "localhost@evil.example"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
    ],
)
def test_other_hosts_and_other_pages_are_refused_on_every_route(
    client: TestClient, headers: dict[str, str]
) -> None:
    for path in ("/rag/documents", "/healthz", "/metrics", "/openapi.json"):
        assert client.get(path, headers=headers).status_code in (403, 421)
    assert client.get("/healthz", headers={"origin": "http://localhost:8000"}).status_code == 200


def test_a_context_tells_that_the_index_is_away(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        client = TestClient(create_app({"empty": library}), base_url="http://localhost:8000")
        told = client.post("/rag/context", json={"query": "lease"})
        assert (told.status_code, told.json()["reason"]) == (200, "error")
        missing = client.post("/rag/search", json={"query": "lease"})
        assert (missing.status_code, missing.json()["code"]) == (409, "no_index")


def test_wrong_bodies_are_told_as_problems(client: TestClient) -> None:
    for body in ({}, {"query": 1}, {"query": "x", "top_k": 0}, {"query": "x", "other": 1}):
        told = client.post("/rag/search", json=body)
        assert told.status_code == 422
        assert told.headers["content-type"] == "application/problem+json"
    assert client.post("/rag/search", json={"query": "x", "library": "no"}).status_code == 404
