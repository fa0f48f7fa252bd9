"""An embedder whose model is in another process."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from pincite.errors import ModelInvalid, ModelUnavailable
from pincite.models.catalog import is_service
from pincite.models.worker import wire
from pincite.models.worker.process import Worker, WorkerLost, worker_for
from pincite.ports import Embedder
from pincite.records import ModelCard
from pincite.settings import WorkerSettings
from pincite.vectors import Vector

_Answer = TypeVar("_Answer")


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
            starts = array("I")
            starts.frombytes(body)
            return starts

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
