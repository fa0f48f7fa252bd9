"""Single files that users hand in: each is one document, however often and how fast it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycopg.types.json import Jsonb

from pincite.errors import StoreBusy, StoreDenied
from pincite.records import (
    DocumentEntry,
    DocumentId,
    EmbeddedDocument,
    LibraryHeader,
    Metadata,
)
from pincite.stores.postgres import tables
from pincite.stores.postgres.guarding import touch_others
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
SELECT %(project)s, document.owner, %(checksum)s, document.level, document.path, %(labels)s,
    %(data)s
FROM document WHERE document.project = %(project)s AND document.generation = %(generation)s
AND document.level <= %(clearance)s AND document.id = %(document)s
ON CONFLICT (project, owner, checksum) DO UPDATE SET
    level = EXCLUDED.level, path = EXCLUDED.path, labels = EXCLUDED.labels
WHERE original.level <= %(clearance)s
"""
_RELABEL = """
UPDATE original SET labels = %(labels)s, level = document.level FROM document
WHERE original.project = %(project)s AND original.level <= %(clearance)s
AND document.generation = %(generation)s AND document.id = %(document)s
AND original.owner = document.owner AND original.checksum = document.upload
"""
_FORGET_ORIGINAL = """
DELETE FROM original USING document
WHERE original.project = %(project)s AND original.level <= %(clearance)s
AND document.generation = %(generation)s AND document.id = %(document)s
AND original.owner = document.owner AND original.checksum = document.upload
"""
_FORGET_PAST = """
DELETE FROM past_document WHERE project = %(project)s AND level <= %(clearance)s
AND md5(path) = md5(%(path)s) AND path = %(path)s
"""
_EVERYWHERE = """
SELECT generation, row FROM document
WHERE project = %(project)s AND level <= %(clearance)s AND id = %(document)s
"""
_NOT_MADE = """
FROM original WHERE original.project = %(project)s AND original.level <= %(clearance)s
AND NOT EXISTS (
    SELECT 1 FROM document WHERE document.project = %(project)s
    AND document.generation = %(generation)s AND document.level <= %(clearance)s
    AND document.owner = original.owner AND document.upload = original.checksum
)
"""
_TO_MAKE = f"""
SELECT original.owner, original.path, original.checksum, original.labels, original.data
{_NOT_MADE} AND original.checksum <> ALL (%(failed)s) ORDER BY original.path LIMIT 1
"""
_LEFT = f"SELECT count(*), coalesce(sum(octet_length(data)), 0) {_NOT_MADE}"
_TO_FORGET = """
SELECT document.id FROM document
WHERE document.project = %(project)s AND document.generation = %(generation)s
AND document.upload IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM original WHERE original.project = document.project
    AND original.owner = document.owner AND original.checksum = document.upload
)
"""


class MadeOtherwise(StoreBusy):
    """Another model or policy came into use while a document was made; it must be made again."""


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
        with self._writing() as (connection, view, header):
            _refuse_made_otherwise(made, header)
            added = self._add(connection, view, header.recipe, embedded, upload=original.checksum)
            if added:
                self._keep(connection, view, embedded.document.id, original)
            return added

    def remake_upload(
        self, embedded: EmbeddedDocument, original: Original, made: LibraryHeader
    ) -> None:
        """Put a document that was made anew in the place of the one there is, where it is seen."""
        with self._writing() as (connection, view, header):
            _refuse_made_otherwise(made, header)
            ids = [embedded.document.id]
            self._forget(connection, view, header, ids, path=embedded.document.path, past=False)
            if self._add(connection, view, header.recipe, embedded, upload=original.checksum):
                self._keep(connection, view, embedded.document.id, original)

    def left_to_make(self) -> tuple[int, int]:
        """How many files have no document in this generation yet, and their bytes."""
        with self._reading() as (connection, state):
            if state.view is None:
                return 0, 0
            files, size = connection.execute(_LEFT, scope_of(state.view)).fetchone() or (0, 0)
            return int(files), int(size)

    def to_make(self, *, apart_from: Sequence[str] = ()) -> tuple[int, Original] | None:
        """A file, and whose it is, of which there is no document in this generation yet.

        Those that were tried in vain are named by their checksums.
        """
        with self._reading() as (connection, state):
            if state.view is None:
                return None
            values = {**scope_of(state.view), "failed": list(apart_from)}
            row = connection.execute(_TO_MAKE, values).fetchone()
            return None if row is None else (row[0], Original(*row[1:]))

    def take_over(self, embedded: EmbeddedDocument, original: Original, owner: int) -> None:
        """Add the document of a file that was handed in before, for whoever handed it in."""
        with self._writing() as (connection, view, header):
            self._add(
                connection,
                view,
                header.recipe,
                embedded,
                upload=original.checksum,
                owner=owner,
            )

    def forget_deleted(self) -> None:
        """Forget documents of files that were deleted since this generation was begun."""
        with self._writing() as (connection, view, header):
            rows = connection.execute(_TO_FORGET, scope_of(view)).fetchall()
            ids = [DocumentId(row[0]) for row in rows]
            self._forget(connection, view, header, ids, path=None, past=False)

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
            values = {**scope_of(view), "document": document_id, "labels": Jsonb(labels)}
            connection.execute(_RELABEL, values)
            return True

    def delete(self, document_id: DocumentId) -> bool:
        """Delete a document with all of it that is seen, in every generation and in the past."""
        with self._writing() as (connection, view, _):
            rows = tables.read(connection, view, document_id)
            if rows is None:
                return False
            path = rows.document[tables.PATH]
            values = {**scope_of(view), "document": document_id, "path": path}
            connection.execute(_FORGET_ORIGINAL, values)
            connection.execute(_FORGET_PAST, values)
            held = connection.execute(_EVERYWHERE, values).fetchall()
            for generation, row in held:
                tables.forget(connection, generation, [row])
            if len(held) > 1:
                touch_others(connection, view)
            return True

    def _keep(
        self, connection: Connection, view: View, document_id: DocumentId, original: Original
    ) -> None:
        values = {
            **scope_of(view),
            "document": document_id,
            "checksum": original.checksum,
            "labels": Jsonb(original.labels),
            "data": original.data,
        }
        if connection.execute(_KEEP, values).rowcount != 1:
            raise StoreDenied(
                f"{original.path} cannot be stored by {self._scope.user}: the same file is kept "
                "above their clearance"
            )


def scope_of(view: View) -> dict[str, int]:
    """What a statement about this view says of it."""
    return {
        "project": view.project,
        "generation": view.generation,
        "clearance": view.clearance,
    }


def _refuse_made_otherwise(made: LibraryHeader, header: LibraryHeader) -> None:
    if (made.model.fingerprint, made.model.dimensions, made.recipe) != (
        header.model.fingerprint,
        header.model.dimensions,
        header.recipe,
    ):
        raise MadeOtherwise("the project moved to another model or policy just now; try again")
