"""A service that speaks the OpenAI protocol: how it is reached, and what its refusals mean."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event, Thread, Timer
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import finalize

from pincite.errors import (
    ModelInvalid,
    ModelRefused,
    ModelUnavailable,
    SettingsError,
    extra_needed,
)

if TYPE_CHECKING:
    from openai import OpenAI

_DEFAULT_URL = "https://api.openai.com/v1"
_MOST_STREAMED = 16 << 20  # bytes of one stream; long answers have one or two megabytes
_HINTS = {
    401: "check the API key",
    403: "the API key may not use this model",
    404: "check the model's name and the base URL (it usually ends in /v1)",
    413: "the texts are too long for it; set a lower token limit",
    429: "it limits requests; wait a while or ask for a higher limit",
}
_ABOUT_THE_TEXT = (400, 413, 422, 500)  # some servers say 500 of a text that is too long for them

_Reply = TypeVar("_Reply")


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to wait for a service."""

    request_seconds: float = 60.0  # silence after which one request has failed
    retries: int = 4  # after 429, 5xx and broken connections, as Retry-After says
    total_seconds: float = 180.0  # for one call, retries and waiting between them included


@dataclass(frozen=True, kw_only=True)
class Service:
    """One service, with the key it wants."""

    base_url: str | None = field(default=None, repr=False)  # may carry a password
    api_key: str | None = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        if urlsplit(self._url).scheme not in ("http", "https") or not self.host:
            raise SettingsError("the service's base URL must begin with http(s)://host")
        if self.api_key is None and self.base_url is None:
            raise SettingsError(
                "a service needs a key or its address; set OPENAI_API_KEY, or "
                "OPENAI_BASE_URL for a service of your own"
            )
        if self.api_key is not None and not re.fullmatch(r"[!-~]+", self.api_key):
            raise SettingsError("the API key is empty or holds spaces, line ends or odd characters")

    @property
    def host(self) -> str:
        """For messages: the base URL itself may carry a password or a key."""
        return urlsplit(self._url).hostname or ""

    @property
    def _url(self) -> str:
        return self.base_url or _DEFAULT_URL

    def ask(self, request: Callable[[OpenAI], Any], *, task: str) -> bytes:
        """The raw answer to a request; its own parsing would trust a service too much.

        ModelUnavailable says who did not do what, never with a key in it.
        """

        def content() -> bytes:
            read: bytes = self._request(request, task).content
            return read

        return _within(self.patience.total_seconds, content, self.host)

    def stream(
        self, request: Callable[[OpenAI], Any], *, task: str
    ) -> Generator[bytes, None, None]:
        """The raw bytes of an answer as they come; closing the iterator ends the connection.

        Tried again only until the answer begins. ModelUnavailable where it breaks off, and when
        the time for the whole of it is up, even where bytes still come.
        """
        seconds = self.patience.total_seconds
        started = monotonic()
        response = _within(
            seconds,
            lambda: self._request(request, task),
            self.host,
            discard=lambda late: late.close(),
        )
        is_overdue = Event()

        def cut_off() -> None:
            is_overdue.set()
            # Only this wakes a thread that waits for bytes: closing the socket would not. Where
            # there is no socket to be had, silence ends it.
            with suppress(OSError, LookupError, TypeError):
                connection = response.extensions["network_stream"].get_extra_info("socket")
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

        watchdog = Timer(max(started + seconds - monotonic(), 0), cut_off)
        watchdog.daemon = True
        watchdog.start()
        # Taken as they are sent: a few compressed bytes could become gigabytes.
        is_packed = response.headers.get("content-encoding", "identity") != "identity"
        received = 0
        is_broken = False
        try:
            for piece in response.iter_raw():
                received += len(piece)
                if is_packed or is_overdue.is_set() or received > _MOST_STREAMED:
                    break
                yield piece
        except Exception:  # noqa: BLE001 — of an HTTP library that the client changes at times
            is_broken = True
        finally:
            watchdog.cancel()
            response.close()
        if is_overdue.is_set():
            raise ModelUnavailable(
                f"{self.host} had not finished in {seconds:g} s; ask for less, or choose a faster "
                "model"
            )
        if is_broken:
            silence = self.patience.request_seconds
            raise ModelUnavailable(
                f"{self.host} broke off in the middle, or was silent for {silence:g} s; try again"
            )
        if is_packed:
            raise ModelInvalid(f"{self.host} compresses its answer unasked; turn that off there")
        if received > _MOST_STREAMED:
            raise ModelInvalid(f"{self.host} sent more than {_MOST_STREAMED >> 20} MB")

    def post(self, path: str, body: Mapping[str, object], *, task: str) -> bytes:
        """The raw answer of a path that the client has no name for."""
        return self.ask(
            lambda client: client.post(
                path,
                cast_to=object,
                body=body,
                # What the client's own `with_raw_response` sends: the answer comes as it is.
                options={"headers": {"X-Stainless-Raw-Response": "true"}},
            ),
            task=task,
        )

    def _request(self, request: Callable[[OpenAI], Any], task: str) -> Any:  # noqa: ANN401
        """The response of the client's own HTTP library, whichever that is."""
        openai = openai_package()
        try:
            reply = request(self._client)
        except openai.APIStatusError as error:
            raise self._refusal(error.status_code, error.message, task) from None
        except openai.APITimeoutError:
            seconds = self.patience.request_seconds
            raise ModelUnavailable(f"{self.host} did not answer in {seconds:g} s") from None
        except openai.OpenAIError:
            # Not chained: the cause of a connection error may show the request with its key.
            raise ModelUnavailable(
                f"{self.host} cannot be reached; check the base URL and that the service runs"
            ) from None
        return reply.http_response

    def harmless(self, said: str) -> str:
        """What a service says, short and on one line; some repeat the key they refuse."""
        if self.api_key:
            for key in (self.api_key, json.dumps(self.api_key)[1:-1]):  # also as JSON has it
                said = said.replace(key, "***")
        return " ".join(said.split())[:200]

    def _refusal(self, status: int, message: str, task: str) -> ModelUnavailable:
        hint = _HINTS.get(status, "try again later" if status >= 500 else "check the settings")
        if 300 <= status < 400:
            hint = "it redirects elsewhere; give the final address as the base URL"
        kind = ModelRefused if status in _ABOUT_THE_TEXT else ModelUnavailable
        return kind(
            f"{self.host} refused to {task} (HTTP {status}): {hint} [{self.harmless(message)}]"
        )

    @cached_property
    def _client(self) -> OpenAI:
        openai = openai_package()
        client: OpenAI = openai.OpenAI(
            base_url=self._url,
            # Servers of one's own often want none, but the client insists on something.
            api_key=self.api_key or "none",
            timeout=self.patience.request_seconds,
            max_retries=self.patience.retries,
            # A redirect would hand texts and key to a host nobody named.
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )
        # Services have no `close`: connections end with whoever opened them.
        finalize(self, client.close)
        return client


