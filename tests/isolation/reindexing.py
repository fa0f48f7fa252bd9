"""What members do to generations: each operation on the database, and on the model of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from isolation.model import Held, Project
from isolation.world import World, document_of, raises, refused
from pincite.errors import IndexMissing, SettingsError
from pincite.records import LEVELS
from pincite.stores.postgres.generations import ProjectGenerations
from pincite.stores.postgres.uploads import UploadStore


def begin_next(world: World, user: str, project: Project) -> None:
    """Another generation, made beside the live one."""
    generations = _generations(world, user, project)
    if not project.may_remake(user):
        refused(generations.begin)
        return
    project.begin_next()
    assert generations.begin() == project.numbers.next
    world.store(user, project, project.numbers.last).begin(world.header(project))


def fill_next(world: World, user: str, project: Project) -> None:
    """The next generation is made equal to the files there are, as far as its maker sees them."""
    number = project.numbers.next
    if number is None:
        return
    with closing(world.team.only_writer(world.scope(user, project), number)) as coming:
        if not project.may_write(user):
            refused(coming.forget_deleted)
            return
        coming.forget_deleted()
        generation = project.generations[number]
        for held in generation.seen(project.clearance(user)):
            if held.upload is not None and held.upload not in project.originals:
                del generation.documents[held.path]
        for _ in range(3):
            _make_one(world, user, project, coming)


def _make_one(world: World, user: str, project: Project, coming: UploadStore) -> None:
    """A file is read again, perhaps as one that is more confidential than it was taken for."""
    number = project.numbers.last
    left = {(one.path, one.text): key for key, one in project.left_to_make(user, number).items()}
    found = coming.to_make()
    assert sorted(one.size for one in found) == sorted(len(text) for _, text in left)
    if not found:
        return
    unmade = world.chance.choice(found)
    original = coming.original(unmade)
    assert original is not None
    text = original.data.decode()
    key = left[original.path, text]
    kept = project.originals[key]
    assert original.labels == kept.labels
    level = world.chance.choice([kept.level, kept.level, min(kept.level + 1, len(LEVELS) - 1)])
    document = document_of(original.path, [text], project, level)
    if level > project.clearance(user):
        refused(lambda: coming.take_over(document, original, unmade.owner))
        return
    assert coming.take_over(document, original, unmade.owner)
    if original.path not in project.generations[number].documents:  # else one that is not seen
        project.add(number, Held(document, level, key))


def switch(world: World, user: str, project: Project) -> None:
    """The next generation becomes the live one, unless files would be lost."""
    generations = _generations(world, user, project)
    coming = project.numbers.next
    if _is_done(project, user, generations.switch, coming):
        project.switch()
        world.close_gone(project)


def roll_back(world: World, user: str, project: Project) -> None:
    """The generation before becomes the live one again, unless files would be lost."""
    generations = _generations(world, user, project)
    if _is_done(project, user, generations.roll_back, project.numbers.before):
        project.numbers = project.numbers.rolled_back()


def cancel(world: World, user: str, project: Project) -> None:
    """The next generation is given up."""
    generations = _generations(world, user, project)
    if not project.may_remake(user):
        refused(generations.give_up)
    elif project.numbers.next is None:
        raises(IndexMissing, generations.give_up)
    else:
        generations.give_up()
        _drop(world, project, project.numbers.next, user)


def drop_before(world: World, user: str, project: Project) -> None:
    """There is no way back any more."""
    generations = _generations(world, user, project)
    if not project.may_remake(user):
        refused(generations.drop_before)
        return
    generations.drop_before()
    if project.numbers.before is not None:
        _drop(world, project, project.numbers.before, user)


def _drop(world: World, project: Project, number: int, user: str) -> None:
    """Whoever still looks at a generation that is gone finds nothing in it."""
    store = world.store(user, project, number)
    is_next = number == project.numbers.next
    numbers = project.numbers
    project.numbers = numbers.without_next() if is_next else numbers.without_before()
    project.forget_unkept()
    assert store.documents() == []
    assert list(store.past_versions()) == []
    world.close_gone(project)


def _is_done(project: Project, user: str, change: Callable[[], None], other: int | None) -> bool:
    """Whether a move to another generation is made, or who is told why not."""
    if not project.may_remake(user):
        refused(change)
    elif other is None:
        raises(IndexMissing, change)
    elif project.would_lose(other):
        raises(SettingsError, change)
    else:
        change()
        return True
    return False


def _generations(world: World, user: str, project: Project) -> ProjectGenerations:
    generations = world.team.generations(world.scope(user, project))
    assert generations.numbers() == project.numbers
    return generations
