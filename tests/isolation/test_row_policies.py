"""Row-level security, asked directly: each policy, and whether it is missed where it is weaker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

import pytest

from helpers import new_database
from isolation.model import HIGHEST, Held, Kept, Project
from isolation.rows import TABLES, agree_with_model
from isolation.unconditional import ask_without_conditions, change_without_conditions
from isolation.world import USERS, WORDS, World, document_of
from pincite.records import LEVELS, MemberRole, Original
from pincite.stores.postgres.rights import JOURNAL, MEMBER, POLICIES
from pincite.stores.postgres.team import Team

_SETTINGS = frozenset(("migration", "space"))  # what everybody reads: it is of no project
_NAMES = ("seen", "added", "changed", "removed")


class Weakening(NamedTuple):
    """A policy of which one condition is left out."""

    table: str
    name: str
    as_it_is: str
    weaker: str

    def alter(self, using: str) -> str:
        said = {
            "seen": f"USING ({using})",
            "added": f"WITH CHECK ({using})",
            "changed": f"USING ({using}) WITH CHECK ({using})",
            "removed": f"USING ({using})",
        }
        return f"ALTER POLICY {self.name} ON {self.table} {said[self.name]}"


def weakenings() -> Iterator[Weakening]:
    """Every condition of every policy left out, one at a time."""
    for table, (seen, changed, removed) in POLICIES.items():
        for name, policy in zip(_NAMES, (seen, changed, changed, removed), strict=True):
            conditions = policy.split(" AND ")
            for number in range(len(conditions)):
                others = conditions[:number] + conditions[number + 1 :]
                yield Weakening(table, name, policy, " AND ".join(others) or "true")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Ada has a writer in one project and a reader in the other; both see some documents only."""
    with closing(Team.at(new_database())) as team:
        world = World(team, seed=5)
        for project in world.projects.values():
            fill(world, project)
        share(world, world.projects["ada", "plans"], "grace", "writer")
        share(world, world.projects["ada", "notes"], "grace", "reader")
        yield world


def fill(world: World, project: Project) -> None:
    """Documents at the lowest and at the highest level, today's, earlier ones and files."""
    store = world.uploads(project.owner, project)
    for level in (0, HIGHEST):
        for _ in range(2):
            held = Held(world.new_document(f"{level}.md", project, level), level)
            store.replace_document(held.document)
            project.replace(1, held)
        hand_in(world, project, f"{WORDS[level]} of a file extra quality (EQ)", level)


def hand_in(world: World, project: Project, text: str, level: int) -> None:
    document = document_of(f"{level}/file.md", [text], project, level)
    path, checksum = document.document.path, document.document.checksum
    file = Original(path, checksum, {}, text.encode())
    store = world.uploads(project.owner, project)
    assert store.add_upload(document, file, world.header(project))
    project.add(1, Held(document, level, (project.owner, checksum)))
    project.originals[project.owner, checksum] = Kept(path, text, level, {})


def share(world: World, project: Project, user: str, role: MemberRole) -> None:
    world.team.share(world.scope(project.owner, project), user, role=role, clearance=LEVELS[1])
    project.members[user] = (role, 1)


def test_every_table_has_policies_and_is_asked_for(world: World) -> None:
    assert TABLES.keys() == POLICIES.keys()
    with world.team._server.as_owner() as connection:
        found = connection.execute(
            "SELECT relname, relrowsecurity FROM pg_class "
            "WHERE relnamespace = 'pincite'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') "
            "AND has_any_column_privilege(%s, oid, 'SELECT, INSERT, UPDATE')",
            (MEMBER,),
        ).fetchall()
    # What is of no project, or of one user: see tests/contracts/test_journal.py.
    apart = {*JOURNAL, "journal_answer"}
    assert {name for name, is_guarded in found if is_guarded} == {*POLICIES, *apart}
    assert {name for name, is_guarded in found if not is_guarded} == _SETTINGS


def test_whoever_asks_without_conditions_gets_what_the_model_says(world: World) -> None:
    with world.team._server.as_owner() as connection:
        agree_with_model(world, connection)
    ask_in_projects_of_ada(world)


@pytest.mark.parametrize("user", USERS)
def test_whoever_writes_without_conditions_leaves_other_projects_alone(
    world: World, user: str
) -> None:
    for project in world.projects.values():
        change_without_conditions(world, user, project)


@pytest.mark.parametrize("weakening", list(weakenings()), ids=lambda one: f"{one.table}-{one.name}")
def test_a_policy_that_is_weaker_is_noticed(world: World, weakening: Weakening) -> None:
    with world.team._server.as_owner() as connection:
        connection.execute(weakening.alter(weakening.weaker))
        try:
            with pytest.raises(AssertionError, match=f"{weakening.table} as "):
                ask_in_projects_of_ada(world, weakening.table)
        finally:
            connection.execute(weakening.alter(weakening.as_it_is))


def ask_in_projects_of_ada(world: World, *tables: str) -> None:
    for name in ("plans", "notes"):
        project = world.projects["ada", name]
        ask_without_conditions(world, project, tables=tables or tuple(TABLES), writing="everybody")
