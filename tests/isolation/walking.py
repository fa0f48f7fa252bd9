"""A random walk through everything that members can do, each step compared with the model."""

from __future__ import annotations

from collections.abc import Callable

from isolation import changing, reading, reindexing, sharing
from isolation.model import Project
from isolation.world import World

Operation = Callable[[World, str, Project], None]
_EVERYTHING_EVERY = 400  # steps; all that one member can read of one project
_BESIDE = 0.04  # how often something changes while somebody reads


def _reads(check: Callable[[World, str, Project, int], None]) -> Operation:
    def read(world: World, user: str, project: Project) -> None:
        check(world, user, project, world.any_number(project))

    read.__name__ = check.__name__
    return read


CHANGES: dict[Operation, float] = {  # and how often each comes
    changing.put: 8,
    changing.remove: 2,
    changing.finish: 1,
    changing.repair: 0.5,
    changing.hand_in: 4,
    changing.hand_in_again: 3,
    changing.relabel: 3,
    changing.delete: 4,
    reindexing.begin_next: 3,
    reindexing.fill_next: 2,
    reindexing.switch: 3,
    reindexing.roll_back: 1,
    reindexing.cancel: 1,
    reindexing.drop_before: 1,
    sharing.share: 4,
    sharing.revoke: 1,
    sharing.drop: 0.5,
}
READS: dict[Operation, float] = {
    sharing.memberships: 2,
    **{_reads(check): 4 for check in reading.OFTEN},
    **{_reads(check): 1 for check in reading.RARELY},
}
OPERATIONS = {**CHANGES, **READS}


def step(world: World, number: int) -> None:
    """One operation by one user in one project, whether theirs or not."""
    project = world.any_project()
    user = world.any_user(project)
    if world.chance.random() < _BESIDE:
        change_while_reading(world, user, project)
    else:
        _do(world, user, project, _any_of(world, OPERATIONS))
    if number % _EVERYTHING_EVERY == 0:
        project = world.any_project()
        reading.everything(world, world.chance.choice(sorted(project.members)), project)


def change_while_reading(world: World, user: str, project: Project) -> None:
    """Who reads sees one moment throughout, whatever others do; then the next."""
    if user not in project.members:
        return
    number = project.numbers.live
    clearance = project.clearance(user)
    paths = sorted(one.path for one in project.live.seen(clearance))
    past = [one.text for one in project.live.past_seen(clearance)]
    with world.store(user, project, number).snapshot() as seen:
        assert [one.path for one in seen.documents()] == paths
        _do(world, world.any_user(project), project, _any_of(world, CHANGES))
        assert [one.path for one in seen.documents()] == paths
        assert [one.document.text for one in seen.past_versions()] == past
    changed = world.projects[project.owner, project.name]  # may be another one of that name
    if user in changed.members:
        reading.listed(world, user, changed, changed.numbers.live)


def _do(world: World, user: str, project: Project, operation: Operation) -> None:
    if user in project.members:
        world.done[operation.__name__] += 1
        operation(world, user, project)
    else:
        sharing.be_a_stranger(world, user, project)


def _any_of(world: World, operations: dict[Operation, float]) -> Operation:
    (chosen,) = world.chance.choices(list(operations), weights=list(operations.values()))
    return chosen
