"""What an index holds, read from the database and the segments."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self
from weakref import WeakSet

import apsw

from pincite.ports import Lap, no_lap
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
    Ranking,
)
from pincite.stores.codec import header_from_json
from pincite.stores.rows import chunk_of, document_of, embedded_of, entry_of, stretches
from pincite.stores.spaces import refuse_other_space
from pincite.stores.sqlite import tables, vocabulary
from pincite.stores.sqlite.connection import snapshot, translated_errors
from pincite.stores.sqlite.filters import visible_documents
from pincite.stores.sqlite.history import History, chunks_in_history, is_of, past_versions
from pincite.stores.sqlite.log import ChunkLog
from pincite.stores.sqlite.meta import log_position, meta
from pincite.stores.sqlite.schema import open_database
from pincite.stores.sqlite.search import TableSearches, recorded_documents, search_documents
from pincite.stores.sqlite.segments.ranking import SegmentSearches
from pincite.stores.sqlite.segments.shelf import Shelf
from pincite.vectors import Vector, from_bytes

if TYPE_CHECKING:
    from pincite.records import Failure, StoreStats

LOG_NAME = "chunks.jsonl"
DATABASE_NAME = "index.db"
SEGMENTS_NAME = "segments"
_openings = itertools.count(1)


class IndexReader:
    """Reads one index folder. Each thread has a connection of its own."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._database = folder / DATABASE_NAME
        self._log = ChunkLog(folder / LOG_NAME)
        self._shelf = Shelf(folder / SEGMENTS_NAME)
        self._spellings = vocabulary.Spellings()
        self._chunk_counts = vocabulary.ChunkCounts()
        self._writable = writable
        self._opening = next(_openings)
        self._of_thread = threading.local()
        self._connections = WeakSet[apsw.Connection]()  # a thread's ends with it

    def header(self) -> LibraryHeader | None:
        """How this index is made; None before the first build."""
        with translated_errors(self._database):
            header = meta(self._connection, "header")
            return None if header is None else header_from_json(json.loads(header))

    def problems(self) -> list[Failure]:
        """The files that the last run could not read."""
        from pincite.records import Failure

        with translated_errors(self._database):
            told = json.loads(meta(self._connection, "problems") or "[]")
            return [Failure(path, reason) for path, reason in told]

    def is_complete(self) -> bool:
        """Whether the last run came to its end."""
        with translated_errors(self._database):
            return meta(self._connection, "complete") == "1"

    def version(self) -> str:
        """Another one whenever a search may find something else: how far which log is followed.

        After a repair the same log may be followed better: that is opened once more.
        """
        with translated_errors(self._database):
            position = meta(self._connection, "log_position") or ""
            return f"{self._database.parent.name}@{position} {self._opening}"

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
        wanted: dict[str, object] = {"after": after, "limit": -1 if limit is None else limit}
        seen = visible_documents(filters)
        only = f"document.path > :after AND {seen.rows}"
        if ids is not None:
            only += " AND document.id IN (SELECT value FROM json_each(:ids))"
            wanted["ids"] = json.dumps(list(ids))
        if checksum is not None:
            only += " AND document.checksum = :checksum"
            wanted["checksum"] = checksum
        statement = (
            f"SELECT {tables.ENTRY_COLUMNS} FROM document WHERE {only} "
            "ORDER BY document.path LIMIT :limit"
        )
        with translated_errors(self._database):
            rows = self._connection.execute(statement, {**wanted, **seen.values})
            return [entry_of(row) for row in rows]

    def paths(self) -> dict[str, DocumentId]:
        """Which document stands where, by path."""
        with translated_errors(self._database):
            return dict(self._connection.execute("SELECT path, id FROM document ORDER BY path"))

    def find_documents(
        self, question: str, *, filters: Filters = Filters(), limit: int | None = None
    ) -> list[DocumentEntry]:
        """The documents whose name, title, author, tags or summary speak to it, best first."""
        with translated_errors(self._database):
            rows = search_documents(self._connection, question, filters, limit)
            return [entry_of(row) for row in rows]

    def recorded_documents(self, recording: str, filters: Filters) -> list[DocumentId]:
        """The documents of a recording of which something may be seen."""
        with translated_errors(self._database):
            return recorded_documents(self._connection, recording, filters)

    def named_documents(self, question: str) -> dict[str, tuple[DocumentId, ...]]:
        """The documents that the question calls by name, by that name."""
        with translated_errors(self._database):
            return vocabulary.named_documents(self._connection, question)

    def known_vectors(self, fingerprints: Iterable[str]) -> dict[str, Vector]:
        """The vectors already stored for these embedded texts."""
        if self.header() is None:
            return {}  # before the first build there is no table for vectors yet
        statement = """
            SELECT window.fingerprint, window_vector.embedding
            FROM window JOIN window_vector ON window_vector.rowid = window.rowid
            WHERE window.rowid IN (
                SELECT min(rowid) FROM window
                WHERE fingerprint IN (SELECT value FROM json_each(?)) GROUP BY fingerprint
            )
        """
        with translated_errors(self._database):
            rows = self._connection.execute(statement, (json.dumps(list(fingerprints)),))
            return {fingerprint: from_bytes(vector) for fingerprint, vector in rows}

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
        """All rankings in one call, from one state of the database."""
        rankings: dict[str, Ranking] = {}
        with translated_errors(self._database), snapshot(self._connection):
            segments = self._shelf.search(self._connection)
            searches = (
                TableSearches(self._connection)
                if segments is None
                else SegmentSearches(self._connection, segments)
            )
            if question is not None:
                rankings["words"] = searches.words(question, filters, limit)
                lap("words")
                if codes := searches.codes(question, filters, limit):
                    rankings["codes"] = codes
                lap("codes")
            if vector is not None and meta(self._connection, "header") is None:
                rankings["vector"] = ()  # before the first build there is no table for vectors
            elif vector is not None:
                refuse_other_space(self.header(), made_by)
                rankings["vector"] = searches.vector(vector, filters, limit)
                lap("vector")
                if question is not None:
                    words, near = rankings["words"], rankings["vector"]
                    rankings["words"] += searches.words_of(question, _only_in(near, words))
                    rankings["vector"] += searches.vectors_of(vector, _only_in(words, near))
                    lap("compare")
        return rankings

    def notices(self) -> tuple[str, ...]:
        """None: without segments the tables are searched, which every run makes up for."""
        return ()

    def chunk_counts(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """How many chunks there are, and how many of them have each word, in any of its forms."""
        with translated_errors(self._database):
            return self._chunk_counts.of(self._connection, words)

    def spellings(self, initial: str) -> Mapping[str, int]:
        """The library's words with this first letter, and how many documents have each."""
        with translated_errors(self._database):
            return self._spellings.beginning_with(self._connection, initial)

    def definitions(self, keys: Sequence[str]) -> list[Definition]:
        """What documents say abbreviations stand for, most frequent first."""
        with translated_errors(self._database):
            return vocabulary.definitions(self._connection, keys)

    def load_chunks(self, ids: Sequence[ChunkId]) -> list[tuple[DocumentEntry, Chunk]]:
        """The chunks with their documents, in the order of the ids; unknown ids are left out."""
        found = []
        documents: dict[int, tuple[DocumentEntry, str, int]] = {}
        with translated_errors(self._database), snapshot(self._connection):
            each = [self._connection.execute(tables.SELECT_CHUNK, (one,)).fetchone() for one in ids]
            rows = [row for row in each if row is not None]
            for document, (first, last) in stretches(rows).items():
                text, offset, entry = tables.read_text(
                    self._connection, tables.SELECT_ENTRY, document, first, last
                )
                documents[document] = (entry_of(entry), text, offset)
            for document, *columns in rows:
                held, text, first = documents[document]
                chunk = chunk_of(held.id, text, tuple(columns), offset=first)
                if chunk.id != columns[0]:
                    raise ValueError(f"chunk {columns[0]} does not stand where its id says")
                found.append((held, chunk))
        return found

    def load_document(self, document_id: DocumentId) -> Document | None:
        """The whole document, text and all."""
        header = self.header()
        with translated_errors(self._database):
            rows = tables.read(self._connection, document_id)
            if header is None or rows is None:
                return None
            return document_of(header.name, rows)

    def load_embedded(self, document_id: DocumentId) -> EmbeddedDocument | None:
        """The whole document with its chunks, windows and vectors."""
        header = self.header()
        with translated_errors(self._database):
            rows = tables.read(self._connection, document_id)
            if header is None or rows is None:
                return None
            return embedded_of(header.name, rows)

    def past_versions(self) -> Iterator[EmbeddedDocument]:
        """The versions of documents that are not held any more, oldest first."""
        with translated_errors(self._database):
            followed = log_position(self._connection)
        yield from past_versions(self._log, followed)

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """This store as it stands now, whatever others write; in this thread, until it ends."""
        with translated_errors(self._database):
            connection = self._connection
        with snapshot(connection):
            with translated_errors(self._database):
                meta(connection, "header")  # SQLite's own snapshot begins with the first read
            yield self

    def text_of(self, document_id: DocumentId, start: int, end: int) -> str:
        """A slice of the document's text; empty where there is no such document."""
        with translated_errors(self._database):
            text, offset, _ = tables.read_text(
                self._connection, tables.SELECT_TEXT, document_id, start, end
            )
            return text[start - offset : max(start, end) - offset]

    def chunk_ids(self, document_id: DocumentId) -> list[ChunkId]:
        """The document's chunks in their order; none of an unknown one."""
        with translated_errors(self._database):
            rows = self._connection.execute(tables.SELECT_CHUNK_IDS, (document_id,))
            return [chunk_id for (chunk_id,) in rows]

    def find_chunks(self, id_prefix: str) -> list[FoundChunk]:
        """The chunks whose id begins so, first among today's documents, then in the past."""
        statement = "SELECT id FROM chunk WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 2"
        with translated_errors(self._database):
            ids = [row[0] for row in self._connection.execute(statement, (id_prefix,))]
        found = []
        for entry, chunk in self.load_chunks(ids):
            document = self.load_document(entry.id)
            if document is not None:
                found.append(FoundChunk(document, chunk, superseded=False))
        return found or chunks_in_history(self._log, id_prefix)

    def forgotten_at(self, name: str) -> str:
        """When the document of a path, or of the beginning of an id, was forgotten for good."""
        history = History()
        history.read(self._log)
        stones = [one for one in history.tombstones if is_of(one, name)]
        return stones[-1]["time"] if stones else ""

    def stats(self) -> StoreStats:
        """What the index holds, counted in the database."""
        from pincite.records import StoreStats

        count = "SELECT count(*) FROM "
        with translated_errors(self._database), snapshot(self._connection):
            documents, chunks, windows, words, lacking = (
                int(self._connection.execute(count + table).get)
                for table in (
                    *("document", "chunk", "window", "chunk_words"),
                    "chunk WHERE rowid NOT IN (SELECT chunk FROM window)",
                )
            )
            vectors = self._connection.execute(count + "window_vector").get if windows else 0
            updated = meta(self._connection, "updated")
            complete = meta(self._connection, "complete") == "1"
        return StoreStats(
            documents=documents,
            chunks=chunks,
            windows=windows,
            vectors=int(vectors),
            lacking=lacking,
            words=words,
            database_bytes=sum(
                file.stat().st_size
                for file in self._database.parent.glob(f"{DATABASE_NAME}*")  # with -wal
            ),
            segments_bytes=self._shelf.bytes_on_disk(),
            log_bytes=self._log.size(),
            last_updated=updated,
            complete=complete,
        )

    def close(self) -> None:
        """Give back every resource."""
        for connection in list(self._connections):
            connection.close()
        self._connections.clear()
        self._of_thread = threading.local()

    @property
    def _connection(self) -> apsw.Connection:
        """This thread's own connection, opened when first needed."""
        if not hasattr(self._of_thread, "connection"):
            connection = open_database(self._database, writable=self._writable)
            self._connections.add(connection)
            self._of_thread.connection = connection
        opened: apsw.Connection = self._of_thread.connection
        return opened


def _only_in(ranking: Ranking, other: Ranking) -> list[ChunkId]:
    """The chunks of one ranking that are not in the other."""
    known = {ranked.chunk_id for ranked in other}
    return [ranked.chunk_id for ranked in ranking if ranked.chunk_id not in known]
