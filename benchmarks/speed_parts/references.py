"""What searches are compared with: the same vectors and the same words, bare and in memory."""

from __future__ import annotations

from pathlib import Path

import bm25s
import numpy as np
import Stemmer

from pincite.stores.sqlite.connection import connect
from pincite.stores.sqlite.reader import DATABASE_NAME
from pincite.vectors import Vector


class NumpyScan:
    """Every vector of an index in one array, scanned with one thread."""

    def __init__(self, folder: Path) -> None:
        database = connect(folder / DATABASE_NAME, writable=False)
        count = database.execute("SELECT count(*) FROM window_vector").get
        rows = database.execute("SELECT embedding FROM window_vector")
        first = np.frombuffer(next(rows)[0], np.float32)
        self._vectors = np.empty((count, len(first)), np.float32)
        self._vectors[0] = first
        for number, (vector,) in enumerate(rows, start=1):
            self._vectors[number] = np.frombuffer(vector, np.float32)
        database.close()

    @property
    def mb(self) -> float:
        """What it holds in memory."""
        return self._vectors.nbytes / 1e6

    def search(self, vector: Vector, limit: int) -> object:
        """The nearest vectors, best first."""
        scores = self._vectors @ vector
        best = np.argpartition(scores, -limit)[-limit:]
        return best[np.argsort(-scores[best])]


class Bm25s:
    """The words of every chunk of an index, stemmed and without stop words, as bm25s keeps them."""

    def __init__(self, folder: Path) -> None:
        database = connect(folder / DATABASE_NAME, writable=False)
        texts = [text for (text,) in database.execute("SELECT text FROM chunk_words")]
        database.close()
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25()
        self._index.index(self._tokens(texts), show_progress=False)

    def _tokens(self, texts: list[str]) -> object:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)

    @property
    def mb(self) -> float:
        """What its arrays hold in memory."""
        arrays = (value for value in self._index.scores.values() if isinstance(value, np.ndarray))
        return sum(array.nbytes for array in arrays) / 1e6

    def search(self, question: str, limit: int) -> object:
        """The chunks that speak most to the question, best first."""
        return self._index.retrieve(self._tokens([question]), k=limit, show_progress=False)
