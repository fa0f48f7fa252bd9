"""Who may use the service: names, pages and keys; and what each caller never sees."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from pincite import open_library
from pincite.engine.serving import FolderLibraries, TeamLibraries
from pincite.engine.teams import opened_team, team_journal
from pincite.entrypoints.cli.keys import keys
from pincite.entrypoints.http.guard import Limits
from pincite.entrypoints.http.service import RIGHTS
from pincite.records.journal import Key
from service import folders, key_for, process, served, team

CANARY = "pincite-canary-7f3a91"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text("# Lease\n\nThe lease ends on 3 May 2027.\n")
    return folder


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "localhost.evil.example:8000"},
        {"host": "localhost@evil.example"},
        {"host": "evil.example#localhost"},
        {"host": "localhost/evil"},
        {"host": "localhost:80:80"},
        {"host": "localhost:port"},
        {"host": "localhost."},
        {"host": ""},
        {"host": "169.254.169.254"},
        {"host": "127.0.0.2"},
        {"host": "[::2]:8000"},
        {"host": "[::1"},
        {"host": "0.0.0.0:8000"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"origin": "http://localhost:8000.evil.example"},
        {"origin": "file://"},
        {"origin": ""},
    ],
)
def test_other_names_and_other_pages_are_refused_on_every_route(
    notes: Path, headers: dict[str, str]
) -> None:
    with served(folders(notes)) as client:
        for method, path in (*RIGHTS, ("GET", "/nowhere")):
            told = client.request(method, path, headers=headers)
            assert told.status_code in (403, 421)
            assert told.json()["code"] in ("wrong_host", "wrong_origin")


def test_the_services_own_names_and_pages_are_let_in(notes: Path) -> None:
    limits = Limits(hosts=("localhost", "docs.example"), origins=("https://app.example",))
    with served(folders(notes), limits=limits) as client:
        for headers in (
            {"host": "localhost:8000", "origin": "http://localhost:8000"},
            {"host": "LOCALHOST"},
            {"host": "docs.example", "origin": "https://docs.example"},
            {"origin": "https://app.example"},
        ):
            assert client.get("/rag/documents", headers=headers).status_code == 200
        asked = {"origin": "https://app.example", "access-control-request-method": "POST"}
        named = {
            "/rag/search": "content-type",
            "/mcp": "mcp-protocol-version, mcp-session-id, last-event-id, authorization",
            "/v1/chat/completions": "x-stainless-lang, x-stainless-retry-count, content-type",
        }
        for path, names in named.items():
            asking = {**asked, "access-control-request-headers": names}
            allowed = client.options(path, headers=asking)
            assert allowed.status_code == 200, path
            assert allowed.headers["access-control-allow-origin"] == "https://app.example"
            assert client.options(
                path, headers={**asking, "origin": "https://evil.example"}
            ).is_error
        told = client.get("/rag/documents", headers={"origin": "https://app.example"})
        assert told.headers["access-control-expose-headers"] == "Mcp-Session-Id"


def test_two_hosts_in_one_request_are_refused(notes: Path) -> None:
    with served(folders(notes)) as client:
        both = [("host", "localhost:8000"), ("host", "evil.example")]
        assert client.get("/healthz", headers=both).status_code == 421


def test_without_keys_no_other_address_is_listened_at(notes: Path) -> None:
    import subprocess
    import sys

    told = subprocess.run(
        [sys.executable, "-P", "-m", "pincite", "serve", str(notes), "--host", "0.0.0.0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 2
    assert "has no keys" in told.stderr


def test_once_there_is_a_key_every_caller_needs_one(notes: Path) -> None:
    libraries = folders(notes)
    with served(libraries) as client:
        assert client.get("/rag/documents").status_code == 200
        key = key_for(libraries)
        refused = client.get("/rag/documents")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert client.get("/rag/documents", headers=key).status_code == 200
        for path in ("/healthz", "/readyz", "/openapi.json"):
            assert client.get(path).status_code == 200
        assert "libraries" not in client.get("/readyz").json()


def test_keys_that_do_not_count_open_nothing(notes: Path) -> None:
    libraries = folders(notes)
    with served(libraries) as client:
        good = key_for(libraries)["Authorization"]
        secret = good.removeprefix("Bearer ")
        revoked = key_for(libraries, "gone")
        client_key = key_for(libraries, "late", expires_at=time.time() - 1)
        assert client.get("/rag/documents", headers=revoked).status_code == 200
        next(iter(libraries.journals())).revoke("gone")
        wrong: list[list[tuple[str, str]]] = [
            [],
            [*revoked.items()],
            [*client_key.items()],
            [("Authorization", "")],
            [("Authorization", "Bearer")],
            [("Authorization", "Bearer ")],
            [("Authorization", f"Basic {secret}")],
            [("Authorization", f"Digest {secret}")],
            [("Authorization", secret)],
            [("Authorization", good[:-1])],
            [("Authorization", good + "x")],
            [("Authorization", good.upper())],
            [("Authorization", f"Bearer {secret.rpartition('_')[2]}")],
            [("Authorization", "Bearer pincite__")],
            [("Authorization", "Bearer " + "x" * 8_000)],
            [("Authorization", "Bearer pincite_%_x")],
            [("Authorization", good), ("Authorization", "Bearer other")],
            [("Authorization", "Bearer other"), ("Authorization", good)],
            [("X-API-Key", secret)],
            [("Cookie", f"key={secret}")],
            [("Proxy-Authorization", good)],
        ]
        for headers in wrong:
            for method, path in RIGHTS:
                if RIGHTS[method, path] != "open":
                    told = client.request(method, path, headers=headers)
                    assert told.status_code == 401, (headers, path)
        assert client.get("/rag/documents", params={"key": secret}).status_code == 401
        assert client.get("/rag/documents", headers={"Authorization": good}).status_code == 200


def test_a_key_that_may_read_changes_nothing(notes: Path) -> None:
    libraries = folders(notes)
    with served(libraries) as client:
        reader = key_for(libraries, may_write=False)
        for (method, path), right in RIGHTS.items():
            if right == "write":
                told = client.request(method, path, headers=reader)
                assert (told.status_code, told.json()["code"]) == (403, "read_only_key")
        assert client.get("/rag/documents", headers=reader).status_code == 200


def test_a_key_opens_the_library_that_it_was_made_for(tmp_path: Path) -> None:
    for name in ("mine", "yours"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# A\n\nThis is {name}.\n")
    libraries = folders(tmp_path / "mine", tmp_path / "yours")
    with served(libraries) as client:
        mine = key_for(libraries)  # in the journal of the first
        assert client.get("/rag/libraries", headers=mine).json() == {"libraries": ["mine"]}
        for named in ("yours", str(tmp_path / "yours"), "../yours", "none"):
            told = client.get("/rag/documents", params={"library": named}, headers=mine)
            assert (told.status_code, told.json()["code"]) == (404, "not_found")
        assert client.get("/rag/libraries").json() == {"libraries": ["yours"]}
        headers: tuple[dict[str, str], ...] = ({}, {"Authorization": "Bearer any-word"})
        for header in headers:
            unnamed = client.get("/rag/documents", headers=header)
            assert (unnamed.status_code, unnamed.json()["code"]) == (401, "unauthorized")
            asked = client.get("/rag/documents", params={"library": "yours"}, headers=header)
            assert asked.status_code == 200
        assert "libraries" not in client.get("/readyz").json()


def test_a_link_to_a_citation_opens_that_place_alone_until_its_key_ends(notes: Path) -> None:
    libraries = folders(notes)
    with served(libraries) as client:
        key = key_for(libraries, "ada")
        told = client.post("/rag/ask", json={"question": "when does the lease end?"}, headers=key)
        link = told.json()["claims"][0]["citations"][0]["url"]
        assert "<mark id=quote>The lease ends" in client.get(link).text
        for altered in (
            link.replace("signature=", "signature=0"),
            link.replace("until=1", "until=2"),
            link.replace("library=notes", "library=other"),
            link.replace("/view/", "/view/0"),
            link.partition("&key=")[0],
        ):
            assert client.get(altered).status_code == 401
        assert client.get(f"/rag/documents?{link.partition('?')[2]}").status_code == 401
        next(iter(libraries.journals())).revoke("ada")
        assert client.get(link).status_code == 401


def test_a_link_of_odd_characters_opens_nothing_and_breaks_nothing(notes: Path) -> None:
    libraries = folders(notes)
    with served(libraries) as client:
        key = key_for(libraries, "ada")
        told = client.post("/rag/ask", json={"question": "when does the lease end?"}, headers=key)
        link = told.json()["claims"][0]["citations"][0]["url"]
        for name, odd in (
            *(("signature", one) for one in ("", "é", "%C3%A9", "%FF", "%00", "x" * 5_000)),
            *(("until", one) for one in ("", "9" * 5_000, "%D9%A3" * 10, "-1", "1e9", "1_000")),
            *(("key", one) for one in ("", "é", "%00", "' OR 1=1 --")),
        ):
            altered = re.sub(rf"{name}=\w+", lambda _: f"{name}={odd}", link)  # noqa: B023 — used at once
            assert altered != link
            assert client.get(altered).status_code == 401, (name, odd)


@dataclass
class Team:
    client: TestClient
    ada: dict[str, str]
    bob: dict[str, str]
    libraries: TeamLibraries


@pytest.fixture
def users(database: str) -> Iterator[Team]:
    libraries = team(database)
    with served(libraries) as client:
        ada, bob = (key_for(libraries, user, "plans") for user in ("ada", "bob"))
        yield Team(client, ada, bob, libraries)


def test_two_users_of_one_database_never_see_each_others_documents(users: Team) -> None:
    client = users.client
    hello = {"filename": "test.txt", "content": f"Hello world {CANARY}"}
    first = client.post("/rag/index", json=hello, headers=users.ada).json()
    assert first["status"] == "indexed"
    again = client.post("/rag/index", json=hello, headers=users.ada).json()
    assert (again["status"], again["id"]) == ("deduplicated", first["id"])
    found = client.post("/rag/search", json={"query": "hello"}, headers=users.ada).json()
    (result,) = found["results"]
    assert CANARY in result["chunk"]["text"]
    asked = client.post("/rag/ask", json={"question": f"{CANARY}?"}, headers=users.ada).json()
    job = client.post("/rag/admin/reindex", headers=users.ada).json()["job"]
    own = client.post("/rag/index", json={**hello, "content": "Other"}, headers=users.bob).json()
    at = f"/rag/documents/{first['id']}"
    foreign = [
        client.get(path, headers=users.bob)
        for path in (at, f"{at}/text", f"{at}/file", f"/rag/jobs/{job['id']}")
    ] + [
        client.delete(at, headers=users.bob),
        client.get("/rag/documents?library=ada/plans", headers=users.bob),
        client.get(f"/view/{result['chunk']['id']}", headers=users.bob),
        client.get(f"/rag/show?citation={result['chunk']['id']}", headers=users.bob),
        client.post(
            "/rag/feedback",
            json={"query_id": asked["query_id"], "good": True},
            headers=users.bob,
        ),
    ]
    assert {(one.status_code, one.json()["code"]) for one in foreign} == {(404, "not_found")}
    unknown = client.get("/rag/documents/none", headers=users.bob)
    assert unknown.json() == foreign[0].json()
    for path in ("/rag/documents", "/rag/catalog", "/rag/log", "/rag/jobs"):
        listed = client.get(path, headers=users.bob)
        assert (listed.status_code, CANARY in listed.text, first["id"] in listed.text) == (
            200,
            False,
            False,
        )
    seen = client.post("/rag/search", json={"query": f"hello {CANARY}"}, headers=users.bob)
    assert CANARY not in str(seen.json()["results"])
    assert client.delete(at, headers=users.ada).json()["status"] == "deleted"
    assert client.get(f"/rag/documents/{own['id']}", headers=users.bob).status_code == 200


def test_a_key_shows_nothing_of_what_its_user_asks_elsewhere(users: Team) -> None:
    other = key_for(users.libraries, "ada", "secret", name="other")
    hello = {"filename": "test.txt", "content": "Hello world"}
    for headers in (users.ada, other):
        users.client.post("/rag/index", json=hello, headers=headers)
    asked = users.client.post("/rag/search", json={"query": f"hello {CANARY}"}, headers=other)
    seen = users.client.get("/rag/log", headers=users.ada)
    assert CANARY not in seen.text
    assert CANARY in users.client.get("/rag/log", headers=other).text
    liked = {"query_id": asked.json()["query_id"], "good": True}
    assert users.client.post("/rag/feedback", json=liked, headers=users.ada).status_code == 404


def test_a_key_may_show_less_than_its_user_sees(users: Team) -> None:
    for level in ("public", "restricted"):
        text = {"filename": f"{level}.txt", "content": f"The {level} pump plan"}
        body = {**text, "metadata": {"confidentiality": level}}
        users.client.post("/rag/index", json=body, headers=users.ada)
    low = key_for(users.libraries, "ada", "plans", name="low", clearance="internal")
    for headers, expected in (
        (users.ada, {"public.txt", "restricted.txt"}),
        (low, {"public.txt"}),
    ):
        listed = users.client.get("/rag/documents", headers=headers).json()["documents"]
        assert {one["filename"] for one in listed} == expected
        found = users.client.post("/rag/search", json={"query": "pump plan"}, headers=headers)
        assert {one["document"]["name"] for one in found.json()["results"]} == expected


def test_a_key_of_a_folder_that_should_show_less_shows_nothing(notes: Path) -> None:
    libraries = folders(notes)
    with served(libraries) as client:
        told = client.get("/rag/documents", headers=key_for(libraries, clearance="public"))
        assert (told.status_code, told.json()["code"]) == (403, "denied")
        assert "nothing above 'public'" in told.json()["detail"]


@pytest.fixture
def indexed_in(notes: Path, database: str) -> str:
    """A database in which the folder is indexed, with keys of Ada's project and of Bob."""
    with open_library(notes, store=database, user="ada", project="plans") as library:
        library.index(model="hashing")
    return database


