"""What every engine gets: passages with their vectors, questions with theirs.

It comes from files, and from nothing of pincite, so that an engine's process holds only this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

CANDIDATES = 100  # of each search, before they are fused
# Some documents have several passages: so many leave the ten documents that are judged.
PASSAGES = 20


@dataclass(frozen=True)
class Question:
    """A question, its vector, and the documents that are right for it."""

    id: str
    text: str
    vector: Vectors
    documents: Mapping[str, int]  # id → grade


Search = Callable[[Question], Sequence[str]]
"""Question → the documents of what was found, best first; one may come several times."""


@dataclass(frozen=True)
class Corpus:
    """Passages by number: the document they are from, their text, their unit vector."""

    documents: Sequence[str]
    texts: Sequence[str]
    vectors: Vectors
    questions: Sequence[Question]
    folder: Path  # where it came from

    def documents_of(self, passages: Sequence[int]) -> list[str]:
        """The document of each passage."""
        return [self.documents[number] for number in passages]


def load(folder: Path) -> Corpus:
    """What `save` wrote."""
    documents: list[str] = []
    texts: list[str] = []
    # Line by line: a peak now would hide what the engine needs later.
    for passage in _lines(folder / "passages.jsonl"):
        documents.append(passage["document"])
        texts.append(passage["text"])
    asked = zip(_lines(folder / "questions.jsonl"), np.load(folder / "questions.npy"), strict=True)
    questions = [Question(**question, vector=vector) for question, vector in asked]
    return Corpus(documents, texts, np.load(folder / "passages.npy"), questions, folder)


def save(corpus: Corpus) -> None:
    """Into its folder."""
    np.save(corpus.folder / "passages.npy", corpus.vectors)
    np.save(corpus.folder / "questions.npy", [question.vector for question in corpus.questions])
    with (corpus.folder / "passages.jsonl").open("w", encoding="utf-8") as file:
        for document, text in zip(corpus.documents, corpus.texts, strict=True):
            print(json.dumps({"document": document, "text": text}), file=file)
    with (corpus.folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for one in corpus.questions:
            kept = {"id": one.id, "text": one.text, "documents": dict(one.documents)}
            print(json.dumps(kept), file=file)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
