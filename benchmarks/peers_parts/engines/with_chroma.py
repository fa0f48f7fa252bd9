"""Chroma, embedded. Its BM25 and its hybrid search are for Chroma Cloud only, so vectors alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import chromadb
from chromadb.config import Settings

from peers_parts.engines.corpus import PASSAGES, Corpus, Question, Search

DISTRIBUTION = "chromadb"
SETUP = (
    "PersistentClient, HNSW as it comes, cosine; words cannot be ranked without Chroma Cloud, "
    "so vector only"
)


def build(corpus: Corpus, folder: Path) -> Mapping[str, Search]:
    """A collection on disk, filled in the largest batches it takes."""
    client = chromadb.PersistentClient(folder, Settings(anonymized_telemetry=False))
    collection = client.create_collection(
        "bench",
        configuration={"hnsw": {"space": "cosine"}},
        embedding_function=None,  # the default one is downloaded
    )
    step = client.get_max_batch_size()
    for first in range(0, len(corpus.texts), step):
        batch = slice(first, first + step)
        vectors = corpus.vectors[batch]
        collection.add(
            ids=[str(number) for number in range(first, first + len(vectors))],
            embeddings=vectors,
            documents=corpus.texts[batch],
        )

    def vector(question: Question) -> list[str]:
        found = collection.query(
            query_embeddings=[question.vector], n_results=PASSAGES, include=["documents"]
        )
        return corpus.documents_of([int(number) for number in found["ids"][0]])

    return {"vector": vector}
