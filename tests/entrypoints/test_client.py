"""A library of a server, asked as if it were here; and servers that are none, busy or gone."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pincite import AskSettings, Library, RemoteLibrary, SearchSettings, connect, open_library
from pincite.errors import (
    CitationNotFound,
    FileUnreadable,
    FilterError,
    IndexMissing,
    JobUnfinished,
    LibraryClosed,
    PinciteError,
    ProjectMissing,
    ReceiptInvalid,
    ServerDenied,
    ServerError,
    ServerUnreachable,
    SettingsError,
    StoreBusy,
)
from pincite.records import Claim, Outcome, SearchResults
from service import folders, key_for, listening

JSON, EVENTS = "application/json", "text/event-stream"
Timed = TypeVar("Timed", SearchResults, Outcome)
Stranger = Callable[[list[bytes]], tuple[str, AbstractContextManager[list[bytes]]]]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "pumps.md").write_text(
        "# Pumps\n\nThe north pump leaks at the seal.\n\nThe south pump was replaced in May 2024.\n"
    )
    (folder / "lease.md").write_text("---\ntags: [home]\n---\n# Lease\n\nThe lease ends in June.\n")
    return folder


@pytest.fixture
def url(notes: Path) -> Iterator[str]:
    with listening(folders(notes)) as address:
        yield address


@pytest.fixture
def remote(url: str) -> Iterator[RemoteLibrary]:
    with connect(url) as library:
        yield library


@pytest.fixture
def local(notes: Path, remote: RemoteLibrary) -> Iterator[Library]:
    with open_library(notes) as library:
        yield library


def without_times(record: Timed) -> Timed:
    """A record without what differs from one call to the next."""
    return replace(record, seconds={})


def test_a_search_gives_what_the_library_itself_gives(
    remote: RemoteLibrary, local: Library
) -> None:
    every: list[dict[str, Any]] = [
        {},
        {"top_k": 1},
        {"mode": "words"},
        {"filters": {"tag": "home", "where": "type = md"}},
        {"filters": {"types": []}},
        {"settings": SearchSettings(top_k_words=7, typos=False)},
    ]
    for asked in every:
        got = remote.search("which pump leaks?", **asked)
        assert without_times(got) == without_times(local.search("which pump leaks?", **asked))
    assert remote.search("leaks").results[0].chunk.shown
    assert remote.search_documents("pump") == local.search_documents("pump")
    assert remote.get_relevant_context("pump", budget=60) == local.get_relevant_context(
        "pump", budget=60
    )


def test_answers_and_their_claims_are_those_of_the_library(
    remote: RemoteLibrary, local: Library
) -> None:
    asking = AskSettings(claims=2)
    claims: list[Claim] = []
    streamed = remote.ask("which pump leaks?", asking=asking, on_claim=claims.append)
    assert streamed.outcome == "answer"
    assert tuple(claims) == streamed.claims
    own = local.ask("which pump leaks?", asking=asking)
    assert without_times(streamed) == without_times(own)
    assert without_times(remote.ask("which pump leaks?", asking=asking)) == without_times(own)
    nothing = remote.ask("who won the cup final?", on_claim=claims.append)
    assert nothing.outcome == "abstention"
    assert without_times(nothing) == without_times(local.ask("who won the cup final?"))
    receipt = local.receipt(own)
    assert remote.check(receipt) == local.check(receipt)


def test_places_and_documents_are_those_of_the_library(
    remote: RemoteLibrary, local: Library, tmp_path: Path
) -> None:
    assert remote.show("lease.md:6", around=1) == local.show("lease.md:6", around=1)
    assert remote.catalog() == local.catalog()
    assert remote.catalog("pumps") == local.catalog("pumps")
    first, second = local.documents()
    page = remote.list_documents(limit=1)
    assert page.documents == (first,)
    assert remote.list_documents(after=page.after or "").documents == (second,)
    assert remote.entry(first.id) == first
    assert remote.get_document(first.id) == local.get_document(first.id)
    assert remote.original(first.id) == ("lease.md", (local.root / "lease.md").read_bytes())
    assert remote.libraries() == ("notes",)
    (tmp_path / "none.txt").write_text("no receipt")
    for wrong in ("no receipt", tmp_path / "none.txt"):
        with pytest.raises(ReceiptInvalid):
            remote.check(wrong)


@pytest.mark.parametrize("name", ['a "quoted" \\ one.md', "größe 漢字.md", "a;b=c.md"])
def test_a_file_is_handed_in_found_given_back_and_deleted(remote: RemoteLibrary, name: str) -> None:
    data = "# Valves\n\nValves stick when it is cold: \x80 ÿ.\n".encode("latin-1", "replace")
    labels = {"project": "plant", "tags": ["cold"]}
    taken = remote.index_document(name, data, labels=labels)
    assert taken.status == "indexed"
    assert taken.document.metadata.project == "plant"
    assert taken.document.name == name.rpartition("\\")[2].strip()
    assert remote.index_document(name, data).status == "deduplicated"
    assert remote.search("valves", filters={"tags": ["cold"]}).results[0].document == taken.document
    assert (remote.original(taken.document.id) or ("", b""))[1] == data
    assert remote.delete_document(taken.document.id) == "deleted"
    assert remote.delete_document(taken.document.id) == "not_found"
    assert remote.entry(taken.document.id) is None
    assert remote.get_document(taken.document.id) is None
    assert remote.original(taken.document.id) is None


def test_a_large_file_is_waited_for(remote: RemoteLibrary) -> None:
    unread = f"<!-- {'x' * 1_100_000} -->"  # a page that is large, and has little to index
    page = f"<html><body>{unread}<p>The valve sticks when it is cold.</p></body></html>"
    taken = remote.index_document("valve.html", page.encode())
    assert (taken.status, taken.document.size) == ("indexed", len(page))
    assert remote.search("valve sticks").results[0].document == taken.document


def test_a_large_file_is_waited_for_as_long_as_the_caller_wants(
    remote: RemoteLibrary, local: Library
) -> None:
    with (
        local._home.held(1),
        pytest.raises(JobUnfinished, match=r"log\.txt: job \w+ is .* goes on with it") as told,
    ):
        remote.index_document("log.txt", b"The valve sticks.\n" * 60_000, wait=1)
    assert remote.job(told.value.job_id).state == "waiting"


def test_errors_are_those_of_the_library(remote: RemoteLibrary, notes: Path) -> None:
    with pytest.raises(CitationNotFound, match=r"lease\.md"):
        remote.show("lease.md:99")
    with pytest.raises(FilterError, match="colour"):
        remote.search("pump", filters={"where": "colour = red"})
    with pytest.raises(FileUnreadable):
        remote.index_document("a.pdf", b"%PDF-1.4 nothing")
    with pytest.raises(SettingsError, match="choose models"):
        remote.search("pump", settings=SearchSettings(rerank="/some/model"))
    with pytest.raises(SettingsError, match="moments"):
        remote.moment(None)
    with (
        connect(remote._server.name, library="plans") as other,
        pytest.raises(ProjectMissing),
    ):
        other.search("pump")
    remote.close()
    with pytest.raises(LibraryClosed):
        remote.search("pump")


def test_a_library_without_an_index_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with (
        listening(folders(tmp_path / "empty")) as url,
        connect(url) as remote,
        pytest.raises(IndexMissing, match="hand something in"),
    ):
        remote.search("pump")


def test_a_library_is_chosen_by_name_or_by_its_folder(notes: Path, tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    plans.mkdir()
    (plans / "plan.md").write_text("# Plan\n\nThe bridge opens in autumn.\n")
    with listening(folders(notes, plans)) as url:
        for name in ("plans", str(plans)):
            with connect(url, library=name) as remote:
                assert remote.search("bridge").results[0].document.path == "plan.md"


def test_many_threads_share_a_few_connections(
    remote: RemoteLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect_, made = HTTPConnection.connect, []

    def noted(connection: HTTPConnection) -> None:
        made.append(connection)
        connect_(connection)

    monkeypatch.setattr(HTTPConnection, "connect", noted)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: remote.search("which pump leaks?"), range(80)))
    assert all(one.results == found[0].results for one in found)
    assert 1 <= len(made) <= 16  # one that is idle for seconds is closed by the server


def test_a_key_opens_what_is_closed_without_it(notes: Path) -> None:
    libraries = folders(notes)
    secret = key_for(libraries)["Authorization"].removeprefix("Bearer ")
    with listening(libraries) as url:
        for key in (None, f"{secret}x"):
            with connect(url, key=key) as remote, pytest.raises(ServerDenied, match="key"):
                remote.search("pump")
        with connect(url, key=secret) as remote:
            assert remote.search("pump").results
            assert secret not in repr(vars(remote)) + str(remote)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("localhost:8000", None),
        ("ftp://localhost", None),
        ("http://", None),
        ("http://localhost:99999", None),
        ("http://localhost:port", None),
        ("http://user:secret@localhost", None),
        ("http://localhost/?key=secret", None),
        ("http://local host/", None),
        ("http://localhost\r\nX: y", None),
        ("unix:relative.sock", None),
        ("http://localhost", ""),
        ("http://localhost", "two words"),
        ("http://localhost", "a\r\nX-Evil: 1"),
    ],
)
def test_an_address_or_key_that_cannot_be_one_is_refused(address: str, key: str | None) -> None:
    with pytest.raises(SettingsError) as told:
        connect(address, key=key)
    assert "secret" not in str(told.value)


def test_a_socket_of_this_machine_is_an_address_too() -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        path = Path("/tmp") / f"pincite-test-{id(listener)}.sock"
        listener.bind(str(path))
        listener.listen()
        try:
            good = whole(b'{"libraries": ["here"]}')
            with answering(listener, [good]), connect(f"unix:{path}") as remote:
                assert remote.libraries() == ("here",)
        finally:
            path.unlink()
    with connect(f"unix:{path}") as remote, pytest.raises(ServerUnreachable):
        remote.libraries()


def whole(content: bytes, status: str = "200 OK", kind: str = JSON, more: str = "") -> bytes:
    """An answer as a server sends it."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n{more}"
    return f"{head}\r\n".encode() + content


