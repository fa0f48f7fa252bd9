"""Documents and chunks as they are listed and loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pincite.records import (
    Chunk,
    ChunkId,
    DocumentEntry,
    DocumentId,
    EmbeddedDocument,
    Filters,
    FoundChunk,
    StoreStats,
)
from pincite.stores.codec import embedded_from_json
from pincite.stores.postgres.bm25 import Bound, all_words, asked
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View, visible_chunks
from pincite.stores.postgres.tables import CHUNK_COLUMNS_READ, ENTRY_COLUMNS
from pincite.stores.rows import chunk_of, entry_of, stretches
from pincite.text.words import question_terms

_SEEN = """
document.project = %(project)s AND document.generation = %(generation)s
AND document.level <= %(clearance)s
"""


def entries(
    connection: Connection, view: View, ids: Collection[DocumentId] | None
) -> list[DocumentEntry]:
    """Every document, or only these; by path."""
    bound = Bound(**view.scope)
    only = "" if ids is None else f"AND document.id = ANY ({bound(list(ids))})"
    statement = f"SELECT {ENTRY_COLUMNS} FROM document WHERE {_SEEN} {only} ORDER BY document.path"
    return [entry_of(row) for row in connection.execute(statement, bound.values)]


def paths(connection: Connection, view: View) -> dict[str, DocumentId]:
    """Which document stands where, by path."""
    statement = f"SELECT path, id FROM document WHERE {_SEEN} ORDER BY path"
    return {path: DocumentId(name) for path, name in connection.execute(statement, view.scope)}


def find_documents(
    connection: Connection, view: View, question: str, filters: Filters, limit: int | None
) -> list[DocumentEntry]:
    """The documents that the question names or describes, best first."""
    bound = Bound(**view.scope)
    looked_for = asked(question_terms(question), "about_posting", bound)
    if looked_for is None:
        return []
    seen = _some_seen(view, filters, bound)
    statement = f"""
        WITH {", ".join(all_words("about", looked_for, bound))}
        SELECT {ENTRY_COLUMNS} FROM about_scored AS scored
        JOIN document ON document.row = scored.owner WHERE {_SEEN} {seen}
        ORDER BY scored.score DESC, document.path LIMIT {bound(limit)}
    """
    return [entry_of(row) for row in connection.execute(statement, bound.values)]


def recorded_documents(
    connection: Connection, view: View, recording: str, filters: Filters
) -> list[DocumentId]:
    """The documents of a recording of which something may be seen."""
    bound = Bound(**view.scope)
    statement = f"""
        SELECT document.id FROM document WHERE {_SEEN} AND document.recording = {bound(recording)}
        {_some_seen(view, filters, bound)} ORDER BY document.id
    """
    return [DocumentId(row[0]) for row in connection.execute(statement, bound.values)]


def _some_seen(view: View, filters: Filters, bound: Bound) -> str:
    """A condition on documents: something of them may be seen."""
    visible = visible_chunks(view, filters, bound)
    if visible is None:
        return ""
    return (
        "AND document.row IN "
        f"(SELECT held.document FROM chunk AS held WHERE held.row IN ({visible}))"
    )


def chunks(
    connection: Connection, view: View, ids: Sequence[ChunkId]
) -> list[tuple[DocumentEntry, Chunk]]:
    """The chunks with their documents, in the order of the ids; unknown ids are left out."""
    bound = Bound(**view.scope)
    statement = f"""
        SELECT chunk.document, {CHUNK_COLUMNS_READ} FROM chunk
        WHERE chunk.project = %(project)s AND chunk.generation = %(generation)s
        AND chunk.level <= %(clearance)s AND chunk.id = ANY ({bound(list(ids))})
    """
    rows = {row[1]: row for row in connection.execute(statement, bound.values)}
    asked_for = stretches(rows.values())
    firsts = {document: first for document, (first, _) in asked_for.items()}
    documents = {
        number: (entry_of(tuple(entry)), str(text))
        for number, *entry, text in connection.execute(
            f"SELECT document.row, {ENTRY_COLUMNS}, "
            "substring(document.text FROM wanted.first + 1 FOR wanted.length) FROM document "
            "JOIN unnest(%s::bigint[], %s::int[], %s::int[]) AS wanted (row, first, length) "
            "ON wanted.row = document.row",
            (
                list(asked_for),
                list(firsts.values()),
                [max(last - first, 0) for first, last in asked_for.values()],
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


def text_of(
    connection: Connection, view: View, document_id: DocumentId, start: int, end: int
) -> str:
    """A slice of the document's text; empty where there is no such document."""
    bound = Bound(**view.scope)
    part = f"substring(text FROM {bound(start)}::int + 1 FOR {bound(max(end - start, 0))}::int)"
    statement = f"SELECT {part} FROM document WHERE {_SEEN} AND id = {bound(document_id)}"
    row = connection.execute(statement, bound.values).fetchone()
    return "" if row is None else str(row[0])


