"""A worker seen from outside: start it, ask it, stop it, tell how it is; and an embedder in it."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from pincite.errors import ModelInvalid, ModelUnavailable
from pincite.models.catalog import is_service, model_folder
from pincite.models.worker import wire
from pincite.models.worker.wire import Place, code_stamp, model_stamp, place_of, workers_folder
from pincite.ports import Embedder
from pincite.records import ModelCard
from pincite.settings import ONE_THREAD, WorkerSettings

if TYPE_CHECKING:
    from pincite.vectors import Vector

_Answer = TypeVar("_Answer")

_STATUS_SECONDS = 5.0
_PING_SECONDS = 30.0  # a busy worker is not a dead one
_END_SECONDS = 5.0  # for what it is still embedding
_BETWEEN_LOOKS = 0.02  # seconds
_WITHOUT = "Without a worker (PINCITE_WORKER=off) each call runs the model itself."

State = Literal["running", "starting", "other version", "not answering", "not running"]


def through_worker(
    name: str,
    models_folder: Path,
    settings: WorkerSettings,
    *,
    here: Embedder,
    on_trouble: Callable[[str], None],
) -> Embedder:
    """The model in a worker, as the settings want it; `here` is the same one in this process."""
    if is_service(name):
        return here
    worker = worker_for(name, models_folder, settings)
    if settings.use == "auto":
        found = worker.is_there()
        return WorkerEmbedder(worker, instead=here, on_trouble=on_trouble) if found else here
    return WorkerEmbedder(worker)


class WorkerEmbedder:
    """The model of a worker. Threads may share it; each call is a connection of its own.

    A worker that is not there is started; one that is lost in the middle of a call, once more.
    Where that does not help the call fails, or goes on with `instead`: the same model, here.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        instead: Embedder | None = None,
        on_trouble: Callable[[str], None] = lambda trouble: None,
    ) -> None:
        self._worker = worker
        self._instead = instead
        self._on_trouble = on_trouble
        self._given_up = False
        self._fingerprint: str | None = None

    @property
    def card(self) -> ModelCard:
        """As the worker tells it."""
        return self._facts[0]

    @property
    def passage_overhead(self) -> int:
        """As the worker tells it."""
        return self._facts[1]

    @property
    def batch(self) -> int:
        """As the worker tells it."""
        return self._facts[2]

    @property
    def parallel(self) -> int:
        """As the worker tells it."""
        return self._facts[3]

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each token of the model's own tokenizer begins."""

        def read(_: wire.Header, body: bytes) -> Sequence[int]:
            return array("I", body)

        return self._asked("token_starts", [text], read, lambda own: own.token_starts(text))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in their order."""

        def read(_: wire.Header, body: bytes) -> list[Vector]:
            return self._vectors(body, len(texts))

        return self._asked("embed_passages", texts, read, lambda own: own.embed_passages(texts))

    def embed_question(self, text: str) -> Vector:
        """The unit vector to search with."""

        def read(_: wire.Header, body: bytes) -> Vector:
            return self._vectors(body, 1)[0]

        return self._asked("embed_question", [text], read, lambda own: own.embed_question(text))

    def foreignness(self, question: str) -> float:
        """How little the model knows of the question's language, from 0 to 1."""

        def read(header: wire.Header, _: bytes) -> float:
            return float(header["foreignness"])

        return self._asked("foreignness", [question], read, lambda own: own.foreignness(question))

    def knows(self, word: str) -> bool:
        """Whether the word is one of the model's own."""

        def read(header: wire.Header, _: bytes) -> bool:
            return bool(header["knows"])

        return self._asked("knows", [word], read, lambda own: own.knows(word))

    @cached_property
    def _facts(self) -> tuple[ModelCard, int, int, int]:
        def read(header: wire.Header, _: bytes) -> tuple[ModelCard, int, int, int]:
            numbers = (int(header[name]) for name in ("passage_overhead", "batch", "parallel"))
            overhead, batch, parallel = numbers
            return ModelCard(**header["card"]), overhead, batch, parallel

        facts = self._asked(
            "facts",
            (),
            read,
            lambda own: (own.card, own.passage_overhead, own.batch, own.parallel),
        )
        # From here on no other model may answer: its vectors would mean something else.
        self._fingerprint = facts[0].fingerprint
        return facts

    def _vectors(self, body: bytes, count: int) -> list[Vector]:
        dimensions = self.card.dimensions
        if len(body) != count * dimensions * 4:
            raise ModelInvalid(f"the worker gave {len(body)} bytes for {count} vectors")
        import numpy as np

        rows = np.frombuffer(body, dtype="<f4").reshape(count, dimensions)
        return [row.astype(np.float32) for row in rows]

    def _asked(
        self,
        verb: str,
        texts: Sequence[str],
        read: Callable[[wire.Header, bytes], _Answer],
        instead: Callable[[Embedder], _Answer],
    ) -> _Answer:
        if not self._given_up:
            try:
                return read(*self._ask_twice(verb, texts))
            except ModelUnavailable as trouble:
                if self._instead is None:
                    raise
                self._given_up = True
                self._on_trouble(f"{trouble} The model is run in this process instead.")
        return instead(self._checked_instead())

    def _ask_twice(self, verb: str, texts: Sequence[str]) -> tuple[wire.Header, bytes]:
        try:
            return self._worker.ask(verb, texts, fingerprint=self._fingerprint)
        except WorkerLost:
            self._worker.ensure()
        try:
            return self._worker.ask(verb, texts, fingerprint=self._fingerprint)
        except WorkerLost as lost:
            if str(lost) == wire.OTHER_MODEL:
                raise self._changed() from None
            raise ModelUnavailable(
                f"The embedding worker for {self._worker.spec} was lost twice ({lost}); "
                f"{self._worker.place.log} may tell why."
            ) from lost

    def _checked_instead(self) -> Embedder:
        own = self._instead
        if own is None or self._fingerprint not in (None, own.card.fingerprint):
            raise self._changed()
        return own

    def _changed(self) -> ModelInvalid:
        return ModelInvalid(
            f"the files of the model {self._worker.spec} were changed while it was in use; open "
            "the library again"
        )


