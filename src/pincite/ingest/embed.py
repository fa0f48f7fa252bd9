"""Windows → unit vectors, on all cores, each text only once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Self

from pincite.errors import ModelError, ModelInvalid, ModelMissing
from pincite.ports import Embedder, Store
from pincite.records import ChunkId, EmbeddedChunk, StoredWindow, WindowedChunk
from pincite.vectors import Vector, unit

KnownVectors = Callable[[Collection[str]], dict[str, Vector]]
"""Vectors of the embedder's own space that exist elsewhere, for the fingerprints of texts."""


def nothing_known(fingerprints: Collection[str]) -> dict[str, Vector]:
    """There is nowhere else to look."""
    return {}


@dataclass(frozen=True)
class Pending:
    """Chunks whose vectors are being made."""

    chunks: Sequence[WindowedChunk]
    vectors: dict[str, Vector | Future[list[Vector]]]
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


class ChunksFailed(ModelError):
    """Some chunks of a document got no vector, so that it cannot be stored."""

    def __init__(self, chunk_ids: list[ChunkId], cause: ModelError) -> None:
        super().__init__(str(cause))
        self.chunk_ids = chunk_ids
        self.cause = cause


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
        self._under_way: dict[str, tuple[Future[list[Vector]], int]] = {}
        self.embedded = 0  # windows that really went through the model

    def submit(self, chunks: Sequence[WindowedChunk]) -> Pending:
        """Start on a document's windows."""
        texts = {window.fingerprint: window.embedded for part in chunks for window in part.windows}
        stored = texts.keys() if self._reusable is None else texts.keys() & self._reusable
        known = self._known(stored)
        vectors: dict[str, Vector | Future[list[Vector]]] = {**known}
        place: dict[str, int] = {}
        for fingerprint in texts.keys() - known.keys():
            if fingerprint in self._under_way:
                vectors[fingerprint], place[fingerprint] = self._under_way[fingerprint]
        missing = [fingerprint for fingerprint in texts if fingerprint not in vectors]
        for first in range(0, len(missing), self._embedder.batch):
            batch = missing[first : first + self._embedder.batch]
            future = self._threads.submit(
                self._embedder.embed_passages, [texts[fingerprint] for fingerprint in batch]
            )
            for number, fingerprint in enumerate(batch):
                vectors[fingerprint], place[fingerprint] = future, number
                self._under_way[fingerprint] = (future, number)
        self.embedded += len(missing)
        return Pending(chunks, vectors, place)

    def _known(self, fingerprints: Collection[str]) -> dict[str, Vector]:
        known = self._store.known_vectors(fingerprints)
        missing = [one for one in fingerprints if one not in known]
        return {**known, **self._elsewhere(missing)} if missing else known

    def collect(self, pending: Pending) -> tuple[EmbeddedChunk, ...]:
        """Wait for the vectors; ChunksFailed names the chunks that did not get theirs."""
        embedded = []
        failed: list[ChunkId] = []
        cause: ModelError | None = None
        for part in pending.chunks:
            try:
                embedded.append(EmbeddedChunk(part.chunk, self._windows(part, pending)))
            except ModelMissing:
                raise
            except ModelError as error:
                failed.append(part.chunk.id)
                cause = cause or error
        if cause is not None:
            raise ChunksFailed(failed, cause)
        return tuple(embedded)

    def _windows(self, part: WindowedChunk, pending: Pending) -> tuple[StoredWindow, ...]:
        return tuple(
            StoredWindow(
                window.start,
                window.end,
                window.fingerprint,
                self._vector(window.fingerprint, pending),
            )
            for window in part.windows
        )

    def _vector(self, fingerprint: str, pending: Pending) -> Vector:
        vector = pending.vectors[fingerprint]
        if not isinstance(vector, Future):
            return vector  # as it was stored: normalising again would change its last bit
        made = vector.result()
        place = pending.place[fingerprint]
        if place >= len(made):
            raise ModelInvalid("the model gave fewer vectors than there were texts")
        return unit(made[place], dimensions=self._embedder.card.dimensions)

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
