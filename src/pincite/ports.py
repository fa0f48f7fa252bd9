"""What pincite needs from outside, in its own words; stores/ and models/ implement it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pincite.records import (
    Chunk,
    ChunkId,
    Definition,
    Document,
    DocumentEntry,
    DocumentId,
    EmbeddedDocument,
    Filters,
    FoundChunk,
    LibraryHeader,
    ModelCard,
    Ranking,
    WindowedChunk,
)

if TYPE_CHECKING:
    from pincite.records import Failure, Finding, Original, StoreStats
    from pincite.vectors import Vector

Reader = Callable[[str, bytes], Document]
"""Path and bytes of one file → its Document, or FileUnreadable."""

Chunker = Callable[[Document], Sequence[WindowedChunk]]
"""Document → its chunks in order, each with the windows that are embedded for it."""

Lap = Callable[[str], None]
"""Told the name of a stage when it ends; whoever holds the clock knows how long it took.

It may raise: whoever asked does not want the rest any more.
"""


def no_lap(stage: str) -> None:
    """Nobody is timing."""


Clock = Callable[[], float]
"""Seconds since some moment; only differences mean anything."""


def no_clock() -> float:
    """Time does not pass."""
    return 0.0


class TokenCounter(Protocol):
    """Knows where the embedder's tokens begin, so that any slice can be measured."""

    def token_starts(self, text: str) -> Sequence[int]:
        """The character offset at which each token of the text begins, ascending."""
        ...


class QuestionEmbedder(Protocol):
    """What a search needs of an embedder."""

    @property
    def card(self) -> ModelCard:
        """Name, fingerprint, dimensions and token limit."""
        ...

    def embed_question(self, text: str) -> Vector:
        """The unit vector to search with."""
        ...

    def foreignness(self, question: str) -> float:
        """How little the model knows of the question's language: from 0, it reads it, to 1."""
        ...

    def knows(self, word: str) -> bool:
        """Whether the word is one of the model's own, and so no typo; False if it cannot tell."""
        ...


class Embedder(TokenCounter, QuestionEmbedder, Protocol):
    """Turns text into unit vectors; many models embed a question and a passage differently."""

    @property
    def passage_overhead(self) -> int:
        """Tokens of the limit that go to the model's own marks and prefix around a passage."""
        ...

    @property
    def batch(self) -> int:
        """How many passages one call should carry."""
        ...

    @property
    def parallel(self) -> int:
        """How many calls may run at once from different threads."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector for each text, in their order."""
        ...


class Reranker(Protocol):
    """Looks at a question and each passage closer than a search can."""

    @property
    def batch(self) -> int:
        """How many passages one call should carry; between calls a search may stop."""
        ...

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage speaks to the question, higher is better, in their order.

        Scores of different questions need not compare. ModelError where it cannot.
        """
        ...


class Generator(Protocol):
    """A language model that writes a short text."""

    def generate(self, instruction: str, text: str, *, most_tokens: int) -> str:
        """What it makes of the text as the instruction says; ModelError where it cannot."""
        ...


class Writer(Generator, Protocol):
    """A language model whose words can be read while it writes."""

    @property
    def name(self) -> str:
        """For receipts and messages: the model, never with a key."""
        ...

    def stream(self, instruction: str, text: str, *, most_tokens: int) -> Iterator[str]:
        """The pieces as they come. ModelError where it cannot, or when it breaks off."""
        ...


class Judge(Protocol):
    """Reads whether quoted words support a claim."""

    @property
    def name(self) -> str:
        """Who it is, as a claim's state names it."""
        ...

    def supports(self, claim: str, evidence: str) -> bool:
        """Whether the evidence alone says what the claim says; ModelError where it cannot tell."""
        ...


UnitScorer = Callable[[str, Sequence[str]], Sequence[float]]
"""Question and units → how well each answers it, higher is better; a reading model may be one."""


