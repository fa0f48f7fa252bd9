"""Looks at everything that pincite needs, and says of each part what is wrong and what mends it.

Nothing is repaired, sent or asked of a model service. Whatever fails is a line like any other: this
must work where nothing else does.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Literal

from pincite.engine.folders import find_library, is_apart, is_readable
from pincite.engine.homes import JOURNAL_FILE
from pincite.engine.library import Library
from pincite.engine.models import ModelAccess
from pincite.engine.opening import default_store, open_library
from pincite.errors import FolderMissing, PinciteError
from pincite.settings import DEFAULT_MODEL, INGESTION_VERSION

State = Literal["ok", "warning", "failed"]
_LITTLE_SPACE = 1_000_000_000  # bytes
_NO_SPACE = 100_000_000
_QUESTION = "is there anything about this?"
_PREPARE = "pincite models prepare"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    part: str
    state: State
    found: str
    mend: str = ""  # the command, or what else to do


Look = Callable[[], Iterator[Check]]


def examine(
    folder: Path,
    models: ModelAccess,
    settings: Callable[[], str],
    *,
    store: str | None = None,
    user: str | None = None,
    project: str | None = None,
) -> Iterator[Check]:
    """Every check, from the ground up; `settings` reads the user's settings and says which."""
    yield from guarded("python", _python)
    yield from guarded("sqlite", _sqlite, "pip install --force-reinstall apsw sqlite-vec")
    yield from guarded("settings", lambda: iter([Check("settings", "ok", settings())]))
    yield from guarded("disk", lambda: _disk(folder))
    if store:
        yield from guarded("database", lambda: _database(store))
    try:
        root = find_library(folder)
    except PinciteError as error:
        # What is no library is only to become one where the user named it.
        mend = "name the folder of a library with --library"
        if folder != Path() and folder.exists():
            mend = f"pincite index build {quote(str(folder))}"
        state: State = "failed" if isinstance(error, FolderMissing) else "warning"
        yield Check("library", state, str(error).partition("; run")[0], mend)
        yield from guarded("model", lambda: _model(models, None), _PREPARE)
        return

    def look() -> Iterator[Check]:
        named = store and default_store(root, store)
        with open_library(
            root, models=models, store=named, user=user, project=project, log="off"
        ) as library:
            yield from _library(library, models)

    yield from guarded("library", look, f"pincite trust {quote(str(root))}")


def guarded(part: str, look: Look, mend: str = "") -> Iterator[Check]:
    """What a look gives, and one line more where it fails."""
    try:
        yield from look()
    except PinciteError as error:
        yield Check(part, "failed", str(error), mend)
    except Exception as error:  # noqa: BLE001 — a broken part may raise anything
        yield Check(part, "failed", f"{type(error).__name__}: {error}", mend)


def _python() -> Iterator[Check]:
    from pincite import __version__

    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    found = f"pincite {__version__}, Python {platform.python_version()}, {system}"
    if sys.platform not in ("linux", "darwin"):
        yield Check("python", "warning", f"{found}: this system is not supported", "use Linux")
        return
    yield Check("python", "ok", found)


def _sqlite() -> Iterator[Check]:
    import apsw
    import sqlite_vec

    from pincite.stores.sqlite.connection import check_sqlite

    version = apsw.sqlite_lib_version()
    check_sqlite(version)
    with closing(apsw.Connection(":memory:")) as connection:
        connection.enable_load_extension(True)  # noqa: FBT003 — positional only in apsw
        connection.load_extension(sqlite_vec.loadable_path())
        vectors = connection.execute("SELECT vec_version()").get
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    yield Check("sqlite", "ok", f"SQLite {version} with FTS5, sqlite-vec {vectors}")


def _database(store: str) -> Iterator[Check]:
    from pincite.engine.addresses import bare_address
    from pincite.engine.teams import opened_team, team_journal

    with closing(opened_team(store)) as team:
        count = len(team_journal(team).keys())
    yield Check("database", "ok", f"{bare_address(store)} answers; API keys: {count}")


def _disk(folder: Path) -> Iterator[Check]:
    place = folder.expanduser().resolve()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    state: State = "failed" if free < _NO_SPACE else "warning" if free < _LITTLE_SPACE else "ok"
    mend = "" if state == "ok" else "free some space"
    yield Check("disk", state, f"{free / 1e9:,.1f} GB free at {place}", mend)