@dataclass(frozen=True, kw_only=True)
class ServiceModel:
    """A model of one service: what all kinds of them are opened with."""

    model: str
    base_url: str | None = field(default=None, repr=False)  # may carry a password
    api_key: str | None = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        _ = self._service  # refuses a bad address or key at once

    @cached_property
    def _service(self) -> Service:
        return Service(base_url=self.base_url, api_key=self.api_key, patience=self.patience)


def openai_package() -> ModuleType:
    """The client; ModelUnavailable names the extra where it is not installed."""
    try:
        import openai
    except ModuleNotFoundError as error:
        raise ModelUnavailable(extra_needed("a service", "remote")) from error
    return openai


def called_apart(call: Callable[[], _Reply]) -> Future[_Reply]:
    """The call, begun in a thread that does not keep the program from ending, unlike a pool's."""
    future: Future[_Reply] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001  # handed on whole to the waiting thread
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def _within(
    seconds: float,
    call: Callable[[], _Reply],
    host: str,
    *,
    discard: Callable[[_Reply], object] = lambda late: None,
) -> _Reply:
    """The call's result, or ModelUnavailable when time is up; what comes later is discarded.

    The client's own time-out starts anew with every byte received and every retry.
    """
    future = called_apart(call)
    try:
        return future.result(timeout=seconds)
    except TimeoutError:
        future.add_done_callback(lambda late: late.exception() or discard(late.result()))
        raise ModelUnavailable(
            f"{host} did not answer in {seconds:g} s, all retries included"
        ) from None


def items_in(reply: bytes, name: str, *, of: str, host: str) -> list[dict[str, Any]]:
    """The list of objects that a reply has under this name; ModelInvalid where it has none."""
    try:
        loaded = json.loads(reply)
    except (ValueError, RecursionError):
        raise ModelInvalid(
            f"{host} answered with something other than JSON; check the base URL"
        ) from None
    items = loaded.get(name) if isinstance(loaded, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ModelInvalid(f"{host} answered without a list of {of}; check the base URL")
    return items
