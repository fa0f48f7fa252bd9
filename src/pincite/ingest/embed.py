"""Windows → unit vectors, on all cores, each text only once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Self

from pincite.errors import ModelError, ModelInvalid, ModelMissing, ModelRefused, ModelUnavailable
from pincite.ports import Embedder, Store
from pincite.records import ChunkId, EmbeddedChunk, StoredWindow, Window, WindowedChunk
from pincite.vectors import Vector, unit

_PLAIN = "A plain sentence, which a model that works embeds."

_Future = Future[list[Vector | ModelError]]  # an error in the place of a text that is refused
KnownVectors = Callable[[Collection[str]], dict[str, Vector]]
"""Vectors of the embedder's own space that exist elsewhere, for the fingerprints of texts."""


def nothing_known(fingerprints: Collection[str]) -> dict[str, Vector]:
    """There is nowhere else to look."""
    return {}


@dataclass(frozen=True)
class Pending:
    """Chunks whose vectors are being made."""

    chunks: Sequence[WindowedChunk]
    vectors: dict[str, Vector | _Future]
    place: dict[str, int]  # of a fingerprint in its future's list

    @property
    def windows(self) -> int:
        """How many windows have to be waited for."""
        return len(self.place)

    def batches(self) -> Iterator[int]:
        """Wait for one batch after the other; how many windows each has."""
        windows = Counter(one for one in self.vectors.values() if isinstance(one, Future))
        for future, count in windows.items():
            wait([future])
            yield count


def unanswered(failed: Iterable[ModelError]) -> ModelUnavailable | None:
    """The first failure that is the service's, and not that of one text."""
    for error in failed:
        if isinstance(error, ModelUnavailable) and not isinstance(error, ModelRefused):
            return error
    return None


class EmbeddingPool:
    """Feeds the embedder from several threads and hands out vectors that exist already."""

    def __init__(
        self,
        embedder: Embedder,
        store: Store,
        *,
        reuse: bool = True,
        elsewhere: KnownVectors = nothing_known,
    ) -> None:
        self._embedder = embedder
        self._store = store
        self._elsewhere = elsewhere
        # Without reuse only what this run embedded itself is taken from the store.
        self._reusable: set[str] | None = None if reuse else set()
        self._threads = ThreadPoolExecutor(embedder.parallel, thread_name_prefix="embed")
        self._under_way: dict[str, tuple[_Future, int]] = {}
        self._sent = 0
        self._refused: list[ModelError] = []  # one for each window

    @property
    def embedded(self) -> int:
        """How many windows really went through the model."""
        return self._sent - len(self._refused)

    def submit(self, chunks: Sequence[WindowedChunk]) -> Pending:
        """Start on a document's windows."""
        texts = {window.fingerprint: window.embedded for part in chunks for window in part.windows}
        stored = texts.keys() if self._reusable is None else texts.keys() & self._reusable
        known = self._store.known_vectors(stored)
        missing = [one for one in stored if one not in known]
        if missing:
            known = {**known, **self._elsewhere(missing)}
        vectors: dict[str, Vector | _Future] = {**known}
        place: dict[str, int] = {}
        for fingerprint in texts.keys() - known.keys():
            if fingerprint in self._under_way:
                vectors[fingerprint], place[fingerprint] = self._under_way[fingerprint]
        missing = [fingerprint for fingerprint in texts if fingerprint not in vectors]
        for first in range(0, len(missing), self._embedder.batch):
            batch = missing[first : first + self._embedder.batch]
            future = self._threads.submit(self._embed, [texts[name] for name in batch])
            for number, fingerprint in enumerate(batch):
                vectors[fingerprint], place[fingerprint] = future, number
                self._under_way[fingerprint] = (future, number)
        self._sent += len(missing)
        return Pending(chunks, vectors, place)

    def _embed(self, texts: Sequence[str], *, is_first: bool = True) -> list[Vector | ModelError]:
        """The vectors of a batch; a text that the model refuses is found by halving the batch.

        ModelUnavailable where it is not about a text: no answer, or none to a plain sentence.
        """
        try:
            return [*self._made(texts)]
        except ModelError as error:
            if isinstance(error, ModelMissing) or unanswered([error]):
                raise
            refusal = error
        if is_first:
            try:
                self._made([_PLAIN])
            except ModelError as error:
                raise ModelUnavailable(str(refusal)) from error
        if len(texts) == 1:
            self._refused.append(refusal)
            return [refusal]
        middle = len(texts) // 2
        halves = (texts[:middle], texts[middle:])
        return [one for half in halves for one in self._embed(half, is_first=False)]

    def _made(self, texts: Sequence[str]) -> list[Vector]:
        made = self._embedder.embed_passages(texts)
        if len(made) != len(texts):
            raise ModelInvalid(f"the model gave {len(made)} vectors for {len(texts)} texts")
        return [unit(one, dimensions=self._embedder.card.dimensions) for one in made]

    def collect(
        self, pending: Pending
    ) -> tuple[tuple[EmbeddedChunk, ...], dict[ChunkId, ModelError]]:
        """Wait for the vectors; which chunks have none, and why."""
        embedded = []
        failed: dict[ChunkId, ModelError] = {}
        for part in pending.chunks:
            windows: tuple[StoredWindow, ...] = ()
            try:
                windows = tuple(
                    StoredWindow(one.start, one.end, one.fingerprint, self._vector(one, pending))
                    for one in part.windows
                )
            except ModelMissing:
                raise
            except ModelError as error:
                failed[part.chunk.id] = error
            embedded.append(EmbeddedChunk(part.chunk, windows))
        return tuple(embedded), failed

    def _vector(self, window: Window, pending: Pending) -> Vector:
        fingerprint = window.fingerprint
        vector = pending.vectors[fingerprint]
        if not isinstance(vector, Future):
            return vector  # as it was stored: normalising again would change its last bit
        made = vector.result()[pending.place[fingerprint]]
        if isinstance(made, ModelError):
            raise made
        return made

    def forget(self, pending: Pending) -> None:
        """The document is stored or given up: its vectors are found in the store from now on."""
        for fingerprint in pending.place:
            self._under_way.pop(fingerprint, None)
        if self._reusable is not None:
            self._reusable.update(pending.place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Work that was not started is dropped; after an error what runs is not waited for."""
        self._threads.shutdown(wait=error is None, cancel_futures=True)
