"""Language models of services: their words as they come, and every way in which that goes wrong."""

from __future__ import annotations

import gzip
import itertools
import logging
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing
from typing import Any, cast

import pytest

from model_service import DONE, Reply, Service, Streamed, event, running_service, said
from pincite.errors import ModelError, ModelInvalid, ModelUnavailable
from pincite.models.chat import RemoteGenerator
from pincite.models.service import Patience

KEY = "sk-canary-4711"


@pytest.fixture
def service() -> Iterator[Service]:
    with running_service() as server:
        yield server


def writer(
    service: Service, *, request_seconds: float = 5, retries: int = 1, total_seconds: float = 10
) -> RemoteGenerator:
    quick = Patience(request_seconds=request_seconds, retries=retries, total_seconds=total_seconds)
    return RemoteGenerator(model="m", base_url=service.url, api_key=KEY, patience=quick)


def read(remote: RemoteGenerator, most_tokens: int = 100) -> tuple[list[str], ModelError | None]:
    """All that came, and what it ended with."""
    pieces: list[str] = []
    try:
        pieces.extend(remote.stream("Be brief.", "why?", most_tokens=most_tokens))
    except ModelError as error:
        return pieces, error
    return pieces, None


def test_words_come_piece_by_piece(service: Service) -> None:
    service.plays(said("The lease ", "ends", " in June."))
    assert read(writer(service)) == (["The lease ", "ends", " in June."], None)
    (request,) = service.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["authorization"] == f"Bearer {KEY}"
    assert request["stream"] is True
    assert (request["temperature"], request["max_tokens"]) == (0, 100)
    assert [one["content"] for one in request["messages"]] == ["Be brief.", "why?"]


def test_a_text_that_is_wanted_whole_comes_whole(service: Service) -> None:
    service.plays(said("The lease ", "ends"))
    assert writer(service).generate("Be brief.", "why?\ud800", most_tokens=9) == "The lease ends"


def test_its_name_tells_model_and_host_and_never_a_password() -> None:
    remote = RemoteGenerator(model="m", base_url=f"http://me:{KEY}@llm.example/v1", api_key=KEY)
    assert remote.name == "openai:m at llm.example"
    assert KEY not in repr(remote)


def in_slices(*events: bytes, size: int) -> Streamed:
    whole = b"".join(events)
    return Streamed(whole[start : start + size] for start in range(0, len(whole), size))


SOUND: dict[str, Streamed] = {
    "in single bytes": in_slices(event("Müller "), event("漢字"), event(finish="stop"), size=1),
    "letters cut in two": in_slices(
        b'data: {"choices": [{"delta": {"content": "M\xc3\xbcller \xe6\xbc\xa2\xe5\xad\x97"}}]}\n',
        DONE,
        size=58,
    ),
    "carriage returns": Streamed(
        [one.replace(b"\n", b"\r\n") for one in (event("Müller "), event("漢字"), DONE)]
    ),
    "comments and other fields": Streamed(
        [b": ping\n\nid: 7\nretry: 3\n\n", event("Müller 漢字"), b":\n", DONE]
    ),
    "no [DONE] after the end": Streamed([event("Müller "), event("漢字", finish="stop")]),
    "no line end at the end": Streamed([event("Müller 漢字"), DONE.strip()]),
    "nothing but [DONE] at the end": Streamed([event("Müller 漢字"), DONE]),
    "more after the end": Streamed([event("Müller 漢字"), DONE, event("more")]),
    "null and empty content": Streamed(
        [event(role="assistant"), event(""), event("Müller 漢字"), event(), DONE]
    ),
    "chunks without choices": Streamed(
        [
            b'data: {"choices": []}\n\ndata: {"usage": {}}\n\ndata: {"choices": null}\n\n',
            b'data: {"choices": [null]}\n\ndata: {"choices": [{"delta": 7}]}\n\n',
            event("Müller 漢字"),
            DONE,
        ]
    ),
    "another choice": Streamed(
        [
            event("Müller 漢字"),
            b'data: {"choices": [{"index": 1, "delta": {"content": "no"}}]}\n',
            DONE,
        ]
    ),
    "thoughts before the words": Streamed(
        [event(reasoning_content="Hm."), event("Müller 漢字"), DONE]
    ),
}


@pytest.mark.parametrize("reply", SOUND.values(), ids=SOUND)
def test_odd_but_sound_streams_are_read(service: Service, reply: Streamed) -> None:
    service.plays(reply)
    pieces, error = read(writer(service))
    assert error is None
    assert "".join(pieces) == "Müller 漢字"


def test_half_characters_are_joined_or_replaced(service: Service) -> None:
    halves = ("a \ud83d", "\ude00 b ", "\ude00", " c\ud83d")
    service.plays(Streamed([*map(event, halves), DONE]))
    pieces, _ = read(writer(service))
    assert "".join(pieces) == "a 😀 b \ufffd c"


