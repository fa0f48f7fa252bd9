"""Opening the library of a folder, wherever its index lives."""

from __future__ import annotations

from pathlib import Path

from pincite.engine.folders import INDEX_FOLDER
from pincite.engine.homes import FolderHome, Home
from pincite.engine.library import Library
from pincite.engine.models import Embedders, ModelAccess
from pincite.errors import FolderMissing

ADDRESS_FILE = "store.json"


def open_library(
    folder: str | Path = ".",
    *,
    models: ModelAccess = ModelAccess(),
    store: str | None = None,
    user: str | None = None,
    project: str | None = None,
) -> Library:
    """The library in a folder, whether it has an index yet or not.

    Its index lives in the folder, or in the PostgreSQL database that `store` names, as a project
    of the user's. Where it was built is remembered.

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
    return Library(root, Embedders(models), _home(root, store, user, project))


def _home(root: Path, store: str | None, user: str | None, project: str | None) -> Home:
    index = root / INDEX_FOLDER
    if store is None and not (index / ADDRESS_FILE).is_file():
        return FolderHome(root, index)
    from pincite.engine.team_home import TeamHome, address_of, remembered

    kept = remembered(index / ADDRESS_FILE)
    if kept is not None and store is None:
        return TeamHome(kept.of(user, project), index / ADDRESS_FILE)
    return TeamHome(address_of(root, store or "", user=user, project=project), index / ADDRESS_FILE)
