from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pincite.errors import ModelError, ModelInvalid, ModelUnavailable, SettingsError
from pincite.models.remote_rerank import RemoteReranker
from pincite.models.service import Patience

KEY = "sk-canary-4711"
PASSAGES = ["a", "bbbb", "cc"]

Answer = Callable[[list[str]], object]


def results(passages: list[str]) -> list[dict[str, Any]]:
    """The longer, the better; the best first, as services answer."""
    scored = [
        {"index": place, "relevance_score": len(passage), "document": {"text": passage}}
        for place, passage in enumerate(passages)
    ]
    return sorted(scored, key=lambda one: -one["relevance_score"])


class Service(ThreadingHTTPServer):
    """A real service on the loopback."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: Answer = lambda passages: {"results": results(passages)}
        self.status = [200]  # one for each request, the last for ever
        self.requests: list[dict[str, Any]] = []
        self.held = threading.Event()
        self.held.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = {"path": self.path, "authorization": self.headers["Authorization"]}
        self.server.requests.append(request | seen)
        statuses = self.server.status
        status = statuses.pop(0) if len(statuses) > 1 else statuses[0]
        self.server.held.wait(10)
        answer = self.server.answers(request["documents"])
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.held.set()
    server.shutdown()
    thread.join()
    server.server_close()


def reranker(service: Service, seconds: float = 5) -> RemoteReranker:
    patience = Patience(request_seconds=seconds, retries=1, total_seconds=seconds)
    return RemoteReranker(model="m", base_url=service.url, api_key=KEY, patience=patience)


def test_scores_come_back_in_the_order_of_the_passages(service: Service) -> None:
    assert reranker(service).scores("which?", PASSAGES) == [1, 4, 2]


def test_the_request_asks_for_every_score(service: Service) -> None:
    reranker(service).scores("why?\ud800", ["a\ud800", "b"])
    assert service.requests == [
        {
            "path": "/v1/rerank",
            "authorization": f"Bearer {KEY}",
            "model": "m",
            "query": "why?\ufffd",
            "documents": ["a\ufffd", "b"],
            "top_n": 2,
        }
    ]


def test_a_service_that_is_busy_is_asked_again(service: Service) -> None:
    service.status = [503, 200]
    assert reranker(service).scores("which?", PASSAGES) == [1, 4, 2]


def test_a_refusal_says_who_refused_and_never_the_key(service: Service) -> None:
    service.status = [401]
    service.answers = lambda passages: {"error": {"message": f"bad key {KEY}"}}
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1 refused to rerank with m") as caught:
        reranker(service).scores("which?", PASSAGES)
    assert KEY not in str(caught.value)


def test_a_service_is_waited_for_only_so_long(service: Service) -> None:
    service.held.clear()
    with pytest.raises(ModelUnavailable, match="did not answer"):
        reranker(service, seconds=0.2).scores("which?", PASSAGES)


WRONG: dict[str, Answer] = {
    "no JSON": lambda passages: b"<html>",
    "a list": results,
    "no results": lambda passages: {"data": []},
    "a result that is none": lambda passages: {"results": [1, 2, 3]},
    "fewer": lambda passages: {"results": results(passages)[1:]},
    "one twice": lambda passages: {"results": [results(passages)[0]] * 3},
    "beyond": lambda passages: {
        "results": [one | {"index": one["index"] + 1} for one in results(passages)]
    },
    "a truth value as index": lambda passages: {
        "results": [one | {"index": bool(one["index"])} for one in results(passages)]
    },
}


@pytest.mark.parametrize("answers", WRONG.values(), ids=WRONG)
def test_an_answer_of_another_form_is_refused(service: Service, answers: Answer) -> None:
    service.answers = answers
    with pytest.raises(ModelInvalid):
        reranker(service).scores("which?", PASSAGES)


@pytest.mark.parametrize("score", ["1", None, True, [1.0], "NaN", 10**400])
def test_a_score_that_is_no_number_is_refused(service: Service, score: object) -> None:
    service.answers = lambda passages: {
        "results": [one | {"relevance_score": score} for one in results(passages)]
    }
    with pytest.raises(ModelInvalid, match="not a number"):
        reranker(service).scores("which?", PASSAGES)


def test_nan_in_the_answer_is_refused(service: Service) -> None:
    service.answers = lambda passages: b'{"results": [{"index": 0, "relevance_score": NaN}]}'
    with pytest.raises(ModelError, match="not a number"):
        reranker(service).scores("which?", ["a"])


def test_a_service_without_address_or_key_is_refused_at_once() -> None:
    with pytest.raises(SettingsError):
        RemoteReranker(model="m")
