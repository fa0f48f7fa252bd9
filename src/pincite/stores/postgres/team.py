"""Accounts, projects and who may do what in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from pincite.errors import LibraryBusy, SettingsError, StoreDenied
from pincite.records import LEVELS, MEMBER_ROLES, MemberRole, Scope, level_of, refuse_bad_name
from pincite.stores.postgres.address import EMBEDDED
from pincite.stores.postgres.connection import Entry, HeldLock, Server
from pincite.stores.postgres.embedded import EmbeddedServer, folder_of
from pincite.stores.postgres.generations import ProjectGenerations
from pincite.stores.postgres.indexes import IndexSettings, owns_tables
from pincite.stores.postgres.reader import missing
from pincite.stores.postgres.store import PostgresStore, held_back
from pincite.stores.postgres.uploads import UploadStore
from pincite.stores.postgres.words import WORD_TABLES

_JOBS = -1  # a lock beside those of projects, whose keys are positive

_PROJECT = """
SELECT project.id FROM project
JOIN member ON member.project = project.id AND member.account = %(account)s
WHERE project.name = %(name)s AND project.owner = account_known(%(owner)s)
"""
_PROJECTS = """
SELECT name_of_account(project.owner), project.name, member.role, member.clearance
FROM project JOIN member ON member.project = project.id AND member.account = %(account)s
ORDER BY 1, 2
"""
_MEMBERS = """
SELECT name_of_account(member.account), member.role, member.clearance FROM member
WHERE member.project = %(project)s
AND (member.account = %(account)s OR role_in(member.project) = 'admin') ORDER BY 1
"""
_SHARE = """
INSERT INTO member (project, account, role, clearance)
VALUES (%(project)s, account_named(%(user)s), coalesce(%(role)s, 'reader'),
    coalesce(%(clearance)s::smallint, %(internal)s))
ON CONFLICT (project, account) DO UPDATE SET role = coalesce(%(role)s, member.role),
    clearance = coalesce(%(clearance)s::smallint, member.clearance)
