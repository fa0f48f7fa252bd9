"""Users, projects and documents as they should be seen, beside a team that is asked the same."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from helpers import ABOUT, DIMENSIONS, HEADER, Part, chunk_ids, embedded
from pincite.errors import ProjectMissing, SettingsError, StoreDenied
from pincite.records import (
    LEVELS,
    MEMBER_ROLES,
    DocumentId,
    EmbeddedDocument,
    Filters,
    MemberRole,
    Scope,
)
from pincite.stores.postgres.store import PostgresStore
from pincite.stores.postgres.team import Team
from pincite.text.spelling import spellings_in
from pincite.vectors import Vector, unit

USERS = ("ada", "grace", "mary")
NAMES = ("plans", "notes")
WORDS = ("pump", "valve", "harbour", "leak")


@dataclass
class Held:
    """A document as the world knows it."""

    document: EmbeddedDocument
    level: int

    @property
    def path(self) -> str:
        return self.document.document.path


@dataclass
class Project:
    """A project as the world knows it."""

    owner: str
    name: str
    documents: dict[str, Held] = field(default_factory=dict)  # by path
    members: dict[str, tuple[MemberRole, int]] = field(default_factory=dict)

    def seen_by(self, user: str) -> list[Held]:
        """What a member of that clearance may see."""
        _, clearance = self.members[user]
        return [one for one in self.documents.values() if one.level <= clearance]

    def may_write(self, user: str) -> bool:
        return self.members[user][0] in ("writer", "admin")


class World:
    """Random operations on a team, each compared with what should come of it."""

    def __init__(self, team: Team, seed: int, prefix: str) -> None:
        self._team = team
        self._chance = random.Random(seed)
        self._prefix = prefix
        self._numbers = itertools.count(1)
        self.done: Counter[str] = Counter()
        self._projects = {(user, name): Project(user, name) for user in USERS for name in NAMES}
        self._stores: dict[tuple[str, str, str], PostgresStore] = {}
        for project in self._projects.values():
            project.members[project.owner] = ("admin", len(LEVELS) - 1)
            self._team.create(self._scope(project.owner, project))
            self._store(project.owner, project).begin(replace(HEADER, name=project.name))

    def step(self) -> None:
        """One operation by one user in one project, whether theirs or not."""
        user = self._chance.choice(USERS)
        project = self._chance.choice(list(self._projects.values()))
        operation = self._chance.choice(self._operations)
        self.done[operation.__name__.strip("_")] += 1
        if user in project.members:
            operation(user, project)
        else:
            self._stranger(user, project)

    @property
    def operations_known(self) -> set[str]:
        """What can be done, by name."""
        return {one.__name__ for one in self._operations}

    @property
    def _operations(self) -> list[Callable[[str, Project], None]]:
        """Some come more often than others."""
        often = [self._put, self._search, self._search, self._guess, self._list]
        rarely = [self._remove, self._vocabulary, self._share, self._revoke, self._projects_of]
        return [*often, *rarely]

    def _put(self, user: str, project: Project) -> None:
        path = f"{self._chance.choice('abcdef')}.md"
        level = self._chance.randrange(len(LEVELS))
        document = self._document(path, project, level)
        there = project.documents.get(path)
        clearance = project.members[user][1]
        store = self._store(user, project)
        hidden = level > clearance or (there is not None and there.level > clearance)
        if hidden or not project.may_write(user):
            _refused(lambda: store.replace_document(document))
            return
        store.replace_document(document)
        project.documents[path] = Held(document, level)

    def _remove(self, user: str, project: Project) -> None:
        somewhere = self._chance.choice(list(self._projects.values()))
        if not somewhere.documents:
            return
        held = self._chance.choice(list(somewhere.documents.values()))
        store = self._store(user, project)
        ids = [held.document.document.id]
        if not project.may_write(user):
            _refused(lambda: store.remove_documents(ids))
            return
        store.remove_documents(ids)  # of another project, or above the clearance: nothing happens
        if somewhere is project and held in project.seen_by(user):
            del project.documents[held.path]

    def _search(self, user: str, project: Project) -> None:
        held = project.seen_by(user)
        allowed = {chunk for one in held for chunk in chunk_ids(one.document)}
        question = " ".join(self._chance.choices(WORDS, k=2))
        found = self._store(user, project).search(
            question, self._vector(question), filters=Filters(), limit=50
        )
        asked = set(question.split())
        having = {
            part.chunk.id
            for one in held
            for part in one.document.chunks
            if asked & set(part.chunk.text.split())
        }
        assert {one.chunk_id for one in found["vector"]} == allowed
        assert {one.chunk_id for one in found["words"]} == having

    def _guess(self, user: str, project: Project) -> None:
        """Ids of all projects, as if they had been guessed."""
        store = self._store(user, project)
        every = [one for other in self._projects.values() for one in other.documents.values()]
        guessed = self._chance.sample(every, min(len(every), 3))
        seen = {one.document.document.id for one in project.seen_by(user)}
        for one in guessed:
            document = one.document.document
            ids = chunk_ids(one.document)
            is_seen = document.id in seen
            assert bool(store.load_chunks(ids)) == is_seen
            assert (store.load_document(document.id) is not None) == is_seen
            assert store.text_of(document.id, 0, 1_000) == (document.text if is_seen else "")
            assert bool(store.chunk_ids(document.id)) == is_seen
            assert all(
                found.document.library == project.name for found in store.find_chunks(ids[0])
            )
            assert bool([f for f in store.find_chunks(ids[0]) if not f.superseded]) == is_seen
            fingerprint = one.document.chunks[0].windows[0].fingerprint
            assert bool(store.known_vectors([fingerprint])) == is_seen

    def _list(self, user: str, project: Project) -> None:
        store = self._store(user, project)
        seen = project.seen_by(user)
        assert [one.path for one in store.documents()] == sorted(one.path for one in seen)
        figures = store.stats()
        assert figures.documents == len(seen)
        assert figures.chunks == sum(len(one.document.chunks) for one in seen)
        named = store.find_documents(f"{self._prefix} a.md b.md c.md d.md e.md f.md")
        assert {one.path for one in named} == {one.path for one in seen}

    def _vocabulary(self, user: str, project: Project) -> None:
        store = self._store(user, project)
        texts = [one.document.document for one in project.seen_by(user)]
        words = set().union(*(spellings_in(f"{one.text} {one.about}") for one in texts))
        for initial in "ps":
            spelled = {word for word in words if word.startswith(initial)}
            assert set(store.spellings(initial)) == spelled
        secrets = [f"secret{letter}" for letter in "abcdefgh"]
        assert store.missing_words(secrets) == {one for one in secrets if one not in words}
        defined = {one.long for one in store.definitions(["xq"])}
        assert len(defined) <= len(texts)
        assert store.named_documents("what does a.md say?").keys() <= {"a.md", "a md"}

    def _share(self, user: str, project: Project) -> None:
        other = self._chance.choice(USERS)
        role = self._chance.choice(MEMBER_ROLES)
        level = self._chance.randrange(len(LEVELS))
        scope = self._scope(user, project)
        clearance = LEVELS[level]

        def share() -> None:
            self._team.share(scope, self._user(other), role=role, clearance=clearance)

        if project.members[user][0] != "admin" or other == project.owner:
            _refused(share)
            return
        share()
        project.members[other] = (role, level)

    def _revoke(self, user: str, project: Project) -> None:
        other = self._chance.choice(USERS)
        scope = self._scope(user, project)

        def revoke() -> None:
            self._team.revoke(scope, self._user(other))

        may = other == user or project.members[user][0] == "admin"  # everybody may leave
        if not may or other == project.owner:
            _refused(revoke)
        elif project.members.pop(other, None) is not None:
            revoke()
        else:
            with pytest.raises(SettingsError):
                revoke()

    def _projects_of(self, user: str, project: Project) -> None:
        known = [one for one in self._projects.values() if user in one.members]
        mine = {(self._user(one.owner), one.name) for one in known}
        assert {(one.owner, one.name) for one in self._team.projects(self._user(user))} == mine
        members = {one.user for one in self._team.members(self._scope(user, project))}
        everyone = {self._user(name) for name in project.members}
        is_admin = project.members[user][0] == "admin"
        assert members == (everyone if is_admin else {self._user(user)})

    def _stranger(self, user: str, project: Project) -> None:
        """Who is no member, or not any more, is told the same as if there were no such project."""
        nobody = Scope(self._user(user), f"{self._user(project.owner)}/nothing")
        unknown = _missing(lambda: self._team.store(nobody))
        known = _missing(lambda: self._team.store(self._scope(user, project)))
        assert known.replace(project.name, "nothing") == unknown
        store = self._stores.get((user, project.owner, project.name))
        if store is not None:  # opened while they were a member
            _missing(store.documents)
            _missing(lambda: store.search("pump", None, filters=Filters(), limit=5))
            _missing(lambda: store.find_chunks("a"))
            _missing(lambda: store.remove_documents([DocumentId("a" * 40)]))

    def _document(self, path: str, project: Project, level: int) -> EmbeddedDocument:
        secret = f"secret{self._chance.choice('abcdefgh')}"
        number = next(self._numbers)
        texts = [
            f"{self._chance.choice(WORDS)} {secret} number{number} extra quality (XQ)"
            for _ in range(self._chance.randint(1, 2))
        ]
        parts = [Part(text, (self._vector(text),)) for text in texts]
        about = replace(ABOUT, confidentiality=LEVELS[level])
        return embedded(path, *parts, about=about, library=project.name, title=self._prefix)

    def _vector(self, text: str) -> Vector:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
        chance = random.Random(seed)
        return unit([chance.gauss(0, 1) for _ in range(DIMENSIONS)], dimensions=DIMENSIONS)

    def _store(self, user: str, project: Project) -> PostgresStore:
        key = (user, project.owner, project.name)
        if key not in self._stores:
            self._stores[key] = self._team.store(self._scope(user, project))
        return self._stores[key]

    def _scope(self, user: str, project: Project) -> Scope:
        return Scope(self._user(user), f"{self._user(project.owner)}/{project.name}")

    def _user(self, name: str) -> str:
        return f"{self._prefix}-{name}"


def _refused(action: Callable[[], object]) -> None:
    try:
        action()
    except StoreDenied:
        return
    raise AssertionError("nobody refused this")


def _missing(action: Callable[[], object]) -> str:
    try:
        action()
    except ProjectMissing as error:
        return str(error)
    raise AssertionError("a stranger was let in")
