"""Which libraries a service opens to whom: those of folders, or the projects of a team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from pincite.engine.addresses import Address
from pincite.engine.folders import INDEX_FOLDER
from pincite.engine.library import Library
from pincite.engine.models import Embedders, ModelAccess
from pincite.engine.project import Project
from pincite.engine.team_home import TeamHome
from pincite.engine.teams import made_team, team_journal
from pincite.errors import (
    FolderMissing,
    IndexMissing,
    LibraryError,
    PinciteError,
    ProjectMissing,
    ServerDenied,
    StoreDenied,
)
from pincite.files import lock_file
from pincite.reading.sandbox import Sandbox
from pincite.records.journal import Job, Key, LogMode
from pincite.settings import DEFAULT_MODEL
from pincite.stores.journal import Journal

AnyLibrary = Library | Project
_JOBS_LOCK = "jobs.lock"


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller may do, and with which libraries: the first is meant where none is named."""

    libraries: tuple[str, ...]
    may_write: bool = True
    user: str = ""
    clearance: str = ""
    key_id: str = ""  # empty: the owner of the folders, on their own machine
    must_name: bool = False  # others have keys: nobody is answered from a library they did not mean


class FolderLibraries:
    """Libraries of folders by name. A key opens the library in whose journal it stands.

    A library without keys is open to whoever reaches the service, if that is `trusting`.
    """

    def __init__(self, libraries: Mapping[str, Library], *, trusting: bool = True) -> None:
        self.libraries = dict(libraries)
        self._trusting = trusting
        self._locks: dict[str, BinaryIO] = {}

    def names(self) -> tuple[str, ...]:
        """As they were named at the start; the first is the default."""
        return tuple(self.libraries)

    def access(self, secret: str | None) -> Access | None:
        """What the key opens; else all without keys, by name where other libraries have some.

        Some clients must show a key, whatever it is: a library without any takes it.
        """
        free = self.without_keys()
        if secret is not None and free != self.names():
            for name in self.libraries:
                journal = self._journal(name)
                key = journal.key_of(secret) if journal else None
                if key is not None and self._is_of(name, key):
                    return self._opened_by(name, key)
        if not free or not self._trusting:
            return None
        return Access(free, must_name=free != self.names())

    def without_keys(self) -> tuple[str, ...]:
        """Libraries that anybody could use who reaches the service."""
        return tuple(name for name in self.libraries if not self._has_keys(name))

    def access_of_key(self, key_id: str) -> tuple[Access, bytes] | None:
        """The same for a key that is named in a signed link."""
        for name in self.libraries:
            journal = self._journal(name)
            found = journal.signer(key_id) if journal else None
            if found is not None and self._is_of(name, found[0]):
                return self._opened_by(name, found[0]), found[1]
        return None

    def owner(self) -> Access:
        """Every library, without a key."""
        return Access(self.names())

    def open(self, access: Access, name: str) -> Library:
        """As it was opened for everybody."""
        return self.libraries[name]

    def journals(self) -> Iterator[Journal]:
        """One beside each index."""
        for name in self.libraries:
            journal = self._journal(name)
            if journal:
                yield journal

    def jobs(self) -> Iterator[tuple[Journal, Job]]:
        """What is left to do, in the libraries whose jobs no other service does."""
        for name in self.libraries:
            # One journal that is locked, or cannot be opened, does not hold up the others.
            with suppress(PinciteError, OSError):
                journal = self._journal(name)
                if journal and self._does_jobs(name):
                    project = project_of(self.libraries[name])
                    for job in journal.jobs(left=True):
                        # In a team's database there are also jobs of projects, which have a user,
                        # and of folders of others, which may have the same name.
                        if job.library == name and not job.user and job.project == project:
                            yield journal, job

    def warm_up(self) -> list[str]:
        """Open every library and its model before somebody waits for them; what does not work.

        Later it costs next to nothing: a library remembers what it found, until a model fails.
        """
        failed = []
        for name, library in self.libraries.items():
            try:
                library.search("does it work?")
                library.journal.has_keys()
            except LibraryError:
                pass  # no index yet, or one that is being made
            except Exception as error:  # noqa: BLE001 — whatever it is, it is told
                failed.append(f"{name}: {error}")
        return failed

    def close(self) -> None:
        """Give back every library."""
        for library in self.libraries.values():
            library.close()
        for lock in self._locks.values():
            lock.close()

    def _is_of(self, name: str, key: Key) -> bool:
        """Whether the key opens this library: a team's journal holds those of all its projects."""
        library = self.libraries[name]
        project, user = library.known_as
        named = not key.projects or {project, project.removeprefix(f"{user}/")} & {*key.projects}
        return not library.place or (key.user == user and bool(named))

    def _opened_by(self, name: str, key: Key) -> Access:
        if key.clearance:
            raise StoreDenied(
                f"this key shows nothing above {key.clearance!r}, which a folder's library cannot "
                "keep; make one without --clearance, or serve the team's database with --store"
            )
        return Access((name,), key.may_write, key.user or key.name, key_id=key.id)

    def _does_jobs(self, name: str) -> bool:
        """Whether a library's jobs are this service's: those of the first one, until it ends."""
        if name not in self._locks:
            lock = lock_file(self.libraries[name].root / INDEX_FOLDER / _JOBS_LOCK)
            if lock is None:
                return False
            self._locks[name] = lock
        return True

    def _has_keys(self, name: str) -> bool:
        journal = self._journal(name)
        return journal is not None and journal.has_keys()

    def _journal(self, name: str) -> Journal | None:
        with suppress(IndexMissing):
            return self.libraries[name].journal
        return None


