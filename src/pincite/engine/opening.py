"""Opening the library of a folder, wherever its index lives."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pincite.engine.consent import (
    Ask,
    Consent,
    Request,
    allowed,
    consent_file,
    refuse,
    strange_owners,
)
from pincite.engine.folders import INDEX_FOLDER, has_index
from pincite.engine.homes import FolderHome, Home
from pincite.engine.keys import admit
from pincite.engine.library import Library
from pincite.engine.models import Embedders, ModelAccess
from pincite.errors import FolderMissing, SettingsError, StoreUnreachable
from pincite.records.journal import LogMode

ADDRESS_FILE = "store.json"


def open_library(  # noqa: PLR0913 — each is a choice of the caller's
    folder: str | Path = ".",
    *,
    models: ModelAccess = ModelAccess(),
    store: str | None = None,
    user: str | None = None,
    project: str | None = None,
    consent: Ask = refuse,
    log: LogMode = "full",
) -> Library:
    """The library in a folder, whether it has an index yet or not.

    Its index lives in the folder, or in the PostgreSQL database that `store` names, as a project
    of the user's. Where it was built is remembered.

    What an index wants that may be a stranger's (to connect, to send, to load) needs `consent`:
    it is asked with the folder and the requests, once. By default that is ConsentNeeded.

    Queries are noted in a log beside the index (docs/log.md): `facts` leaves out what was asked,
    `off` notes nothing.

    Example:
        >>> with open_library("notes") as library:  # doctest: +SKIP
        ...     library.index()
        ...     for result in library.search("who signs the release?").results:
        ...         print(result.document.path, result.quote.text)
    """
    root = Path(folder).expanduser()
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise FolderMissing(f"{root} {what}; name the folder that holds your documents")
    root = root.resolve()
    asked = Consent(root, consent)
    if (root / INDEX_FOLDER).exists():
        asked.require(*strange_owners(root))
    home = _home(asked, store, user, project)
    return Library(root, Embedders(models, asked), home, log=log)


def trust(
    folder: str | Path,
    consent: Ask = lambda place, requests: True,
    *,
    store: str | None = None,
) -> tuple[Request, ...]:
    """Allow all that the index of a folder wants, and give everything that is allowed to it.

    It is opened, and its database is: what it wants is said inside. `store` has its password.
    """
    from pincite.engine.agents import requests_in

    asked: list[Request] = []

    def noted(place: Path, requests: tuple[Request, ...]) -> bool:
        asked.extend(requests)
        return consent(place, requests)

    with open_library(folder, store=store, consent=noted) as library:
        with suppress(StoreUnreachable):  # what else it wants is asked for when it answers
            library.require_consent()
        admit(library, noted)
        Consent(library.root, noted).require(*requests_in(library.root))
        known = sorted(request for place, request in allowed() if place == str(library.root))
    if not set(asked).issubset(known):
        raise SettingsError(f"consent cannot be remembered: {consent_file()} cannot be written")
    return tuple(known)


def default_store(folder: Path, store: str) -> str | None:
    """A database that is meant for all folders, where it counts for this one.

    Where the folder remembers the same one, it adds the password; a folder without an index gets
    its index there; an index that is elsewhere stays there.
    """
    from pincite.engine.addresses import remembered

    kept = remembered(folder.resolve() / INDEX_FOLDER / ADDRESS_FILE)
    if kept is not None:
        return store if kept.is_at(store) else None
    return None if has_index(folder) else store


def remembered_place(folder: Path) -> str:
    """In which project of which database the index of a folder is; empty where in none."""
    file = folder.resolve() / INDEX_FOLDER / ADDRESS_FILE
    if not file.is_file():
        return ""
    from pincite.engine.addresses import place_of, remembered

    kept = remembered(file)
    return place_of(kept) if kept is not None else ""


def _home(consent: Consent, store: str | None, user: str | None, project: str | None) -> Home:
    root = consent.place
    index = root / INDEX_FOLDER
    if store is None and not (index / ADDRESS_FILE).is_file():
        return FolderHome(root, index)
    from pincite.engine.addresses import address_of, remembered
    from pincite.engine.team_home import TeamHome

    kept = remembered(index / ADDRESS_FILE)
    if kept is not None and (store is None or kept.is_at(store)):
        address = kept.believed(consent, store, user, project)
    else:
        address = address_of(root, store or "", user=user, project=project)
    return TeamHome(address, index / ADDRESS_FILE, consent=consent)
