"""Where a library's index is, if not in its folder: kept beside it, without a password."""

from __future__ import annotations

import getpass
import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from pincite.engine.consent import Consent, Request
from pincite.errors import PathRefused, SettingsError
from pincite.files import make_folder, open_file, replace_file
from pincite.records import Scope
from pincite.stores.postgres.address import (
    EMBEDDED,
    is_postgres,
    without_password,
    without_settings,
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a library's index is kept, if not in its folder: a database, a user, a project."""

    store: str
    user: str
    project: str
    clearance: str = ""  # see no more than this, of a caller with a key
    connected: bool = False  # the folder only looks into the project, and has no files of it

    def believed(
        self, consent: Consent, store: str | None, user: str | None, project: str | None
    ) -> Address:
        """What a folder says, after its user allowed it; what they say themselves comes first."""
        if None in (store, user, project):
            consent.require(connection(self))
        return replace(
            self,
            store=self.store if store is None else store,
            user=self.user if user is None else user,
            project=self.project if project is None else project,
        )

    def is_at(self, store: str) -> bool:
        """Whether an address names the same database; passwords and settings do not count."""
        return bare_address(store) == bare_address(self.store)

    @property
    def scope(self) -> Scope:
        """Who asks, and of what."""
        return Scope(self.user, self.project, self.clearance)


def bare_address(store: str) -> str:
    """An address as it may be shown: without password and settings."""
    return without_password(without_settings(store)[0])


def connection(address: Address) -> Request:
    """What an index wants that is at this address: the database, and whose project there."""
    bare = bare_address(address.store)
    kind = "start" if bare.startswith(EMBEDDED) else "connect"
    whose = f"as {address.user}, project {address.scope.full_name}"
    return Request(kind, f"{bare.removeprefix(EMBEDDED)} {whose}")


def place_of(address: Address) -> str:
    """Which project of which database, for people."""
    project = address.scope.full_name
    return f"project {project}, as {address.user}, in {bare_address(address.store)}"


def address_of(
    root: Path, store: str, *, user: str | None = None, project: str | None = None
) -> Address:
    """An address with what was left out: the user one is here, a project named like the folder."""
    if not is_postgres(store):  # it is not repeated: there may be a password in it
        raise SettingsError(
            "the address of a database is written postgresql://USER@HOST/DATABASE or "
            "postgresql+embedded:///FOLDER"
        )
    address = Address(
        store,
        getpass.getuser() if user is None else user,
        (root.name or "library") if project is None else project,
    )
    Scope(address.user, address.project)  # says which of the names cannot be
    return address


def remembered(file: Path) -> Address | None:
    """The address that was kept in this file."""
    if not file.is_file():
        return None
    try:
        with open_file(file) as opened:
            return msgspec.json.decode(opened.read(), type=Address)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{file} does not say where the index is ({error}); build it again with --store"
        ) from error


def without_secrets(address: Address) -> Address:
    """The address as it may be kept in a file."""
    return replace(address, store=without_password(address.store))


def remember(file: Path, address: Address) -> None:
    """Keep the address beside the library, without its password."""
    kept_of_it = asdict(without_secrets(address))
    del kept_of_it["clearance"]  # of a caller, not of the folder
    text = json.dumps(kept_of_it, indent=2) + "\n"
    with suppress(OSError, PathRefused), open_file(file) as kept:
        if kept.read() == text.encode():
            return
    make_folder(file.parent)
    replace_file(file.parent / ".gitignore", [b"*\n"])
    replace_file(file, [text.encode()])
