"""Embedding services that speak the OpenAI protocol. Every answer is checked before it is used."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import finalize

from pincite.errors import ModelInvalid, ModelUnavailable, SettingsError
from pincite.models.tokens import CJK, encodable
from pincite.records import ModelCard
from pincite.vectors import Vector, unit

if TYPE_CHECKING:
    from openai import OpenAI

_DEFAULT_URL = "https://api.openai.com/v1"
_PROBE = "A sentence to learn the size of a vector from."
# Four Latin letters, two of any other script or two digits make a token; the services' own
# tokenizers seldom need more, and for plain English they need about a third fewer.
_TOKEN = re.compile(rf"[{CJK}]|[A-Za-z]{{1,4}}|\d{{1,2}}|[^\W\d{CJK}]{{1,2}}|[^\w\s]")
_HINTS = {
    401: "check the API key",
    403: "the API key may not use this model",
    404: "check the model's name and the base URL (it usually ends in /v1)",
    413: "the texts are too long for it; set a lower token limit",
    429: "it limits requests; wait a while or ask for a higher limit",
}

_Reply = TypeVar("_Reply")


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to wait for a service."""

    request_seconds: float = 60.0  # silence after which one request has failed
    retries: int = 4  # after 429, 5xx and broken connections, as Retry-After says
    total_seconds: float = 180.0  # for one call, retries and waiting between them included


