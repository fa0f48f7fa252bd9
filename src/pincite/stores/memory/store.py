"""The reference store: everything in dictionaries, every search a plain loop over all chunks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime

from pincite.errors import IndexMissing
from pincite.ports import Lap, no_lap
from pincite.records import (
    Chunk,
    ChunkId,
    Definition,
    Document,
    DocumentEntry,
    DocumentId,
    EmbeddedChunk,
    EmbeddedDocument,
    Failure,
    Filters,
    Finding,
    FoundChunk,
    LibraryHeader,
    Ranking,
    StoreStats,
    recipe_lacking,
)
from pincite.stores.memory.bm25 import bm25, count_of
from pincite.stores.memory.kept import Kept, chunks
from pincite.stores.memory.searching import rankings
from pincite.stores.spaces import refuse_other_space
from pincite.text.abbreviations import name_key
from pincite.text.naming import document_names, longest_only, names_said
from pincite.text.words import Term, fold, question_terms
from pincite.vectors import Vector, unit


class MemoryStore:
    """Holds one library in memory; slow and simple, to compare the others with."""

    def __init__(self) -> None:
        self._header: LibraryHeader | None = None
        self._kept: dict[DocumentId, Kept] = {}
        self._past: list[EmbeddedDocument] = []
        self._updated: str | None = None
        self._complete = False
        self._problems: list[Failure] = []

    def header(self) -> LibraryHeader | None:
        """How this index is made; None before the first build."""
        return self._header

    def begin(self, header: LibraryHeader) -> None:
        """Set how the index is made. Another embedding space or name forgets all documents."""
        before = self._header
        self._header = header
        self._complete = self._complete and header == before
        if before is not None and (
            before.name != header.name
            or before.model.fingerprint != header.model.fingerprint
            or before.model.dimensions != header.model.dimensions
        ):
            self.remove_documents(list(self._kept))

    def replace_document(
        self,
        embedded: EmbeddedDocument,
        *,
        replaces: Sequence[DocumentId] = (),
        recipe: str | None = None,
    ) -> None:
        """Make the document searchable and forget those it replaces, in one step."""
        if self._header is None:
            raise IndexMissing("the index was not begun: call begin() first")
        for chunk in embedded.chunks:
            for window in chunk.windows:
                unit(window.vector, dimensions=self._header.model.dimensions)
        document = embedded.document
        at_path = [
            kept.entry.id for kept in self._kept.values() if kept.entry.path == document.path
        ]
        self.remove_documents([*replaces, *at_path])
        self._updated = datetime.now(UTC).isoformat(timespec="seconds")
        entry = DocumentEntry(
            id=document.id,
            path=document.path,
            checksum=document.checksum,
            type=document.type,
            title=document.title,
            metadata=document.metadata,
            chunks=len(embedded.chunks),
            indexed_at=self._updated,
            recipe=recipe_lacking(recipe or self._header.recipe, embedded.lacking),
            size=document.size,
            summary=document.summary,
        )
        self._kept[document.id] = Kept(embedded, entry)
        self._complete = False

    def finish(self, problems: Sequence[Failure] = ()) -> None:
        """Note that a run came to its end: the index is equal to the folder, but for these."""
        self._complete = True
        self._problems = [Failure(one.path, one.reason) for one in problems]

    def make_index(self) -> bool:
        """All vectors are compared."""
        return False

    def problems(self) -> list[Failure]:
        """The files that the last run could not read."""
        return self._problems

    def is_complete(self) -> bool:
        """Whether the last run came to its end."""
        return self._complete

    def remove_documents(self, ids: Sequence[DocumentId]) -> None:
        """Forget the documents with all their chunks, words and vectors."""
        self._complete = self._complete and not ids
        for document_id in ids:
            kept = self._kept.pop(document_id, None)
            if kept is not None:
                self._past.append(kept.embedded)

    def version(self) -> str:
        """Another one whenever a search may find something else."""
        return f"{len(self._past)} {' '.join(self._kept)}"

    def documents(self, ids: Collection[DocumentId] | None = None) -> list[DocumentEntry]:
        """Every document, or only these; by path."""
        held = (kept.entry for name, kept in self._kept.items() if ids is None or name in ids)
        return sorted(held, key=lambda entry: entry.path)

    def paths(self) -> dict[str, DocumentId]:
        """Which document stands where, by path."""
        return dict(sorted((kept.entry.path, name) for name, kept in self._kept.items()))

    def named_documents(self, question: str) -> dict[str, tuple[DocumentId, ...]]:
        """The documents that the question calls by name, by that name."""
        said = set(names_said(question))
        found: defaultdict[str, list[DocumentId]] = defaultdict(list)
        for kept in self._kept.values():
            for name in document_names(kept.entry.title, kept.entry.name):
                if name in said:
                    found[name].append(kept.entry.id)
        return {name: tuple(sorted(found[name])) for name in longest_only(found)}

    def recorded_documents(self, recording: str, filters: Filters) -> list[DocumentId]:
        """The documents of a recording of which something may be seen."""
        seen = {kept.entry.id: kept for kept, _ in self._chunks(filters)}
        return sorted(
            name for name, kept in seen.items() if kept.entry.metadata.recording == recording
        )

    def find_documents(
        self, question: str, *, filters: Filters = Filters(), limit: int | None = None
    ) -> list[DocumentEntry]:
        """The documents whose name, title, author, tags, type or summary speak to it."""
        words = {kept.entry.id: kept.about for kept in self._kept.values()}
        scores = bm25(question_terms(question), words)
        seen = {kept.entry.id for kept, _ in self._chunks(filters)}
        best = sorted((one for one in scores if one in seen), key=lambda one: -scores[one])
        return [self._kept[name].entry for name in best[:limit]]

    def known_vectors(self, fingerprints: Iterable[str]) -> dict[str, Vector]:
        """The vectors already stored for these embedded texts."""
        wanted = set(fingerprints)
        return {
            window.fingerprint: window.vector
            for _, part in self._chunks(Filters())
            for window in part.windows
            if window.fingerprint in wanted
        }

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
        """All rankings in one call: `words` and `codes` for a question, `vector` for a vector."""
        refuse_other_space(self._header, made_by)
        return rankings(list(self._kept.values()), question, vector, filters, limit, lap)

    def _chunks(self, filters: Filters) -> Iterator[tuple[Kept, EmbeddedChunk]]:
        return chunks(self._kept.values(), filters)

    def notices(self) -> tuple[str, ...]:
        """Nothing hinders searches."""
        return ()

    def chunk_counts(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """How many chunks there are, and how many of them have each word, in any of its forms."""
        held = [kept.words(part) for kept, part in self._chunks(Filters())]
        return len(held), {
            word: sum(bool(count_of(Term((fold(word),)), text)) for text in held) for word in words
        }

    def spellings(self, initial: str) -> Mapping[str, int]:
        """The library's words with this first letter, and how many documents have each."""
        counts = Counter(word for kept in self._kept.values() for word in kept.spelled)
        return {word: count for word, count in counts.items() if word.startswith(initial)}

    def definitions(self, keys: Sequence[str]) -> list[Definition]:
        """What documents say abbreviations stand for, most frequent first."""
        said: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for kept in self._kept.values():
            for (short, key), long in kept.defined.items():
                if name_key(short) in keys:
                    said[short, key].append(long)
        ordered = sorted(said, key=lambda name: (-len(said[name]), name))
        return [Definition(name[0], min(said[name]), len(said[name])) for name in ordered]

    def load_chunks(self, ids: Sequence[ChunkId]) -> list[tuple[DocumentEntry, Chunk]]:
        """The chunks with their documents, in the order of the ids; unknown ids are left out."""
        known = {part.chunk.id: (kept.entry, part.chunk) for kept, part in self._chunks(Filters())}
        return [known[chunk_id] for chunk_id in ids if chunk_id in known]

    def load_document(self, document_id: DocumentId) -> Document | None:
        """The whole document, text and all."""
        kept = self._kept.get(document_id)
        return None if kept is None else kept.embedded.document

    def load_embedded(self, document_id: DocumentId) -> EmbeddedDocument | None:
        """The whole document with its chunks, windows and vectors."""
        kept = self._kept.get(document_id)
        return None if kept is None else kept.embedded

    def past_versions(self) -> Iterator[EmbeddedDocument]:
        """The versions of documents that are not held any more, oldest first."""
        yield from self._past

    @contextmanager
    def snapshot(self) -> Iterator[MemoryStore]:
        """A copy of this store as it stands now."""
        frozen = copy(self)
        frozen._kept, frozen._past = dict(self._kept), list(self._past)
        yield frozen

    def text_of(self, document_id: DocumentId, start: int, end: int) -> str:
        """A slice of the document's text; empty where there is no such document."""
        kept = self._kept.get(document_id)
        return "" if kept is None else kept.embedded.document.text[start:end]

    def chunk_ids(self, document_id: DocumentId) -> list[ChunkId]:
        """The document's chunks in their order; none of an unknown one."""
        kept = self._kept.get(document_id)
        return [] if kept is None else [part.chunk.id for part in kept.embedded.chunks]

    def find_chunks(self, id_prefix: str) -> list[FoundChunk]:
        """The chunks whose id begins so, first among today's documents, then in the past."""
        for versions, superseded in (
            ([kept.embedded for kept in self._kept.values()], False),
            (self._past[::-1], True),
        ):
            found = {
                part.chunk.id: FoundChunk(version.document, part.chunk, superseded=superseded)
                for version in versions
                for part in version.chunks
                if part.chunk.id.startswith(id_prefix)
            }
            if found:
                return list(found.values())
        return []

    def stats(self) -> StoreStats:
        """What the index holds."""
        held = [part for _, part in self._chunks(Filters())]
        windows = sum(len(part.windows) for part in held)
        return StoreStats(
            documents=len(self._kept),
            chunks=len(held),
            windows=windows,
            vectors=windows,
            lacking=sum(not part.windows for part in held),
            words=len(held),
            database_bytes=0,
            segments_bytes=0,
            log_bytes=0,
            last_updated=self._updated,
            complete=self._complete,
        )

    def verify(self) -> list[Finding]:
        """There is only one copy of everything, so nothing can disagree."""
        return []

    def repair(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to give back."""