def endless(piece: bytes) -> Iterator[bytes]:
    return itertools.repeat(piece)


def after_words(*pieces: bytes, end: str = "close") -> Streamed:
    return Streamed([event("The lease "), event("ends"), *pieces], end=end)


# What comes after two good pieces, and the error that says so.
BROKEN: dict[str, tuple[Streamed, type[ModelError], str]] = {
    "no end": (after_words(), ModelUnavailable, "broke off in the middle"),
    "cut inside an event": (after_words(event("in")[:20]), ModelInvalid, "not JSON"),
    "reset": (after_words(end="reset"), ModelUnavailable, "broke off in the middle"),
    "cut chunked body": (
        Streamed(
            [b"%x\r\n%s\r\n" % (len(one), one) for one in (event("The lease "), event("ends"))],
            headers={"Transfer-Encoding": "chunked"},
        ),
        ModelUnavailable,
        "broke off in the middle",
    ),
    "stall": (after_words(end="hold"), ModelUnavailable, r"silent for 0\.3 s"),
    "error event": (
        after_words(b'event: error\ndata: {"error": {"message": "out of memory"}}\n\n'),
        ModelUnavailable,
        "out of memory",
    ),
    "error as text": (after_words(b'data: {"error": "x"}\n'), ModelUnavailable, r'try again \["x"'),
    "event that is a list": (after_words(b"data: [1]\n\n"), ModelInvalid, "not an object"),
    "deep nesting": (after_words(b"data: " + b"[" * 100_000 + b"\n"), ModelInvalid, "not JSON"),
    "content that is no text": (after_words(event([1])), ModelInvalid, "other than text"),
    "not UTF-8": (after_words(b'data: {"choices": "\xff"}\n'), ModelInvalid, "not JSON"),
    "cut by its limit": (after_words(event(finish="length"), DONE), ModelInvalid, "limit of tok"),
    "filtered": (after_words(event(finish="content_filter")), ModelInvalid, "filter"),
    "refusal": (after_words(event(refusal="I cannot"), DONE), ModelInvalid, "refused to write"),
    "tool call unasked": (
        after_words(event(tool_calls=[{"index": 0}]), event(finish="tool_calls"), DONE),
        ModelInvalid,
        "called a tool",
    ),
}


@pytest.mark.parametrize(("reply", "kind", "told"), BROKEN.values(), ids=BROKEN)
def test_what_came_before_the_trouble_is_given_and_then_the_trouble_is_told(
    service: Service, reply: Streamed, kind: type[ModelError], told: str
) -> None:
    service.plays(reply)
    remote = writer(service, request_seconds=0.3)
    pieces, error = read(remote)
    assert pieces == ["The lease ", "ends"]
    assert type(error) is kind
    assert error.args[0].startswith("127.0.0.1 ")
    with pytest.raises(kind, match=told):
        raise error
    assert len(service.requests) == 1  # tried again only before the first piece


WITHOUT_WORDS: dict[str, tuple[Reply, type[ModelError], str]] = {
    "HTML": (Reply(b"<html>\nSign in</html>"), ModelInvalid, "other than a stream; check"),
    "a page on one endless line": (Streamed(endless(b"x" * 65_536)), ModelInvalid, "than a stream"),
    "an endless page": (
        Streamed(endless((b"<p>" * 1000 + b"\n") * 20)),
        ModelInvalid,
        "more than 16 MB",
    ),
    "nothing": (Reply(b""), ModelInvalid, "other than a stream"),
    "a whole message": (Reply({"choices": [{"message": {}}]}), ModelInvalid, "than a stream"),
    "gzip bomb": (
        Reply(gzip.compress(bytes(10_000_000)), headers={"Content-Encoding": "gzip"}),
        ModelInvalid,
        "compresses its answer unasked",
    ),
    "no choices": (Streamed([b'data: {"choices": []}\n\n', DONE]), ModelInvalid, "empty message"),
    "blank": (said(" ", "\n"), ModelInvalid, "empty message"),
    "only thoughts": (
        Streamed([event(reasoning_content="Hm."), event(finish="length"), DONE]),
        ModelInvalid,
        "only thought",
    ),
    "no room": (Streamed([event(finish="length"), DONE]), ModelInvalid, "limit of tokens"),
    "redirect": (Reply({}, 307, {"Location": "http://other/"}), ModelUnavailable, "redirects"),
    "key": (Reply({"error": f"bad {KEY}"}, 401), ModelUnavailable, "check the API key"),
    "model": (Reply({"error": "no such model"}, 404), ModelUnavailable, "check the model's name"),
    "limits": (Reply({}, 429, {"Retry-After": "0.01"}), ModelUnavailable, "limits requests"),
    "limits in HTML": (Reply(b"<p>", 429, {"Retry-After": "x"}), ModelUnavailable, "limits req"),
    "down": (Reply({}, 503, {"Retry-After": "0.01"}), ModelUnavailable, "try again later"),
    "silence": (Reply({}, is_held=True), ModelUnavailable, r"did not answer in 0\.3 s"),
}


