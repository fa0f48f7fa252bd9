"""Single files that users hand in: each is one document, however often and how fast it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from psycopg.types.json import Jsonb

from pincite.errors import StoreBusy
from pincite.records import (
    DocumentEntry,
    DocumentId,
    EmbeddedDocument,
    LibraryHeader,
    Metadata,
    Original,
)
from pincite.stores.postgres import tables
from pincite.stores.postgres.guarding import touch_others
from pincite.stores.postgres.originals import KeepingStore
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
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
_RELABEL = """
UPDATE original SET labels = %(labels)s, level = document.level FROM document
WHERE original.project = %(project)s AND original.level <= %(clearance)s
AND document.generation = %(generation)s AND document.id = %(document)s
AND original.owner = document.owner AND original.checksum = document.upload
"""
_HANDED_IN = """
SELECT owner, upload, path FROM document
WHERE project = %(project)s AND generation = %(generation)s AND level <= %(clearance)s
AND id = %(document)s
"""
_HELD_IN = """
SELECT generation.number, document.generation, document.row, document.owner, document.upload
FROM document
JOIN generation ON generation.id = document.generation AND generation.project = document.project
WHERE document.project = %(project)s AND document.level <= %(clearance)s
AND document.id = %(document)s ORDER BY document.generation
"""
_FORGET_ORIGINAL = """
DELETE FROM original WHERE project = %(project)s AND level <= %(clearance)s
AND owner = %(owner)s AND checksum = %(upload)s
"""
_FORGET_PAST = """
DELETE FROM past_document WHERE project = %(project)s AND level <= %(clearance)s
AND md5(path) = md5(%(path)s) AND path = %(path)s
"""


class MadeOtherwise(StoreBusy):
    """Another model or policy came into use while a document was made; it must be made again."""


class UploadStore(KeepingStore):
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

    def has_uploads(self, *, all_of_them: bool = False) -> bool:
        """Whether any document that is seen was handed in, or every one."""
        statement = """
            SELECT count(upload), count(*) FROM document
            WHERE project = %s AND generation = %s AND level <= %s
        """
        with self._reading() as (connection, state):
            if state.view is None:
                return all_of_them
            seen = (state.view.project, state.view.generation, state.view.clearance)
            uploads, documents = connection.execute(statement, seen).fetchone() or (0, 0)
            return bool(uploads == documents if all_of_them else uploads)

    def page(self, after: str, limit: int) -> list[DocumentEntry]:
        """So many documents by path, from the one after this path on."""
        statement = _PAGE.format(columns=tables.ENTRY_COLUMNS)
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            seen = (state.view.project, state.view.generation, state.view.clearance)
            rows = connection.execute(statement, (*seen, after, limit))
            return [entry_of(row) for row in rows]

    def add_upload(
        self, embedded: EmbeddedDocument, original: Original, made: LibraryHeader
    ) -> bool:
        """Add the document of a file; False where another call was quicker with the same one.

        `made` says how; MadeOtherwise where documents are made in another way by now.
        """
        with self._writing(of_a_run=False) as (connection, view, header):
            _refuse_made_otherwise(made, header)
            added = self._add(connection, view, made.recipe, embedded, upload=original.checksum)
            if added:
                self._keep(connection, view, embedded.document.id, original)
            return added

    def remake_upload(
        self, embedded: EmbeddedDocument, original: Original, made: LibraryHeader
    ) -> None:
        """Put a document that was made anew in the place of the one there is, where it is seen."""
        with self._writing(of_a_run=False) as (connection, view, header):
            _refuse_made_otherwise(made, header)
            ids = [embedded.document.id]
            self._forget(connection, view, header, ids, path=embedded.document.path, past=False)
            if self._add(connection, view, made.recipe, embedded, upload=original.checksum):
                self._keep(connection, view, embedded.document.id, original)

    def relabel(self, document_id: DocumentId, about: Metadata, labels: dict[str, Any]) -> bool:
        """Say other things of a document, with the vectors it has; False if there is none.

        It is so in every generation: one that is being made, or gone back to, says the same.
        """
        with self._writing(of_a_run=False) as (connection, view, _):
            values = {**view.scope, "document": document_id, "labels": Jsonb(labels)}
            if connection.execute(_HANDED_IN, values).fetchone() is None:
                return False
            for number, _, _, *handed_in in connection.execute(_HELD_IN, values).fetchall():
                state = self._state_of(connection, number)
                if state.view is not None and state.header is not None:
                    there = (state.view, state.header)
                    self._relabel_in(connection, there, document_id, about, handed_in)
            connection.execute(_RELABEL, values)
            return True

    def _relabel_in(
        self,
        connection: Connection,
        there: tuple[View, LibraryHeader],
        document_id: DocumentId,
        about: Metadata,
        handed_in: Sequence[Any],
    ) -> None:
        view, header = there
        rows = tables.read(connection, view, document_id)
        if rows is None:
            return
        embedded = embedded_of(header.name, rows)
        document = replace(embedded.document, metadata=about)
        if not document.own_title:
            document = replace(document, title=document.name.rpartition(".")[0] or document.name)
        labelled = replace(embedded, document=document)
        owner, upload = handed_in
        self._forget(connection, view, header, [document_id], path=None, past=False)
        recipe = rows.document[tables.RECIPE]
        self._add(connection, view, recipe, labelled, upload=upload, owner=owner)
        self._touch(connection, view, of_a_run=False)

    def delete(self, document_id: DocumentId) -> bool:
        """Delete a document with all of it that is seen, in every generation and in the past."""
        with self._writing(of_a_run=False) as (connection, view, _):
            values = {**view.scope, "document": document_id}
            found = connection.execute(_HANDED_IN, values).fetchone()
            if found is None:
                return False
            held = connection.execute(_HELD_IN, values).fetchall()
            for _, generation, row, *_ in held:
                tables.forget(connection, generation, [row])
            if len(held) > 1:
                touch_others(connection, view)
            values |= zip(("owner", "upload", "path"), found, strict=True)
            connection.execute(_FORGET_PAST, values)
            connection.execute(_FORGET_ORIGINAL, values)
            return True


def _refuse_made_otherwise(made: LibraryHeader, header: LibraryHeader) -> None:
    version = made.ingestion_version  # another pincite may have begun the project
    if (made.model, made.recipe) != (
        header.model,
        replace(header, ingestion_version=version).recipe,
    ):
        raise MadeOtherwise("the project moved to another model or policy just now; try again")
