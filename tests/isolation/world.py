"""A team's database and the model of it, side by side, and a random source of what to do next."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from helpers import ABOUT, DIMENSIONS, HEADER, Part, embedded
from isolation.model import Held, Project
from pincite.errors import PinciteError, ProjectMissing, StoreDenied
from pincite.records import LEVELS, EmbeddedDocument, LibraryHeader, Scope
from pincite.stores.postgres.team import Team
from pincite.stores.postgres.uploads import UploadStore
from pincite.vectors import Vector, unit

USERS = ("ada", "grace", "mary")
NAMES = ("plans", "notes")
WORDS = ("pump", "valve", "harbour", "leak")
SECRETS = tuple(f"secret{letter}" for letter in "abcdefgh")
TITLE = "walk"


class World:
    """Three users with two projects each, in a database and in the model."""

    def __init__(self, team: Team, seed: int | str) -> None:
        self.team = team
        self.chance = random.Random(seed)
        self.done: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        self._stores: dict[tuple[str, str, str, int | None], UploadStore] = {}
        self.projects: dict[tuple[str, str], Project] = {}
        for owner, name in itertools.product(USERS, NAMES):
            self.create(owner, name)

    def create(self, owner: str, name: str) -> None:
        """A project with an empty index, in place of any that was dropped."""
        project = self.projects[owner, name] = Project(owner, name)
        assert self.team.create(self.scope(owner, project))
        self.uploads(owner, project).begin(self.header(project))

    def any_project(self) -> Project:
        return self.chance.choice(list(self.projects.values()))

    def any_user(self, project: Project) -> str:
        """Mostly a member of the project."""
        members = sorted(project.members)
        return self.chance.choice(USERS if self.chance.random() < 0.25 else members)

    def any_level(self) -> int:
        return self.chance.randrange(len(LEVELS))

    def any_number(self, project: Project) -> int:
        """A generation of a project, mostly the live one."""
        if self.chance.random() < 0.6:
            return project.numbers.live
        return self.chance.choice(sorted(project.generations))

    def versions(self) -> list[Held]:
        """Everything that is or was in any project."""
        return [held for project in self.projects.values() for held in project.versions()]

    def elsewhere(self, project: Project) -> list[Held]:
        """All versions in other projects of the same name, whose ids may be the same."""
        others = [one for one in self.projects.values() if one.name == project.name]
        return [held for one in others if one is not project for held in one.versions()]

    def any_version(self, project: Project) -> Held:
        """A live document of this project, or any of today or of the past, of it or of others."""
        live = list(project.live.documents.values())
        versions = self.chance.choice([live, live, list(project.versions()), self.versions()])
        nothing = Held(document_of("none.md", ["nothing"], project, 0), 0)
        return self.chance.choice(versions or [nothing])

    def header(self, project: Project) -> LibraryHeader:
        return replace(HEADER, name=project.name)

    def scope(self, user: str, project: Project) -> Scope:
        return Scope(user, f"{project.owner}/{project.name}")

    def uploads(self, user: str, project: Project) -> UploadStore:
        """The live generation, as a user sees it who opened it once and keeps it open."""
        key = (user, project.owner, project.name, None)
        store = self._stores.get(key) or self.team.uploads(self.scope(user, project))
        self._stores[key] = store
        return store

    def store(self, user: str, project: Project, number: int) -> UploadStore:
        """A generation as a user sees it; the live one, whichever it is, where it is that."""
        if number == project.numbers.live:
            return self.uploads(user, project)
        key = (user, project.owner, project.name, number)
        if key not in self._stores:
            self._stores[key] = self.team.uploads(self.scope(user, project), generation=number)
        return self._stores[key]

    def opened(self, user: str, project: Project) -> list[UploadStore]:
        """The stores of a project that a user has ever opened, of whatever generation."""
        scope = (user, project.owner, project.name)
        return [store for key, store in self._stores.items() if key[:3] == scope]

    def close_gone(self, project: Project) -> None:
        """Nobody needs the stores of generations that are gone any more."""
        name = (project.owner, project.name)
        kept = {None, *project.generations}
        self._stores = {
            key: store for key, store in self._stores.items() if key[1:3] != name or key[3] in kept
        }

    def close_all(self, project: Project) -> None:
        """Nobody needs the stores of a project any more."""
        name = (project.owner, project.name)
        self._stores = {key: one for key, one in self._stores.items() if key[1:3] != name}

    def new_document(self, path: str, project: Project, level: int) -> EmbeddedDocument:
        """A document that nobody has yet."""
        secret = self.chance.choice(SECRETS)
        number = next(self._numbers)
        texts = [
            f"{self.chance.choice(WORDS)} {secret} number{number} extra quality (EQ)"
            for _ in range(self.chance.randint(1, 2))
        ]
        return document_of(path, texts, project, level)


def document_of(path: str, texts: list[str], project: Project, level: int) -> EmbeddedDocument:
    """A document with these chunks."""
    parts = [Part(text, (vector_of(text),)) for text in texts]
    about = replace(ABOUT, confidentiality=LEVELS[level])
    return embedded(path, *parts, about=about, library=project.name, title=TITLE)


def vector_of(text: str) -> Vector:
    """A vector that only this text has."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
    chance = random.Random(seed)
    return unit([chance.gauss(0, 1) for _ in range(DIMENSIONS)], dimensions=DIMENSIONS)


def refused(action: Callable[[], object]) -> None:
    """Somebody is told that they may not."""
    raises(StoreDenied, action)


def missing(action: Callable[[], object]) -> str:
    """Somebody is told that there is no such project; in which words."""
    return str(raises(ProjectMissing, action))


def raises(kind: type[PinciteError], action: Callable[[], object]) -> PinciteError:
    """What somebody is told."""
    try:
        action()
    except kind as error:
        return error
    raise AssertionError(f"nobody was told {kind.__name__}")
