"""What a member can read of a generation, each compared with what the model says they may."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from helpers import chunk_ids
from isolation.changing import FILES
from isolation.model import Held, Project
from isolation.world import SECRETS, TITLE, WORDS, World, document_of, refused, vector_of
from moving import MemoryHome, export, lines_of
from pincite.records import Filters
from pincite.text.words import spellings_in


def listed(world: World, user: str, project: Project, number: int) -> None:
    """Documents, pages and counts."""
    store, seen = world.store(user, project, number), _seen(project, user, number)
    paths = sorted(one.path for one in seen)
    assert [one.path for one in store.documents()] == paths
    figures = store.stats()
    assert figures.documents == len(seen)
    assert figures.chunks == figures.words == sum(len(one.document.chunks) for one in seen)
    assert figures.windows == figures.vectors == figures.chunks


def paged(world: World, user: str, project: Project, number: int) -> None:
    """Pages of the live generation, and whether any document was handed in."""
    store, seen = world.uploads(user, project), _seen(project, user, project.numbers.live)
    paths = sorted(one.path for one in seen)
    after = world.chance.choice(["", *paths])
    page = [one.path for one in store.documents(after=after, limit=3)]
    assert page == [path for path in paths if path > after][:3]
    beginning = world.chance.choice(["a", "b", user])
    page = [one.path for one in store.documents(filters=Filters(path=beginning), limit=3)]
    assert page == [path for path in paths if path.startswith(beginning)][:3]
    assert store.has_uploads() == any(one.upload is not None for one in seen)


def searched(world: World, user: str, project: Project, number: int) -> None:
    """Rankings by words and by vectors, with and without a filter."""
    seen = _seen(project, user, number)
    asked = world.chance.sample(WORDS, 2)
    beginning = world.chance.choice([None, "a", "b", user])
    filters = Filters(path=beginning)
    passing = [one for one in seen if one.path.startswith(beginning or "")]
    question = " ".join(asked)
    found = world.store(user, project, number).search(
        question, vector_of(question), filters=filters, limit=100
    )
    parts = [part.chunk for one in passing for part in one.document.chunks]
    having = {one.id for one in parts if set(asked) & set(one.text.split())}
    assert {one.chunk_id for one in found["vector"]} == {one.id for one in parts}
    assert {one.chunk_id for one in found["words"]} == having


def cataloged(world: World, user: str, project: Project, number: int) -> None:
    """Documents by what is known of them, and by their names."""
    store, seen = world.store(user, project, number), _seen(project, user, number)
    found = store.find_documents(f"{TITLE} a.md b.md c.md d.md e.md f.md file.md")
    assert sorted(one.path for one in found) == sorted(one.path for one in seen)
    assert store.paths() == {one.path: one.id for one in seen}
    assert store.documents([one.id for one in seen]) == store.documents()
    name = world.chance.choice(["a.md", "file.md"])
    named = store.named_documents(f"what does {name} say?").values()
    expected = {one.id for one in seen if one.path.endswith(name)}
    assert {one for ids in named for one in ids} == expected
    assert store.recorded_documents("a recording", Filters()) == []


def spelled(world: World, user: str, project: Project, number: int) -> None:
    """Words that typos are compared with, words that nobody has, abbreviations."""
    store, seen = world.store(user, project, number), _seen(project, user, number)
    about = [one.document.document for one in seen]
    words = Counter(word for one in about for word in spellings_in(f"{one.text} {one.about}"))
    for initial in "ps":
        expected = {word: count for word, count in words.items() if word.startswith(initial)}
        assert store.spellings(initial) == expected
    asked = world.chance.sample(SECRETS, 3)
    chunks, having = store.chunk_counts(asked)
    assert chunks == sum(len(one.document.chunks) for one in seen)
    assert {one for one in asked if not having[one]} == {one for one in asked if one not in words}
    assert sum(one.documents for one in store.definitions(["eq"])) == len(seen)


def guessed(world: World, user: str, project: Project, number: int) -> None:
    """Ids of all projects, of today and of the past, as if they had been guessed."""
    store = world.store(user, project, number)
    seen = {one.id: one for one in _seen(project, user, number)}
    past = {
        chunk
        for one in project.generations[number].past_seen(project.clearance(user))
        for chunk in chunk_ids(one.document)
    }
    known = {print_ for one in seen.values() for print_ in _fingerprints(one)}
    held = world.any_version(project)
    is_seen = held.id in seen
    chunk = chunk_ids(held.document)[0]
    assert [one.path for one, _ in store.load_chunks([chunk])] == [held.path] * is_seen
    checksum = held.document.document.checksum
    assert {one.id for one in store.documents(checksum=checksum)} == {
        one.id for one in seen.values() if one.document.document.checksum == checksum
    }
    uploads = world.uploads(user, project)
    live = {one.id: one for one in _seen(project, user, project.numbers.live)}
    upload = live[held.id].upload if held.id in live else None
    handed_in = uploads.handed_in(held.id)
    kept = project.originals_seen(user).get(upload) if upload else None
    assert (handed_in and handed_in.data.decode()) == (kept and kept.text)
    loaded = store.load_document(held.id)
    assert (loaded is not None and loaded.text) == (is_seen and held.text)
    assert (store.load_embedded(held.id) is not None) == is_seen
    assert [one.id for one in store.documents([held.id])] == [held.id] * is_seen
    assert store.text_of(held.id, 0, 1_000) == (held.text if is_seen else "")
    assert store.chunk_ids(held.id) == (chunk_ids(held.document) if is_seen else [])
    expected = [False] if is_seen else [True] if chunk in past else []
    assert [one.superseded for one in store.find_chunks(chunk)] == expected
    prints = _fingerprints(held)
    assert store.known_vectors(prints).keys() == prints & known


def remembered(world: World, user: str, project: Project, number: int) -> None:
    """Earlier versions, and which files the last run could not read."""
    store, generation = world.store(user, project, number), project.generations[number]
    past = generation.past_seen(project.clearance(user))
    assert [one.document.text for one in store.past_versions()] == [one.text for one in past]
    assert store.problems() == (generation.problems if project.sees_all(user) else [])


def handed_in(world: World, user: str, project: Project, number: int) -> None:
    """A user's own files, and those that a generation still lacks."""
    store, clearance = world.uploads(user, project), project.clearance(user)
    for text in FILES:
        checksum = document_of("any", [text], project, 0).document.checksum
        mine = project.live.uploads().get((user, checksum))
        found = store.uploaded(checksum)
        assert (found is not None) == (mine is not None and mine.level <= clearance)
        if found is not None and mine is not None:
            assert found[0].path == mine.path
            assert found[1] == project.originals[user, checksum].labels
    left = project.left_to_make(user, project.numbers.live)
    files = [store.original(one) for one in store.to_make()]
    told = [(one.path, one.owner) for one in files if one is not None]
    assert sorted(told) == sorted((one.path, owner) for (owner, _), one in left.items())


