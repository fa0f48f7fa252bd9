"""Projects of a team that files are handed in to, for the tests that do so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from helpers import next_project, shared_team
from pincite.engine.addresses import Address
from pincite.engine.models import Embedders, ModelAccess
from pincite.engine.project import Project
from pincite.engine.team_home import TeamHome
from pincite.errors import ModelRefused, ModelUnavailable
from pincite.models.hashing import HashingEmbedder
from pincite.ports import Embedder
from pincite.records import Filters, LibraryHeader, MemberRole, Progress, Scope
from pincite.vectors import Vector

PLAN = b"# Plan\n\nThe harbour pump is replaced in May.\n"
NOTE = b"# Note\n\nThe valve of the mole sticks in winter.\n"

Open = Callable[[str], Project]


class Counting(HashingEmbedder):
    """Remembers how many passages it embedded."""

    count = 0

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        Counting.count += len(texts)
        return super().embed_passages(texts)


class OneModel(Embedders):
    """Knows the small model of the tests alone."""

    def prepare(self, name: str, on_progress: Callable[[Progress], None]) -> None:
        """There is nothing to fetch."""

    def named(self, name: str) -> Embedder:
        return Counting()

    def of(self, header: LibraryHeader) -> Embedder:
        return Counting()


class NoHarbours(Counting):
    """Takes any text but those about harbours."""

    def __init__(self, error: type[ModelUnavailable]) -> None:
        super().__init__()
        self._error = error

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if any("harbour" in text for text in texts):
            raise self._error("no harbours")
        return super().embed_passages(texts)


class Refusing(OneModel):
    """Has a model that refuses some texts, or does not answer when it is given one."""

    def __init__(self, error: type[ModelUnavailable] = ModelRefused) -> None:
        super().__init__(ModelAccess())
        self._error = error

    def of(self, header: LibraryHeader) -> Embedder:
        return NoHarbours(self._error)


def project_of(name: str, user: str, folder: Path, *, owner: str = "ada") -> Project:
    """A project as one of its users opens it."""
    whose = name if user == owner else f"{owner}/{name}"
    home = TeamHome(
        Address("postgresql://shared", user, whose),
        folder / "store.json",
        team=shared_team(),
    )
    return Project(Path(name), OneModel(ModelAccess()), home)


def new_project(folder: Path) -> Open:
    """A new project of Ada's, for whoever opens it."""
    name = next_project()
    return lambda user: project_of(name, user, folder)


def paths_found(project: Project, question: str, filters: Filters = Filters()) -> list[str]:
    found = project.search(question, mode="words", filters=filters)
    return [one.document.name for one in found.results]


def share(project: Project, user: str, role: MemberRole, clearance: str = "internal") -> None:
    address = project._home.address
    shared_team().share(
        Scope(address.user, address.project),
        user,
        role=role,
        clearance=clearance,
    )
