from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import ModelInvalid, ModelUnavailable, PinciteError, SettingsError
from pincite.models.remote import RemoteEmbedder
from pincite.models.service import Patience

KEY = "sk-canary-4711"
DIMENSIONS = 3


@dataclass
class Reply:
    body: object
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


Script = Callable[[list[str]], Reply]


class Service(ThreadingHTTPServer):
    """A real service on the loopback that plays one script after another, the last for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripts: list[Script] = [healthy]
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def plays(self, *scripts: Script | Reply) -> None:
        self.scripts = [_constant(each) if isinstance(each, Reply) else each for each in scripts]


class _Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = {"path": self.path, "authorization": self.headers["Authorization"]}
        self.server.requests.append(request | seen)
        scripts = self.server.scripts
        script = scripts.pop(0) if len(scripts) > 1 else scripts[0]
        reply = script(request["input"])
        if reply.delay:
            self.server.released.wait(reply.delay)
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        try:
            self.send_response(reply.status)
            for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def _constant(reply: Reply) -> Script:
    return lambda _: reply


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, 2.0]


def items(texts: list[str]) -> list[dict[str, Any]]:
    return [
        {"object": "embedding", "index": index, "embedding": vector_of(text)}
        for index, text in enumerate(texts)
    ]


def answer(data: object) -> Reply:
    return Reply({"object": "list", "model": "m", "data": data, "usage": {}})


def healthy(texts: list[str]) -> Reply:
    return answer(items(texts))


def reordered(texts: list[str]) -> Reply:
    return answer(items(texts)[::-1])


def with_embedding(embedding: object) -> Script:
    return lambda texts: answer([item | {"embedding": embedding} for item in items(texts)])


def ragged(texts: list[str]) -> Reply:
    first, *others = items(texts)
    return answer([first | {"embedding": [1.0]}, *others])


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


def embedder(service: Service, **settings: object) -> RemoteEmbedder:
    quick = Patience(request_seconds=5, retries=1, total_seconds=10)
    chosen: dict[str, Any] = {"dimensions": DIMENSIONS, "patience": quick} | settings
    return RemoteEmbedder(model="m", base_url=service.url, api_key=KEY, **chosen)


def test_vectors_come_back_normalised_in_the_order_of_the_texts(service: Service) -> None:
    service.plays(reordered)
    texts = ["a", "bbbb", "cc"]
    vectors = embedder(service).embed_passages(texts)
    for text, vector in zip(texts, vectors, strict=True):
        expected = np.array(vector_of(text))
        assert vector == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def test_the_request_says_what_is_wanted(service: Service) -> None:
    embedder(service, question_prefix="query: ").embed_question("why?\ud800")
    (request,) = service.requests
    assert request["path"] == "/v1/embeddings"
    assert request["input"] == ["query: why?\ufffd"]
    assert request["encoding_format"] == "float"
    assert request["dimensions"] == DIMENSIONS
    assert request["authorization"] == f"Bearer {KEY}"


def test_many_texts_travel_in_batches(service: Service) -> None:
    texts = [f"text {number}" for number in range(130)]
    vectors = embedder(service, passage_prefix="p: ").embed_passages(texts)
    assert len(vectors) == 130
    assert [len(request["input"]) for request in service.requests] == [64, 64, 2]
    assert embedder(service).embed_passages([]) == []


def test_unknown_dimensions_are_learned_with_one_probe(service: Service) -> None:
    learned = embedder(service, dimensions=None)
    assert learned.card.dimensions == DIMENSIONS
    assert learned.card.name == "openai:m"
    learned.embed_question("once more")
    assert len(service.requests) == 2
    assert "dimensions" not in service.requests[0]


def test_the_fingerprint_tells_model_dimension_and_prefixes_apart(service: Service) -> None:
    plain = embedder(service).card.fingerprint
    assert plain == "openai:m:3"
    prefixed = embedder(service, passage_prefix="passage: ").card.fingerprint
    assert prefixed not in (plain, embedder(service, question_prefix="passage: ").card.fingerprint)


WRONG_CONTENT: dict[str, Script] = {
    "fewer vectors": lambda texts: answer(items(texts)[1:]),
    "more vectors": lambda texts: answer(items([*texts, "extra"])),
    "no vectors": lambda texts: answer([]),
    "duplicate index": lambda texts: answer([item | {"index": 0} for item in items(texts)]),
    "index out of range": lambda texts: answer(
        [item | {"index": item["index"] + 1} for item in items(texts)]
    ),
    "missing index": lambda texts: answer(
        [{"embedding": item["embedding"]} for item in items(texts)]
    ),
    "index as text": lambda texts: answer(
        [item | {"index": str(item["index"])} for item in items(texts)]
    ),
    "index as truth value": lambda texts: answer(
        [item | {"index": bool(item["index"])} for item in items(texts)]
    ),
    "null data": lambda texts: answer(None),
    "null items": lambda texts: answer([None for _ in texts]),
    "list instead of object": lambda texts: Reply([1, 2]),
    "null body": lambda texts: Reply(None),
    "empty body": lambda texts: Reply(b""),
    "truncated JSON": lambda texts: Reply(b'{"data": [{"index": 0, "embedding": [0.1'),
    "HTML": lambda texts: Reply(b"<html>Sign in</html>", headers={"Content-Type": "text/html"}),
    "deep nesting": lambda texts: Reply(b"[" * 100_000),
    "wrong dimension": with_embedding([1.0, 2.0]),
    "ragged dimensions": ragged,
    "empty vector": with_embedding([]),
    "NaN": with_embedding([float("nan"), 1.0, 1.0]),
    "infinite": with_embedding([float("inf"), 1.0, 1.0]),
    "beyond float": with_embedding([10**400, 1, 1]),
    "zeros": with_embedding([0.0, 0.0, 0.0]),
    "strings": with_embedding(["1", "2", "3"]),
    "nulls": with_embedding([None, 1.0, 1.0]),
    "base64": with_embedding("AACAPwAAAEAAAEBA"),
    "null vector": with_embedding(None),
    "nested vector": with_embedding([[1.0, 2.0, 3.0]]),
}


@pytest.mark.parametrize("script", WRONG_CONTENT.values(), ids=WRONG_CONTENT.keys())
def test_wrong_content_is_refused_whole(service: Service, script: Script) -> None:
    service.plays(script)
    with pytest.raises(ModelInvalid):
        embedder(service).embed_passages(["one", "two"])


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (400, "check the settings"),
        (401, "check the API key"),
        (403, "may not use this model"),
        (404, "check the model's name and the base URL"),
        (413, "lower token limit"),
    ],
)
def test_a_refusal_is_not_repeated_and_comes_with_a_hint(
    service: Service, status: int, hint: str
) -> None:
    service.plays(Reply({"error": {"message": "no"}}, status))
    with pytest.raises(ModelUnavailable, match=hint):
        embedder(service).embed_question("why?")
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_trouble_is_waited_out(service: Service, status: int) -> None:
    service.plays(Reply({}, status, {"Retry-After": "0.05"}), healthy)
    assert len(embedder(service).embed_passages(["one"])) == 1
    assert len(service.requests) == 2


def test_retry_after_is_honoured(service: Service) -> None:
    service.plays(Reply({}, 429, {"Retry-After": "1"}), healthy)
    began = time.monotonic()
    embedder(service).embed_question("why?")
    assert time.monotonic() - began >= 1  # the client's own first pause is half a second


@pytest.mark.parametrize("status", [429, 500])
def test_a_lasting_trouble_ends_after_the_retries(service: Service, status: int) -> None:
    service.plays(Reply({}, status, {"Retry-After": "0.01"}))
    patience = Patience(request_seconds=5, retries=2, total_seconds=10)
    with pytest.raises(ModelUnavailable, match=str(status)):
        embedder(service, patience=patience).embed_question("why?")
    assert len(service.requests) == 3


def test_a_silent_service_is_given_up(service: Service) -> None:
    service.plays(lambda _: Reply({}, delay=30))
    patience = Patience(request_seconds=0.2, retries=0, total_seconds=10)
    with pytest.raises(ModelUnavailable, match=r"did not answer in 0\.2 s"):
        embedder(service, patience=patience).embed_question("why?")


def test_the_whole_call_has_an_end_whatever_the_service_does(service: Service) -> None:
    service.plays(Reply({}, 429, {"Retry-After": "60"}))
    patience = Patience(request_seconds=5, retries=5, total_seconds=0.3)
    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match="all retries included"):
        embedder(service, patience=patience).embed_question("why?")
    assert time.monotonic() - began < 2


def test_a_refused_connection_is_told() -> None:
    server = Service()
    url = server.url
    server.server_close()
    remote = RemoteEmbedder(model="m", base_url=url, patience=Patience(retries=0))
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1 cannot be reached"):
        remote.embed_question("why?")


def test_a_redirect_is_not_followed(service: Service) -> None:
    elsewhere = f"{service.url}/elsewhere"
    service.plays(Reply({}, 307, {"Location": elsewhere}), healthy)
    with pytest.raises(ModelUnavailable, match="redirects elsewhere"):
        embedder(service).embed_question("why?")
    assert len(service.requests) == 1


TELLTALES = [
    Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401),
    Reply(f"<html>{KEY}</html>".encode(), 403),
    Reply({"error": KEY}, 500, {"Retry-After": "0.01"}),
    Reply(KEY.encode()),
    Reply({"data": KEY}),
]


@pytest.mark.parametrize("reply", TELLTALES)
def test_the_key_never_shows(
    service: Service, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.plays(reply)
    remote = embedder(service)
    with pytest.raises(PinciteError) as caught:
        remote.embed_question("why?")
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(remote)
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", ["", "two words", "line\nend", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        RemoteEmbedder(model="m", base_url="http://localhost/v1", api_key=key)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://host/v1", "http://", "file:///etc"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="base URL"):
        RemoteEmbedder(model="m", base_url=url, api_key=KEY)


def test_without_key_and_address_there_is_nobody_to_ask() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        RemoteEmbedder(model="m")


def test_a_missing_client_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from pincite.models.remote import RemoteEmbedder\n"
        "RemoteEmbedder(model='m', base_url='http://localhost/v1').card"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'pincite[remote]'" in run.stderr


REMOTE = RemoteEmbedder(model="m", api_key=KEY)


@given(st.text())
def test_estimated_tokens_ascend_and_cover_every_letter(text: str) -> None:
    starts = list(REMOTE.token_starts(text))
    assert starts == sorted(set(starts))
    letters = sum(not char.isspace() for char in text)
    assert letters <= 4 * len(starts)


def test_estimates_count_each_cjk_character_and_four_letters_as_one() -> None:
    assert list(REMOTE.token_starts("embeddings 漢字, 2024")) == [0, 4, 8, 11, 12, 13, 15, 17]