def test_a_key_made_in_a_folder_that_is_indexed_in_a_database_opens_its_project(
    notes: Path, indexed_in: str
) -> None:
    made = CliRunner().invoke(keys, ["add", "own", "--library", str(notes)])
    own = {"Authorization": f"Bearer {made.stdout.strip()}"}
    with served(team(indexed_in)) as client:
        assert client.get("/rag/libraries", headers=own).json() == {"libraries": ["plans"]}
        for named in ({}, {"library": "plans"}, {"library": "ada/plans"}):
            told = client.get("/rag/documents", params=named, headers=own).json()
            assert [one["filename"] for one in told["documents"]] == ["lease.md"]


def test_of_the_keys_of_a_database_those_of_its_own_project_open_a_folder(
    notes: Path, indexed_in: str
) -> None:
    libraries = FolderLibraries({"notes": open_library(notes, store=indexed_in)})
    with closing(opened_team(indexed_in)) as opened:
        journal = team_journal(opened)
        expected = {
            Key("", "all", "ada"): 200,
            Key("", "short", "ada", ("plans",)): 200,
            Key("", "full", "ada", ("ada/plans",)): 200,
            Key("", "other", "ada", ("diary",)): 401,
            Key("", "bob", "bob"): 401,
            Key("", "low", "ada", clearance="public"): 403,
        }
        secrets = {journal.add_key(key)[1]: status for key, status in expected.items()}
    with served(libraries) as client:
        for secret, status in secrets.items():
            headers = {"Authorization": f"Bearer {secret}"}
            assert client.get("/rag/documents", headers=headers).status_code == status