class TeamLibraries:
    """The projects of a team's database, each as the user sees it whose key is shown."""

    def __init__(self, store: str, models: ModelAccess, *, log: LogMode = "full") -> None:
        self._store = store
        self._log = log
        self._team = made_team(store)
        self._embedders = Embedders(models)
        self._journal = team_journal(self._team)
        self._sandbox = Sandbox()  # one for all: each has processes of its own
        self._opening = Lock()
        self._projects: dict[tuple[str, str, str], Project] = {}

    def names(self) -> tuple[str, ...]:
        """None: they are the users'."""
        return ()

    def access(self, secret: str | None) -> Access | None:
        """Of a user's key; without one nobody is let in."""
        key = None if secret is None else self._journal.key_of(secret)
        return None if key is None else self._opened_by(key)

    def access_of_key(self, key_id: str) -> tuple[Access, bytes] | None:
        """The same for a key that is named in a signed link."""
        found = self._journal.signer(key_id)
        return None if found is None else (self._opened_by(found[0]), found[1])

    def owner(self) -> Access:
        """Nothing: whose projects would they be?"""
        return Access((), may_write=False)

    def open(self, access: Access, name: str) -> Project:
        """A project as its user sees it; opened once for each user and clearance."""
        who = (access.user, name, access.clearance)
        with self._opening:
            if who not in self._projects:
                home = TeamHome(Address(self._store, *who), Path("store.json"), team=self._team)
                self._projects[who] = Project(
                    Path(name), self._embedders, home, log=self._log, sandbox=self._sandbox
                )
            return self._projects[who]

    def journals(self) -> Iterator[Journal]:
        """The one of the database."""
        yield self._journal

    def jobs(self) -> Iterator[tuple[Journal, Job]]:
        """What is left to do in all projects, where no other service does it."""
        if self._team.does_jobs():
            left = self._journal.jobs(left=True)
            yield from ((self._journal, one) for one in left if one.user)

    def warm_up(self) -> list[str]:
        """Ask the database, and load the model that new projects have; what does not work."""
        try:
            self._journal.has_keys()
            self._embedders.named(DEFAULT_MODEL).embed_question("does it work?")
        except Exception as error:  # noqa: BLE001 — whatever it is, it is told
            return [str(error)]
        return []

    def close(self) -> None:
        """Close each project, then the database."""
        for project in self._projects.values():
            project.close()
        self._sandbox.close()
        self._team.close()

    def _opened_by(self, key: Key) -> Access:
        seen = key.projects or [f"{one.owner}/{one.name}" for one in self._team.projects(key.user)]
        names = tuple(one.removeprefix(f"{key.user}/") for one in seen)
        # The first document that a user hands in makes their first project.
        return Access(
            names or ("documents",), key.may_write, key.user, key.clearance, key_id=key.id
        )


Libraries = FolderLibraries | TeamLibraries


def opened(libraries: Libraries, access: Access, name: str | None) -> tuple[str, AnyLibrary]:
    """The library that is named, else the first; ProjectMissing where it is none of the caller's.

    A folder's library may also be named by the folder's path.
    """
    if name is None and access.must_name:
        raise ServerDenied("send a valid key, or name a library that has no keys")
    if name is None and access.libraries:
        name = access.libraries[0]
    if name is not None and name.startswith("/") and isinstance(libraries, FolderLibraries):
        paths = {str(one.root): key for key, one in libraries.libraries.items()}
        name = paths.get(name, name)
    if name is not None and isinstance(libraries, TeamLibraries):
        name = name.removeprefix(f"{access.user}/")
    if name is None or name not in access.libraries:
        raise ProjectMissing("no such library, or you have no access to it; see GET /rag/libraries")
    library = libraries.open(access, name)
    if isinstance(library, Library) and not library.root.is_dir():
        # It was there at the start: it is not made again, as its disk may come back.
        raise FolderMissing(f"the folder of {name} is away; ask again when it is back")
    return name, library


def project_of(library: AnyLibrary) -> str:
    """The project with its owner, where the index is in a team's database."""
    return library.known_as[0] if library.place else ""


def library_of(libraries: Libraries, job: Job) -> AnyLibrary:
    """The library of a job, as far as the key that asked for it opens it now."""
    access = libraries.owner()
    if job.key:
        found = libraries.access_of_key(job.key)
        if found is None:
            raise ProjectMissing("the key that asked for this is no longer valid")
        access, _ = found
    return opened(libraries, access, job.library)[1]
