"""What the indexes of `speed.py` are made of: FiQA's beginning, all of it, or synthetic ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from public_sets.sets import Dataset, load

from pincite.chunking.flow import chunk_document
from pincite.ports import Chunker, Embedder
from pincite.records import Document, FoundFile
from pincite.settings import DEFAULT_POLICY, policy_named
from speed_parts.synthetic import (
    ClusteredEmbedder,
    SyntheticLibrary,
    Vocabulary,
    chunk_by_paragraph,
)

ALL_OF_FIQA = 50_000  # by its usual name; it holds 57,600 documents with text
_CENTRES = 1_000  # documents of FiQA around which synthetic vectors lie


@dataclass(frozen=True)
class Corpus:
    """Files, and how each of them becomes a document, chunks and vectors."""

    files: Sequence[FoundFile]
    read: Callable[[str], Document]
    chunk: Chunker
    embedder: Embedder


def fiqa(data: Path) -> Dataset:
    """The set that all sizes are made from."""
    return load(data, "fiqa")


def corpus_of(dataset: Dataset, size: int, embedder: Embedder) -> Corpus:
    """The first documents of the set, all of them, or so many synthetic chunks where it ends."""
    if size > len(dataset.documents):
        return _synthetic(dataset, size, embedder)
    taken = dataset.documents if size >= ALL_OF_FIQA else dataset.documents[:size]
    documents = {document.path: document for document in taken}
    return Corpus(
        files=[FoundFile(one.path, one.size, one.checksum) for one in taken],
        read=documents.__getitem__,
        chunk=_chunker(embedder),
        embedder=embedder,
    )


def _synthetic(dataset: Dataset, size: int, embedder: Embedder) -> Corpus:
    library = SyntheticLibrary(Vocabulary.of(one.text for one in dataset.documents), chunks=size)
    centres = embedder.embed_passages(window_texts(dataset.documents[:_CENTRES], embedder))
    return Corpus(
        files=library.files,
        read=library.read,
        chunk=chunk_by_paragraph,
        embedder=ClusteredEmbedder(centres),
    )


def _chunker(embedder: Embedder) -> Chunker:
    return partial(chunk_document, policy=policy_named(DEFAULT_POLICY), embedder=embedder)


def window_texts(documents: Sequence[Document], embedder: Embedder) -> list[str]:
    """What is embedded for the documents."""
    chunk = _chunker(embedder)
    parts = (part for document in documents for part in chunk(document))
    return [window.embedded for part in parts for window in part.windows]


def edited(corpus: Corpus, *, every: int, first: int) -> Corpus:
    """The same corpus after an edit to every so many files that leaves their words as they were.

    All of such a document is stored anew, and nothing of it has to be embedded.
    """
    changed = {file.path for file in corpus.files[first::every]}

    def checksum(path: str, before: str) -> str:
        return (
            hashlib.sha256(f"{first} {before}".encode()).hexdigest() if path in changed else before
        )

    def read(path: str) -> Document:
        document = corpus.read(path)
        return replace(document, checksum=checksum(path, document.checksum))

    files = [replace(file, checksum=checksum(file.path, file.checksum)) for file in corpus.files]
    return replace(corpus, files=files, read=read)