class WorkerLost(Exception):
    """There is no worker, it died, or it is not the one that should answer."""


@dataclass(frozen=True)
class Worker:
    """The worker for one model; it may not be running."""

    spec: str  # of a local model; a folder by its absolute path
    models_folder: Path  # absolute
    settings: WorkerSettings

    @property
    def place(self) -> Place:
        """Where its files are."""
        return place_of(self.spec, self.models_folder, self.settings.folder)

    def is_there(self) -> bool:
        """Whether one was started and has not ended itself; it may have been killed."""
        return self.place.socket.exists()

    def ask(
        self,
        verb: str,
        texts: Sequence[str] = (),
        *,
        fingerprint: str | None = None,
        silence: float | None = None,
    ) -> tuple[wire.Header, bytes]:
        """Its answer; WorkerLost where another one should be asked, ModelError where it says so."""
        request = {
            "code": code_stamp(),
            "model": model_stamp(self.spec, self.models_folder),
            "fingerprint": fingerprint,
            "verb": verb,
            "texts": list(texts),
        }
        return _asked(self.place, request, silence or self.settings.silence_seconds)

    def ensure(self) -> None:
        """Start it unless the very one that should answer is there; ModelError where it cannot.

        When this returns, its model is loaded and has shown that it works.
        """
        place = self.place
        try:
            place.make()
            with place.starting():
                try:
                    self.ask("ping", silence=min(_PING_SECONDS, self.settings.silence_seconds))
                except WorkerLost:
                    stop_worker(place)
                    self._start(place)
        except OSError as error:
            raise ModelUnavailable(
                f"The embedding worker cannot be started in {place.folder}: {error}. {_WITHOUT}"
            ) from error

    def _start(self, place: Place) -> None:
        place.make_token()
        told = _spawned(self, place)
        if told is None:
            raise ModelUnavailable(
                f"The embedding worker for {self.spec} did not start; {place.log} tells why. "
                + _WITHOUT
            )
        error = wire.error_in(told)
        if error is not None:
            raise error


def worker_for(name: str, models_folder: Path, settings: WorkerSettings) -> Worker:
    """The worker for a local model as a user names it; SettingsError for a service."""
    models_folder = models_folder.absolute()
    folder = model_folder(name, models_folder)
    spec = name if folder is None or name == "minilm" else str(folder)
    return Worker(spec, models_folder, settings)


def stop_worker(place: Place) -> bool:
    """End the worker there; False where there was none."""
    if not place.is_held():
        place.socket.unlink(missing_ok=True)  # of one that was killed
        return False
    place.refuse_strangers()  # who else could write here could name any process
    process = place.process_id()
    # A worker of another version may not understand us, but every one understands a signal.
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process, sign)
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            if not place.is_held():
                place.socket.unlink(missing_ok=True)
                return True
            time.sleep(_BETWEEN_LOOKS)
    raise ModelUnavailable(f"the embedding worker {process} does not end")


