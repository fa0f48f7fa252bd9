"""The reference: every vector is looked at, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from peers_parts.engines.corpus import PASSAGES, Corpus, Question, Search

DISTRIBUTION = "numpy"
SETUP = "exact scan of the float32 matrix in memory"


def build(corpus: Corpus, folder: Path) -> Mapping[str, Search]:
    """There is nothing to build: the matrix is the index."""
    del folder

    def vector(question: Question) -> list[str]:
        scores = corpus.vectors @ question.vector
        best = np.argpartition(scores, -PASSAGES)[-PASSAGES:]
        return corpus.documents_of(best[np.argsort(-scores[best])].tolist())

    return {"vector": vector}
