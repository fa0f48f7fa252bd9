"""Vectors kept between runs, by model and text, so that a second run embeds nothing.

A SQLite file with one table: the key is the SHA-256 of the model's fingerprint and the text, the
value the vector's numbers as float32. Several processes may use the same file.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import apsw

from pincite.ports import Embedder
from pincite.records import ModelCard
from pincite.vectors import Vector, from_bytes, to_bytes

_WRITTEN_AT_ONCE = 256  # vectors; what a run that is killed has to embed again, at most
_WAIT_FOR_LOCK_MS = 60_000


class CachedEmbedder:
    """An embedder that asks another one only for texts it has never seen."""

    def __init__(self, inner: Embedder, file: Path) -> None:
        self._inner = inner
        self._lock = threading.Lock()  # a connection is used by one thread at a time
        self._waiting: dict[bytes, bytes] = {}  # to be written with the next batch
        self._database = apsw.Connection(str(file))
        self._database.set_busy_timeout(_WAIT_FOR_LOCK_MS)
        # A cache that a power cut spoils can be thrown away, so nothing waits for the disk.
        self._database.execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
            "CREATE TABLE IF NOT EXISTS v(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID"
        ).fetchall()
        self.embedded = 0  # texts that really went through the model

    @property
    def card(self) -> ModelCard:
        """Of the model behind."""
        return self._inner.card

    @property
    def passage_overhead(self) -> int:
        """Of the model behind."""
        return self._inner.passage_overhead

    @property
    def batch(self) -> int:
        """Of the model behind."""
        return self._inner.batch

    @property
    def parallel(self) -> int:
        """Of the model behind."""
        return self._inner.parallel

    def token_starts(self, text: str) -> Sequence[int]:
        """As the model behind cuts it."""
        return self._inner.token_starts(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in their order."""
        keys = [self._key(text) for text in texts]
        known = self._kept(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            vectors = self._inner.embed_passages(list(missing.values()))
            made = dict(zip(missing, map(to_bytes, vectors), strict=True))
            self._keep(made)
            known |= made
        return [from_bytes(known[key]) for key in keys]

    def embed_question(self, text: str) -> Vector:
        """The unit vector to search with."""
        key = self._key(f"question\0{text}")
        known = self._kept([key])
        if not known:
            known = {key: to_bytes(self._inner.embed_question(text))}
            self._keep(known)
        return from_bytes(known[key])

    def foreignness(self, question: str) -> float:
        """To the model behind."""
        return self._inner.foreignness(question)

    def knows(self, word: str) -> bool:
        """Whether the model behind does."""
        return self._inner.knows(word)

    def _key(self, text: str) -> bytes:
        named = f"{self.card.fingerprint}\0{text}"
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()

    def _kept(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        with self._lock:
            looked_up = {key: self._waiting.get(key) or self._stored(key) for key in keys}
        return {key: value for key, value in looked_up.items() if value is not None}

    def _stored(self, key: bytes) -> bytes | None:
        value: bytes | None = self._database.execute("SELECT v FROM v WHERE k = ?", (key,)).get
        return value

    def _keep(self, made: dict[bytes, bytes]) -> None:
        with self._lock:
            self.embedded += len(made)
            self._waiting |= made
            if len(self._waiting) >= _WRITTEN_AT_ONCE:
                self._write()

    def _write(self) -> None:
        with self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO v VALUES (?, ?)", list(self._waiting.items())
            )
        self._waiting.clear()

    def close(self) -> None:
        """Write what is still waiting, and give the file back."""
        with self._lock:
            if self._waiting:
                self._write()
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
