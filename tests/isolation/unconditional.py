"""Statements without any condition, in the name of a user: row-level security alone answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from psycopg import errors

from isolation.model import HIGHEST, Project
from isolation.rows import TABLES, Row, Rows, all_rows
from isolation.world import USERS, World
from pincite.records import MemberRole
from pincite.stores.postgres.connection import Entry
from pincite.stores.postgres.schema import Connection

_NOBODY = 0  # no account has this number


@dataclass(frozen=True)
class Viewer:
    """A user in a project, whether it is theirs or not, or in none."""

    name: str
    entry: Entry
    memberships: dict[int, tuple[MemberRole, int]] = field(default_factory=dict)  # by project

    def role(self, project: int | None) -> str | None:
        return self.memberships[project][0] if project in self.memberships else None

    def may_see(self, table: str, row: Row) -> bool:
        if not self._is_asked(row):
            return False
        if table == "project":
            return self.role(row.project) is not None
        if table == "member":
            return self.role(row.project) == "admin" or row.account == self.entry.account
        return self._is_cleared(row)

    def may_add(self, table: str) -> bool:
        """Whether rows of their own project, or a project of their own."""
        if table == "project":
            return self.entry.project is None
        return self.role(self.entry.project) in _writers(table)

    def may_change(self, table: str, row: Row) -> bool:
        return self.may_see(table, row) and self.role(row.project) in _writers(table)

    def may_remove(self, table: str, row: Row) -> bool:
        if table == "member":
            return self.may_see(table, row)
        if table == "project":
            return self.may_see(table, row) and self.role(row.project) == "admin"
        return self.may_change(table, row)

    def _is_asked(self, row: Row) -> bool:
        return self.entry.project is None or row.project == self.entry.project

    def _is_cleared(self, row: Row) -> bool:
        if self.entry.project is None or self.entry.project not in self.memberships:
            return False
        return row.level is None or row.level <= self.clearance

    @property
    def clearance(self) -> int:
        return self.memberships.get(self.entry.project or 0, ("", HIGHEST))[1]


def viewers(world: World, rows: Rows, project: Project) -> Iterator[Viewer]:
    """Every user in a project and in none, and somebody whom nobody knows."""
    number = rows.projects[project.owner, project.name]
    for user in USERS:
        known = {
            rows.projects[key]: one.members[user]
            for key, one in world.projects.items()
            if user in one.members
        }
        yield Viewer(user, Entry(rows.accounts[user], number), known)
        yield Viewer(user, Entry(rows.accounts[user], None), known)
    yield Viewer("nobody", Entry(_NOBODY, number))


def ask_without_conditions(
    world: World, project: Project, *, tables: tuple[str, ...] = tuple(TABLES), writing: str = ""
) -> None:
    """Whoever it is, in this project or in none, sees what the model lets them.

    One of them writes as well, or with "everybody" all of them.
    """
    server = world.team._server
    with server.as_owner() as owning:
        rows = all_rows(owning, tables)
    for viewer in viewers(world, rows, project):
        with server.within(viewer.entry) as connection:
            read_all(connection, rows, viewer)
            if writing in (viewer.name, "everybody"):
                write_all(connection, rows, viewer)
                put_all(connection, rows, viewer)


def change_without_conditions(world: World, user: str, project: Project) -> None:
    """Whatever a user can change and remove in a project, that of others stays as it is."""
    server = world.team._server
    with server.as_owner() as owning:
        rows = all_rows(owning)
    number = rows.projects[project.owner, project.name]
    with server.within(Entry(rows.accounts[user], number)) as connection:
        leave_others_alone(connection, rows, number)


def read_all(connection: Connection, rows: Rows, viewer: Viewer) -> None:
    """Of every table exactly those rows are seen that the viewer may see."""
    for table, held in rows.of.items():
        seen = {place for (place,) in connection.execute(f"SELECT ctid::text FROM {table}")}
        expected = {row.place for row in held if viewer.may_see(table, row)}
        assert seen == expected, f"{table} as {viewer} sees it"


def write_all(connection: Connection, rows: Rows, viewer: Viewer) -> None:
    """Of every table those rows alone are changed and removed that the viewer may."""
    for table, held in rows.of.items():
        told = f"{table} as {viewer} writes it"
        changed = sum(viewer.may_change(table, row) for row in held)
        removed = sum(viewer.may_remove(table, row) for row in held)
        assert _touched(connection, f"UPDATE {table} SET {TABLES[table].change}") == changed, told
        assert _touched(connection, f"DELETE FROM {table}") == removed, told


def put_all(connection: Connection, rows: Rows, viewer: Viewer) -> None:
    """Into every table rows are put for the viewer's project alone, and up to their clearance."""
    for table in rows.of:
        told = f"{table} as {viewer} puts rows into it"
        own = _own_places(table, rows, viewer)
        assert _is_let_in(connection, table, own) == viewer.may_add(table), told
        for column, place in _other_places(table, rows, viewer):
            moved = _touched(connection, f"UPDATE {table} SET {column} = {place}")
            assert moved == 0, f"{told}, by its {column}"
            added = _is_let_in(connection, table, {**own, column: place})
            assert not added, f"{told}, by its {column}"


