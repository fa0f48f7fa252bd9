"""The process that holds one model and answers whoever of its user asks.

Run by `client.py`: `python -m pincite.models.worker.server MODEL MODELS_FOLDER FOLDER IDLE_SECONDS
PIPE`. Through the pipe it tells how its start went. It ends by itself when nobody asks for a while,
or when its files are gone.
"""

from __future__ import annotations

import hmac
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from array import array
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from pincite.errors import ModelError, PinciteError, SettingsError
from pincite.models.catalog import is_service, open_embedder
from pincite.models.worker import wire
from pincite.models.worker.wire import TOKEN_BYTES, Place, code_stamp, model_stamp
from pincite.ports import Embedder
from pincite.vectors import to_bytes

_MOST_AT_ONCE = 32  # connections; more wait to be let in
_REQUEST_SECONDS = 30.0  # of silence in the middle of a request
_LONGEST_TICK = 3.0  # seconds between looks at the clock and the files
_BETWEEN_TRIES = 0.05  # seconds
_PATIENCE = 60.0  # seconds, with a worker that is ending
_END, _ROOM = b"!", b"."  # what wakes the one who lets in

_WARM_UP = "Does this model work?"

Reply = tuple[wire.Header, bytes]
Asked = Literal["facts", "token_starts", "embed_passages", "embed_question", "foreignness", "knows"]
Verb = Literal["status", "ping"] | Asked


class Server:
    """Lets in whoever knows the token, until nobody comes any more."""

    def __init__(
        self, answers: Answers, place: Place, idle_seconds: float, listener: socket.socket
    ) -> None:
        self._answers = answers
        self._listener = listener
        self._own_socket = _inode(place.socket)
        self._place = place
        self._idle_seconds = idle_seconds
        self._token = place.token.read_bytes()
        self._counting = Lock()
        self._calls = self._busy = 0
        self._last_asked = time.monotonic()
        self._waker, self._woken = socket.socketpair()

    def run(self) -> None:
        """Answer until idle for too long, told to end, or without files."""
        with ThreadPoolExecutor(_MOST_AT_ONCE) as threads:
            try:
                while self._goes_on(threads):
                    pass
            finally:
                # Whoever comes now must not find us; those who are here are still answered.
                if self._has_socket():
                    self._place.socket.unlink(missing_ok=True)
                self._listener.close()

    def end(self) -> None:
        """Answer what was asked, and nothing more."""
        self._waker.send(_END)

    def _goes_on(self, threads: ThreadPoolExecutor) -> bool:
        """Let in the next one, where one comes and there is room; False when it is time to end."""
        tick = min(_LONGEST_TICK, self._idle_seconds / 4)
        try:
            if not self._is_wanted():
                return False
            # Who finds no room waits outside: each one in here holds a descriptor of ours.
            doors = [self._listener] if self._busy < _MOST_AT_ONCE else []
            ready, _, _ = select.select([self._woken, *doors], [], [], tick)
            if self._woken in ready and _END in self._woken.recv(_MOST_AT_ONCE):
                return False
            if self._listener in ready:
                connection, _ = self._listener.accept()
                self._count(begun=1)
                threads.submit(self._serve, connection)
        except OSError:  # no descriptor is left, say: those who are here will give theirs back
            time.sleep(_BETWEEN_TRIES)
        return True

    def _is_wanted(self) -> bool:
        if self._busy == 0 and time.monotonic() - self._last_asked > self._idle_seconds:
            return False
        return self._has_socket() and self._answers.are_current()

    def _has_socket(self) -> bool:
        """Whether the socket of that name is still ours."""
        return self._own_socket is not None and _inode(self._place.socket) == self._own_socket

    def _serve(self, connection: socket.socket) -> None:
        """One request, one answer; whatever goes wrong with it is nobody else's business."""
        try:
            with connection:
                connection.settimeout(_REQUEST_SECONDS)
                token = wire.receive_bytes(connection, TOKEN_BYTES)
                if not hmac.compare_digest(token, self._token):
                    wire.send(connection, {"refused": wire.STRANGER})
                    return
                header, _ = wire.receive(connection)
                with self._counting:
                    self._calls += header.get("verb") != "status"
                reply, body = self._answers.to(header)
                ours = {"calls": self._calls, "idle_seconds": self._idle_seconds}
                wire.send(connection, {**reply, **ours}, body)
        except (OSError, wire.Broken):
            pass  # the one who asked is gone
        finally:
            self._count(begun=-1)

    def _count(self, *, begun: int) -> None:
        with self._counting:
            self._last_asked = time.monotonic()
            was_full = self._busy == _MOST_AT_ONCE
            self._busy += begun
        if was_full:
            self._waker.send(_ROOM)


