"""The generations of a project's index: rows beside each other, and which of them is live."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pincite.errors import IndexMissing, LibraryBusy, SettingsError, StoreDenied
from pincite.records import LEVELS, Generations, Scope
from pincite.stores.postgres.connection import Entry, Server
from pincite.stores.postgres.reader import missing
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.words import WORD_TABLES

_NUMBERS = """
SELECT live, before, next, last FROM project WHERE id = %(project)s
AND EXISTS (SELECT 1 FROM member WHERE project = %(project)s AND account = %(account)s)
"""
# Each is one statement, with what must still hold for it: of two who do it at once, one does.
_SWITCH = """
UPDATE project SET before = live, live = next, next = NULL
WHERE id = %(project)s AND next = %(next)s AND coalesce(live, 0) = %(live)s
"""
# Who handed a document in stays so in the next generation, where it was made of the same file.
_TAKE_OVER = """
UPDATE document AS made SET owner = held.owner, upload = held.upload
FROM document AS held, generation AS live, generation AS coming, project
WHERE project.id = %(project)s AND live.project = project.id AND live.number = %(live)s
AND coming.project = project.id AND coming.number = project.next
AND held.generation = live.id AND made.generation = coming.id
AND made.path = held.path AND made.checksum = held.checksum
"""
# Files that were handed in and have no document in a generation; and the other way round.
_LOST = """
SELECT count(*) FROM (
    SELECT owner, checksum FROM original WHERE project = %(project)s
) AS kept FULL JOIN (
    SELECT document.owner, document.upload AS checksum
    FROM document JOIN generation ON generation.id = document.generation
    WHERE generation.project = %(project)s AND generation.number = %(coming)s
    AND document.upload IS NOT NULL
) AS made USING (owner, checksum)
WHERE (kept.owner IS NULL) <> (made.owner IS NULL)
"""
# Files of which the live generation has no document.
_REPLACED = """
DELETE FROM original WHERE project = %(project)s AND NOT EXISTS (
    SELECT 1 FROM document JOIN generation ON generation.id = document.generation
    WHERE generation.project = %(project)s AND generation.number = %(live)s
    AND document.owner = original.owner AND document.upload = original.checksum
)
"""
_ROLL_BACK = """
UPDATE project SET before = live, live = before
WHERE id = %(project)s AND before = %(before)s AND live = %(live)s
"""
_GIVE_UP = "UPDATE project SET next = NULL WHERE id = %(project)s AND next = %(next)s"
_NO_WAY_BACK = "UPDATE project SET before = NULL WHERE id = %(project)s AND before = %(before)s"


@dataclass(frozen=True)
class ProjectGenerations:
    """Which generations a project has. Searches look at the live one, whatever happens beside."""

    server: Server
    scope: Scope
    entry: Entry

    def numbers(self) -> Generations:
        """Which there are; `live` is 0 before the first build."""
        with self.server.within(self.entry) as connection:
            return self._numbers(connection)

    def begin(self) -> int:
        """The next generation, made where there is none: empty, and seen by nobody."""
        with self._changing() as (connection, numbers):
            if numbers.next is not None:
                return numbers.next
            # The first is for a first build, also while a library is imported beside it.
            coming = replace(numbers, last=max(numbers.last, 1)).begun()
            values = {**self._values, "next": coming.last}
            connection.execute(
                "UPDATE project SET next = %(next)s, last = %(next)s WHERE id = %(project)s", values
            )
            connection.execute(
                "INSERT INTO generation (project, number) VALUES (%(project)s, %(next)s)", values
            )
            return coming.last

    def switch(self, *, replacing: bool = False) -> None:
        """Make the next one live, in one statement.

        It holds all files that were handed in; or, where it replaces what there was, only its own
        are kept, and nothing leads back.
        """
        with self._changing() as (connection, numbers):
            numbers.switched()  # or says why not
            if not replacing:
                connection.execute(_TAKE_OVER, {**self._values, "live": numbers.live})
                self._refuse_lost(connection, numbers.next)
            self._change(connection, _SWITCH, numbers)
            self._drop(connection, numbers.before)
            if replacing:
                connection.execute(_REPLACED, {**self._values, "live": numbers.next})
                if numbers.live:
                    self._change(connection, _NO_WAY_BACK, replace(numbers, before=numbers.live))
                    self._drop(connection, numbers.live)

    def roll_back(self) -> None:
        """Make the one before live again, in one statement."""
        with self._changing() as (connection, numbers):
            numbers.rolled_back()
            self._refuse_lost(connection, numbers.before)
            self._change(connection, _ROLL_BACK, numbers)

    def give_up(self) -> None:
        """Forget the next one with all that is in it."""
        with self._changing() as (connection, numbers):
            if numbers.next is None:
                raise IndexMissing(f"no other generation of {self.scope.full_name} is being made")
            self._change(connection, _GIVE_UP, numbers)
            self._drop(connection, numbers.next)

    def drop_before(self) -> None:
        """Forget the one before with all that is in it."""
        with self._changing() as (connection, numbers):
            if numbers.before is not None:
                self._change(connection, _NO_WAY_BACK, numbers)
                self._drop(connection, numbers.before)

    @contextmanager
    def _changing(self) -> Iterator[tuple[Connection, Generations]]:
        """A transaction in which nobody else changes which generations there are."""
        with self.server.within(self.entry) as connection:
            if connection.execute("SELECT written_here()").fetchone() == (None,):
                raise StoreDenied(f"{self.scope.user} may not change {self.scope.full_name}")
            if connection.execute("SELECT clearance_here()").fetchone() != (len(LEVELS) - 1,):
                raise StoreDenied(
                    f"this concerns all documents of {self.scope.full_name}; it needs the "
                    f"clearance {LEVELS[-1]!r}"
                )
            locked = "SELECT 1 FROM project WHERE id = %(project)s FOR UPDATE"
            connection.execute(locked, self._values)
            yield connection, self._numbers(connection)

    def _refuse_lost(self, connection: Connection, coming: int | None) -> None:
        """Files that were handed in meanwhile must not be lost, nor deleted ones come back."""
        values = {**self._values, "coming": coming}
        lost = connection.execute(_LOST, values).fetchone()
        if lost is not None and lost[0]:
            raise SettingsError(
                "files were handed in or deleted since then that the other generation does not "
                f"have ({lost[0]:,}); reindex to how it was made instead"
            )

    def _numbers(self, connection: Connection) -> Generations:
        row = connection.execute(_NUMBERS, self._values).fetchone()
        if row is None:
            raise missing(self.scope)
        live, before, coming, last = row
        return Generations(live=live or 0, before=before, next=coming, last=last)

    def _change(self, connection: Connection, statement: str, numbers: Generations) -> None:
        values = {"live": numbers.live, "before": numbers.before, "next": numbers.next}
        if connection.execute(statement, {**self._values, **values}).rowcount != 1:
            raise LibraryBusy(
                "another process changed the generations just now; see what there is with "
                "`pincite reindex --status`"
            )

    def _drop(self, connection: Connection, generation: int | None) -> None:
        """What no search can reach any more."""
        if generation is None:
            return
        found = connection.execute(
            "SELECT id FROM generation WHERE project = %s AND number = %s",
            (self.entry.project, generation),
        ).fetchone()
        if found is not None:
            for table in WORD_TABLES:
                connection.execute(f"DELETE FROM {table} WHERE generation = %s", found)
            connection.execute("DELETE FROM generation WHERE id = %s", found)

    @property
    def _values(self) -> dict[str, int | None]:
        return {"project": self.entry.project, "account": self.entry.account}