def exported(world: World, user: str, project: Project, number: int) -> None:
    """The whole file that an export or a backup writes."""
    store, generation = world.store(user, project, number), project.generations[number]
    clearance = project.clearance(user)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "all.pincite"
        export(MemoryHome(store), file, root=Path(folder), history=True)
        library, *lines = lines_of(file)
    versions = [one for one in lines if one["kind"] != "original"]
    told = [(one["kind"], one["document"]["id"], one["document"]["text"]) for one in versions]
    past = [("past", one.id, one.text) for one in generation.past_seen(clearance)]
    today = sorted(generation.seen(clearance), key=lambda one: one.path)
    assert told == [*past, *(("document", one.id, one.text) for one in today)]
    files = project.originals_seen(user)
    expected = [files[one.upload].path for one in today if one.upload in files]
    assert [one["path"] for one in lines if one["kind"] == "original"] == expected
    problems = generation.problems if project.sees_all(user) else []
    assert library["documents"] == len(today)
    assert [tuple(one) for one in library["problems"]] == [(p.path, p.reason) for p in problems]


def verified(world: World, user: str, project: Project, number: int) -> None:
    """Whoever sees all may look whether everything agrees, and it does."""
    store = world.store(user, project, number)
    if project.sees_all(user):
        assert store.verify() == []
    else:
        refused(store.verify)


OFTEN = (listed, paged, searched, cataloged, spelled, guessed, remembered, handed_in)
RARELY = (exported, verified)


def everything(world: World, user: str, project: Project) -> None:
    """All that a member can read, in every generation."""
    for number in sorted(project.generations):
        for check in (*OFTEN, *RARELY):
            check(world, user, project, number)


def _seen(project: Project, user: str, number: int) -> list[Held]:
    return project.generations[number].seen(project.clearance(user))


def _fingerprints(held: Held) -> set[str]:
    return {window.fingerprint for part in held.document.chunks for window in part.windows}
