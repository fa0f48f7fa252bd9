"""A library whose index lives in a team's database, as one project of it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from pincite.engine.addresses import (
    Address,
    connection,
    place_of,
    remember,
    remembered,
    without_secrets,
)
from pincite.engine.homes import Aside
from pincite.engine.teams import made_team, opened_team, team_journal
from pincite.errors import (
    DatabaseMissing,
    IndexMissing,
    LibraryBusy,
    PinciteError,
    ProjectMissing,
    SettingsError,
    StoreDenied,
    StoreReadOnly,
)
from pincite.records import LEVELS, Generations, level_of

if TYPE_CHECKING:
    from pincite.engine.consent import Consent
    from pincite.ports import Store
    from pincite.stores.journal import Journal
    from pincite.stores.postgres.generations import ProjectGenerations
    from pincite.stores.postgres.team import Team
    from pincite.stores.postgres.uploads import UploadStore


class TeamHome:
    """One project of a team's database."""

    def __init__(
        self,
        address: Address,
        kept_in: Path,
        *,
        number: int | None = None,
        team: Team | None = None,
        consent: Consent | None = None,
    ) -> None:
        self.address = address
        self.files = kept_in.parent
        self._kept_in = kept_in
        self._number = number
        self._given = team
        self._consent = consent  # None: what it is made from is not remembered
        self._opening = Lock()
        self._opened: Team | None = None

    def exists(self) -> bool:
        """Whether there is an index yet."""
        try:
            return self.generations().live > 0
        except (DatabaseMissing, ProjectMissing):
            return False

    def read(self) -> Store:
        """A store to search in; IndexMissing where there is none."""
        live = self.generations().live
        if not live:
            raise IndexMissing(f"project {self._name} has no index yet; run `pincite index build`")
        if live not in self._generations.numbers().kept:
            raise IndexMissing(f"project {self._name} has no generation {live} any more")
        return self._team.uploads(self.address.scope, generation=live)

    def write(self) -> Store:
        """The only store that makes all of it anew; a project of one's own is made if need be."""
        self._refuse_connected()
        self.create()
        return self._only_writer()

    def is_of_folder(self) -> bool:
        """Whether this folder is remembered as the one that the project is made from.

        Its own word is not enough: the project would be emptied for whoever sent it.
        """
        if self._consent is None or not self._consent.allows(connection(self.address)):
            return False
        return remembered(self._kept_in) == without_secrets(self.address)

    def settle(self) -> None:
        """Remember that the project is made from this folder."""
        if self._consent:
            self._consent.allow(connection(self.address))
            remember(self._kept_in, self.address)

    def _only_writer(self) -> Store:
        while True:
            live = self.generations().live or 1
            store = self._team.only_writer(self.address.scope, live)
            if (self.generations().live or 1) == live:
                return store
            store.close()  # another process switched just now

    def mend(self) -> Store:
        """A store to repair."""
        self.read().close()  # says what is missing
        return self._only_writer()

    def generations(self) -> Generations:
        """Which there are."""
        try:
            numbers = self._generations.numbers()
        except ProjectMissing:
            self.__dict__.pop("_generations", None)  # perhaps another of its name was made since
            numbers = self._generations.numbers()
        return numbers if self._number is None else replace(numbers, live=self._number)

    def identity(self) -> tuple[int, ...]:
        """The project and its generation: one of the same name may be made again."""
        live = self.generations().live
        return self._generations.entry.project or 0, live

    def at(self, number: int) -> TeamHome:
        """The same project with another generation as its live one."""
        return TeamHome(self.address, self._kept_in, number=number, team=self._team)

    def write_next(self) -> UploadStore:
        """The only store that makes the next generation, for whoever sees all of this one."""
        self._refuse_connected()
        self._refuse_partly_seen()
        while True:
            number = self._generations.begin()
            store = self._team.only_writer(self.address.scope, number)
            if self.generations().next == number:
                return store
            store.close()  # another process gave it up, or switched to it, just now

    def switch(self) -> None:
        """Make the next generation the live one."""
        self._generations.switch()

    def rollback(self) -> None:
        """Make the generation before the live one again."""
        with self.held(self.generations().live):
            self._generations.roll_back()

    def cancel(self) -> None:
        """Give up the next generation."""
        number = self.generations().next
        if number is None:
            raise IndexMissing(f"no other generation of {self._name} is being made")
        with self.held(number):
            self._generations.give_up()

    def drop_before(self) -> None:
        """Forget the generation before."""
        self._generations.drop_before()

    def place(self) -> str:
        """Which project of which database."""
        return place_of(self.address)

    def sight(self) -> tuple[str, str]:
        """The user, and the strictest label whose documents they see."""
        scope = self.address.scope
        (mine,) = (one for one in self._team.members(scope) if one.user == scope.user)
        capped = min(level_of(mine.clearance), level_of(scope.clearance or LEVELS[-1]))
        return mine.user, LEVELS[capped]

    def journal(self) -> Journal:
        """Tables of the team's database."""
        return team_journal(self._team, self.address.scope)

    def known_as(self) -> tuple[str, str]:
        """The project with its owner, and the user whose home it is."""
        return self._name, self.address.user

    def _refuse_connected(self) -> None:
        if self.address.connected:
            raise StoreReadOnly(
                f"{self.files.parent} only looks into project {self._name} and holds "
                "none of its files; index them with `pincite index build FOLDER --store …` in the "
                "folder where they are"
            )

    def _refuse_partly_seen(self) -> None:
        """What one does not see would be missing from the next generation."""
        user, clearance = self.sight()
        if clearance != LEVELS[-1]:
            raise StoreDenied(
                f"a new index of {self._name} is made by whoever sees all of its documents; "
                f"{user} sees those up to {clearance!r}"
            )

    def create(self) -> bool:
        """Make the project where it is the user's own and there is none; whether it was made.

        So is the database, but for one that was there once: then a disk is not mounted, say.
        """
        if self.address.scope.owner != self.address.user:
            return False
        known = remembered(self._kept_in) if self._consent else None
        if known is None or not known.is_at(self.address.store):
            self._open(made_team)
        return self._team.create(self.address.scope)

    def uploads(self) -> UploadStore:
        """A store to which single files are handed in."""
        return self._team.uploads(self.address.scope)

    def refuse_files_of_a_folder(self) -> None:
        """Files of a folder are not kept here, and cannot be read again."""
        if self.uploads().has_uploads(all_of_them=True):
            return
        raise SettingsError(
            f"project {self._name} was built from a folder; run `pincite reindex` there"
        )

    def refuse_files(self) -> None:
        """A project is made equal to its folder with each run, which would forget single files."""
        if not self.uploads().has_uploads(all_of_them=True):
            raise SettingsError(
                f"project {self._name} is made from a folder; hand files in to another project, or "
                "put them into the folder"
            )

    def refuse_folder(self) -> None:
        """Files that were handed in one by one are in no folder, and would be forgotten."""
        if self.exists() and self._team.uploads(self.address.scope).has_uploads():
            raise SettingsError(
                f"project {self._name} holds files that were handed in one by one; an "
                "index run would make it equal to the folder and forget them. Choose another "
                "project with --project"
            )

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Nobody hands files in meanwhile."""
        lock = self._team.hold_back(self.address.scope)
        try:
            yield
        finally:
            lock.release()

    def is_written(self) -> bool:
        """Whether a run is under way in the live generation; asked beside others who ask."""
        try:
            live = self.generations().live
            self._team.hold(self.address.scope, live, shared=True).release()
        except LibraryBusy:
            return True
        return False

    @contextmanager
    def held(self, number: int) -> Iterator[None]:
        """Nobody else makes a generation anew meanwhile; LibraryBusy where someone does."""
        lock = self._team.hold(self.address.scope, number)
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def anew(self) -> Iterator[Aside]:
        """An empty generation that takes the place of the live one when the block ends well."""
        self._refuse_connected()
        is_new = self.create()
        try:
            with self._beside() as aside:
                yield aside
        except BaseException:
            with suppress(PinciteError):
                if is_new:
                    self._team.drop(self.address.scope)
            raise
        self.settle()

    @contextmanager
    def _beside(self) -> Iterator[Aside]:
        from pincite.stores.sqlite.placing import move_files

        with closing(self._only_writer()), self.held_back():
            if self.generations().next is not None:
                self.cancel()
            try:
                with tempfile.TemporaryDirectory() as files, closing(self.write_next()) as store:
                    yield Aside(store, Path(files))
                    move_files(Path(files).resolve(), self.files)
            except BaseException:
                with suppress(PinciteError):  # why it failed is what is to be told
                    self.cancel()
                raise
            self._generations.switch(replacing=True)

    def close(self) -> None:
        """Give back the connections, if they are this home's own."""
        self.__dict__.pop("_generations", None)
        with self._opening:
            team, self._opened = self._opened, None
        if team is not None and team is not self._given:
            team.close()

    @cached_property
    def _generations(self) -> ProjectGenerations:
        return self._team.generations(self.address.scope)

    @property
    def _name(self) -> str:
        return self.address.scope.full_name

    @property
    def _team(self) -> Team:
        return self._open(opened_team)

    def _open(self, opened: Callable[[str], Team]) -> Team:
        with self._opening:  # of two threads that ask first, one opens it for both
            if self._opened is None:
                self._opened = self._given or opened(self.address.store)
            return self._opened