def _model(models: ModelAccess, library: Library | None) -> Iterator[Check]:
    """Whether the model is there, and gives the vectors that the index was made with."""
    from pincite.models.catalog import (
        default_models_folder,
        is_service,
        model_folder,
        open_embedder,
    )
    from pincite.models.prepare import check_model

    card = library.stats().header.model if library else None
    name = card.name if card else DEFAULT_MODEL
    if is_service(name):
        key = "with a key" if models.api_key else "without a key (OPENAI_API_KEY)"
        found = f"{name} at {'a service' if models.base_url else 'its default address'}, {key}"
        yield Check("model", "ok", f"{found}; it is not asked")
        return
    folder = model_folder(name, models.folder or default_models_folder())
    mend = _PREPARE if name == DEFAULT_MODEL else f"put the model of before into {folder}"
    problems = check_model(folder) if folder else []
    if problems:
        yield Check("model", "failed", f"{name}: {'; '.join(problems)}", mend)
        return
    opened = open_embedder(
        name,
        models_folder=models.folder or default_models_folder(),
        base_url=None,
        api_key=None,
    ).card
    if card and opened.fingerprint != card.fingerprint:
        found = f"{name} is another model than the one that the index was made with"
        yield Check("model", "failed", found, f"{mend}, or run `pincite reindex --model {name}`")
        return
    yield Check("model", "ok", f"{name} gives sensible vectors ({opened.fingerprint})")


def _library(library: Library, models: ModelAccess) -> Iterator[Check]:
    at = quote(str(library.root))
    repair = f"pincite index verify --repair {at}"
    yield from guarded("index", lambda: _index(library, at), repair)
    yield from guarded("model", lambda: _model(models, library), _PREPARE)
    yield from guarded("updates", lambda: _updates(library, at), f"pincite index update {at}")
    yield from guarded("log", lambda: _journal(library))


def _index(library: Library, at: str) -> Iterator[Check]:
    """Whether it can be read and asked. Only `pincite index verify` compares all of it."""
    stats = library.stats()
    header, held = stats.header, stats.store
    where = library.place or library.root
    found = f"documents: {held.documents:,}, chunks: {held.chunks:,}, {header.model.name} ({where})"
    results = library.search(_QUESTION, mode="words")
    notices = library._store().notices()
    if not results.complete and results.so_far is None:
        yield Check("index", "warning", f"{found}; the last run did not finish", _update(at))
    elif header.ingestion_version < INGESTION_VERSION:
        older = f"{found}; made by an older pincite, which read and cut otherwise"
        yield Check("index", "warning", older, _update(at))
    elif notices:
        yield Check("index", "warning", f"{found}; {'; '.join(notices)}", _update(at))
    else:
        yield Check("index", "ok", f"{found}; a search by words works")


def _update(at: str) -> str:
    return f"pincite index update {at}"


def _updates(library: Library, at: str) -> Iterator[Check]:
    """What an update would read, judged by names and sizes, and what it could not read."""
    if is_apart(library._home.files):
        yield Check("updates", "ok", "the documents' files are elsewhere")
        return
    entries = library.catalog()
    scan = library._folder(library.stats().header.max_file_bytes).scan(is_readable)
    new = {one.path for one in scan.files} - {one.path for one in entries}
    changed = [one for one in entries if one.state in ("changed", "missing")]
    unread = sum(one.state == "not read" for one in entries)
    found = f"new files: {len(new):,}, changed or gone: {len(changed):,}"
    found += f", could not be read: {unread:,}" if unread else ""
    state: State = "warning" if new or changed else "ok"
    yield Check("updates", state, found, _update(at) if state == "warning" else "")


def _journal(library: Library) -> Iterator[Check]:
    folder = library._home.files
    if not library.place and not os.access(folder, os.W_OK):
        found = f"{folder} cannot be written to, so queries are not logged"
        yield Check("log", "warning", found, 'correct its permissions, or set log = "off"')
        return
    keys = library.journal.keys()
    size = (folder / JOURNAL_FILE).stat().st_size if not library.place else 0
    where = f"{JOURNAL_FILE}, {size / 1e6:,.1f} MB" if size else "in the database"
    yield Check("log", "ok", f"can be written ({where}); API keys: {len(keys)}")