def _main() -> None:
    """Be the worker, unless there is one already."""
    spec, models_folder, folder, idle_seconds, pipe = sys.argv[1:]
    if os.fork():  # whoever started us need not wait for our end, nor be there for it
        os._exit(0)
    place = Place(Path(folder))
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        with place.held() as alone:
            if alone:
                _work(spec, Path(models_folder), place, float(idle_seconds), int(pipe))
                return
        if place.socket.exists():
            _tell(int(pipe), {})  # another one was faster
            return
        time.sleep(_BETWEEN_TRIES)  # another one is starting, or ending


def _work(spec: str, models_folder: Path, place: Place, idle_seconds: float, pipe: int) -> None:
    try:
        if is_service(spec):
            raise SettingsError(f"{spec} is a service; a worker never asks one")
        embedder = open_embedder(spec, models_folder=models_folder, base_url=None, api_key=None)
        answers = Answers(spec, models_folder, embedder)
        answers.warm_up()
    except PinciteError as error:
        _tell(pipe, wire.problem(error))
        return
    with _listening(place.socket) as listener:
        server = Server(answers, place, idle_seconds, listener)
        signal.signal(signal.SIGTERM, lambda *_: server.end())
        _tell(pipe, {})
        server.run()


def _listening(path: Path) -> socket.socket:
    """A socket for the user alone, that is there only when it can be used."""
    new = path.with_name("socket.new")
    for leftover in (new, path):  # of a worker that was killed; we hold the lock
        leftover.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listener.bind(str(new))
    finally:
        os.umask(before)
    listener.listen(128)
    new.rename(path)
    return listener


def _tell(pipe: int, how_it_went: wire.Header) -> None:
    os.write(pipe, json.dumps(how_it_went).encode())
    os.close(pipe)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


class Request(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked. `code`, `model` and `fingerprint` say of whom the answer is wanted."""

    verb: Verb
    texts: list[str] = []
    code: str = ""
    model: str = ""
    fingerprint: str | None = None


class Answers:
    """One model, ready to be asked from several threads."""

    def __init__(self, spec: str, models_folder: Path, embedder: Embedder) -> None:
        self._spec = spec
        self._models_folder = models_folder
        self._embedder = embedder
        self._code = code_stamp()
        self._model = model_stamp(spec, models_folder)
        self._started = time.monotonic()

    def warm_up(self) -> None:
        """Load all of the model and try it; ModelError where it does not work."""
        self._embedder.embed_passages([_WARM_UP])
        self._embedder.foreignness(_WARM_UP)
        if not self.are_current():
            raise ModelError("the model's files are being changed; try again when that is done")

    def are_current(self) -> bool:
        """Whether the model's files are still those that were loaded."""
        return model_stamp(self._spec, self._models_folder) == self._model

    def to(self, header: wire.Header) -> Reply:
        """The answer to a request."""
        try:
            request = msgspec.convert(header, Request)
        except msgspec.ValidationError:
            return {"refused": wire.OTHER_CODE}, b""
        if request.verb == "status":
            return self._status(), b""
        refused = self._refused(request)
        if refused:
            return {"refused": refused}, b""
        try:
            return self._done(request)
        except PinciteError as error:
            return wire.problem(error), b""
        except Exception as error:  # noqa: BLE001 — told to the one who asked; the others go on
            return wire.problem(ModelError(f"the worker failed: {error!r}")), b""

    def _refused(self, request: Request) -> str | None:
        if request.code != self._code:
            return wire.OTHER_CODE
        same = request.fingerprint in (None, self._embedder.card.fingerprint)
        return None if same and request.model == self._model else wire.OTHER_MODEL

    def _done(self, request: Request) -> Reply:
        embedder = self._embedder
        header: wire.Header = {}
        body = b""
        match request.verb, request.texts:
            case "facts", _:
                numbers = ("passage_overhead", "batch", "parallel")
                header = {name: getattr(embedder, name) for name in numbers}
                header["card"] = asdict(embedder.card)
            case "embed_passages", texts:
                body = b"".join(map(to_bytes, embedder.embed_passages(texts)))
            case "token_starts", [text]:
                body = array("I", embedder.token_starts(text)).tobytes()
            case "embed_question", [text]:
                body = to_bytes(embedder.embed_question(text))
            case "knows" | "foreignness" as verb, [text]:
                header = {verb: getattr(embedder, verb)(text)}
        return header, body

    def _status(self) -> wire.Header:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "model": self._spec,
            "code": self._code,
            "uptime_seconds": time.monotonic() - self._started,
            "memory_bytes": most * (1 if sys.platform == "darwin" else 1024),
        }


if __name__ == "__main__":
    _main()
