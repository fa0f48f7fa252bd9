"""The files that were handed in, as they came: kept to be read again for another generation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap

from psycopg import errors
from psycopg.types.json import Jsonb

from pincite.errors import StoreDenied
from pincite.records import DocumentId, EmbeddedDocument, Original
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.stores.postgres.store import PostgresStore

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
_ORIGINALS = """
SELECT original.checksum, original.owner FROM original
JOIN document ON document.project = original.project AND document.owner = original.owner
    AND document.upload = original.checksum
WHERE document.project = %(project)s AND document.generation = %(generation)s
AND document.level <= %(clearance)s AND original.level <= %(clearance)s
ORDER BY document.path
"""
_ORIGINAL = """
SELECT path, labels, data, coalesce(name_of_account(owner), '') FROM original
WHERE project = %(project)s AND level <= %(clearance)s AND checksum = %(checksum)s
AND owner = %(owner)s
"""
# Whoever handed it in elsewhere did so here: who is no member gets no rights by it.
_HAND_IN = """
UPDATE document SET upload = %(checksum)s, owner = account_named(%(owner)s)
WHERE project = %(project)s AND generation = %(generation)s AND level <= %(clearance)s
AND path = %(path)s AND checksum = %(checksum)s RETURNING id
"""
# Whoever deletes or relabels it waits until the document is written that is made of it.
_STILL_SO = """
SELECT 1 FROM original WHERE project = %(project)s AND level <= %(clearance)s
AND owner = %(owner)s AND checksum = %(checksum)s AND labels = %(labels)s FOR SHARE
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
SELECT original.owner, original.checksum, octet_length(original.data) {_NOT_MADE}
ORDER BY original.path, original.owner
"""
_TO_FORGET = """
SELECT document.id FROM document
WHERE document.project = %(project)s AND document.generation = %(generation)s
AND document.upload IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM original WHERE original.project = document.project
    AND original.owner = document.owner AND original.checksum = document.upload
)
"""


@dataclass(frozen=True, slots=True)
class Unmade:
    """A file without a document: whose it is, which, and how many bytes it has."""

    owner: int
    checksum: str
    size: int


class KeepingStore(PostgresStore):
    """A project that keeps the files its documents are made of."""

    def originals(self) -> Iterator[Original]:
        """The files whose documents may be seen, by path, one at a time."""
        with self._reading() as (connection, state):
            if state.view is None:
                return
            seen = state.view.scope
            for checksum, owner in connection.execute(_ORIGINALS, seen).fetchall():
                asked = {**seen, "checksum": checksum, "owner": owner}
                for path, labels, data, name in connection.execute(_ORIGINAL, asked):
                    yield Original(path, checksum, labels, data, name)

    def keep_original(self, original: Original) -> bool:
        """Keep the file of a document that is there; False where there is no such document."""
        with self._writing() as (connection, view, _):
            asked = {
                **view.scope,
                "checksum": original.checksum,
                "path": original.path,
                "owner": original.owner or self._scope.user,
            }
            try:
                found = connection.execute(_HAND_IN, asked).fetchone()
            except errors.UniqueViolation:
                return False  # of one user's two documents of the same file one is made up
            if found is not None:
                self._keep(connection, view, found[0], original)
            return found is not None

    def to_make(self) -> list[Unmade]:
        """The files of which there is no document in this generation yet, by path."""
        with self._reading() as (connection, state):
            if state.view is None:
                return []
            return list(starmap(Unmade, connection.execute(_TO_MAKE, state.view.scope)))

    def original(self, unmade: Unmade) -> Original | None:
        """The file; None where it was deleted since, or is hidden by now."""
        with self._reading() as (connection, state):
            if state.view is None:
                return None
            asked = {**state.view.scope, "checksum": unmade.checksum, "owner": unmade.owner}
            row = connection.execute(_ORIGINAL, asked).fetchone()
            if row is None:
                return None
            path, labels, data, name = row
            return Original(path, unmade.checksum, labels, data, name)

    def take_over(self, embedded: EmbeddedDocument, original: Original, owner: int) -> bool:
        """Add the document of a file that was handed in before, for whoever handed it in.

        False where the file was deleted or labelled otherwise since it was read.
        """
        with self._writing() as (connection, view, header):
            upload, labels = original.checksum, Jsonb(original.labels)
            asked = {**view.scope, "owner": owner, "checksum": upload, "labels": labels}
            if connection.execute(_STILL_SO, asked).fetchone() is None:
                return False
            self._add(connection, view, header.recipe, embedded, upload=upload, owner=owner)
            return True

    def forget_deleted(self) -> None:
        """Forget documents of files that were deleted since this generation was begun."""
        with self._writing() as (connection, view, header):
            rows = connection.execute(_TO_FORGET, view.scope).fetchall()
            ids = [DocumentId(row[0]) for row in rows]
            self._forget(connection, view, header, ids, path=None, past=False)

    def _keep(
        self, connection: Connection, view: View, document_id: DocumentId, original: Original
    ) -> None:
        values = {
            **view.scope,
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
