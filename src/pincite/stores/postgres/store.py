"""The team's store: one project, read and written as one user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from psycopg import errors
from psycopg.types.json import Jsonb

from pincite.errors import IndexMissing, StoreDenied
from pincite.records import (
    LEVELS,
    DocumentId,
    EmbeddedDocument,
    Failure,
    Finding,
    LibraryHeader,
)
from pincite.stores.codec import embedded_to_json, header_to_json
from pincite.stores.postgres import tables
from pincite.stores.postgres.indexes import maintain
from pincite.stores.postgres.reader import ProjectReader
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.search import View
from pincite.stores.postgres.words import RAISE_SPELLINGS
from pincite.stores.rows import embedded_of, rows_of
from pincite.vectors import unit

_LOCK_TIMEOUT = "15s"  # of whoever hands a file in while the project is replaced or switched
_TOUCH = """
UPDATE generation SET version = version + 1, complete = complete AND %s, updated = now()
WHERE id = %s AND project = %s
"""


_AT_PATH = "md5({table}.path) = md5(%(path)s) AND {table}.path = %(path)s"
_OPENER = "{table}.project = %(project)s AND {table}.level < %(level)s AND " + _AT_PATH
_OPEN_ELSEWHERE = f"""
SELECT EXISTS (SELECT 1 FROM past_document WHERE {_OPENER.format(table="past_document")})
    OR EXISTS (SELECT 1 FROM document WHERE {_OPENER.format(table="document")})
    OR EXISTS (
        SELECT 1 FROM document JOIN original ON original.project = document.project
            AND original.owner = document.owner AND original.checksum = document.upload
        WHERE document.project = %(project)s AND original.level < %(level)s
        AND {_AT_PATH.format(table="document")}
    )
