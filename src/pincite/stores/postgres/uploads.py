"""Single files that users hand in: each is one document, however often and how fast it comes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from psycopg.types.json import Jsonb

from pincite.records import DocumentEntry, DocumentId, EmbeddedDocument, Metadata
from pincite.stores.postgres import tables
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.stores.postgres.store import PostgresStore
from pincite.stores.rows import embedded_of, entry_of

_MINE = """
SELECT {columns}, original.labels FROM document
JOIN original ON original.project = document.project AND original.owner = document.owner
    AND original.checksum = document.upload
WHERE document.project = %s AND document.generation = %s AND document.level <= %s
AND document.owner = %s AND document.upload = %s
"""
_PAGE = """
SELECT {columns} FROM document
WHERE project = %s AND generation = %s AND level <= %s AND path > %s ORDER BY path LIMIT %s
"""
_KEEP = """
INSERT INTO original (project, owner, checksum, level, path, labels, data)
SELECT %s, document.owner, %s, document.level, document.path, %s, %s FROM document
WHERE document.generation = %s AND document.id = %s
ON CONFLICT (project, owner, checksum) DO UPDATE SET
    level = EXCLUDED.level, path = EXCLUDED.path, labels = EXCLUDED.labels
"""
_RELABEL = """
UPDATE original SET labels = %s, level = document.level FROM document
WHERE original.project = %s AND document.generation = %s AND document.id = %s
AND original.owner = document.owner AND original.checksum = document.upload
"""
_FORGET_ORIGINAL = """
DELETE FROM original USING document
WHERE original.project = %s AND document.generation = %s AND document.id = %s
AND original.owner = document.owner AND original.checksum = document.upload
"""
_FORGET_PAST = """
DELETE FROM past_document WHERE project = %s AND record ->> 'path' = %s
"""


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was handed in, and what was said of it."""

    path: str
    checksum: str
    labels: dict[str, Any]
    data: bytes


class UploadStore(PostgresStore):
    """A project to which single files are handed in."""

    def uploaded(self, checksum: str) -> tuple[DocumentEntry, dict[str, Any]] | None:
        """The document that this user made of a file, and what was said of it, if it is there."""
        statement = _MINE.format(columns=tables.ENTRY_COLUMNS)
        with self._reading() as (connection, state):
            if state.view is None:
                return None
            seen = (state.view.project, state.view.generation, state.view.clearance)
            found = connection.execute(statement, (*seen, self._entry.account, checksum))
            row = found.fetchone()
            if row is None:
                return None
            *entry, labels = row
            return entry_of(tuple(entry)), labels

    def has_uploads(self) -> bool:
        """Whether any document that is seen was handed in."""
        statement = """
            SELECT 1 FROM document WHERE project = %s AND generation = %s AND level <= %s
            AND upload IS NOT NULL LIMIT 1
        """
        with self._reading() as (connection, state):
            if state.view is None:
                return False
            seen = (state.view.project, state.view.generation, state.view.clearance)
            return connection.execute(statement, seen).fetchone() is not None

    def page(self, after: str, limit: int) -> list[DocumentEntry]:
        """So many documents by path, from the one after this path on."""
        statement = _PAGE.format(columns=tables.ENTRY_COLUMNS)
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            seen = (state.view.project, state.view.generation, state.view.clearance)
            rows = connection.execute(statement, (*seen, after, limit))
            return [entry_of(row) for row in rows]

    def add_upload(self, embedded: EmbeddedDocument, original: Original) -> bool:
        """Add the document of a file; False where another call was quicker with the same one."""
        with self._writing() as (connection, view, header):
            added = self._add(connection, view, header.recipe, embedded, upload=original.checksum)
            if added:
                self._keep(connection, view, embedded.document.id, original)
            return added

    def remake_upload(self, embedded: EmbeddedDocument, original: Original) -> None:
        """Put a document that was made anew in the place of the one there is."""
        with self._writing() as (connection, view, header):
            ids = [embedded.document.id]
            self._forget(connection, view, header, ids, path=embedded.document.path, past=False)
            self._add(connection, view, header.recipe, embedded, upload=original.checksum)
            self._keep(connection, view, embedded.document.id, original)

    def relabel(self, document_id: DocumentId, about: Metadata, labels: dict[str, Any]) -> bool:
        """Say other things of a document, with the vectors it has; False if there is none."""
        with self._writing() as (connection, view, header):
            found = connection.execute(
                "SELECT owner, upload, recipe FROM document WHERE project = %s "
                "AND generation = %s AND level <= %s AND id = %s",
                (view.project, view.generation, view.clearance, document_id),
            ).fetchone()
            rows = tables.read(connection, view, document_id)
            if found is None or rows is None:
                return False
            owner, upload, recipe = found
            embedded = embedded_of(header.name, rows)
            labelled = replace(embedded, document=replace(embedded.document, metadata=about))
            self._forget(connection, view, header, [document_id], path=None, past=False)
            self._add(connection, view, recipe, labelled, upload=upload, owner=owner)
            connection.execute(
                _RELABEL, (Jsonb(labels), view.project, view.generation, document_id)
            )
            return True

    def delete(self, document_id: DocumentId) -> bool:
        """Delete a document with all that is of it, its past too; False where there is none."""
        with self._writing() as (connection, view, header):
            found = tables.rows_named(connection, view, [document_id], None)
            rows = tables.read(connection, view, document_id)
            if not found or rows is None:
                return False
            scope = (view.project, view.generation)
            connection.execute(_FORGET_ORIGINAL, (*scope, document_id))
            connection.execute(_FORGET_PAST, (view.project, rows.document[tables.PATH]))
            self._forget(connection, view, header, [document_id], path=None, past=False)
            return True

    def originals(self) -> Iterator[Original]:
        """Every file that was handed in and may be seen, one by one."""
        with self._reading() as (connection, state):
            if state.view is None:
                return
            statement = """
                SELECT path, checksum, labels, data FROM original
                WHERE project = %s AND level <= %s ORDER BY path
            """
            with connection.cursor("originals", withhold=False) as cursor:
                cursor.itersize = 1
                cursor.execute(statement, (state.view.project, state.view.clearance))
                for row in cursor:
                    yield Original(*row)

    def _keep(
        self, connection: Connection, view: View, document_id: DocumentId, original: Original
    ) -> None:
        connection.execute(
            _KEEP,
            (
                view.project,
                original.checksum,
                Jsonb(original.labels),
                original.data,
                view.generation,
                document_id,
            ),
        )
