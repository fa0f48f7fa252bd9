"""What a project holds, read in one transaction for each question."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Self

from pincite.errors import ProjectMissing
from pincite.ports import Lap, no_lap
from pincite.recent import Recent
from pincite.records import (
    LEVELS,
    Chunk,
    ChunkId,
    Definition,
    Document,
    DocumentEntry,
    DocumentId,
    EmbeddedDocument,
    Failure,
    Filters,
    FoundChunk,
    LibraryHeader,
    Ranking,
    Scope,
    StoreStats,
)
from pincite.stores.postgres import catalog, tables, vocabulary
from pincite.stores.postgres.connection import Entry, HeldLock, Server
from pincite.stores.postgres.indexes import LARGEST_INDEXED, IndexSettings
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import search
from pincite.stores.postgres.state import State, state_at
from pincite.stores.rows import document_of, embedded_of
from pincite.stores.spaces import refuse_other_space
from pincite.vectors import Vector

_SPELLINGS_KNOWN = 64  # letters of states of the index


class ProjectReader:
    """Reads one project as one user. Threads may share it."""

    def __init__(
        self,
        server: Server,
        scope: Scope,
        entry: Entry,
        *,
        index: IndexSettings = IndexSettings(),
        generation: int | None = None,
        lock: HeldLock | None = None,
    ) -> None:
        self._server = server
        self._scope = scope
        self._entry = entry
        self._index = index
        self._generation = generation  # None: whichever is live
        self._lock = lock
        self._held: Connection | None = None  # of a snapshot
        self._spellings: Recent[tuple[str, str], Mapping[str, int]] = Recent(_SPELLINGS_KNOWN)

    @contextmanager
    def _reading(self) -> Iterator[tuple[Connection, State]]:
        """A transaction that sees one moment: a document is not replaced between two statements."""
        if self._held is not None:
            yield self._held, self._state(self._held)
            return
        with self._server.within(self._entry, snapshot=True) as connection:
            yield connection, self._state(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """This store as it stands now, whatever others write, until the block ends."""
        with self._reading() as (connection, _):
            frozen = copy(self)
            frozen._held = connection
            yield frozen

    def _state(self, connection: Connection) -> State:
        return self._state_of(connection, self._generation)

    def _state_of(self, connection: Connection, generation: int | None) -> State:
        most = sys.maxsize if self._index.kind == "none" else self._index.from_windows
        found = state_at(connection, self._entry, generation, compared_all=most)
        if found is None:
            raise missing(self._scope)
        return found

    def header(self) -> LibraryHeader | None:
        """How this index is made; None before the first build."""
        with self._reading() as (_, state):
            return state.header

    def problems(self) -> list[Failure]:
        """The files that the last run could not read."""
        with self._reading() as (_, state):
            # They are files that could not be read, so that nobody knows how far they may go.
            sees_all = state.view is not None and state.view.clearance == len(LEVELS) - 1
            return list(state.problems) if sees_all else []

    def is_complete(self) -> bool:
        """Whether the last run came to its end."""
        with self._reading() as (_, state):
            return state.complete

    def version(self) -> str:
        """Another one whenever a search may find something else, or this user may see else."""
        with self._reading() as (_, state):
            return state.version

    def documents(self, ids: Collection[DocumentId] | None = None) -> list[DocumentEntry]:
        """Every document, or only these; by path."""
        with self._reading() as (connection, state):
            return [] if state.view is None else catalog.entries(connection, state.view, ids)

    def paths(self) -> dict[str, DocumentId]:
        """Which document stands where, by path."""
        with self._reading() as (connection, state):
            return {} if state.view is None else catalog.paths(connection, state.view)

    def find_documents(
        self, question: str, *, filters: Filters = Filters(), limit: int | None = None
    ) -> list[DocumentEntry]:
        """The documents whose name, title, author, tags or summary speak to it, best first."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            return catalog.find_documents(connection, state.view, question, filters, limit)

    def recorded_documents(self, recording: str, filters: Filters) -> list[DocumentId]:
        """The documents of a recording of which something may be seen."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            return catalog.recorded_documents(connection, state.view, recording, filters)

    def named_documents(self, question: str) -> dict[str, tuple[DocumentId, ...]]:
        """The documents that the question calls by name, by that name."""
        with self._reading() as (connection, state):
            if state.view is None:
                return {}
            return vocabulary.named_documents(connection, state.view, question)

    def known_vectors(self, fingerprints: Iterable[str]) -> dict[str, Vector]:
        """The vectors already stored for these embedded texts."""
        statement = """
            SELECT DISTINCT ON (fingerprint) fingerprint, coalesce(embedding, half::vector)
            FROM window_vector JOIN chunk ON chunk.row = window_vector.chunk
            WHERE window_vector.project = %s AND window_vector.generation = %s
            AND chunk.level <= %s AND fingerprint = ANY (%s)
        """
        with self._reading() as (connection, state):
            if state.view is None:
                return {}
            scope = (state.view.project, state.view.generation, state.view.clearance)
            rows = connection.execute(statement, (*scope, list(fingerprints)), binary=True)
            return {fingerprint: vector.to_numpy() for fingerprint, vector in rows}

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
        """All rankings in one statement."""
        with self._reading() as (connection, state):
            if state.view is None:
                asked = {"words": question, "vector": vector}
                return {kind: () for kind, value in asked.items() if value is not None}
            refuse_other_space(state.header, made_by)
            scan = self._index.scan(state.view.index)
            # The best plan of so large a statement depends on its values.
            settings = {"plan_cache_mode": "force_custom_plan", **scan}
            connection.execute(
                f"SELECT {', '.join(['set_config(%s, %s, true)'] * len(settings))}",
                [word for setting in settings.items() for word in setting],
            )
            found = search(connection, state.view, question, vector, filters=filters, limit=limit)
        lap("rankings")
        return found

    def notices(self) -> tuple[str, ...]:
        """That the index for vectors is missing, where that is so."""
        with self._reading() as (_, state):
            view = state.view
        if view is None or view.index is not None or view.windows <= view.compared_all:
            return ()
        if view.dimensions > LARGEST_INDEXED:
            return ()  # there is none for them, and everybody was told when it was asked for
        return (
            f"The index for vectors is missing: all {view.windows:,} were compared, which is "
            "slow. `pincite team optimize` makes it.",
        )

    def chunk_counts(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """How many chunks there are, and how many of them have each word, in any of its forms."""
        with self._reading() as (connection, state):
            if state.view is None:
                return 0, dict.fromkeys(words, 0)
            return vocabulary.chunk_counts(connection, state.view, words)

    def spellings(self, initial: str) -> Mapping[str, int]:
        """The project's words with this first letter, and how many documents have each."""
        with self._reading() as (connection, state):
            if state.view is None:
                return {}
            key = (state.version, initial)
            known = self._spellings.get(key)
            if known is None:
                known = vocabulary.spellings(connection, state.view, initial)
                self._spellings.put(key, known)
            return known

    def definitions(self, keys: Sequence[str]) -> list[Definition]:
        """What documents say abbreviations stand for, most frequent first."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            return vocabulary.definitions(connection, state.view, keys)

    def load_chunks(self, ids: Sequence[ChunkId]) -> list[tuple[DocumentEntry, Chunk]]:
        """The chunks with their documents, in the order of the ids; unknown ids are left out."""
        with self._reading() as (connection, state):
            return [] if state.view is None else catalog.chunks(connection, state.view, ids)

    def load_document(self, document_id: DocumentId) -> Document | None:
        """The whole document, text and all."""
        with self._reading() as (connection, state):
            if state.view is None or state.header is None:
                return None
            rows = tables.read(connection, state.view, document_id)
            return None if rows is None else document_of(state.header.name, rows)

    def load_embedded(self, document_id: DocumentId) -> EmbeddedDocument | None:
        """The whole document with its chunks, windows and vectors."""
        with self._reading() as (connection, state):
            if state.view is None or state.header is None:
                return None
            rows = tables.read(connection, state.view, document_id)
            return None if rows is None else embedded_of(state.header.name, rows)

    def past_versions(self) -> Iterator[EmbeddedDocument]:
        """The versions of documents that are not held any more, oldest first."""
        with self._reading() as (connection, state):
            if state.view is not None:
                yield from catalog.past_versions(connection, state.view)

    def text_of(self, document_id: DocumentId, start: int, end: int) -> str:
        """A slice of the document's text; empty where there is no such document."""
        with self._reading() as (connection, state):
            if state.view is None:
                return ""
            return catalog.text_of(connection, state.view, document_id, start, end)

    def chunk_ids(self, document_id: DocumentId) -> list[ChunkId]:
        """The document's chunks in their order; none of an unknown one."""
        with self._reading() as (connection, state):
            return (
                [] if state.view is None else catalog.chunk_ids(connection, state.view, document_id)
            )

    def forgotten_at(self, name: str) -> str:
        """Never: what is deleted from a team's database leaves no note."""
        return ""

    def find_chunks(self, id_prefix: str) -> list[FoundChunk]:
        """The chunks whose id begins so, first among today's documents, then in the past."""
        with self._reading() as (connection, state):
            if state.view is None or state.header is None:
                return []
            ids = catalog.ids_beginning(connection, state.view, id_prefix)
            found = []
            for entry, chunk in catalog.chunks(connection, state.view, ids):
                rows = tables.read(connection, state.view, entry.id)
                if rows is not None:
                    document = document_of(state.header.name, rows)
                    found.append(FoundChunk(document, chunk, superseded=False))
            return found or catalog.past_chunks(connection, state.view, id_prefix)

    def stats(self) -> StoreStats:
        """What the index holds, counted in the database."""
        with self._reading() as (connection, state):
            return catalog.stats(connection, state.view, complete=state.complete)

    def close(self) -> None:
        """Give back every resource that is not the team's."""
        if self._lock is not None:
            self._lock.release()

    def _refuse_interrupted(self) -> None:
        """Who was the only writer must know when another may be one, too."""
        if self._lock is not None:
            self._lock.check()


def missing(scope: Scope) -> ProjectMissing:
    """Whether there is no such project, or not for this user: both sound the same."""
    return ProjectMissing(
        f"{scope.user} has no project {scope.full_name}; `pincite team projects` lists those there "
        "are"
    )
