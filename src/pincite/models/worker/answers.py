"""What a worker answers: one message for one message, whoever sent it."""

from __future__ import annotations

import resource
import sys
import time
from array import array
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import msgspec

from pincite.errors import ModelError, PinciteError
from pincite.models.worker import wire
from pincite.models.worker.place import code_stamp, model_stamp
from pincite.ports import Embedder
from pincite.vectors import to_bytes

_WARM_UP = "Does this model work?"

Reply = tuple[wire.Header, bytes]


class Request(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked. `code`, `model` and `fingerprint` say of whom the answer is wanted."""

    verb: Literal[
        "status",
        "ping",
        "facts",
        "token_starts",
        "embed_passages",
        "embed_question",
        "foreignness",
        "knows",
    ]
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
        if request.verb == "ping":
            return {}, b""
        if request.verb == "facts":
            return self._facts(), b""
        if request.verb == "embed_passages":
            return {}, b"".join(map(to_bytes, embedder.embed_passages(request.texts)))
        (text,) = request.texts
        return self._of_text(request.verb, text)

    def _of_text(self, verb: str, text: str) -> Reply:
        if verb == "token_starts":
            return {}, array("I", self._embedder.token_starts(text)).tobytes()
        if verb == "embed_question":
            return {}, to_bytes(self._embedder.embed_question(text))
        if verb == "knows":
            return {"knows": self._embedder.knows(text)}, b""
        return {"foreignness": self._embedder.foreignness(text)}, b""

    def _facts(self) -> wire.Header:
        embedder = self._embedder
        return {
            "card": asdict(embedder.card),
            "passage_overhead": embedder.passage_overhead,
            "batch": embedder.batch,
            "parallel": embedder.parallel,
        }

    def _status(self) -> wire.Header:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "model": self._spec,
            "code": self._code,
            "uptime_seconds": time.monotonic() - self._started,
            "memory_bytes": most * (1 if sys.platform == "darwin" else 1024),
        }
