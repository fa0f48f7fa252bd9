"""Listens on this machine and remembers who calls."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Canary:
    """Where to call, and who did."""

    url: str
    calls: list[str] = field(default_factory=list)


@contextmanager
def listening(answer: str) -> Iterator[Canary]:
    """A canary that gives every caller this answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        canary = Canary(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=_answer_all, args=(listener, canary, answer), daemon=True)
        thread.start()
        try:
            yield canary
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _answer_all(listener: socket.socket, canary: Canary, answer: str) -> None:
    with suppress(OSError):  # the listener was shut down
        while True:
            caller, address = listener.accept()
            canary.calls.append(str(address))
            with caller, suppress(OSError):
                caller.recv(200)
                caller.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + answer.encode())
