"""A service of embeddings, relevance and language on the loopback that plays what it is told."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    body: object
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    is_held: bool = False  # until the service is released


@dataclass
class Streamed(Reply):
    """An answer whose bytes are sent one piece after the other."""

    body: Iterable[bytes] = ()
    end: str = "close"  # or "reset", or "hold": nothing more comes, but the connection stays


def event(content: object = None, *, finish: str | None = None, **delta: object) -> bytes:
    """A piece of a message as services stream it."""
    choice = {"index": 0, "delta": {"content": content} | delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "1", "choices": [choice]}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def said(*pieces: str) -> Streamed:
    return Streamed([*map(event, pieces), event(finish="stop"), DONE])


Script = Callable[[list[str]], Reply]


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, 2.0]


def items(texts: list[str]) -> list[dict[str, Any]]:
    return [
        {"object": "embedding", "index": index, "embedding": vector_of(text)}
        for index, text in enumerate(texts)
    ]


def answer(data: object) -> Reply:
    return Reply({"object": "list", "model": "m", "data": data, "usage": {}})


def results(passages: list[str]) -> list[dict[str, Any]]:
    """The longer, the better; the best first, as services answer."""
    scored = [
        {"index": place, "relevance_score": len(passage), "document": {"text": passage}}
        for place, passage in enumerate(passages)
    ]
    return sorted(scored, key=lambda one: -one["relevance_score"])


class Service(ThreadingHTTPServer):
    """Answers as it should, or plays one script after another, the last for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripts: list[Script] = []
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        self.ended = threading.Event()  # a stream, from whichever side

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def plays(self, *scripts: Script | Reply) -> None:
        self.scripts = [_constant(each) if isinstance(each, Reply) else each for each in scripts]


def _constant(reply: Reply) -> Script:
    return lambda _: reply


def healthy(texts: list[str]) -> Reply:
    return answer(items(texts))


def ranked(passages: list[str]) -> Reply:
    return Reply({"results": results(passages)})


class _Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = {"path": self.path, "authorization": self.headers["Authorization"]}
        self.server.requests.append(request | seen)
        scripts = self.server.scripts or [healthy if "input" in request else ranked]
        script = scripts.pop(0) if len(scripts) > 1 else scripts[0]
        reply = script(request.get("input") or request.get("documents", []))
        if reply.is_held:
            self.server.released.wait()
        if isinstance(reply, Streamed):
            self._stream(reply)
            return
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

    def _stream(self, reply: Streamed) -> None:
        self.close_connection = True  # which is how its end is told
        try:
            self.send_response(reply.status)
            headers = {"Content-Type": "text/event-stream", "Connection": "close"}
            for name, value in (headers | reply.headers).items():
                self.send_header(name, value)
            self.end_headers()
            for piece in reply.body:
                self.wfile.write(piece)
            if reply.end == "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            elif reply.end == "hold":
                # Until the other side goes away, or the test ends.
                self.connection.settimeout(0.05)
                while not self.server.released.is_set():
                    try:
                        if not self.connection.recv(1):
                            break
                    except TimeoutError:
                        continue
        except OSError:
            pass
        self.server.ended.set()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running_service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