@dataclass(frozen=True, kw_only=True)
class RemoteEmbedder:
    """One embedding model of one service.

    Where `dimensions` is given the service is asked for vectors of that size; otherwise a probe
    text tells the size on first need.
    """

    model: str
    base_url: str | None = field(default=None, repr=False)  # may carry a password
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    token_limit: int = 512
    question_prefix: str = ""
    passage_prefix: str = ""
    patience: Patience = field(default_factory=Patience)

    batch = 64
    # Waiting, not computing: more calls at once would only meet the service's rate limit.
    parallel = 4

    def __post_init__(self) -> None:
        if urlsplit(self._url).scheme not in ("http", "https") or not self._host:
            raise SettingsError("the embedding service's base URL must begin with http(s)://host")
        if self.api_key is None and self.base_url is None:
            raise SettingsError(
                "an embedding service needs a key or its address; set OPENAI_API_KEY, or "
                "OPENAI_BASE_URL for a service of your own"
            )
        if self.api_key is not None and not re.fullmatch(r"[!-~]+", self.api_key):
            raise SettingsError("the API key is empty or holds spaces, line ends or odd characters")

    @cached_property
    def card(self) -> ModelCard:
        """Asks the service once where the dimensions were not given."""
        dimensions = self.dimensions or len(self._ask([_PROBE])[0])
        fingerprint = f"openai:{self.model}:{dimensions}"
        if self.question_prefix or self.passage_prefix:
            prefixes = json.dumps([self.question_prefix, self.passage_prefix])
            fingerprint += f":{hashlib.sha256(prefixes.encode()).hexdigest()[:16]}"
        return ModelCard(
            name=f"openai:{self.model}",
            fingerprint=fingerprint,
            dimensions=dimensions,
            token_limit=self.token_limit,
        )

    @cached_property
    def passage_overhead(self) -> int:
        """The usual two marks, and the estimated tokens of the passage prefix."""
        return 2 + len(self.token_starts(self.passage_prefix))

    def token_starts(self, text: str) -> Sequence[int]:
        """An estimate, as a service's tokenizer is not at hand; it rather counts too many."""
        return array("I", (match.start() for match in _TOKEN.finditer(text)))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in their order."""
        dimensions = self.card.dimensions
        vectors: list[Vector] = []
        for start in range(0, len(texts), self.batch):
            asked = [self.passage_prefix + text for text in texts[start : start + self.batch]]
            vectors += [unit(numbers, dimensions=dimensions) for numbers in self._ask(asked)]
        return vectors

    def embed_question(self, text: str) -> Vector:
        """The unit vector to search with."""
        (numbers,) = self._ask([self.question_prefix + text])
        return unit(numbers, dimensions=self.card.dimensions)

    @property
    def _url(self) -> str:
        return self.base_url or _DEFAULT_URL

    @property
    def _host(self) -> str:
        """For messages: the base URL itself may carry a password or a key."""
        return urlsplit(self._url).hostname or ""

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        reply = _within(self.patience.total_seconds, lambda: self._request(texts), self._host)
        return _ordered(_items(reply, self._host), count=len(texts), host=self._host)

    def _request(self, texts: Sequence[str]) -> bytes:
        openai = _openai()
        size: dict[str, Any] = {"dimensions": self.dimensions} if self.dimensions else {}
        try:
            # The raw reply: the client's own parsing trusts a service to send what it should.
            reply = self._client.embeddings.with_raw_response.create(
                model=self.model,
                input=[encodable(text) for text in texts],
                encoding_format="float",
                **size,
            )
        except openai.APIStatusError as error:
            raise self._refusal(error.status_code, error.message) from None
        except openai.APITimeoutError:
            seconds = self.patience.request_seconds
            raise ModelUnavailable(f"{self._host} did not answer in {seconds:g} s") from None
        except openai.OpenAIError:
            # Not chained: the cause of a connection error may show the request with its key.
            raise ModelUnavailable(
                f"{self._host} cannot be reached; check the base URL and that the service runs"
            ) from None
        return reply.http_response.content

    def _refusal(self, status: int, message: str) -> ModelUnavailable:
        # Some services repeat the key they refuse.
        said = message.replace(self.api_key, "***") if self.api_key else message
        hint = _HINTS.get(status, "try again later" if status >= 500 else "check the settings")
        if 300 <= status < 400:
            hint = "it redirects elsewhere; give the final address as the base URL"
        return ModelUnavailable(
            f"{self._host} refused to embed with {self.model} (HTTP {status}): {hint} "
            f"[{' '.join(said.split())[:200]}]"
        )

    @cached_property
    def _client(self) -> OpenAI:
        openai = _openai()
        client: OpenAI = openai.OpenAI(
            base_url=self._url,
            # Servers of one's own often want none, but the client insists on something.
            api_key=self.api_key or "none",
            timeout=self.patience.request_seconds,
            max_retries=self.patience.retries,
            # A redirect would hand texts and key to a host nobody named.
            http_client=openai.DefaultHttpxClient(follow_redirects=False),
        )
        # Embedders have no `close`: connections end with the embedder that opened them.
        finalize(self, client.close)
        return client


def _openai() -> ModuleType:
    try:
        import openai
    except ModuleNotFoundError as error:
        raise ModelUnavailable(
            "embedding services need one more package; run `pip install 'pincite[remote]'`"
        ) from error
    return openai


def _within(seconds: float, call: Callable[[], _Reply], host: str) -> _Reply:
    """The call's result, or ModelUnavailable when time is up.

    The client's own time-out starts anew with every byte received and every retry. A daemon
    thread, unlike one of a pool, does not keep the program from ending.
    """
    future: Future[_Reply] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001  # handed on whole to the waiting thread
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return future.result(timeout=seconds)
    except TimeoutError:
        raise ModelUnavailable(
            f"{host} did not answer in {seconds:g} s, all retries included"
        ) from None


def _items(reply: bytes, host: str) -> list[dict[str, Any]]:
    try:
        loaded = json.loads(reply)
    except (ValueError, RecursionError):
        raise ModelInvalid(
            f"{host} answered with something other than JSON; check the base URL"
        ) from None
    items = loaded.get("data") if isinstance(loaded, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ModelInvalid(f"{host} answered without a list of embeddings; check the base URL")
    return items


def _ordered(items: list[dict[str, Any]], *, count: int, host: str) -> list[list[float]]:
    """The vectors in the order of the texts, whatever order they came in."""
    if len(items) != count:
        raise ModelInvalid(f"{host} gave {len(items)} vectors for {count} texts")
    vectors = {item.get("index"): item.get("embedding") for item in items if _has_index(item)}
    if set(vectors) != set(range(count)):
        raise ModelInvalid(f"{host} gave vectors that do not tell which texts they belong to")
    return [_numbers(vectors[place], host) for place in range(count)]


def _has_index(item: dict[str, Any]) -> bool:
    return type(item.get("index")) is int


def _numbers(embedding: object, host: str) -> list[float]:
    """A list of numbers and nothing else: NumPy would read the string "1" as a number too."""
    if not isinstance(embedding, list) or not embedding:
        raise ModelInvalid(f"{host} gave a text without a vector")
    if not {type(value) for value in embedding} <= {int, float}:
        raise ModelInvalid(f"{host} gave a vector that is not a list of numbers")
    try:
        return [float(value) for value in embedding]
    except OverflowError:
        raise ModelInvalid(f"{host} gave a vector with numbers beyond all bounds") from None
