"""bm25s: BM25 with all scores computed beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import bm25s
import Stemmer

from peers_parts.engines.corpus import PASSAGES, Corpus, Question, Search

DISTRIBUTION = "bm25s"
SETUP = (
    "defaults (Lucene's BM25, NumPy), English stop words, Snowball stemmer; saved with its texts"
)


def build(corpus: Corpus, folder: Path) -> Mapping[str, Search]:
    """Words only: it has no vectors."""
    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: str | list[str]) -> object:
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = bm25s.BM25()
    index.index(tokens(list(corpus.texts)), show_progress=False)
    index.save(folder, corpus=corpus.texts, show_progress=False)

    def words(question: Question) -> list[str]:
        found, _ = index.retrieve(tokens(question.text), k=PASSAGES, show_progress=False)
        return corpus.documents_of(found[0].tolist())

    return {"words": words}
