"""Single files that users hand in: each is one document, however often and how fast it comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
_HANDED_IN = """
SELECT owner, upload, path FROM document
WHERE project = %s AND generation = %s AND level <= %s AND id = %s
"""
_HELD_IN = """
SELECT generation.number, document.generation, document.row FROM document
JOIN generation ON generation.id = document.generation AND generation.project = document.project
WHERE document.project = %s AND document.level <= %s AND document.id = %s
ORDER BY document.generation
"""
_FORGET_ORIGINAL = "DELETE FROM original WHERE project = %s AND owner = %s AND checksum = %s"
_ORIGINALS = """
SELECT original.path, original.checksum, original.owner FROM original
JOIN document ON document.project = original.project AND document.owner = original.owner
    AND document.upload = original.checksum
WHERE document.project = %s AND document.generation = %s AND document.level <= %s
ORDER BY document.path
"""
_ORIGINAL = """
SELECT labels, data, coalesce(name_of_account(owner), '') FROM original
WHERE project = %s AND checksum = %s AND owner = %s
"""
# Who left the project, or was never in this one, hands nothing in here.
_HAND_IN = """
UPDATE document SET upload = %(checksum)s, owner = coalesce(
    (SELECT account FROM member WHERE project = %(project)s
     AND name_of_account(account) = %(owner)s), %(account)s)
WHERE project = %(project)s AND generation = %(generation)s AND level <= %(clearance)s
AND path = %(path)s AND checksum = %(checksum)s RETURNING id
"""
# Whoever deletes or relabels it waits until the document is written that is made of it.
_STILL_SO = """
SELECT 1 FROM original
WHERE project = %s AND owner = %s AND checksum = %s AND labels = %s FOR SHARE
"""
_FORGET_PAST = "DELETE FROM past_document WHERE project = %s AND md5(path) = md5(%s) AND path = %s"
_NOT_MADE = """
FROM original WHERE original.project = %(project)s AND original.level <= %(clearance)s
AND NOT EXISTS (
    SELECT 1 FROM document WHERE document.generation = %(generation)s
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
        with self._writing(of_a_run=False) as (connection, view, header):
            _refuse_made_otherwise(made, header)
            added = self._add(connection, view, header.recipe, embedded, upload=original.checksum)
            if added:
                self._keep(connection, view, embedded.document.id, original)
            return added

    def remake_upload(
        self, embedded: EmbeddedDocument, original: Original, made: LibraryHeader
    ) -> None:
        """Put a document that was made anew in the place of the one there is."""
        with self._writing(of_a_run=False) as (connection, view, header):
            _refuse_made_otherwise(made, header)
            ids = [embedded.document.id]
            self._forget(connection, view, header, ids, path=embedded.document.path, past=False)
            self._add(connection, view, header.recipe, embedded, upload=original.checksum)
            self._keep(connection, view, embedded.document.id, original)

    def originals(self) -> Iterator[Original]:
        """The files whose documents may be seen, by path, one at a time."""
        with self._reading() as (connection, state):
            if state.view is None:
                return
            view = state.view
            seen = (view.project, view.generation, view.clearance)
            for path, checksum, owner in connection.execute(_ORIGINALS, seen).fetchall():
                asked = (view.project, checksum, owner)
                for labels, data, name in connection.execute(_ORIGINAL, asked):
                    yield Original(path, checksum, labels, data, name)

    def keep_original(self, original: Original) -> bool:
        """Keep the file of a document that is there; False where there is no such document."""
        with self._writing() as (connection, view, _):
            asked = {
                **scope_of(view),
                "checksum": original.checksum,
                "path": original.path,
                "owner": original.owner,
                "account": self._entry.account,
            }
            found = connection.execute(_HAND_IN, asked).fetchone()
            if found is not None:
                self._keep(connection, view, found[0], original)
            return found is not None

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

    def take_over(self, embedded: EmbeddedDocument, original: Original, owner: int) -> bool:
        """Add the document of a file that was handed in before, for whoever handed it in.

        False where the file was deleted or labelled otherwise since it was read.
        """
        with self._writing() as (connection, view, header):
            labels = Jsonb(original.labels)
            asked = (view.project, owner, original.checksum, labels)
            if connection.execute(_STILL_SO, asked).fetchone() is None:
                return False
            upload = original.checksum
            self._add(connection, view, header.recipe, embedded, upload=upload, owner=owner)
            return True

    def forget_deleted(self) -> None:
        """Forget documents of files that were deleted since this generation was begun."""
        with self._writing() as (connection, view, header):
            rows = connection.execute(_TO_FORGET, scope_of(view)).fetchall()
            ids = [DocumentId(row[0]) for row in rows]
            self._forget(connection, view, header, ids, path=None, past=False)

    def relabel(self, document_id: DocumentId, about: Metadata, labels: dict[str, Any]) -> bool:
        """Say other things of a document, with the vectors it has; False if there is none.

        It is so in every generation: one that is being made, or gone back to, says the same.
        """
        with self._writing(of_a_run=False) as (connection, view, _):
            seen = (view.project, view.generation, view.clearance, document_id)
            found = connection.execute(_HANDED_IN, seen).fetchone()
            if found is None:
                return False
            owner, upload, _ = found
            held = connection.execute(_HELD_IN, (view.project, view.clearance, document_id))
            for number, _, _ in held.fetchall():
                state = self._state_of(connection, number)
                if state.view is not None and state.header is not None:
                    there = (state.view, state.header)
                    self._relabel_in(connection, there, document_id, about, (owner, upload))
            connection.execute(
                _RELABEL, (Jsonb(labels), view.project, view.generation, document_id)
            )
            return True

    def _relabel_in(
        self,
        connection: Connection,
        there: tuple[View, LibraryHeader],
        document_id: DocumentId,
        about: Metadata,
        handed_in: tuple[int, str | None],
    ) -> None:
        view, header = there
        rows = tables.read(connection, view, document_id)
        if rows is None:
            return
        embedded = embedded_of(header.name, rows)
        labelled = replace(embedded, document=replace(embedded.document, metadata=about))
        owner, upload = handed_in
        self._forget(connection, view, header, [document_id], path=None, past=False)
        recipe = rows.document[tables.RECIPE]
        self._add(connection, view, recipe, labelled, upload=upload, owner=owner)
        self._touch(connection, view, of_a_run=False)

    def delete(self, document_id: DocumentId) -> bool:
        """Delete a document with all that is of it, in every generation, its past, too."""
        with self._writing(of_a_run=False) as (connection, view, _):
            seen = (view.project, view.generation, view.clearance, document_id)
            found = connection.execute(_HANDED_IN, seen).fetchone()
            if found is None:
                return False
            owner, upload, path = found
            held = connection.execute(_HELD_IN, (view.project, view.clearance, document_id))
            for _, generation, row in held.fetchall():
                tables.forget(connection, generation, [row])
            connection.execute(_FORGET_PAST, (view.project, path, path))
            connection.execute(_FORGET_ORIGINAL, (view.project, owner, upload))
            return True

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
