"""txtai: its own BM25, Faiss over our vectors, its own fusion of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from txtai import Embeddings

from peers_parts.engines.corpus import PASSAGES, Corpus, Question, Search, Vectors

DISTRIBUTION = "txtai"
SETUP = (
    "what `hybrid=True` sets (BM25 with normalized scores, Faiss, half of each score, from ten "
    "times as many candidates as results), with its stop words (it offers no stemming) and "
    "`content=True`; words and vector alone ask its BM25 and its Faiss index directly, which give "
    "numbers instead of texts"
)


def build(corpus: Corpus, folder: Path) -> Mapping[str, Search]:
    """An index with its texts, saved."""
    known = {text: vector for text, vector in zip(corpus.texts, corpus.vectors, strict=True)}
    known |= {question.text: question.vector for question in corpus.questions}

    def our_vectors(texts: Sequence[str]) -> list[Vectors]:
        return [known[text] for text in texts]

    index = Embeddings(
        method="external",
        transform=our_vectors,
        content=True,
        scoring={
            "method": "bm25",
            "terms": True,
            "normalize": True,
            "tokenizer": {"stopwords": True},
        },
    )
    index.index(enumerate(corpus.texts))
    index.save(str(folder))

    def words(question: Question) -> list[str]:
        found = index.scoring.search(question.text, PASSAGES)
        return corpus.documents_of([number for number, _ in found])

    def vector(question: Question) -> list[str]:
        found = index.ann.search(question.vector.reshape(1, -1), PASSAGES)[0]
        return corpus.documents_of([number for number, _ in found])

    def hybrid(question: Question) -> list[str]:
        found = index.search(question.text, PASSAGES)
        return corpus.documents_of([int(one["id"]) for one in found])

    return {"words": words, "vector": vector, "hybrid": hybrid}
