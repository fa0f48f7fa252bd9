"""What members do to each other: sharing, clearances, revoking, dropping; and who is no member."""

from __future__ import annotations

from collections.abc import Callable

from isolation.model import Project
from isolation.reading import spelled
from isolation.world import USERS, World, missing, raises, refused
from pincite.errors import SettingsError
from pincite.records import LEVELS, MEMBER_ROLES, DocumentId, Filters, Scope
from pincite.stores.postgres.store import PostgresStore


def share(world: World, user: str, project: Project) -> None:
    """A member comes, or may do and see something else from now on."""
    other = world.chance.choice(USERS)
    role, level = world.chance.choice(MEMBER_ROLES), world.any_level()
    scope = world.scope(user, project)

    def change() -> None:
        world.team.share(scope, other, role=role, clearance=LEVELS[level])

    if not project.is_admin(user) or other == project.owner:
        refused(change)
        return
    number = project.numbers.live
    if other in project.members:
        spelled(world, other, project, number)
    change()
    project.members[other] = (role, level)
    spelled(world, other, project, number)  # not as it was remembered from before


def revoke(world: World, user: str, project: Project) -> None:
    """A member goes; everybody may go themselves, but for the owner."""
    other = world.chance.choice(USERS)
    scope = world.scope(user, project)
    may = other == user or project.is_admin(user)
    if not may or other == project.owner:
        refused(lambda: world.team.revoke(scope, other))
    elif project.members.pop(other, None) is not None:
        world.team.revoke(scope, other)
    else:
        raises(SettingsError, lambda: world.team.revoke(scope, other))


def drop(world: World, user: str, project: Project) -> None:
    """A project goes with all that is in it, and its owner makes another of its name."""
    scope = world.scope(user, project)
    if not project.is_admin(user):
        refused(lambda: world.team.drop(scope))
        return
    opened = world.uploads(user, project)
    world.team.drop(scope)
    missing(opened.documents)
    world.close_all(project)
    world.create(project.owner, project.name)
    missing(opened.documents)


def memberships(world: World, user: str, project: Project) -> None:
    """Which projects a user is told of, and which members."""
    known = [one for one in world.projects.values() if user in one.members]
    mine = {(one.owner, one.name, *_said(one, user)) for one in known}
    told = {(one.owner, one.name, one.role, one.clearance) for one in world.team.projects(user)}
    assert mine <= told
    # Row-level security alone also tells an admin what the other members may.
    assert {one[:2] for one in told} == {one[:2] for one in mine}
    members = world.team.members(world.scope(user, project))
    everyone = project.members if project.is_admin(user) else [user]
    expected = {(one, *_said(project, one)) for one in everyone}
    assert {(one.user, one.role, one.clearance) for one in members} == expected


def _said(project: Project, user: str) -> tuple[str, str]:
    role, level = project.members[user]
    return role, LEVELS[level]


def be_a_stranger(world: World, user: str, project: Project) -> None:
    """Who is no member, or not any more, is told the same as if there were no such project."""
    scope = world.scope(user, project)
    nobody = Scope(user, f"{project.owner}/nothing")
    team = world.team
    ways: list[Callable[[Scope], object]] = [
        team.store,
        team.uploads,
        team.generations,
        team.members,
    ]
    opening = world.chance.choice(ways)
    unknown = missing(lambda: opening(nobody))
    assert missing(lambda: opening(scope)).replace(project.name, "nothing") == unknown
    opened = world.opened(user, project)  # while they were a member
    if opened:
        for ask in world.chance.sample(_questions(world.chance.choice(opened)), 3):
            missing(ask)


def _questions(store: PostgresStore) -> list[Callable[[], object]]:
    some = DocumentId("a" * 40)
    return [
        store.documents,
        store.stats,
        store.problems,
        store.version,
        store.verify,
        store.finish,
        lambda: store.search("pump", None, filters=Filters(), limit=5),
        lambda: store.find_documents("walk"),
        lambda: store.find_chunks("a"),
        lambda: list(store.past_versions()),
        lambda: store.spellings("p"),
        lambda: store.definitions(["eq"]),
        lambda: store.load_embedded(some),
        lambda: store.remove_documents([some]),
    ]
