"""What a project holds, read in one transaction for each question."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

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
    Ranked,
    Ranking,
    Scope,
    StoreStats,
)
from pincite.stores.codec import embedded_from_json, header_from_json
from pincite.stores.postgres import tables
from pincite.stores.postgres.bm25 import Bound, all_words, asked, holding_phrase, numbers_of, stems
from pincite.stores.postgres.connection import Entry, HeldLock, Server
from pincite.stores.postgres.indexes import LARGEST_INDEXED, IndexSettings
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View, search_statement, visible_chunks
from pincite.stores.rows import chunk_of, document_of, embedded_of, entry_of, stretches
from pincite.stores.spaces import refuse_other_space
from pincite.text.naming import longest_only, names_said
from pincite.text.words import Term, fold, question_terms
from pincite.vectors import Vector

_SPELLINGS_KNOWN = 64  # letters of states of the index

# An admin sees all members: whose row and clearance count is said by the transaction itself, too.
_STATE = """
SELECT least(member.clearance, clearance_here()), member.role, generation.id, generation.space,
    space.dimensions, generation.header, generation.complete, generation.problems,
    generation.version, generation.chunks, generation.windows,
    (SELECT amname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     JOIN pg_am ON pg_am.oid = relam
     WHERE indisvalid AND indexrelid = to_regclass('pincite.window_space_' || generation.space)),
    member.xmin::text  -- another one after each change of the membership, also there and back
FROM project JOIN member ON member.project = project.id AND member.account = %(account)s
LEFT JOIN generation ON generation.project = project.id
    AND generation.number = coalesce(%(generation)s, project.live)