RETURNING role, clearance
"""
_REVOKE = """
DELETE FROM member WHERE project = %(project)s AND account = account_known(%(user)s)
"""


@dataclass(frozen=True, slots=True)
class Membership:
    """What one user may do in one project."""

    user: str
    role: MemberRole
    clearance: str  # the strictest label whose documents are seen


@dataclass(frozen=True, slots=True)
class ProjectEntry:
    """A project as one of its members sees it."""

    owner: str
    name: str
    role: MemberRole
    clearance: str


class Team:
    """A team's database: opens its projects, and says who is in them."""

    def __init__(self, server: Server, *, index: IndexSettings = IndexSettings()) -> None:
        index.check()
        self._server = server
        self._index = index
        self._own_server: EmbeddedServer | None = None
        self._jobs: HeldLock | None = None

    @classmethod
    def at(
        cls,
        url: str,
        *,
        index: IndexSettings = IndexSettings(),
        connections: int = 8,
        make: bool = True,
    ) -> Self:
        """The team at an address; its tables are made or brought up to date.

        `postgresql+embedded:///FOLDER` starts a server of one's own, which ends with its last user.
        Without `make`, DatabaseMissing where nobody made it before.
        """
        own_server = EmbeddedServer(folder_of(url)) if url.startswith(EMBEDDED) else None
        started = own_server.start(make=make) if own_server else url
        server = Server(started, connections=connections)
        team = cls(server, index=index)
        team._own_server = own_server
        try:
            server.open(make=make)
        except BaseException:
            team.close()
            raise
        return team

    def create(self, scope: Scope) -> bool:
        """Make a project of the user's own; False where there is one of that name."""
        if scope.owner != scope.user:
            raise StoreDenied(f"only {scope.owner} can make projects of {scope.owner}")
        account = self._account(scope.user, make=True)
        with self._server.within(Entry(account, None)) as connection:
            made = connection.execute(
                "INSERT INTO project (owner, name) VALUES (%s, %s) "
                "ON CONFLICT DO NOTHING RETURNING id",
                (account, scope.name),
            ).fetchone()
            if made is not None:
                connection.execute(
                    "INSERT INTO member (project, account, role, clearance) "
                    "VALUES (%s, %s, 'admin', %s)",
                    (made[0], account, len(LEVELS) - 1),
                )
            return made is not None

    def store(self, scope: Scope, *, generation: int | None = None) -> PostgresStore:
        """A project's store; ProjectMissing where the user has none of that name.

        With a generation it looks at that one, else at whichever is live.
        """
        entry = self._entry(scope)
        return PostgresStore(self._server, scope, entry, index=self._index, generation=generation)

    def uploads(self, scope: Scope, *, generation: int | None = None) -> UploadStore:
        """A project's store to which single files are handed in."""
        entry = self._entry(scope)
        return UploadStore(self._server, scope, entry, index=self._index, generation=generation)

    def only_writer(self, scope: Scope, generation: int) -> UploadStore:
        """A generation's store for whoever makes all of it anew; LibraryBusy while another does.

        Single documents can be added and removed by others meanwhile.
        """
        entry = self._entry(scope)
        lock = self.hold(scope, generation)
        return UploadStore(
            self._server,
            scope,
            entry,
            index=self._index,
            generation=generation,
            lock=lock,
        )

    def hold(self, scope: Scope, generation: int, *, shared: bool = False) -> HeldLock:
        """Keep others from making a generation anew, until it is released; or ask if one does."""
        return self._server.hold(
            (self._entry(scope).project or 0) << 24 | generation,
            otherwise=f"another process is indexing {scope.full_name}; wait until it has finished",
            shared=shared,
        )

    def hold_back(self, scope: Scope) -> HeldLock:
        """Let nobody hand files in until it is released; who does just now is waited for."""
        return self._server.hold(
            held_back(self._entry(scope).project),
            otherwise=f"files are handed in to {scope.full_name} without end; try again later",
            patient=True,
        )

    def generations(self, scope: Scope) -> ProjectGenerations:
        """The generations of a project's index."""
        return ProjectGenerations(self._server, scope, self._entry(scope))

    def optimize(self, scope: Scope) -> bool:
        """Make the index for vectors now where it is due; whether it was.

        Also that of the next generation, where one is being made.
        """
        numbers = self.generations(scope).numbers()
        with self._server.as_owner() as connection:
            if not owns_tables(connection):
                raise StoreDenied(
                    "this login does not own the tables, so it cannot make indexes; let the "
                    "database's owner do it"
                )
        made = [
            self.store(scope, generation=number).make_index()
            for number in (numbers.live, numbers.next)
            if number
        ]
        return any(made)

    def projects(self, user: str) -> list[ProjectEntry]:
        """The projects that a user is a member of."""
        refuse_bad_name("user", user)
        account = self._account(user)
        with self._server.within(Entry(account, None)) as connection:
            rows = connection.execute(_PROJECTS, {"account": account}).fetchall()
        return [ProjectEntry(o, name, role, LEVELS[level]) for o, name, role, level in rows]

    def members(self, scope: Scope) -> list[Membership]:
        """Who is in a project; all of them to an admin, else only oneself."""
        entry = self._entry(scope)
        asked = {"project": entry.project, "account": entry.account}
        with self._server.within(entry) as connection:
            rows = connection.execute(_MEMBERS, asked).fetchall()
        return [Membership(user, role, LEVELS[level]) for user, role, level in rows]

    def share(
        self,
        scope: Scope,
        user: str,
        *,
        role: MemberRole | None = None,
        clearance: str | None = None,
    ) -> Membership:
        """Make a user a member of the project, or change what a member may do.

        What is not named stays as it is; a new member is a reader who sees up to `internal`.
        """
        refuse_bad_name("user", user)
        if role not in (None, *MEMBER_ROLES):
            raise SettingsError(
                f"there is no role {role!r}; choose one of: {', '.join(MEMBER_ROLES)}"
            )
        if clearance not in (None, *LEVELS):
            raise SettingsError(
                f"there is no label {clearance!r}; choose one of: {', '.join(LEVELS)}"
            )
        entry = self._as_admin(scope, user)
        level = None if clearance is None else LEVELS.index(clearance)
        said = {"project": entry.project, "user": user, "role": role, "clearance": level}
        with self._server.within(entry) as connection:
            now = connection.execute(_SHARE, {**said, "internal": LEVELS.index("internal")})
            role_now, level_now = now.fetchone() or ("reader", 0)
            return Membership(user, role_now, LEVELS[level_now])

    def revoke(self, scope: Scope, user: str) -> None:
        """Take a user out of the project, from the next search on; whoever it is may leave."""
        refuse_bad_name("user", user)
        leaves = user == scope.user != scope.owner
        entry = self._entry(scope) if leaves else self._as_admin(scope, user)
        with self._server.within(entry) as connection:
            said = {"project": entry.project, "user": user}
            if not connection.execute(_REVOKE, said).rowcount:
                raise SettingsError(
                    f"{user} is not a member of {scope.full_name}; "
                    "`pincite team members` lists who is"
                )

    def drop(self, scope: Scope) -> None:
        """Delete a project with everything in it."""
        entry = self._as_admin(scope, "")
        with self._server.within(entry) as connection:
            of_project = "(SELECT id FROM generation WHERE project = %(project)s)"
            values = {"project": entry.project}
            connection.execute("SELECT 1 FROM project WHERE id = %(project)s FOR UPDATE", values)
            for table in WORD_TABLES:
                connection.execute(f"DELETE FROM {table} WHERE generation IN {of_project}", values)
            connection.execute("DELETE FROM project WHERE id = %(project)s", values)

    def journal_run(
        self, statement: str, values: Sequence[Any], scope: Scope | None = None
    ) -> list[Sequence[Any]]:
        """A statement of the journal, whose tables nobody sees from inside of a project.

        All but those of saved answers, which their user sees there and nobody anywhere else.
        """
        if scope is not None and "journal_answer" in statement:
            entered = self._server.within(self._entry(scope))
        else:
            entered = self._server.as_owner()
        with entered as connection, connection.transaction():
            done = connection.execute(statement.replace("?", "%s"), list(values))
            return list(done.fetchall()) if done.description else []

    def does_jobs(self) -> bool:
        """Whether this one does the jobs in the journal: the first that asks, until it closes."""
        try:
            self._jobs = self._jobs or self._server.hold(_JOBS, otherwise="another service does")
            self._jobs.check()
        except LibraryBusy:
            self._jobs = None
        return self._jobs is not None

    def close(self) -> None:
        """Give back every connection."""
        if self._jobs is not None:
            self._jobs.release()
        self._server.close()
        if self._own_server is not None:
            self._own_server.stop()

    def _as_admin(self, scope: Scope, user: str) -> Entry:
        entry = self._entry(scope)
        with self._server.within(entry) as connection:
            role = connection.execute("SELECT role_in(%s)", (entry.project,)).fetchone()
        if role != ("admin",):
            raise StoreDenied(f"only an admin of {scope.full_name} can do this")
        if user == scope.owner:
            raise StoreDenied(f"{user} owns {scope.full_name} and stays its admin")
        return entry

    def _entry(self, scope: Scope) -> Entry:
        account = self._account(scope.user)
        with self._server.within(Entry(account, None)) as connection:
            asked = {"account": account, "name": scope.name, "owner": scope.owner}
            row = connection.execute(_PROJECT, asked).fetchone()
        if row is None:
            raise missing(scope)
        return Entry(account, row[0], level_of(scope.clearance) if scope.clearance else None)

    def _account(self, user: str, *, make: bool = False) -> int:
        """The account of a user; 0, which is nobody's, where there is none and none is made."""
        asked = f"SELECT coalesce(pincite.account_{'named' if make else 'known'}(%s), 0)"
        with self._server.as_owner() as connection:
            row = connection.execute(asked, (user,)).fetchone()
        return int(row[0]) if row else 0
