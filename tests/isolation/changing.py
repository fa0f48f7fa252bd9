"""What members do to documents: each operation on the database, and on the model of it."""

from __future__ import annotations

from dataclasses import replace

from isolation.model import Held, Kept, Project
from isolation.world import WORDS, World, document_of, refused
from pincite.records import LEVELS, Failure, Original

PATHS = tuple(f"{letter}.md" for letter in "abcdef")
FILES = tuple(f"{word} secretf of a file extra quality (EQ)" for word in WORDS[:3])


def put(world: World, user: str, project: Project) -> None:
    """A new version of a document, or the very document that another project has, too."""
    path, level = world.chance.choice(PATHS), world.any_level()
    document = world.new_document(path, project, level)
    twins = [one for one in world.elsewhere(project) if one.path == path]
    if twins and world.chance.random() < 0.4:
        texts = [part.chunk.text for part in world.chance.choice(twins).document.chunks]
        document = document_of(path, texts, project, level)
    number = world.any_number(project)
    store, clearance = world.store(user, project, number), project.clearance(user)
    there = project.generations[number].documents.get(path)
    is_hidden = level > clearance or (there is not None and there.level > clearance)
    if is_hidden or not project.may_write(user):
        refused(lambda: store.replace_document(document))
        return
    store.replace_document(document)
    project.replace(number, Held(document, level))


def remove(world: World, user: str, project: Project) -> None:
    """A document by its id, which may be one of another project, or above the clearance."""
    held = world.any_version(project)
    number = world.any_number(project)
    store = world.store(user, project, number)
    if not project.may_write(user):
        refused(lambda: store.remove_documents([held.id]))
        return
    store.remove_documents([held.id])
    for one in project.generations[number].seen(project.clearance(user)):
        if one.id == held.id:
            project.remove(number, one.path)


def finish(world: World, user: str, project: Project) -> None:
    """A run ends, and tells which files it could not read."""
    number = world.any_number(project)
    store = world.store(user, project, number)
    failed = f"{project.owner}/{world.chance.choice(PATHS)}"
    problems = [Failure(failed, "is damaged")][: world.chance.randint(0, 1)]
    if not project.may_write(user):
        refused(lambda: store.finish(problems))
        return
    store.finish(problems)
    project.generations[number].problems = problems


def repair(world: World, user: str, project: Project) -> None:
    """All of a generation is written again, which changes nothing."""
    store = world.store(user, project, world.any_number(project))
    if project.may_remake(user):
        store.repair()
    else:
        refused(store.repair)


def hand_in(world: World, user: str, project: Project) -> None:
    """A file that others hand in, too, here and elsewhere."""
    original, held = _file_of(world, user, project)
    store, key = world.uploads(user, project), (user, original.checksum)
    header, clearance = world.header(project), project.clearance(user)
    if _may_not_keep(project, user, held, key):
        refused(lambda: store.add_upload(held.document, original, header))
        return
    added = store.add_upload(held.document, original, header)
    assert added == (held.path not in project.live.documents)
    if added:
        assert held.level <= clearance
        project.add(project.numbers.live, held)
        _keep(project, held, original)


def hand_in_again(world: World, user: str, project: Project) -> None:
    """A file that is made anew, as documents are made otherwise by now."""
    original, held = _file_of(world, user, project)
    store, key = world.uploads(user, project), (user, original.checksum)
    header = world.header(project)
    there = project.live.documents.get(held.path)
    is_seen = there is not None and there.level <= project.clearance(user)
    if _may_not_keep(project, user, held, key):
        refused(lambda: store.remake_upload(held.document, original, header))
        return
    store.remake_upload(held.document, original, header)
    if there is None or is_seen:
        project.add(project.numbers.live, held)
        _keep(project, held, original)


def relabel(world: World, user: str, project: Project) -> None:
    """Another label for a document by its id, whosever it is."""
    guessed, level = world.any_version(project), world.any_level()
    store = world.uploads(user, project)
    about = replace(guessed.document.document.metadata, confidentiality=LEVELS[level])
    labels = {"confidentiality": LEVELS[level]}
    seen = {one.id: one for one in project.live.seen(project.clearance(user))}
    is_above = guessed.id in seen and level > project.clearance(user)
    if is_above or not project.may_write(user):
        refused(lambda: store.relabel(guessed.id, about, labels))
        return
    assert store.relabel(guessed.id, about, labels) == (guessed.id in seen)
    if guessed.id in seen:
        clearance = project.clearance(user)
        project.relabel(seen[guessed.id], about, level, labels, clearance)


def delete(world: World, user: str, project: Project) -> None:
    """A document by its id, whosever it is, with its file and its past."""
    guessed = world.any_version(project)
    store, clearance = world.uploads(user, project), project.clearance(user)
    if not project.may_write(user):
        refused(lambda: store.delete(guessed.id, of_folder=True))
        return
    seen = {one.id: one for one in project.live.seen(clearance)}
    if guessed.id in seen and seen[guessed.id].upload is None:
        refused(lambda: store.delete(guessed.id))  # what was not handed in
    assert store.delete(guessed.id, of_folder=True) == (guessed.id in seen)
    if guessed.id in seen:
        project.delete(seen[guessed.id], clearance)


def _file_of(world: World, user: str, project: Project) -> tuple[Original, Held]:
    """A file as a user hands it in. Its path tells whose it is, as names need not be unique."""
    number, level = world.chance.randrange(len(FILES)), world.any_level()
    document = document_of(f"{user}-{number}/file.md", [FILES[number]], project, level)
    checksum = document.document.checksum
    labels = {"confidentiality": LEVELS[level]}
    original = Original(document.document.path, checksum, labels, FILES[number].encode())
    return original, Held(document, level, (user, checksum))


def _may_not_keep(project: Project, user: str, held: Held, key: tuple[str, str]) -> bool:
    """Whether a file is above what its user may see, as it comes or as it is kept already."""
    clearance = project.clearance(user)
    there = project.live.documents.get(held.path)
    kept = project.originals.get(key)
    is_hidden_alone = there is None and kept is not None and kept.level > clearance
    return not project.may_write(user) or held.level > clearance or is_hidden_alone


def _keep(project: Project, held: Held, original: Original) -> None:
    assert held.upload is not None
    project.originals[held.upload] = Kept(held.path, held.text, held.level, original.labels)
