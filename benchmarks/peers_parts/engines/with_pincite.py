"""Ourselves: the search of the library, on its index on disk."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from peers_parts.engines import PICKLED
from peers_parts.engines.corpus import Corpus, Question, Search
from pincite.answer.flow import Readers, ask
from pincite.engine.models import Embedders, ModelAccess
from pincite.records import Answer, Filters, LibraryHeader, Mode, ModelCard
from pincite.retrieve.flow import search
from pincite.retrieve.quote import by_cosine
from pincite.settings import MODES, AskSettings, SearchSettings
from pincite.stores.sqlite.opening import open_for_reading, open_for_writing
from pincite.vectors import Vector

DISTRIBUTION = "pincite"
SETUP = (
    "the library's index (chunks of 300 to 800 tokens, found by the best of their passages; every "
    "document written durably by itself), candidates and fusion as they come, one chunk of a "
    "document; results come with their best sentence"
)


class KnownVectors:
    """The model, but for its vectors: questions were embedded before, for all engines alike."""

    def __init__(self, corpus: Corpus, model: str) -> None:
        self._model = Embedders(ModelAccess()).named(model)
        self._vectors = {question.text: question.vector for question in corpus.questions}

    @property
    def card(self) -> ModelCard:
        """That of the model."""
        return self._model.card

    def embed_question(self, text: str) -> Vector:
        """The vector that all engines search with."""
        return self._vectors[text]

    def foreignness(self, question: str) -> float:
        """How little the model knows of the question's language."""
        return self._model.foreignness(question)

    def knows(self, word: str) -> bool:
        """Whether the word is one of the model's own."""
        return self._model.knows(word)


def build(corpus: Corpus, folder: Path) -> Mapping[str, Search]:
    """The index as `pincite index build` writes it."""
    pickled = _objects(corpus.folder / PICKLED)
    writer = open_for_writing(folder / "index")
    header: LibraryHeader = next(pickled)
    writer.begin(header)
    for document in pickled:
        writer.replace_document(document)
    writer.finish()
    writer.close()
    store = open_for_reading(folder / "index")
    embedder = KnownVectors(corpus, header.model.name)
    settings = SearchSettings(top_k=10, per_document=1)

    def searching(mode: Mode) -> Search:
        def found(question: Question) -> list[str]:
            answer = search(
                question.text, store, embedder, mode=mode, filters=Filters(), settings=settings
            )
            return [result.document.path for result in answer.results]

        return found

    def answered(question: Question) -> list[str]:
        """From the question to an extractive answer; its units are embedded while time counts."""
        asked = partial(search, store=store, embedder=embedder, mode="hybrid", filters=Filters())
        told = ask(
            question.text,
            partial(asked, settings=SearchSettings()),
            store,
            AskSettings(caution=0),
            count=len,
            readers=Readers(scorer=by_cosine(Embedders(ModelAccess()).named(header.model.name))),
        )
        if not isinstance(told, Answer):
            return [one.path for one in told.nearest]
        return [one.path for claim in told.claims for one in claim.citations]

    modes = {mode: searching(mode) for mode in MODES}
    return {**modes, "answer": answered}


def _objects(file: Path) -> Iterator[Any]:
    with file.open("rb") as opened:
        while opened.peek(1):
            yield pickle.load(opened)