def test_keys_that_came_with_a_folder_let_nobody_in(notes: Path, tmp_path: Path) -> None:
    import shutil
    import subprocess
    import sys

    libraries = folders(notes)
    key_for(libraries)
    libraries.close()
    received = tmp_path / "received"
    shutil.copytree(notes, received)
    told = subprocess.run(
        [sys.executable, "-P", "-m", "pincite", "serve", str(received), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 13


def test_without_a_key_a_team_is_closed_on_loopback_too(users: Team) -> None:
    for (method, path), right in RIGHTS.items():
        told = users.client.request(method, path)
        assert told.status_code == (401 if right != "open" else 200)


def test_no_secret_is_told_anywhere(notes: Path) -> None:
    import httpx

    libraries = folders(notes)
    secret = key_for(libraries)["Authorization"].removeprefix("Bearer ")
    libraries.close()
    headers = {"Authorization": f"Bearer {secret}"}
    environment = {"OPENAI_API_KEY": CANARY, "PINCITE_LLM_KEY": CANARY}
    with process(str(notes), "--no-watch", environment=environment) as (server, address):
        seen = []
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            for method, path in RIGHTS:
                for body in ({"query": "lease"}, {"question": "lease?"}, {"filename": "a.txt"}):
                    told = client.request(method, path, json=body if method == "POST" else None)
                    seen.append(told.text + str(told.headers))
            wrong = httpx.get(f"{address}/rag/documents", headers={"Authorization": secret})
            seen.append(wrong.text)
        server.terminate()
        _, errors = server.communicate(timeout=60)
    assert errors.count('"route"') > len(RIGHTS)
    for text in (*seen, errors):
        assert secret not in text
        assert CANARY not in text
    kept = b"".join(file.read_bytes() for file in (notes / ".index").glob("journal*"))
    assert b'"hash"' in kept
    assert secret.encode() not in kept
