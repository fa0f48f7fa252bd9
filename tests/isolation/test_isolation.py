"""Three users with two projects each: nobody sees what is not theirs, by either of two walls."""

from __future__ import annotations

import re
from collections.abc import Callable

import psycopg
import pytest

from isolation.reading import everything
from isolation.rows import agree_with_model
from isolation.unconditional import ask_without_conditions, change_without_conditions
from isolation.walking import OPERATIONS, step
from isolation.world import USERS, World
from pincite.stores.postgres.rights import POLICIES
from pincite.stores.postgres.team import Team
from soak import SEED, SOAK, times

STEPS = times(350, soak=17_000)  # each of the three walks
_DIRECTLY_EVERY = 40  # steps; all rows of all tables, as everybody sees them
_SCOPE = re.compile(r"(?<!SET )(?:\w+\.)?\b(?:project|level|account) <?= (?:%\(\w+\)s|%s)")


def seed_of(walk: str) -> int | str:
    """A short walk must be one that comes by every operation; long ones are all different."""
    return f"{SEED}/{walk}" if SOAK else 11


def test_nobody_sees_or_changes_what_is_not_theirs(database: str) -> None:
    walk(Team.at(database), seed=seed_of("both"))


def test_row_level_security_alone_keeps_everyone_apart(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_predicates = _TakenOut()
    without_predicates.everywhere(monkeypatch)
    walk(Team.at(database), seed=seed_of("rows"), ask_directly=True)
    assert without_predicates.count > STEPS  # else this would be the test above


def test_predicates_alone_keep_everyone_apart(database: str) -> None:
    team = Team.at(database)
    with psycopg.connect(database, autocommit=True) as connection:
        for table in POLICIES:
            connection.execute(f"ALTER TABLE pincite.{table} DISABLE ROW LEVEL SECURITY")
    walk(team, seed=seed_of("predicates"))


def test_without_either_wall_the_walk_finds_what_is_foreign(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = Team.at(database)
    with psycopg.connect(database, autocommit=True) as connection:
        for table in POLICIES:
            connection.execute(f"ALTER TABLE pincite.{table} DISABLE ROW LEVEL SECURITY")
    without_predicates = _TakenOut()
    without_predicates.everywhere(monkeypatch)
    with pytest.raises(AssertionError):
        walk(team)


class _TakenOut:
    """Statements without the conditions that say whose rows are meant, and how many those were."""

    count = 0

    def __call__(self, statement: str) -> str:
        rewritten, count = _SCOPE.subn(lambda found: f"({found.group()} OR true)", statement)
        self.count += count
        return rewritten

    def everywhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From now on, in every statement."""
        for kind in (psycopg.Cursor, psycopg.ServerCursor):  # a connection asks by a cursor, too
            monkeypatch.setattr(kind, "execute", self._taken_out_of(kind.execute))

    def _taken_out_of(self, execute: Callable[..., object]) -> Callable[..., object]:
        def executed(cursor: object, query: object, *more: object, **said: object) -> object:
            ours = self(query) if isinstance(query, str) else query  # others are the driver's own
            return execute(cursor, ours, *more, **said)

        return executed


def walk(team: Team, *, seed: int | str = 11, ask_directly: bool = False) -> None:
    """Random operations, each compared with what should come of it; at the end all that is read.

    Conditions that are left name generations, and no two projects share one: that row-level
    security keeps projects apart is seen only by asking directly, without any condition.
    """
    try:
        world = World(team, seed=seed)
        for number in range(1, STEPS + 1):
            step(world, number)
            if ask_directly and number % _DIRECTLY_EVERY == 0:
                look_at_all_rows(world, number // _DIRECTLY_EVERY)
        for project in world.projects.values():
            everything(world, world.chance.choice(sorted(project.members)), project)
    finally:
        team.close()
    assert world.done.keys() == {one.__name__ for one in OPERATIONS}


def look_at_all_rows(world: World, number: int) -> None:
    """One project after the other, and one user after the other who writes."""
    projects, user = list(world.projects.values()), USERS[number % len(USERS)]
    project = projects[number % len(projects)]
    with world.team._server.as_owner() as connection:
        agree_with_model(world, connection)
    ask_without_conditions(world, project, writing=user)
    change_without_conditions(world, user, project)