def leave_others_alone(connection: Connection, rows: Rows, project: int) -> None:
    """After every change and every removal there is, the rows of other projects lie as they lay."""
    with connection.transaction(force_rollback=True):
        for statement in ("UPDATE {table} SET {change}", "DELETE FROM {table}"):
            for table in reversed(TABLES):  # members last: without being one, nobody can do more
                connection.execute(statement.format(table=table, change=TABLES[table].change))
        connection.execute("SET LOCAL ROLE NONE")
        left = all_rows(connection)
    for table, held in rows.of.items():
        others = {row for row in held if row.project != project}
        assert others <= set(left.of[table]), f"{table} after changes in {project}"


def _writers(table: str) -> tuple[str, ...]:
    return ("admin",) if table == "member" else ("writer", "admin")


def _touched(connection: Connection, statement: str) -> int:
    """How many rows a statement would touch; none where it is refused."""
    try:
        with connection.transaction(force_rollback=True):
            return connection.execute(statement).rowcount
    except errors.InsufficientPrivilege:
        return 0
    except errors.IntegrityError:  # policies are asked first: they let it through
        return 1


def _is_let_in(connection: Connection, table: str, places: dict[str, int]) -> bool:
    """Whether the policies let a new row in, which may lack what else it needs."""
    columns, values = ", ".join(places), ", ".join(map(str, places.values()))
    return _touched(connection, f"INSERT INTO {table} ({columns}) VALUES ({values})") > 0


def _own_places(table: str, rows: Rows, viewer: Viewer) -> dict[str, int]:
    """What a new row says that is the viewer's own, and seen by everybody in their project."""
    project = viewer.entry.project or 0
    own = {
        "owner": viewer.entry.account,
        "project": project,
        "generation": rows.generations.get(project, 0),
    }
    level = {} if TABLES[table].level is None else {"level": 0}
    return {column: own[column] for column in TABLES[table].placed} | level


def _other_places(table: str, rows: Rows, viewer: Viewer) -> Iterator[tuple[str, int]]:
    """By which a row would be another account's or another project's, or too confidential."""
    others = [one for one in rows.projects.values() if one != viewer.entry.project]
    if table == "member" and viewer.entry.project is None:
        others = [one for one in others if viewer.role(one) != "admin"]
    theirs = [one for one in others if viewer.role(one) is not None]
    foreign = [one for one in others if viewer.role(one) is None]
    projects = [*theirs[:1], *foreign[:1]]
    places = {
        "owner": [one for one in rows.accounts.values() if one != viewer.entry.account],
        "project": projects,
        "generation": [rows.generations[one] for one in projects],
    }
    yield from ((column, one) for column in TABLES[table].placed for one in places[column])
    if TABLES[table].level is not None:
        yield "level", viewer.clearance + 1