@pytest.mark.parametrize(("reply", "kind", "told"), WITHOUT_WORDS.values(), ids=WITHOUT_WORDS)
def test_a_service_that_gives_no_words_is_told_with_what_to_do(
    service: Service, reply: Reply, kind: type[ModelError], told: str
) -> None:
    service.plays(reply)
    with pytest.raises(kind, match=told):
        list(writer(service, request_seconds=0.3).stream("Be brief.", "why?", most_tokens=9))


@pytest.mark.parametrize("status", [429, 500])
def test_a_passing_trouble_is_waited_out_before_the_first_piece(
    service: Service, status: int
) -> None:
    service.plays(Reply({}, status, {"Retry-After": "0.01"}), said("June."))
    assert read(writer(service)) == (["June."], None)
    assert len(service.requests) == 2


def dripping(service: Service, piece: bytes) -> Iterator[bytes]:
    while not service.released.wait(0.02):
        yield piece


@pytest.mark.parametrize(
    "piece", [b": keep-alive\n\n", b"d", event(), event("word ")], ids=range(4)
)
def test_a_stream_ends_when_its_time_is_up_though_bytes_still_come(
    service: Service, piece: bytes
) -> None:
    service.plays(lambda _: Streamed(dripping(service, piece)))
    _, error = read(writer(service, total_seconds=0.5), most_tokens=1000)
    assert type(error) is ModelUnavailable
    assert "had not finished in 0.5 s" in str(error)


def test_a_stream_ends_when_its_time_is_up_though_silence_would_be_borne_longer(
    service: Service,
) -> None:
    service.plays(after_words(end="hold"))
    pieces, error = read(writer(service, request_seconds=60, total_seconds=0.5))
    assert pieces == ["The lease ", "ends"]
    assert "had not finished in 0.5 s" in str(error)


def test_a_wait_to_try_again_is_part_of_the_time(service: Service) -> None:
    service.plays(Reply({}, 429, {"Retry-After": "50"}))
    _, error = read(writer(service, retries=5, total_seconds=0.3))
    assert "all retries included" in str(error)


def test_a_model_that_ignores_its_limit_is_stopped(service: Service) -> None:
    service.plays(lambda _: Streamed(endless(event("word " * 20))))
    pieces, error = read(writer(service), most_tokens=10)
    assert len("".join(pieces)) <= 320
    assert type(error) is ModelInvalid
    assert "far more than the 10 tokens" in str(error)


def test_whoever_stops_reading_ends_the_connection_and_leaves_no_thread(service: Service) -> None:
    service.plays(after_words(end="hold"))
    before = set(threading.enumerate())
    words = writer(service, request_seconds=60, total_seconds=60).stream(
        "Be brief.", "why?", most_tokens=9
    )
    with closing(cast("Any", words)):
        assert next(words) == "The lease "
    assert service.ended.wait(10)
    ours = {one for one in set(threading.enumerate()) - before if one.daemon}
    for one in ours:
        one.join(10)
    assert not any(one.is_alive() for one in ours)


def test_an_answer_that_begins_too_late_is_closed_unread(service: Service) -> None:
    given_up = threading.Event()

    def late(_: list[str]) -> Reply:
        given_up.wait(10)
        return after_words(end="hold")

    service.plays(late)
    _, error = read(writer(service, total_seconds=0.2))
    assert "all retries included" in str(error)
    given_up.set()
    assert service.ended.wait(10)


ALL: dict[str, Reply] = {
    **{name: reply for name, (reply, _, _) in (BROKEN | WITHOUT_WORDS).items()},
    "error with the key": after_words(b'data: {"error": {"message": "%s"}}\n' % KEY.encode()),
    "page with the key": Reply(f"<html>{KEY}</html>".encode(), 403),
    "event with the key": after_words(b"data: " + KEY.encode() + b"\n"),
    "reason with the key": after_words(event(finish=KEY), DONE),
}


@pytest.mark.parametrize("reply", ALL.values(), ids=ALL)
def test_the_key_never_shows(
    service: Service, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.plays(reply)
    remote = writer(service, request_seconds=0.3, retries=0)
    _, error = read(remote)
    told = "".join(traceback.format_exception(error)) if error else ""
    assert KEY not in told + repr(remote) + remote.name + caplog.text
