"""Rows of the database → segments, and several segments → one."""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from pincite.stores.sqlite.search import COLUMN_WEIGHTS
from pincite.stores.sqlite.segments.segment import HALVES, ID_BYTES, Segment, telling_signs

_IN_HALVES = tuple(round(HALVES * weight) for weight in COLUMN_WEIGHTS)
_MOST_COUNTED = 0xFFFF
# As the table `chunk_words` has it.
_TOKENIZER = ("unicode61", "remove_diacritics", "2", "categories", "L* N* Co Mn Mc")

_WORDS = """
SELECT chunk.rowid, chunk.id, document.id,
    coalesce(chunk_words.text, ''), coalesce(chunk_words.about, ''),
    coalesce(chunk_words.headings, ''), coalesce(chunk_words.codes, '')
FROM chunk JOIN document ON document.rowid = chunk.document
LEFT JOIN chunk_words ON chunk_words.rowid = chunk.rowid
WHERE chunk.rowid >= :first AND chunk.rowid < :end ORDER BY chunk.rowid
"""
_WINDOWS = """
SELECT window.chunk, window.start, window.end, window_vector.embedding
FROM window JOIN window_vector ON window_vector.rowid = window.rowid
WHERE window.chunk >= :first AND window.chunk < :end ORDER BY window.chunk, window.start
"""


class Tokenizer:
    """Cuts text into the same tokens as the words table does."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._cut = connection.fts5_tokenizer("porter", list(_TOKENIZER))

    def __call__(self, text: str) -> list[str]:
        """The tokens, in their order."""
        tokens = self._cut(
            text.encode("utf-8", "surrogatepass"),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )
        return list(map(str, tokens))


def term_key(token: str) -> np.uint64:
    """What a token is looked up by: numbers can be searched without reading them all into memory.

    Two tokens share a key once in 2^64; a library has some 2^20.
    """
    digest = hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def made(connection: apsw.Connection, first: int, end: int, *, dimensions: int) -> Segment:
    """The segment of the chunks whose rows lie in that range."""
    bound = {"first": first, "end": end}
    words = _Words(Tokenizer(connection))
    chunks, chunk_ids, document_ids = array("q"), bytearray(), bytearray()
    for row, chunk_id, document_id, *columns in connection.execute(_WORDS, bound):
        chunks.append(row)
        chunk_ids += bytes.fromhex(chunk_id)
        document_ids += bytes.fromhex(document_id)
        words.add(columns)
    rows = np.array(chunks, np.int64)
    windows: list[Any] = connection.execute(_WINDOWS, bound).fetchall()
    numbers = np.frombuffer(b"".join(row[3] for row in windows), "<f4").astype(np.float32)
    vectors = numbers.reshape(len(windows), dimensions)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(lengths > 0, lengths, 1)  # a product is then the cosine
    keys, ends, posting_chunks, posting_counts = words.postings()
    return Segment(
        chunks=rows,
        chunk_ids=np.frombuffer(chunk_ids, np.uint8).reshape(len(rows), ID_BYTES),
        document_ids=np.frombuffer(document_ids, np.uint8).reshape(len(rows), ID_BYTES),
        lengths=np.array(words.lengths, np.float32),
        term_keys=keys,
        term_ends=ends,
        posting_chunks=posting_chunks,
        posting_counts=posting_counts,
        window_chunks=np.searchsorted(rows, [row[0] for row in windows]).astype(np.int32),
        window_spans=np.array([row[1:3] for row in windows], np.int32).reshape(len(windows), 2),
        vectors=vectors,
        signs=telling_signs(vectors),
    )


class _Words:
    """Collects the words of chunk after chunk."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        # What a document's chunks have in common comes again and again.
        self._tokens = lru_cache(maxsize=64)(tokenizer)
        self._numbers: dict[str, int] = {}  # of each token, in the order they were met
        self._terms, self._chunks, self._counts = array("q"), array("i"), array("H")
        self.lengths = array("L")

    def add(self, columns: Sequence[str]) -> None:
        """The next chunk's columns."""
        counts: defaultdict[str, int] = defaultdict(int)
        length = 0
        for column, weight in zip(columns, _IN_HALVES, strict=True):
            tokens = self._tokens(column)
            length += len(tokens)
            for token in tokens:
                counts[token] += weight
        for token, count in counts.items():
            self._terms.append(self._numbers.setdefault(token, len(self._numbers)))
            self._counts.append(min(count, _MOST_COUNTED))
        self._chunks.extend([len(self.lengths)] * len(counts))
        self.lengths.append(length)

    def postings(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
        """Keys, ends, chunks and counts, by key and then by chunk."""
        keys = np.array([term_key(token) for token in self._numbers], np.uint64)
        return _grouped(
            keys[np.frombuffer(self._terms, np.int64)] if len(keys) else keys,
            np.array(self._chunks, np.int32),
            np.array(self._counts, np.uint16),
        )


def merged(segments: Sequence[Segment], forgotten: NDArray[np.int64]) -> Segment:
    """One segment of several that follow each other, without the chunks that are forgotten."""
    parts: list[_Part] = []
    for segment in segments:
        parts.append(_part(segment, forgotten, after=sum(len(part.chunks) for part in parts)))
    whole = _Part(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    keys, ends, posting_chunks, posting_counts = _grouped(
        whole.posting_keys, whole.posting_chunks, whole.posting_counts
    )
    return Segment(
        chunks=whole.chunks,
        chunk_ids=whole.chunk_ids,
        document_ids=whole.document_ids,
        lengths=whole.lengths,
        term_keys=keys,
        term_ends=ends,
        posting_chunks=posting_chunks,
        posting_counts=posting_counts,
        window_chunks=whole.window_chunks,
        window_spans=whole.window_spans,
        vectors=whole.vectors,
        signs=telling_signs(whole.vectors),
    )


class _Part(NamedTuple):
    """What one segment brings into a larger one. Chunks are counted in the larger one."""

    chunks: NDArray[np.int64]
    chunk_ids: NDArray[np.uint8]
    document_ids: NDArray[np.uint8]
    lengths: NDArray[np.float32]
    posting_keys: NDArray[np.uint64]
    posting_chunks: NDArray[np.int32]
    posting_counts: NDArray[np.uint16]
    window_chunks: NDArray[np.int32]
    window_spans: NDArray[np.int32]
    vectors: NDArray[np.float32]


def _part(segment: Segment, forgotten: NDArray[np.int64], *, after: int) -> _Part:
    kept = ~np.isin(segment.chunks, forgotten)
    places = after - 1 + np.cumsum(kept, dtype=np.int32)
    postings = kept[segment.posting_chunks]
    windows = kept[segment.window_chunks]
    return _Part(
        chunks=segment.chunks[kept],
        chunk_ids=segment.chunk_ids[kept],
        document_ids=segment.document_ids[kept],
        lengths=segment.lengths[kept],
        posting_keys=np.repeat(segment.term_keys, np.diff(segment.term_ends, prepend=0))[postings],
        posting_chunks=places[segment.posting_chunks[postings]],
        posting_counts=segment.posting_counts[postings],
        window_chunks=places[segment.window_chunks[windows]],
        window_spans=segment.window_spans[windows],
        vectors=segment.vectors[windows],
    )


def _grouped(
    keys: NDArray[np.uint64], chunks: NDArray[np.int32], counts: NDArray[np.uint16]
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
    """Postings by key; those of a key stay in their order."""
    order = np.argsort(keys, kind="stable")
    told, counted = np.unique(keys, return_counts=True)
    return told, np.cumsum(counted, dtype=np.int64), chunks[order], counts[order]
