"""Services of embeddings and of relevance: what is asked of them, and what is not believed."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from model_service import (
    Reply,
    Script,
    Service,
    answer,
    healthy,
    items,
    results,
    running_service,
    vector_of,
)
from pincite.errors import (
    ModelInvalid,
    ModelRefused,
    ModelUnavailable,
    PinciteError,
    SettingsError,
)
from pincite.models.remote import RemoteEmbedder
from pincite.models.rerankers import RemoteReranker
from pincite.models.service import Patience

KEY = "sk-canary-4711"
DIMENSIONS = 3


def reordered(texts: list[str]) -> Reply:
    return answer(items(texts)[::-1])


def with_embedding(embedding: object) -> Script:
    return lambda texts: answer([item | {"embedding": embedding} for item in items(texts)])


def ragged(texts: list[str]) -> Reply:
    first, *others = items(texts)
    return answer([first | {"embedding": [1.0]}, *others])


@pytest.fixture
def service() -> Iterator[Service]:
    with running_service() as server:
        yield server


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


WRONG_CONTENT: dict[str, Script] = {
    "fewer vectors": lambda texts: answer(items(texts)[1:]),
    "more vectors": lambda texts: answer(items([*texts, "extra"])),
    "duplicate index": lambda texts: answer([item | {"index": 0} for item in items(texts)]),
    "index out of range": lambda texts: answer(
        [item | {"index": item["index"] + 1} for item in items(texts)]
    ),
    "index as truth value": lambda texts: answer(
        [item | {"index": bool(item["index"])} for item in items(texts)]
    ),
    "null data": lambda texts: answer(None),
    "null items": lambda texts: answer([None for _ in texts]),
    "list instead of object": lambda texts: Reply([1, 2]),
    "HTML": lambda texts: Reply(b"<html>Sign in</html>", headers={"Content-Type": "text/html"}),
    "deep nesting": lambda texts: Reply(b"[" * 100_000),
    "ragged dimensions": ragged,
    "NaN": with_embedding([float("nan"), 1.0, 1.0]),
    "beyond float": with_embedding([10**400, 1, 1]),
    "zeros": with_embedding([0.0, 0.0, 0.0]),
    "strings": with_embedding(["1", "2", "3"]),
    "base64": with_embedding("AACAPwAAAEAAAEBA"),
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


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, ModelRefused), (422, ModelRefused), (500, ModelRefused), (403, ModelUnavailable)],
)
def test_a_refusal_of_the_text_is_told_from_one_of_the_asker(
    service: Service, status: int, kind: type[ModelUnavailable]
) -> None:
    service.plays(Reply({"error": {"message": "no"}}, status))
    with pytest.raises(ModelUnavailable) as refused:
        embedder(service, patience=Patience(retries=0)).embed_passages(["why?"])
    assert type(refused.value) is kind


@pytest.mark.parametrize("status", [429, 503])
def test_a_passing_trouble_is_waited_out(service: Service, status: int) -> None:
    service.plays(Reply({}, status, {"Retry-After": "0.05"}), healthy)
    assert len(embedder(service).embed_passages(["one"])) == 1
    assert len(service.requests) == 2


def test_a_lasting_trouble_ends_after_the_retries(service: Service) -> None:
    service.plays(Reply({}, 429, {"Retry-After": "0.01"}))
    patience = Patience(request_seconds=5, retries=2, total_seconds=10)
    with pytest.raises(ModelUnavailable, match="429"):
        embedder(service, patience=patience).embed_question("why?")
    assert len(service.requests) == 3


def test_a_silent_service_is_given_up(service: Service) -> None:
    service.plays(Reply({}, is_held=True))
    patience = Patience(request_seconds=0.2, retries=0, total_seconds=10)
    with pytest.raises(ModelUnavailable, match=r"did not answer in 0\.2 s"):
        embedder(service, patience=patience).embed_question("why?")


def test_the_whole_call_has_an_end_whatever_the_service_does(service: Service) -> None:
    service.plays(Reply({}, 429, {"Retry-After": "60"}))
    patience = Patience(request_seconds=5, retries=5, total_seconds=0.3)
    with pytest.raises(ModelUnavailable, match="all retries included"):
        embedder(service, patience=patience).embed_question("why?")


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


@pytest.mark.parametrize("key", ["two words", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        RemoteEmbedder(model="m", base_url="http://localhost/v1", api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8080", "http://", "file:///etc"])
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
    assert "with its extra `remote`" in run.stderr


REMOTE = RemoteEmbedder(model="m", api_key=KEY)


@given(st.text())
def test_estimated_tokens_ascend_and_cover_every_letter(text: str) -> None:
    starts = list(REMOTE.token_starts(text))
    assert starts == sorted(set(starts))
    letters = sum(not char.isspace() for char in text)
    assert letters <= 4 * len(starts)


PASSAGES = ["a", "bbbb", "cc"]


def reranker(service: Service) -> RemoteReranker:
    return RemoteReranker(model="m", base_url=service.url, api_key=KEY)


def test_scores_come_back_in_the_order_of_the_passages(service: Service) -> None:
    assert reranker(service).scores("which?", PASSAGES) == [1, 4, 2]


def test_a_reranker_asks_for_every_score(service: Service) -> None:
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


def test_a_refusal_to_rerank_says_who_refused_and_never_the_key(service: Service) -> None:
    service.plays(Reply({"error": {"message": f"bad key {KEY}"}}, 401))
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1 refused to rerank with m") as caught:
        reranker(service).scores("which?", PASSAGES)
    assert KEY not in str(caught.value)


WRONG_SCORES: dict[str, Script] = {
    "no JSON": lambda passages: Reply(b"<html>"),
    "no results": lambda passages: Reply({"data": []}),
    "fewer": lambda passages: Reply({"results": results(passages)[1:]}),
    "one twice": lambda passages: Reply({"results": [results(passages)[0]] * 3}),
    "a truth value as index": lambda passages: Reply(
        {"results": [one | {"index": bool(one["index"])} for one in results(passages)]}
    ),
}


@pytest.mark.parametrize("script", WRONG_SCORES.values(), ids=WRONG_SCORES)
def test_scores_of_another_form_are_refused(service: Service, script: Script) -> None:
    service.plays(script)
    with pytest.raises(ModelInvalid):
        reranker(service).scores("which?", PASSAGES)


@pytest.mark.parametrize("score", ["1", None, True, float("nan"), 10**400])
def test_a_score_that_is_no_number_is_refused(service: Service, score: object) -> None:
    service.plays(
        lambda passages: Reply(
            {"results": [one | {"relevance_score": score} for one in results(passages)]}
        )
    )
    with pytest.raises(ModelInvalid, match="not a number"):
        reranker(service).scores("which?", PASSAGES)


def test_the_fingerprint_tells_model_dimension_and_prefixes_apart(service: Service) -> None:
    plain = embedder(service).card.fingerprint
    assert plain == "openai:m:3"
    prefixed = embedder(service, passage_prefix="passage: ").card.fingerprint
    assert prefixed not in (plain, embedder(service, question_prefix="passage: ").card.fingerprint)


def test_estimates_count_each_cjk_character_and_four_letters_as_one() -> None:
    assert list(REMOTE.token_starts("embeddings 漢字, 2024")) == [0, 4, 8, 11, 12, 13, 15, 17]
