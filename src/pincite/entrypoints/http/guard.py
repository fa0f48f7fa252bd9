"""What happens to every request before a route sees it: who asks from where, how much, how often.

Plain ASGI, so that a route still hears when its client goes away.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pincite.text.printable import printable

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OWNER = "pincite_owner"
"""In the scope of requests that came through the socket of the user themselves."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SECONDS_OF_SILENCE = 30.0  # in the middle of a body
_SLOWEST = 50_000  # bytes a second of a large one
_log = logging.getLogger("pincite.requests")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one service takes on."""

    hosts: tuple[str, ...] = LOOPBACK  # names by which it may be called
    origins: tuple[str, ...] = ()  # other web pages that may use it
    body_bytes: int = 64 * 1024 * 1024
    parts: int = 100  # files and fields of one upload
    rate: str = ""  # of one caller, such as 100/second; empty is no limit
    at_once: int = 2  # requests that are worked on; more threads only take turns on the cores
    waiting: int = 64  # and those that wait for their turn; more are turned away

    def __post_init__(self) -> None:
        """Names as browsers write them; ValueError for what is none."""
        hosts = tuple(host_of(one if one.count(":") < 2 else f"[{one}]") for one in self.hosts)
        if "" in hosts:
            raise ValueError(self.hosts[hosts.index("")])
        object.__setattr__(self, "hosts", hosts)
        object.__setattr__(self, "origins", tuple(one.rstrip("/").lower() for one in self.origins))

    def body_of(self, path: str) -> int:
        """Bytes of a request; it is held in memory until its turn comes, so no more than needed."""
        if path in ("/rag/index", "/mcp"):  # which take files
            return self.body_bytes
        is_long = path in ("/rag/check", "/v1/chat/completions")
        return min(self.body_bytes, 10_000_000 if is_long else 1_000_000)


class Measures:
    """What Prometheus is told."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "pincite_requests", "Requests", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "pincite_request_seconds", "Time of a request", ["route"], registry=self.registry
        )
        self.under_way = Gauge(
            "pincite_requests_under_way",
            "Requests that are worked on or wait for their turn",
            registry=self.registry,
        )


class Guard:
    """Refuses what no route should see, and notes every request without its contents."""

    def __init__(self, app: ASGIApp, limits: Limits, measures: Measures) -> None:
        self._app = app
        self._limits = limits
        self._measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        status = 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                told = MutableHeaders(scope=message)
                told["X-Request-Id"] = request_id
                told["X-Content-Type-Options"] = "nosniff"
                told.setdefault("Cache-Control", "no-store")
                told.setdefault("Content-Security-Policy", "default-src 'none'")
            await send(message)

        try:
            refused = refusal(scope, headers, self._limits)
            if refused is not None:
                await refused(scope, receive, answer)
            else:
                most = self._limits.body_of(scope["path"])
                await self._app(scope, _limited(receive, most), answer)
        finally:
            # The template of the route, never the path: that may hold names of documents.
            route = getattr(scope.get("route"), "path", "none")
            seconds = time.monotonic() - began
            self._measures.requests.labels(route, status).inc()
            self._measures.seconds.labels(route).observe(seconds)
            _note(scope, request_id, route, status, seconds)


def refusal(scope: Scope, headers: Headers, limits: Limits) -> JSONResponse | None:
    """Why this request gets no further: a foreign name (DNS rebinding), a foreign page, a flood."""
    named = headers.getlist("host")
    if len(named) != 1 or host_of(named[0]) not in limits.hosts:
        return problem(421, "wrong_host", "this service does not go by that name; see --allow-host")
    origins = headers.getlist("origin")
    if any(one not in limits.origins and not _is_own(one, named[0]) for one in origins):
        return problem(403, "wrong_origin", "other web pages may not use this; see --allow-origin")
    lengths = headers.getlist("content-length")
    if len(lengths) > 1 or any(not one.isdecimal() for one in lengths):
        return problem(400, "bad_length", "Content-Length must be one number")
    most = limits.body_of(scope["path"])
    if any(int(one) > most for one in lengths):
        return problem(413, "too_large", _too_large(most))
    if headers.get("content-encoding", "identity") != "identity":
        return problem(415, "encoded", "send the body as it is, without Content-Encoding")
    return None


def problem(
    status: int, code: str, detail: str, *, error: str = "", retry_after: int | None = None
) -> JSONResponse:
    """An error as RFC 9457 has it, with a code for programs."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    body: dict[str, Any] = {"type": "about:blank", "title": code.replace("_", " ")}
    body |= {"status": status, "code": code, "detail": printable(detail, keep="\n\t")}
    body["error"] = {"message": body["detail"], "type": code, "code": code}  # as OpenAI's clients
    if error:
        body["kind"] = error
    return JSONResponse(
        body, status_code=status, headers=headers, media_type="application/problem+json"
    )


def host_of(header: str) -> str:
    """The name in a Host header, without its port; empty where it is no name."""
    try:
        parts = urlsplit(f"//{header}")
        _ = parts.port
    except ValueError:
        return ""
    plain = parts.username is None and not (parts.path or parts.query or parts.fragment)
    return (parts.hostname or "") if plain else ""


def _is_own(origin: str, host: str) -> bool:
    """Whether a page comes from the very address it asks."""
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _too_large(most: int) -> str:
    return f"a body has at most {most:,} bytes here; see --max-body"


def _limited(receive: Receive, most: int) -> Receive:
    """The same messages; a body that is too long or does not come is cut short with an error."""
    taken = 0
    is_whole = False
    began = time.monotonic()

    async def limited() -> Message:
        nonlocal taken, is_whole
        if is_whole:
            return await receive()  # tells when the client goes away
        try:
            message = await asyncio.wait_for(receive(), _SECONDS_OF_SILENCE)
        except TimeoutError:
            raise HTTPException(408, "the body of the request did not come") from None
        taken += len(message.get("body", b""))
        if time.monotonic() - began > _SECONDS_OF_SILENCE + taken / _SLOWEST:
            raise HTTPException(408, "the body of the request came too slowly")
        is_whole = not message.get("more_body", False)
        if taken > most:
            raise HTTPException(413, _too_large(most))
        return message

    return limited


def _note(scope: Scope, request_id: str, route: str, status: int, seconds: float) -> None:
    """One line of JSON for each request: no texts, no names, no keys."""
    access = scope["state"].get("access")
    line = {
        "request": request_id,
        "method": scope["method"],
        "route": route,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "key": access.key_id if access is not None else "",
    }
    if error := scope["state"].get("error"):
        line["error"] = error
    _log.info("%s", json.dumps(line))


def bearer(values: Sequence[str]) -> str | None:
    """The key of an Authorization header; empty, which no key is, where it holds none or many."""
    if not values:
        return None
    scheme, _, secret = values[0].partition(" ")
    return secret.strip() if len(values) == 1 and scheme.lower() == "bearer" else ""