class Store(Protocol):
    """Holds one library's documents, words and vectors. Every write is all or nothing."""

    def header(self) -> LibraryHeader | None:
        """How this index is made; None before the first build."""
        ...

    def begin(self, header: LibraryHeader) -> None:
        """Set how the index is made. Another embedding space or name forgets all documents."""
        ...

    def replace_document(
        self,
        embedded: EmbeddedDocument,
        *,
        replaces: Sequence[DocumentId] = (),
        recipe: str | None = None,
    ) -> None:
        """Make the document searchable and forget those it replaces, in one step.

        A recipe says how it was made, where that is not what the header says.
        """
        ...

    def remove_documents(self, ids: Sequence[DocumentId]) -> None:
        """Forget the documents with all their chunks, words and vectors."""
        ...

    def finish(self, problems: Sequence[Failure] = ()) -> None:
        """Note that a run came to its end: the index is equal to the folder, but for these."""
        ...

    def make_index(self) -> bool:
        """Make the index for vectors anew where that is due; whether it was.

        All that is stored is found without it. IndexBuildFailed where it cannot be made.
        """
        ...

    def problems(self) -> list[Failure]:
        """The files that the last run could not read."""
        ...

    def is_complete(self) -> bool:
        """Whether the last run came to its end."""
        ...

    def version(self) -> str:
        """Another one whenever a search may find something else, and in another generation."""
        ...

    def documents(
        self,
        ids: Collection[DocumentId] | None = None,
        *,
        checksum: str | None = None,
        after: str = "",
        limit: int | None = None,
        filters: Filters = Filters(),
    ) -> list[DocumentEntry]:
        """Every document by path, or only these, those of a file, or so many behind a path.

        Under a filter those of which something may be seen.
        """
        ...

    def paths(self) -> dict[str, DocumentId]:
        """Which document stands where, by path: quicker than to list what is known of each."""
        ...

    def find_documents(
        self, question: str, *, filters: Filters = Filters(), limit: int | None = None
    ) -> list[DocumentEntry]:
        """The documents whose name, title, author, tags or summary speak to it, best first.

        Under a filter those of which something may be seen.
        """
        ...

    def recorded_documents(self, recording: str, filters: Filters) -> list[DocumentId]:
        """The documents of a recording of which something may be seen."""
        ...

    def named_documents(self, question: str) -> dict[str, tuple[DocumentId, ...]]:
        """The documents that the question calls by name, by that name; see text/naming.py."""
        ...

    def known_vectors(self, fingerprints: Iterable[str]) -> dict[str, Vector]:
        """The vectors already stored for these embedded texts."""
        ...

    def search(
        self,
        question: str | None,
        vector: Vector | None,
        *,
        filters: Filters,
        limit: int,
        made_by: str | None = None,
        lap: Lap = no_lap,
    ) -> dict[str, Ranking]:
        """All rankings in one call: `words` and `codes` for a question, `vector` for a vector.

        Where no chunk holds a code of the question to the letter there is no `codes`. At most
        `limit` chunks each, best first, ties by chunk id; a chunk counts by its best window.
        Under a filter the best of what matches comes back, never a filtered remainder.
        `words` and `vector` also tell their scores of what only the other one lists, so that a
        chunk can be judged by both: not listed, behind the rest, in no order.
        StoreBusy where `made_by`, the fingerprint of the vector's model, is not the index's.
        """
        ...

    def notices(self) -> tuple[str, ...]:
        """What hinders searches by vector just now and what to do about it, in sentences."""
        ...

    def chunk_counts(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """How many chunks there are, and how many of them have each word, in any of its forms.

        What very many have is not counted to its end.
        """
        ...

    def spellings(self, initial: str) -> Mapping[str, int]:
        """The library's words with this first letter, and how many documents have each.

        Folded, as they are spelled and not cut to their stems; without numbers and codes.
        """
        ...

    def definitions(self, keys: Sequence[str]) -> list[Definition]:
        """What documents say that abbreviations of these `name_key`s mean, most frequent first."""
        ...

    def load_chunks(self, ids: Sequence[ChunkId]) -> list[tuple[DocumentEntry, Chunk]]:
        """The chunks with their documents, in the order of the ids; unknown ids are left out."""
        ...

    def load_document(self, document_id: DocumentId) -> Document | None:
        """The whole document, text and all."""
        ...

    def load_embedded(self, document_id: DocumentId) -> EmbeddedDocument | None:
        """The whole document with its chunks, windows and vectors."""
        ...

    def past_versions(self) -> Iterator[EmbeddedDocument]:
        """The versions of documents that are not held any more, oldest first.

        Those of which `find_chunks` still finds the chunks.
        """
        ...

    def snapshot(self) -> AbstractContextManager[Store]:
        """This store as it stands now, to read from in this thread, whatever others write."""
        ...

    def text_of(self, document_id: DocumentId, start: int, end: int) -> str:
        """A slice of the document's text; empty where there is no such document."""
        ...

    def chunk_ids(self, document_id: DocumentId) -> list[ChunkId]:
        """The document's chunks in their order; none of an unknown one."""
        ...

    def find_chunks(self, id_prefix: str) -> list[FoundChunk]:
        """The chunks whose id begins so, first among today's documents, then in the past."""
        ...

    def forgotten_at(self, name: str) -> str:
        """When the document of a path, or of the beginning of an id, was forgotten for good.

        Empty where it was not: deleting a file keeps what it said, for citations of the past.
        """
        ...

    def stats(self) -> StoreStats:
        """What the index holds."""
        ...

    def verify(self) -> list[Finding]:
        """Everything that does not agree inside the index; empty for a healthy one."""
        ...

    def repair(self) -> None:
        """Make everything agree again, from whatever is still sound."""
        ...

    def close(self) -> None:
        """Give back every resource."""
        ...


@runtime_checkable
class KeepsOriginals(Protocol):
    """A store to which single files are handed in, and which keeps them as they came."""

    def originals(self) -> Iterator[Original]:
        """The files whose documents may be seen, by path."""
        ...

    def keep_original(self, original: Original) -> bool:
        """Keep the file of a document that is there; False where there is no such document."""
        ...
