"""Haystack's in-memory store, with the hybrid pipeline of its manual."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore

from peers_parts.engines.corpus import CANDIDATES, PASSAGES, Corpus, Question, Search

DISTRIBUTION = "haystack-ai"
SETUP = (
    "InMemoryDocumentStore as it comes (BM25L; it offers neither stemming nor stop words), cosine; "
    "a pipeline of both retrievers, 100 documents of each, and "
    "DocumentJoiner(reciprocal_rank_fusion)"
)


def build(corpus: Corpus, folder: Path) -> Mapping[str, Search]:
    """Documents with their vectors, in memory alone."""
    del folder
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(
        [
            Document(id=str(number), content=text, embedding=vector.tolist())
            for number, (text, vector) in enumerate(zip(corpus.texts, corpus.vectors, strict=True))
        ]
    )
    by_words = InMemoryBM25Retriever(store, top_k=PASSAGES)
    by_vector = InMemoryEmbeddingRetriever(store, top_k=PASSAGES)
    both = _hybrid_pipeline(store)

    def found(answer: Mapping[str, Any]) -> list[str]:
        return corpus.documents_of([int(document.id) for document in answer["documents"]])

    def words(question: Question) -> list[str]:
        return found(by_words.run(query=question.text))

    def vector(question: Question) -> list[str]:
        return found(by_vector.run(query_embedding=question.vector.tolist()))

    def hybrid(question: Question) -> list[str]:
        asked = {
            "words": {"query": question.text},
            "vector": {"query_embedding": question.vector.tolist()},
        }
        return found(both.run(asked)["fused"])

    return {"words": words, "vector": vector, "hybrid": hybrid}


def _hybrid_pipeline(store: InMemoryDocumentStore) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=CANDIDATES))
    pipeline.add_component("vector", InMemoryEmbeddingRetriever(store, top_k=CANDIDATES))
    fused = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=PASSAGES)
    pipeline.add_component("fused", fused)
    pipeline.connect("words", "fused")
    pipeline.connect("vector", "fused")
    return pipeline