def chunk_ids(connection: Connection, view: View, document_id: DocumentId) -> list[ChunkId]:
    """The document's chunks in their order."""
    bound = Bound(**view.scope)
    statement = f"""
        SELECT chunk.id FROM chunk JOIN document ON document.row = chunk.document
        WHERE {_SEEN} AND document.id = {bound(document_id)} ORDER BY chunk.position
    """
    return [ChunkId(row[0]) for row in connection.execute(statement, bound.values)]


def ids_beginning(connection: Connection, view: View, prefix: str) -> list[ChunkId]:
    """Two chunks whose ids begin so, if there are: more need not be known."""
    bound = Bound(**view.scope)
    first, after = bound(prefix), bound(f"{prefix}g")
    statement = f"""
        SELECT id FROM chunk WHERE project = %(project)s AND generation = %(generation)s
        AND level <= %(clearance)s AND id >= {first} AND id < {after} ORDER BY id LIMIT 2
    """
    return [ChunkId(row[0]) for row in connection.execute(statement, bound.values)]


def past_chunks(connection: Connection, view: View, prefix: str) -> list[FoundChunk]:
    """The chunks of earlier versions whose ids begin so, the latest of each."""
    bound = Bound(**view.scope)
    first, after = bound(prefix), bound(f"{prefix}g")
    statement = f"""
        SELECT DISTINCT ON (past_chunk.id) past_chunk.id, past_document.record
        FROM past_chunk JOIN past_document ON past_document.row = past_chunk.document
        WHERE past_chunk.project = %(project)s AND past_document.project = %(project)s
        AND past_document.generation = %(generation)s AND past_document.level <= %(clearance)s
        AND past_chunk.id >= {first} AND past_chunk.id < {after}
        ORDER BY past_chunk.id, past_document.row DESC LIMIT 2
    """
    found: list[FoundChunk] = []
    for chunk_id, record in connection.execute(statement, bound.values):
        version = embedded_from_json(record)
        found.extend(
            FoundChunk(version.document, part.chunk, superseded=True)
            for part in version.chunks
            if part.chunk.id == chunk_id
        )
    return found


def past_versions(connection: Connection, view: View) -> Iterator[EmbeddedDocument]:
    """Earlier versions, oldest first."""
    statement = """
        SELECT record FROM past_document WHERE project = %(project)s
        AND generation = %(generation)s AND level <= %(clearance)s ORDER BY row
    """
    with connection.cursor("past") as cursor:  # the server hands them out a few at a time
        cursor.itersize = 10
        for (record,) in cursor.execute(statement, view.scope):
            yield embedded_from_json(record)


def stats(connection: Connection, view: View | None, *, complete: bool) -> StoreStats:
    """What of the generation may be seen, counted; the bytes are those of texts and vectors."""
    if view is None:
        return StoreStats(0, 0, 0, 0, 0, 0, 0, 0, 0, None, complete)
    statement = """
        SELECT
            (SELECT count(*) FROM document WHERE project = %(project)s
             AND generation = %(generation)s AND level <= %(clearance)s),
            (SELECT count(*) FROM chunk WHERE project = %(project)s
             AND generation = %(generation)s AND level <= %(clearance)s),
            (SELECT count(*) FROM window_vector JOIN chunk ON chunk.row = window_vector.chunk
             WHERE chunk.project = %(project)s AND chunk.generation = %(generation)s
             AND chunk.level <= %(clearance)s),
            (SELECT count(*) FROM chunk WHERE project = %(project)s
             AND generation = %(generation)s AND level <= %(clearance)s
             AND NOT EXISTS (SELECT 1 FROM window_vector WHERE window_vector.chunk = chunk.row)),
            (SELECT coalesce(sum(pg_column_size(text)), 0)::bigint FROM document
             WHERE project = %(project)s AND generation = %(generation)s
             AND level <= %(clearance)s),
            to_char(updated AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'),
            version
        FROM generation WHERE id = %(generation)s AND project = %(project)s
    """
    row = connection.execute(statement, view.scope).fetchone()
    documents, chunk_count, windows, lacking, size, *rest = row or (0, 0, 0, 0, 0, None, 0)
    updated, version = rest
    return StoreStats(
        documents=documents,
        chunks=chunk_count,
        windows=windows,
        vectors=windows,
        lacking=lacking,
        words=chunk_count,
        database_bytes=size + windows * view.bytes_each,
        segments_bytes=0,
        log_bytes=0,
        last_updated=updated if version else None,
        complete=complete,
    )