@contextmanager
def answering(listener: socket.socket, answers: list[bytes]) -> Iterator[list[bytes]]:
    """Give one answer to each connection, then end it; and the requests that came."""
    asked: list[bytes] = []

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(10)
                asked.append(connection.recv(65_536))
                connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield asked
    thread.join(10)


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    """A server that says what a test wants."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        yield lambda answers: (address, answering(listener, answers))


def problem(status: int, **told: object) -> bytes:
    retry = "Retry-After: 0\r\n" if status in (429, 503) else ""
    body = json.dumps({"status": status, "code": "x", "detail": "told so", **told}).encode()
    return whole(body, f"{status} Told", "application/problem+json", retry)


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [
        (whole(b"<html>", kind="text/html"), ServerError, "no pincite server"),
        (whole(b"", "302 Found", more="Location: http://evil.example/\r\n"), ServerError, "else"),
        (whole(b"<html>", "502 Bad Gateway", "text/html"), ServerError, "502"),
        (whole(b'{"libraries": 3}'), ServerError, "same version"),
        (whole(b'{"libraries": ["her')[:-3], ServerUnreachable, "broke off"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", ServerUnreachable, "broke off"),
        (b"", ServerUnreachable, "reached|broke off"),
        (problem(500), ServerError, "told so"),
        (problem(422), SettingsError, "told so"),
        (problem(403), ServerDenied, "told so"),
        (problem(404), ProjectMissing, "told so"),
        (problem(400, kind="NoSuchError"), ServerError, "told so"),
        (problem(409, kind="ModelMismatch"), PinciteError, "^told so$"),
        (problem(403, kind="ConsentNeeded"), PinciteError, "^told so$"),
    ],
)
def test_what_is_no_answer_of_a_server_is_told(
    stranger: Stranger, answer: bytes, error: type[PinciteError], told: str
) -> None:
    address, answers = stranger([answer])
    with answers, connect(address) as remote, pytest.raises(error, match=told):
        remote.libraries()


def test_a_server_that_is_away_or_silent_is_told(stranger: Stranger) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            connect(address, timeout=0.2) as remote,
            pytest.raises(ServerUnreachable, match="silent"),
        ):
            remote.search("pump")
    with connect(address) as remote, pytest.raises(ServerUnreachable, match="refused"):
        remote.search("pump")


def test_a_busy_server_is_asked_again_but_changes_are_sent_once(stranger: Stranger) -> None:
    good = whole(b'{"libraries": ["here"]}')
    address, answers = stranger([problem(503), problem(429), good])
    with answers, connect(address) as remote:
        assert remote.libraries() == ("here",)
    events = b'event: problem\ndata: {"detail": "streamed", "kind": "IndexMissing"}\n\n'
    address, answers = stranger([problem(503), problem(429), whole(events, kind=EVENTS)])
    with answers, connect(address) as remote, pytest.raises(IndexMissing, match="streamed"):
        remote.ask("which pump?", on_claim=lambda claim: None)
    address, answers = stranger([problem(503)] * 3)
    with answers, connect(address) as remote, pytest.raises(StoreBusy, match="told so"):
        remote.libraries()
    address, answers = stranger([problem(503)])
    with answers as asked, connect(address) as remote:
        with pytest.raises(StoreBusy):
            remote.index_document("a.md", b"# A")
        assert len(asked) == 1


def test_a_connection_that_was_idle_too_long_is_made_anew(stranger: Stranger) -> None:
    good = whole(b'{"libraries": ["here"]}')  # and then the server hangs up
    address, answers = stranger([good, good])
    with answers as asked, connect(address) as remote:
        assert remote.libraries() == remote.libraries() == ("here",)
    assert len(asked) == 2


def test_an_answer_that_breaks_off_is_told(stranger: Stranger) -> None:
    events = b'event: claim\ndata: {"claim": '
    address, answers = stranger([whole(events, kind=EVENTS)])
    with answers, connect(address) as remote, pytest.raises(ServerError, match="broke off"):
        remote.ask("which pump?", on_claim=lambda claim: None)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_a_certificate_that_nobody_vouches_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost", "-days", "2"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    good = whole(b'{"libraries": ["here"]}')
    with socket.create_server(("127.0.0.1", 0)) as plain:
        address = f"https://localhost:{plain.getsockname()[1]}"
        listener = context.wrap_socket(plain, server_side=True, do_handshake_on_connect=True)

        def serve() -> None:
            for _ in range(2):
                try:
                    connection, _ = listener.accept()
                except ssl.SSLError:
                    continue
                with connection:
                    connection.recv(65_536)
                    connection.sendall(good)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with connect(address) as remote, pytest.raises(ServerUnreachable, match="certificate"):
            remote.libraries()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with connect(address) as remote:
            assert remote.libraries() == ("here",)
        thread.join(10)
        listener.close()