@dataclass(frozen=True, kw_only=True)
class WorkerStatus:
    """One line of `pincite worker status`."""

    state: State
    folder: str
    model: str | None = None  # what the user writes after --model
    process_id: int | None = None
    uptime_seconds: float | None = None
    idle_seconds: float | None = None  # after which it ends
    calls: int | None = None
    memory_bytes: int | None = None


def status_of(place: Place) -> WorkerStatus:
    """How the worker there is."""
    process = place.process_id()
    if not place.is_held():
        return WorkerStatus(state="not running", folder=str(place.folder))
    # Neither code nor model are compared: whoever asks how it is may be of another version.
    try:
        told, _ = _asked(place, {"verb": "status"}, _STATUS_SECONDS)
    except WorkerLost:
        state: State = "not answering" if place.socket.exists() else "starting"
        return WorkerStatus(state=state, folder=str(place.folder), process_id=process)
    same = told.get("code") == code_stamp()
    return WorkerStatus(
        state="running" if same else "other version",
        folder=str(place.folder),
        model=str(told.get("model")),
        process_id=process,
        uptime_seconds=float(told.get("uptime_seconds", 0)),
        idle_seconds=float(told.get("idle_seconds", 0)),
        calls=int(told.get("calls", 0)),
        memory_bytes=int(told.get("memory_bytes", 0)),
    )


def all_places(chosen: Path | None) -> list[Place]:
    """Of every worker that this user has or had."""
    folder = workers_folder(chosen)
    return [Place(one) for one in sorted(folder.glob("*")) if one.is_dir()]


def _asked(place: Place, request: wire.Header, silence: float) -> tuple[wire.Header, bytes]:
    try:
        place.refuse_strangers()
        token = place.token.read_bytes()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(silence)
            connection.connect(str(place.socket))
            connection.sendall(token)
            with suppress(BrokenPipeError):  # who refuses the token need not hear the rest
                wire.send(connection, request)
            header, body = wire.receive(connection)
    except (OSError, wire.Broken) as error:
        raise WorkerLost(str(error)) from error
    error_told = wire.error_in(header)
    if error_told is not None:
        raise error_told
    if "refused" in header:
        raise WorkerLost(str(header["refused"]))
    return header, body


def _spawned(worker: Worker, place: Place) -> wire.Header | None:
    """What a new process tells of its start: nothing to say is good, None is no answer at all."""
    import subprocess

    log = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.ftruncate(log, 0)
    ours, theirs = os.pipe()
    try:
        # Neither our environment, which may hold keys, nor the folder we stand in, which may hold
        # modules of the same names, is passed on. It forks once and so does not stay our child.
        subprocess.run(  # noqa: S603 — our own module
            [
                *(sys.executable, "-P", "-m", "pincite.models.worker.server"),
                *(worker.spec, str(worker.models_folder), str(place.folder)),
                *(str(worker.settings.idle_seconds), str(theirs)),
            ],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(theirs,),
            start_new_session=True,
            cwd="/",
            env={
                "PYTHONPATH": os.pathsep.join(_import_paths()),
                "PYTHONUTF8": "1",
                **ONE_THREAD,  # not before it forks, and there is little to multiply
            },
        )
        os.close(theirs)
        theirs = -1
        told = _told(ours, worker.settings.start_seconds)
    finally:
        for descriptor in (log, ours, theirs):
            if descriptor >= 0:
                os.close(descriptor)
    return told


def _import_paths() -> list[str]:
    """Where we and what is installed are found, and nothing else that Python looks through here.

    With `python -m pincite` it looks through the folder one stands in before all others.
    """
    import site
    import sysconfig

    ours = str(Path(__file__).parents[3])
    installed = {
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib")),
        *(*site.getsitepackages(), site.getusersitepackages()),
    }
    # The standard library is named, too: it comes before what is installed, as it does here.
    found = [path for path in sys.path if path in installed]
    return found if ours in found else [ours, *found]


def _told(pipe: int, seconds: float) -> wire.Header | None:
    """The JSON object that comes through the pipe before it is closed."""
    data = b""
    deadline = time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([pipe], [], [], max(deadline - time.monotonic(), 0))
        part = os.read(pipe, 1 << 16) if ready else b""
        if not part:
            break
        data += part
    try:
        told = json.loads(data)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None
