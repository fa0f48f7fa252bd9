"""What a team does besides searching: a database is set up, folders look into its projects."""

from __future__ import annotations

import getpass
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.engine.addresses import Address, address_of, connection, remember, remembered
from pincite.engine.consent import Ask, Consent, refuse, strange_owners
from pincite.engine.folders import INDEX_FOLDER, has_index, library_around, set_apart
from pincite.engine.opening import ADDRESS_FILE
from pincite.engine.teams import opened_team, packages_needed
from pincite.errors import FolderMissing, IndexExists, SettingsError

if TYPE_CHECKING:
    from pincite.stores.postgres.setting_up import Setup

__all__ = ["Address", "connect", "opened_team", "project_address", "set_up"]


def set_up(url: str) -> Setup:
    """Make the tables and roles of pincite in a database, or bring them up to date."""
    address_of(Path(), url)  # refuses what is none
    with packages_needed():
        from pincite.stores.postgres.setting_up import set_up as set_up_database
    return set_up_database(url)


def connect(
    folder: Path, *, store: str, user: str | None = None, project: str | None = None
) -> Address:
    """Let an empty folder look into a project; it is made where it is not there.

    ProjectMissing where the user is no member; then the folder is as it was.
    """
    _refuse_to_connect(folder)
    address = replace(
        address_of(folder.absolute(), store, user=user, project=project), connected=True
    )
    with closing(opened_team(address.store)) as team:
        team.generations(address.scope)
    folder.mkdir(exist_ok=True)
    index = folder.resolve() / INDEX_FOLDER
    allowed = Consent(folder.resolve())
    allowed.allow(connection(address), *strange_owners(allowed.place))
    remember(index / ADDRESS_FILE, address)
    set_apart(index)
    return address


def _refuse_to_connect(folder: Path) -> None:
    if not folder.exists():
        if not folder.absolute().parent.is_dir():
            raise FolderMissing(f"{folder.absolute().parent} does not exist")
        return
    if not folder.is_dir():
        raise FolderMissing(f"{folder} is not a folder")
    kept = remembered(folder.resolve() / INDEX_FOLDER / ADDRESS_FILE)
    if has_index(folder) and not (kept and kept.connected):
        raise IndexExists(f"{folder} has an index already; connect an empty folder")
    if any(not one.name.startswith(".") for one in folder.iterdir()):
        raise SettingsError(
            f"{folder} holds files; connect an empty folder, or index these with "
            f"`pincite index build {folder} --store …`"
        )


def project_address(
    around: Path,
    *,
    store: str | None = None,
    default: str | None = None,
    user: str | None = None,
    project: str | None = None,
    consent: Ask = refuse,
) -> Address:
    """The project that is meant: of the store that is named, else of the library around a folder.

    The default is for whoever stands in no library, and for the password of one.
    """
    root = None if store else library_around(around)
    kept = root and remembered(root / INDEX_FOLDER / ADDRESS_FILE)
    if root and kept:
        asked = Consent(root, consent)
        asked.require(*strange_owners(root))
        named = default if default and kept.is_at(default) else None
        return kept.believed(asked, named, user, project)
    if not (store or default):
        raise SettingsError(
            "which database? Name it with --store or PINCITE_STORE, or name a library whose index "
            "is in one with --library"
        )
    address = address_of(around, store or default or "", user=user, project=project)
    return replace(address, user=user or getpass.getuser(), project=project or "")