LEFT JOIN space ON space.id = generation.space
WHERE project.id = %(project)s ORDER BY member.account = account_here() DESC LIMIT 1
"""
_SEEN = """
document.project = %(project)s AND document.generation = %(generation)s
AND document.level <= %(clearance)s
"""
_SEEN_CHUNK = """
chunk.project = %(project)s AND chunk.generation = %(generation)s
AND chunk.level <= %(clearance)s
"""
_STATS = f"""
SELECT
    (SELECT count(*) FROM document WHERE {_SEEN}),
    (SELECT count(*) FROM chunk WHERE {_SEEN_CHUNK}),
    (SELECT count(*) FROM window_vector JOIN chunk ON chunk.row = window_vector.chunk
     WHERE {_SEEN_CHUNK}),
    (SELECT count(*) FROM chunk WHERE {_SEEN_CHUNK}
     AND NOT EXISTS (SELECT 1 FROM window_vector WHERE window_vector.chunk = chunk.row)),
    (SELECT coalesce(sum(pg_column_size(text)), 0)::bigint FROM document WHERE {_SEEN}),
    to_char(updated AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'),
    version
FROM generation WHERE id = %(generation)s AND project = %(project)s
"""


@dataclass(frozen=True, slots=True)
class State:
    """A project at one moment: how its index is made, and what of it may be seen."""

    view: View | None  # None before the first build
    generation: int | None = None
    header: LibraryHeader | None = None
    complete: bool = False
    problems: tuple[Failure, ...] = ()
    version: str = ""


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

    def _rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        """What a statement finds in what may be seen; nothing before the first build."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            return connection.execute(statement, {**state.view.scope, **values}).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """This store as it stands now, whatever others write, until the block ends."""
        with self._reading() as (connection, _):
            frozen = copy(self)
            frozen._held = connection
            yield frozen

    def _state(self, connection: Connection, generation: int | None = None) -> State:
        """The state of a generation; of this store's own where none is named."""
        number = generation or self._generation
        asked_for = {"account": self._entry.account, "project": self._entry.project}
        row = connection.execute(_STATE, {**asked_for, "generation": number}).fetchone()
        if row is None:
            raise missing(self._scope)
        clearance, role, found, space, dimensions, header, complete, problems, version, *rest = row
        chunks, windows, index, membership = rest
        seen_as = f"{clearance} {role} {membership}"
        if header is None:
            return State(None, found, version=f"{found} {seen_as}")
        view = View(
            self._entry.project or 0,
            found,
            clearance,
            space,
            dimensions,
            chunks,
            windows,
            index=index,
            compared_all=sys.maxsize if self._index.kind == "none" else self._index.from_windows,
        )
        failures = tuple(Failure(path, reason) for path, reason in problems)
        told = f"{found} {version} {seen_as}"
        return State(view, found, header_from_json(header), complete, failures, told)

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

    def documents(
        self,
        ids: Collection[DocumentId] | None = None,
        *,
        checksum: str | None = None,
        after: str = "",
        limit: int | None = None,
        filters: Filters = Filters(),
    ) -> list[DocumentEntry]:
        """Every document by path, or only these, those of a file, or so many behind a path."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            bound = Bound(**state.view.scope)
            only = f"{_SEEN} AND document.path > {bound(after)}"
            if ids is not None:
                only += f" AND document.id = ANY ({bound(list(ids))})"
            if checksum is not None:
                only += f" AND document.checksum = {bound(checksum)}"
            statement = f"""
                SELECT {tables.ENTRY_COLUMNS} FROM document
                WHERE {only} {_some_seen(state.view, filters, bound)}
                ORDER BY document.path LIMIT {bound(limit)}
            """
            return [entry_of(row) for row in connection.execute(statement, bound.values)]

    def paths(self) -> dict[str, DocumentId]:
        """Which document stands where, by path."""
        rows = self._rows(f"SELECT path, id FROM document WHERE {_SEEN} ORDER BY path")
        return {path: DocumentId(name) for path, name in rows}

    def find_documents(
        self, question: str, *, filters: Filters = Filters(), limit: int | None = None
    ) -> list[DocumentEntry]:
        """The documents whose name, title, author, tags or summary speak to it, best first."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            bound = Bound(**state.view.scope)
            looked_for = asked(question_terms(question), "about_posting", bound)
            if looked_for is None:
                return []
            seen = _some_seen(state.view, filters, bound)
            statement = f"""
                WITH {", ".join(all_words("about", looked_for, bound))}
                SELECT {tables.ENTRY_COLUMNS} FROM about_scored AS scored
                JOIN document ON document.row = scored.owner WHERE {_SEEN} {seen}
                ORDER BY scored.score DESC, document.path LIMIT {bound(limit)}
            """
            return [entry_of(row) for row in connection.execute(statement, bound.values)]

    def recorded_documents(self, recording: str, filters: Filters) -> list[DocumentId]:
        """The documents of a recording of which something may be seen."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            bound = Bound(**state.view.scope)
            statement = f"""
                SELECT document.id FROM document
                WHERE {_SEEN} AND document.recording = {bound(recording)}
                {_some_seen(state.view, filters, bound)} ORDER BY document.id
            """
            return [DocumentId(row[0]) for row in connection.execute(statement, bound.values)]

    def named_documents(self, question: str) -> dict[str, tuple[DocumentId, ...]]:
        """The documents that the question calls by name, by that name; the longest names only."""
        rows = self._rows(
            f"""
            SELECT document_name.name, document.id
            FROM document_name JOIN document ON document.row = document_name.document
            WHERE document_name.project = %(project)s AND document_name.name = ANY (%(names)s)
            AND {_SEEN} ORDER BY document.id
            """,
            names=names_said(question.replace("\0", " ")),
        )
        found: defaultdict[str, list[DocumentId]] = defaultdict(list)
        for name, document in rows:
            found[name].append(DocumentId(document))
        return {name: tuple(found[name]) for name in longest_only(found)}

    def known_vectors(self, fingerprints: Iterable[str]) -> dict[str, Vector]:
        """The vectors already stored for these embedded texts."""
        statement = f"""
            SELECT DISTINCT ON (fingerprint) fingerprint, coalesce(embedding, half::vector)
            FROM window_vector JOIN chunk ON chunk.row = window_vector.chunk
            WHERE window_vector.project = %(project)s
            AND window_vector.generation = %(generation)s
            AND {_SEEN_CHUNK} AND fingerprint = ANY (%(fingerprints)s)
        """
        with self._reading() as (connection, state):
            if state.view is None:
                return {}
            values = {**state.view.scope, "fingerprints": list(fingerprints)}
            rows = connection.execute(statement, values, binary=True)
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
        asked_for = {"words": question, "vector": vector}
        found: dict[str, list[Ranked]] = {
            kind: [] for kind, value in asked_for.items() if value is not None
        }
        with self._reading() as (connection, state):
            if state.view is None:
                return {kind: () for kind in found}
            refuse_other_space(state.header, made_by)
            scan = self._index.scan(state.view.index)
            # The best plan of so large a statement depends on its values.
            settings = {"plan_cache_mode": "force_custom_plan", **scan}
            connection.execute(
                f"SELECT {', '.join(['set_config(%s, %s, true)'] * len(settings))}",
                [word for setting in settings.items() for word in setting],
            )
            statement, values = search_statement(
                state.view, question, vector, filters=filters, limit=limit
            )
            for row in connection.execute(statement, values, binary=True) if statement else ():
                kind, chunk, document, score, listed, start, end, held = row
                ranked = Ranked(
                    ChunkId(chunk),
                    DocumentId(document),
                    score,
                    None if start is None or end is None else (start, end),
                    None if held is None else held.to_numpy(),
                    listed=listed,
                )
                found.setdefault(kind, []).append(ranked)
        lap("rankings")
        return {kind: tuple(ranking) for kind, ranking in found.items()}

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
        counts = dict.fromkeys(words, 0)
        with self._reading() as (connection, state):
            if state.view is None:
                return 0, counts
            for word in counts:
                bound = Bound(**state.view.scope)
                term = Term((fold(word),))
                tokens = stems(term)
                held = (
                    "SELECT owner FROM posting WHERE generation = %(generation)s "
                    f"AND token = ANY ({numbers_of(tokens, bound)})"
                    if len(tokens) == 1
                    else holding_phrase(term, bound)
                )
                if held is None:
                    continue
                # A word that so many chunks have tells little, and counting on would take long.
                statement = f"""
                    SELECT count(*) FROM (
                        SELECT 1 FROM ({held}) AS held JOIN chunk ON chunk.row = held.owner
                        WHERE chunk.project = %(project)s AND chunk.level <= %(clearance)s
                        LIMIT 10000
                    ) AS counted
                """
                (counts[word],) = connection.execute(statement, bound.values).fetchone() or (0,)
            (chunks,) = connection.execute(
                f"SELECT count(*) FROM chunk WHERE {_SEEN_CHUNK}", state.view.scope
            ).fetchone() or (0,)
            return int(chunks), counts

    def spellings(self, initial: str) -> Mapping[str, int]:
        """The project's words with this first letter, and how many documents have each."""
        with self.snapshot() as now:
            key = (now.version(), initial)
            known = self._spellings.get(key)
            if known is None:
                known = dict(
                    now._rows(
                        """
                        SELECT word, sum(documents) FROM spelling
                        WHERE spelling.generation = %(generation)s
                        AND spelling.level <= %(clearance)s
                        AND spelling.word >= %(first)s AND spelling.word < %(after)s GROUP BY word
                        """,
                        first=initial,
                        after=chr(ord(initial) + 1),
                    )
                )
                self._spellings.put(key, known)
            return known

    def definitions(self, keys: Sequence[str]) -> list[Definition]:
        """What documents say abbreviations stand for, most frequent first."""
        rows = self._rows(
            f"""
            SELECT short, min(long COLLATE "C"), count(*) AS documents
            FROM definition JOIN document ON document.row = definition.document
            WHERE definition.project = %(project)s AND short_key = ANY (%(keys)s) AND {_SEEN}
            GROUP BY short, long_key
            ORDER BY documents DESC, short COLLATE "C", long_key COLLATE "C"
            """,
            keys=list(keys),
        )
        return [Definition(short, long, count) for short, long, count in rows]

    def load_chunks(self, ids: Sequence[ChunkId]) -> list[tuple[DocumentEntry, Chunk]]:
        """The chunks with their documents, in the order of the ids; unknown ids are left out."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            statement = f"""
                SELECT chunk.document, {tables.CHUNK_COLUMNS_READ} FROM chunk
                WHERE {_SEEN_CHUNK} AND chunk.id = ANY (%(ids)s)
            """
            values = {**state.view.scope, "ids": list(ids)}
            rows = {row[1]: row for row in connection.execute(statement, values)}
            wanted = stretches(rows.values())
            firsts = {document: first for document, (first, _) in wanted.items()}
            documents = {
                number: (entry_of(tuple(entry)), str(text))
                for number, *entry, text in connection.execute(
                    f"""
                    SELECT document.row, {tables.ENTRY_COLUMNS},
                        substring(document.text FROM wanted.first + 1 FOR wanted.length)
                    FROM document JOIN unnest(%s::bigint[], %s::int[], %s::int[])
                        AS wanted (row, first, length) ON wanted.row = document.row
                    """,
                    (
                        list(wanted),
                        list(firsts.values()),
                        [max(last - first, 0) for first, last in wanted.values()],
                    ),
                )
            }
        found = []
        for chunk_id in ids:
            if chunk_id in rows:
                number, *columns = rows[chunk_id]
                entry, text = documents[number]
                chunk = chunk_of(entry.id, text, tuple(columns), offset=firsts[number])
                found.append((entry, chunk))
        return found

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
        statement = """
            SELECT record FROM past_document WHERE project = %(project)s
            AND generation = %(generation)s AND level <= %(clearance)s ORDER BY row
        """
        with self._reading() as (connection, state):
            if state.view is None:
                return
            with connection.cursor("past") as cursor:  # the server hands them out a few at a time
                cursor.itersize = 10
                for (record,) in cursor.execute(statement, state.view.scope):
                    yield embedded_from_json(record)

    def text_of(self, document_id: DocumentId, start: int, end: int) -> str:
        """A slice of the document's text; empty where there is no such document."""
        rows = self._rows(
            "SELECT substring(text FROM %(start)s::int + 1 FOR %(length)s::int) "
            f"FROM document WHERE {_SEEN} AND id = %(document)s",
            document=document_id,
            start=start,
            length=max(end - start, 0),
        )
        return str(rows[0][0]) if rows else ""

    def chunk_ids(self, document_id: DocumentId) -> list[ChunkId]:
        """The document's chunks in their order; none of an unknown one."""
        rows = self._rows(
            "SELECT chunk.id FROM chunk JOIN document ON document.row = chunk.document "
            f"WHERE {_SEEN} AND document.id = %(document)s ORDER BY chunk.position",
            document=document_id,
        )
        return [ChunkId(row[0]) for row in rows]

    def forgotten_at(self, name: str) -> str:
        """Never: what is deleted from a team's database leaves no note."""
        return ""

    def find_chunks(self, id_prefix: str) -> list[FoundChunk]:
        """The chunks whose id begins so, first among today's documents, then in the past.

        Two of today's, and two of the past, if there are: more need not be known.
        """
        beginning = {"first": id_prefix, "after": f"{id_prefix}g"}
        with self.snapshot() as now:
            rows = now._rows(
                f"SELECT id FROM chunk WHERE {_SEEN_CHUNK} "
                "AND id >= %(first)s AND id < %(after)s ORDER BY id LIMIT 2",
                **beginning,
            )
            found = [
                FoundChunk(document, chunk, superseded=False)
                for entry, chunk in now.load_chunks([ChunkId(row[0]) for row in rows])
                if (document := now.load_document(entry.id)) is not None
            ]
            if found:
                return found
            past = now._rows(
                """
                SELECT DISTINCT ON (past_chunk.id) past_chunk.id, past_document.record
                FROM past_chunk JOIN past_document ON past_document.row = past_chunk.document
                WHERE past_chunk.project = %(project)s AND past_document.project = %(project)s
                AND past_document.generation = %(generation)s
                AND past_document.level <= %(clearance)s
                AND past_chunk.id >= %(first)s AND past_chunk.id < %(after)s
                ORDER BY past_chunk.id, past_document.row DESC LIMIT 2
                """,
                **beginning,
            )
        return [
            FoundChunk(version.document, part.chunk, superseded=True)
            for chunk_id, record in past
            for version in (embedded_from_json(record),)
            for part in version.chunks
            if part.chunk.id == chunk_id
        ]

    def stats(self) -> StoreStats:
        """What of the index may be seen, counted; the bytes are those of texts and vectors."""
        with self._reading() as (connection, state):
            row = state.view and connection.execute(_STATS, state.view.scope).fetchone()
        documents, chunks, windows, lacking, size, updated, version = row or (0,) * 7
        return StoreStats(
            documents=documents,
            chunks=chunks,
            windows=windows,
            vectors=windows,
            lacking=lacking,
            words=chunks,
            database_bytes=size + windows * (state.view.bytes_each if state.view else 0),
            segments_bytes=0,
            log_bytes=0,
            last_updated=updated if version else None,
            complete=state.complete,
        )

    def close(self) -> None:
        """Give back every resource that is not the team's."""
        if self._lock is not None:
            self._lock.release()

    def _refuse_interrupted(self) -> None:
        """Who was the only writer must know when another may be one, too."""
        if self._lock is not None:
            self._lock.check()


def _some_seen(view: View, filters: Filters, bound: Bound) -> str:
    """A condition on documents: something of them may be seen."""
    visible = visible_chunks(view, filters, bound)
    if visible is None:
        return ""
    return (
        "AND document.row IN "
        f"(SELECT held.document FROM chunk AS held WHERE held.row IN ({visible}))"
    )


def missing(scope: Scope) -> ProjectMissing:
    """Whether there is no such project, or not for this user: both sound the same."""
    return ProjectMissing(
        f"{scope.user} has no project {scope.full_name}; `pincite team projects` lists those there "
        "are"
    )