"""
_GUARD = (
    # A file that was handed in is guarded as the documents are that were made of it.
    "UPDATE original SET level = %(level)s FROM document "
    "WHERE document.project = %(project)s AND document.level <= %(level)s "
    f"AND {_AT_PATH.format(table='document')} AND original.project = document.project "
    "AND original.owner = document.owner AND original.checksum = document.upload "
    "AND original.level < %(level)s",
    "UPDATE past_document SET level = %(level)s, "
    "record = jsonb_set(record, '{metadata,confidentiality}', to_jsonb(%(label)s::text)) "
    f"WHERE {_OPENER.format(table='past_document')}",
    "UPDATE chunk SET level = %(level)s FROM document "
    f"WHERE document.row = chunk.document AND {_OPENER.format(table='document')}",
    *(statement.format(raised=_OPENER.format(table="document")) for statement in RAISE_SPELLINGS),
    # What it says of itself rises, too: an export carries that and no level.
    "UPDATE document SET level = %(level)s, "
    "metadata = jsonb_set(metadata::jsonb, '{confidentiality}', to_jsonb(%(label)s::text))::text "
    f"WHERE {_OPENER.format(table='document')}",
)


def held_back(project: int | None) -> int:
    """The lock of whoever lets nobody hand files in for a while."""
    return (project or 0) << 24  # beside those of generations, whose numbers begin with 1


class PostgresStore(ProjectReader):
    """One project of a team's database."""

    def begin(self, header: LibraryHeader) -> None:
        """Set how the index is made. Another embedding space or name forgets all documents."""
        self._begin(header, only_first=False)

    def begun_as(self, header: LibraryHeader) -> LibraryHeader:
        """How the index is made: so, where nobody began it yet."""
        return self._begin(header, only_first=True)

    def _begin(self, header: LibraryHeader, *, only_first: bool) -> LibraryHeader:
        project, model = self._entry.project, header.model
        with self._server.within(self._entry) as connection:
            self._refuse_readers(connection)
            if header == self._state(connection).header:
                return header
            # Whoever writes is waited for: what they add must be of this header or of the last.
            connection.execute("SELECT 1 FROM project WHERE id = %s FOR UPDATE", (project,))
            state = self._state(connection)
            if only_first and state.header is not None:
                return state.header
            (space,) = connection.execute(
                "SELECT space_of(%s, %s)", (model.fingerprint, model.dimensions)
            ).fetchone() or (0,)
            told = Jsonb(header_to_json(header))
            if state.generation is None:
                # The project's row is locked by the first: of two who begin at once, one does.
                begun = connection.execute(
                    "UPDATE project SET live = 1, last = greatest(last, 1) "
                    "WHERE id = %s AND live IS NULL",
                    (project,),
                )
                if begun.rowcount:
                    connection.execute(
                        "INSERT INTO generation (project, number, space, header) "
                        "VALUES (%s, 1, %s, %s)",
                        (project, space, told),
                    )
                return header
            if state.view is not None and state.header is not None:
                self._refuse_partly_seen(state.view)  # how all documents are made
                before = state.header.model
                if (state.header.name, before.fingerprint, before.dimensions) != (
                    header.name,
                    model.fingerprint,
                    model.dimensions,
                ):
                    rows = connection.execute(
                        "SELECT id FROM document WHERE project = %s AND generation = %s",
                        (project, state.generation),
                    ).fetchall()
                    ids = [DocumentId(row[0]) for row in rows]
                    self._forget(connection, state.view, state.header, ids, path=None)
            connection.execute(
                "UPDATE generation SET header = %s, space = %s, complete = false, "
                "version = version + 1 WHERE id = %s AND project = %s",
                (told, space, state.generation, project),
            )
            return header

    def replace_document(
        self,
        embedded: EmbeddedDocument,
        *,
        replaces: Sequence[DocumentId] = (),
        recipe: str | None = None,
    ) -> None:
        """Make the document searchable and forget those it replaces, in one step."""
        with self._writing() as (connection, view, header):
            for chunk in embedded.chunks:
                for window in chunk.windows:
                    unit(window.vector, dimensions=view.dimensions)
            document = embedded.document
            ids = [document.id, *replaces]
            self._forget(connection, view, header, ids, path=document.path)
            self._add(connection, view, recipe or header.recipe, embedded, upload=None)

    def remove_documents(self, ids: Sequence[DocumentId]) -> None:
        """Forget the documents with all their chunks, words and vectors."""
        if not ids:
            return
        with self._writing() as (connection, view, header):
            self._forget(connection, view, header, ids, path=None)

    def finish(self, problems: Sequence[Failure] = ()) -> None:
        """Note that a run came to its end: the index is equal to the folder, but for these."""
        told = Jsonb([[one.path, one.reason] for one in problems])
        with self._writing(touch=False) as (connection, view, _):
            connection.execute(
                "UPDATE generation SET complete = true, problems = %s "
                "WHERE id = %s AND project = %s",
                (told, view.generation, view.project),
            )

    def make_index(self) -> bool:
        """Make the index for vectors anew where that is due; whether it was."""
        with self._reading() as (_, state):
            view = state.view
        if view is None:
            return False
        with self._server.as_owner() as connection:
            return maintain(connection, view, self._index)

    @contextmanager
    def _writing(
        self, *, touch: bool = True, of_a_run: bool = True
    ) -> Iterator[tuple[Connection, View, LibraryHeader]]:
        """A transaction that changes the generation: one after the other, each all or nothing.

        A change of a run leaves the index incomplete until the run ends. Any other waits while
        the project is replaced or switched, so that nothing is added to what is about to go.
        """
        self._refuse_interrupted()
        project = (self._entry.project,)
        with self._server.within(self._entry) as connection:
            if self._state(connection).view is None:
                raise IndexMissing("the index was not begun: call begin() first")
            self._refuse_readers(connection)
            if not of_a_run:
                connection.execute("SELECT set_config('lock_timeout', %s, true)", (_LOCK_TIMEOUT,))
                key = held_back(self._entry.project)
                connection.execute("SELECT pg_advisory_xact_lock_shared(%s)", (key,))
            # A switch waits for this transaction, or this transaction for the switch.
            connection.execute("SELECT 1 FROM project WHERE id = %s FOR SHARE", project)
            state = self._state(connection)
            if state.view is None or state.header is None:
                raise IndexMissing("the index was dropped just now; begin it again")
            # All of them, always in this order: a label that rises here is raised there, too.
            connection.execute(
                "SELECT 1 FROM generation WHERE project = %s ORDER BY id FOR UPDATE", project
            )
            yield connection, state.view, state.header
            if touch:
                self._touch(connection, state.view, of_a_run=of_a_run)

    def _touch(self, connection: Connection, view: View, *, of_a_run: bool) -> None:
        """What was found in the generation before may be found no more."""
        connection.execute(_TOUCH, (not of_a_run, view.generation, view.project))

    def _refuse_readers(self, connection: Connection) -> None:
        if connection.execute("SELECT written_here()").fetchone() == (None,):
            raise StoreDenied(
                f"{self._scope.user} may read {self._scope.full_name} but not change it; an admin "
                "of the project can make you a writer"
            )

    def _refuse_partly_seen(self, view: View) -> None:
        """What concerns all documents is not for whoever sees some: it would lose the others."""
        if view.clearance < len(LEVELS) - 1:
            raise StoreDenied(
                f"this concerns all documents of {self._scope.full_name}, and {self._scope.user} "
                f"sees those up to {LEVELS[view.clearance]!r}; it needs the clearance "
                f"{LEVELS[-1]!r}"
            )

    def _add(
        self,
        connection: Connection,
        view: View,
        recipe: str,
        embedded: EmbeddedDocument,
        *,
        upload: str | None,
        owner: int | None = None,
    ) -> bool:
        time = datetime.now(UTC).isoformat(timespec="seconds")
        rows = rows_of(embedded, time=time, recipe=recipe)
        path, level = embedded.document.path, rows.document[tables.LEVEL]
        denied = StoreDenied(
            f"{path} cannot be stored by {self._scope.user}: it, or what stands there, is above "
            "their clearance"
        )
        if level > view.clearance:
            raise denied
        try:
            owner = owner or self._entry.account
            added = tables.write(connection, view, rows, owner=owner, upload=upload)
        except errors.UniqueViolation as error:
            raise denied from error
        # What was open and is now guarded is guarded in the past and in other generations, too.
        values = {"project": view.project, "level": level, "label": LEVELS[level], "path": path}
        if added and connection.execute(_OPEN_ELSEWHERE, values).fetchone() == (True,):
            touch_others(connection, view)  # also keeps others from counting their words meanwhile
            for statement in _GUARD:
                connection.execute(statement, values)
        return added

    def _forget(
        self,
        connection: Connection,
        view: View,
        header: LibraryHeader,
        ids: Sequence[DocumentId],
        *,
        path: str | None,
        past: bool = True,
    ) -> None:
        found = tables.rows_named(connection, view, ids, path)
        for _, document_id in found:
            rows = tables.read(connection, view, document_id)
            if rows is None or not past:
                continue
            # What citations of the past name, without vectors: it is never searched.
            gone = embedded_of(header.name, rows)
            bare = replace(gone, chunks=tuple(replace(one, windows=()) for one in gone.chunks))
            # What it says of itself may be less than what is known of it by now.
            level = rows.document[tables.LEVEL]
            kept_as = (view.project, view.generation, level, gone.document.path)
            (row,) = connection.execute(
                "INSERT INTO past_document (project, generation, level, path, record) "
                "VALUES (%s, %s, %s, %s, %s) RETURNING row",
                (*kept_as, Jsonb(embedded_to_json(bare))),
            ).fetchone() or (0,)
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO past_chunk (project, document, id) VALUES (%s, %s, %s)",
                    [(view.project, row, one.chunk.id) for one in bare.chunks],
                )
        tables.forget(connection, view.generation, [row for row, _ in found])

    def verify(self) -> list[Finding]:
        """Everything that does not agree inside the index; empty for a healthy one."""
        from pincite.stores.postgres import verify

        with self._reading() as (connection, state):
            if state.view is None or state.header is None:
                return []
            self._refuse_partly_seen(state.view)
            return verify.findings(connection, state.view, state.header)

    def repair(self) -> None:
        """Make everything agree again, from whatever is still sound."""
        from pincite.stores.postgres import verify

        with self._writing() as (connection, view, header):
            self._refuse_partly_seen(view)
            verify.repair(connection, view, header)


def touch_others(connection: Connection, view: View) -> None:
    """Whoever remembers what other generations held must look again: some is gone or hidden.

    They are as complete as they were.
    """
    connection.execute(
        "UPDATE generation SET version = version + 1 WHERE project = %s AND id <> %s",
        (view.project, view.generation),
    )
