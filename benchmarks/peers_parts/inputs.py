"""Step one of `peers.py`, in a process of its own: a data set becomes files for the engines.

    python -m peers_parts.inputs DATA_FOLDER SET CACHE_FILE MODEL QUESTIONS FOLDER

Passages are the windows that pincite embeds, each with its document's title above it. Every engine
gets them with our vectors; pincite itself gets the chunks that the windows belong to.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from meter import Meter
from public_sets.embedding_cache import CachedEmbedder
from public_sets.rows import DatasetError
from public_sets.sets import LIBRARY, Dataset, load
from quality import some

from peers_parts.engines import COUNTS, PICKLED
from peers_parts.engines.corpus import CANDIDATES, Corpus, Question, save
from pincite.chunking.flow import chunk_document
from pincite.engine.models import Embedders, ModelAccess
from pincite.errors import PinciteError
from pincite.records import (
    Document,
    EmbeddedChunk,
    EmbeddedDocument,
    LibraryHeader,
    StoredWindow,
    WindowedChunk,
)
from pincite.settings import (
    DEFAULT_MAX_FILE_BYTES,
    DEFAULT_POLICY,
    INGESTION_VERSION,
    policy_named,
)
from pincite.vectors import Vector

_AT_ONCE = 500  # documents that are cut before their windows are embedded on all cores


def write_inputs(
    dataset: Dataset, embedder: CachedEmbedder, folder: Path, most_questions: int | None
) -> None:
    """All that the engines need, in this folder."""
    judged = [case for case in dataset.cases if case.documents and case.filters.none_given]
    if not judged or len(dataset.documents) < CANDIDATES:
        raise DatasetError(
            f"{dataset.name} cannot be used: at least {CANDIDATES} documents are needed, and "
            "questions about whole documents without a filter"
        )
    documents: list[str] = []
    texts: list[str] = []
    vectors: list[Vector] = []
    with (folder / PICKLED).open("wb") as library:
        pickle.dump(_header(embedder), library)
        for embedded in _embedded(dataset, embedder):
            pickle.dump(embedded, library)
            for text, vector in _passages(embedded):
                documents.append(embedded.document.path)
                texts.append(text)
                vectors.append(vector)
    questions = [
        Question(case.id, case.question, embedder.embed_question(case.question), case.documents)
        for case in some(judged, most_questions)
    ]
    corpus = Corpus(documents, texts, np.stack(vectors), questions, folder)
    save(corpus)
    counts = {
        "documents": len(set(documents)),
        "passages": len(texts),
        "questions": len(questions),
        "dimensions": corpus.vectors.shape[1],
    }
    (folder / COUNTS).write_text(json.dumps(counts), encoding="utf-8")


def _header(embedder: CachedEmbedder) -> LibraryHeader:
    return LibraryHeader(
        name=LIBRARY,
        policy=DEFAULT_POLICY,
        model=embedder.card,
        ingestion_version=INGESTION_VERSION,
        max_file_bytes=DEFAULT_MAX_FILE_BYTES,
    )


def _embedded(dataset: Dataset, embedder: CachedEmbedder) -> Iterator[EmbeddedDocument]:
    """Every document, cut and embedded as the library does it."""
    policy = policy_named(DEFAULT_POLICY)
    meter = Meter(f"{dataset.name} vectors")

    def vectors_of(parts: Sequence[WindowedChunk]) -> list[Vector]:
        return embedder.embed_passages([one.embedded for part in parts for one in part.windows])

    with ThreadPoolExecutor(embedder.parallel) as threads:
        for first in range(0, len(dataset.documents), _AT_ONCE):
            some_documents = dataset.documents[first : first + _AT_ONCE]
            cut = [chunk_document(document, policy, embedder) for document in some_documents]
            made = threads.map(vectors_of, cut)
            for document, parts, vectors in zip(some_documents, cut, made, strict=True):
                yield _put_together(document, parts, vectors)
            meter(first + len(some_documents), len(dataset.documents))


def _put_together(
    document: Document, parts: Sequence[WindowedChunk], vectors: Sequence[Vector]
) -> EmbeddedDocument:
    left = iter(vectors)
    chunks = tuple(
        EmbeddedChunk(
            part.chunk,
            tuple(
                StoredWindow(window.start, window.end, window.fingerprint, next(left))
                for window in part.windows
            ),
        )
        for part in parts
    )
    return EmbeddedDocument(document, chunks)


def _passages(embedded: EmbeddedDocument) -> Iterator[tuple[str, Vector]]:
    document = embedded.document
    above = f"{document.title}\n\n" if document.own_title else ""
    for chunk in embedded.chunks:
        for window in chunk.windows:
            yield above + document.text[window.start : window.end], window.vector


def main(data: str, name: str, cache: str, model: str, questions: str, folder: str) -> int:
    """Write the files, for at most so many questions (0: all); 1 where there is no such set."""
    try:
        dataset = load(Path(data), name)
        with CachedEmbedder(Embedders(ModelAccess()).named(model), Path(cache)) as embedder:
            write_inputs(dataset, embedder, Path(folder), int(questions) or None)
    except (DatasetError, PinciteError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
