"""Single files that users hand in: each is one document, however often and how fast it comes.

The files themselves are kept as they came, to be read again for another generation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any

from psycopg import errors
from psycopg.types.json import Jsonb

from pincite.errors import StoreBusy, StoreDenied
from pincite.records import (
    DocumentEntry,
    DocumentId,
    EmbeddedDocument,
    LibraryHeader,
    Metadata,
    Original,
)
from pincite.stores.postgres import tables
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.stores.postgres.store import PostgresStore, touch_others
from pincite.stores.rows import embedded_of, entry_of

_MINE = f"""
SELECT {tables.ENTRY_COLUMNS}, original.labels FROM document
JOIN original ON original.project = document.project AND original.owner = document.owner
    AND original.checksum = document.upload
WHERE document.project = %(project)s AND document.generation = %(generation)s
AND document.level <= %(clearance)s AND document.owner = %(owner)s
AND document.upload = %(checksum)s
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
_TO_MAKE = """
SELECT original.owner, original.checksum, octet_length(original.data)
FROM original WHERE original.project = %(project)s AND original.level <= %(clearance)s
AND NOT EXISTS (
    SELECT 1 FROM document WHERE document.project = %(project)s
    AND document.generation = %(generation)s AND document.level <= %(clearance)s
    AND document.owner = original.owner AND document.upload = original.checksum
)
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


class MadeOtherwise(StoreBusy):
    """Another model or policy came into use while a document was made; it must be made again."""


@dataclass(frozen=True, slots=True)
class Unmade:
    """A file without a document: whose it is, which, and how many bytes it has."""

    owner: int
    checksum: str
    size: int


class UploadStore(PostgresStore):
    """A project to which single files are handed in, and which keeps them."""

    def uploaded(self, checksum: str) -> tuple[DocumentEntry, dict[str, Any]] | None:
        """The document that this user made of a file, and what was said of it, if it is there."""
        for *entry, labels in self._rows(_MINE, owner=self._entry.account, checksum=checksum):
            return entry_of(tuple(entry)), labels
        return None

    def has_uploads(self, *, all_of_them: bool = False) -> bool:
        """Whether any document that is seen was handed in, or every one."""
        ((uploads, documents),) = self._rows(
            """
            SELECT count(upload), count(*) FROM document
            WHERE project = %(project)s AND generation = %(generation)s
            AND level <= %(clearance)s
            """
        ) or [(0, 0)]
        return bool(uploads == documents if all_of_them else uploads)

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
            held = connection.execute(_HELD_IN, values).fetchall()
            for number, _, _, owner, upload in held:
                state = self._state(connection, number)
                if state.view is None or state.header is None:
                    continue
                rows = tables.read(connection, state.view, document_id)
                if rows is None:
                    continue
                labelled = embedded_of(state.header.name, rows).labelled(about)
                ids, recipe = [document_id], rows.document[tables.RECIPE]
                self._forget(connection, state.view, state.header, ids, path=None, past=False)
                self._add(connection, state.view, recipe, labelled, upload=upload, owner=owner)
                self._touch(connection, state.view, of_a_run=False)
            connection.execute(_RELABEL, values)
            return True

    def handed_in(self, document_id: DocumentId) -> Original | None:
        """The file that a document was made of; None where none is kept."""
        for owner, checksum, _ in self._rows(_HANDED_IN, document=document_id):
            return self.original(Unmade(owner, checksum, 0)) if checksum else None
        return None

    def delete(self, document_id: DocumentId, *, of_folder: bool = False) -> bool:
        """Delete a document with all of it that is seen, in every generation and in the past.

        StoreDenied for one that was not handed in, but with `of_folder`.
        """
        with self._writing(of_a_run=False) as (connection, view, _):
            values = {**view.scope, "document": document_id}
            found = connection.execute(_HANDED_IN, values).fetchone()
            if found is None:
                return False
            if found[1] is None and not of_folder:
                raise StoreDenied(
                    f"{found[2]} was not handed in but came with a folder; it is not deleted"
                )
            held = connection.execute(_HELD_IN, values).fetchall()
            for _, generation, row, *_ in held:
                tables.forget(connection, generation, [row])
            if len(held) > 1:
                touch_others(connection, view)
            values |= zip(("owner", "upload", "path"), found, strict=True)
            connection.execute(_FORGET_PAST, values)
            connection.execute(_FORGET_ORIGINAL, values)
            return True

    def originals(self) -> Iterator[Original]:
        """The files whose documents may be seen, by path, one at a time."""
        with self.snapshot() as now:
            for checksum, owner in now._rows(_ORIGINALS):
                for found in now._rows(_ORIGINAL, checksum=checksum, owner=owner):
                    path, labels, data, name = found
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
        return list(starmap(Unmade, self._rows(_TO_MAKE)))

    def original(self, unmade: Unmade) -> Original | None:
        """The file; None where it was deleted since, or is hidden by now."""
        rows = self._rows(_ORIGINAL, checksum=unmade.checksum, owner=unmade.owner)
        for path, labels, data, name in rows:
            return Original(path, unmade.checksum, labels, data, name)
        return None

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


def _refuse_made_otherwise(made: LibraryHeader, header: LibraryHeader) -> None:
    version = made.ingestion_version  # another pincite may have begun the project
    if (made.model, made.recipe) != (
        header.model,
        replace(header, ingestion_version=version).recipe,
    ):
        raise MadeOtherwise("the project moved to another model or policy just now; try again")
