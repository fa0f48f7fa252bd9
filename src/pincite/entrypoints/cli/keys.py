"""`pincite keys`: who may ask a service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from pincite.engine import Library, find_library
from pincite.engine.folders import library_around
from pincite.engine.keys import add_key
from pincite.entrypoints.cli.common import (
    as_json_option,
    ask_for_consent,
    echo,
    echo_json,
    from_environment,
    library_option,
    open_at,
    with_options,
)
from pincite.entrypoints.cli.log import Moment
from pincite.errors import SettingsError
from pincite.records import LEVELS, Scope
from pincite.records.journal import Key
from pincite.stores.journal import Journal
from pincite.text.printable import printable

_of_keys = with_options(
    library_option,
    click.option(
        "--store",
        metavar="URL",
        help="The keys of a team's database instead of a folder's.  [env var: PINCITE_STORE]",
    ),
    as_json_option,
)


@click.group()
def keys() -> None:
    """API keys for `pincite serve`. From the first one on, every caller needs a key.

    A key of a folder opens the library of that folder only. In a team's database a key stands for
    a user, and opens all of that user's projects or those that it names.
    """


@keys.command()
@click.argument("name")
@click.option("--user", metavar="NAME", help="Of a team's database: whose key it is.")
@click.option("--project", "projects", multiple=True, help="Only this project; repeat for several.")
@click.option(
    "--clearance",
    type=click.Choice(LEVELS),
    help="Of a team's database: show nothing above this label.",
)
@click.option("--write", is_flag=True, help="Also add, delete and reindex documents.")
@click.option("--expires", type=Moment(after=True), help="After 90d, 12h, or on 2026-11-01.")
@_of_keys
def add(
    name: str,
    user: str | None,
    projects: tuple[str, ...],
    clearance: str | None,
    write: bool,
    expires: float | None,
    library: Path,
    store: str | None,
    as_json: bool,
) -> None:
    """Make a key called NAME. Its secret is printed once and kept nowhere.

    Example: pincite keys add laptop --write --expires 90d
    """
    if expires is not None and expires <= time.time():
        raise SettingsError("that key would have expired already")
    key = Key("", name, user or "", projects, clearance or "", may_write=write, expires_at=expires)
    with _opened(library, store) as (journal, folder):
        if folder is None or folder.place:
            made, secret = journal.add_key(_of_team(key, folder))
        elif user or projects or clearance:
            raise SettingsError(
                "the key of a folder opens all of its library and no other; leave out --user, "
                "--project and --clearance"
            )
        else:
            made, secret = add_key(folder, key, ask_for_consent)
    if as_json:
        echo_json({**_told(made), "secret": secret})
        return
    click.echo(f"{printable(_line(made))}. Its secret, which is not shown again:", err=True)
    click.echo(secret)


@keys.command("list")
@_of_keys
def list_(library: Path, store: str | None, as_json: bool) -> None:
    """List the keys, without their secrets.

    Example: pincite keys list
    """
    with _opened(library, store) as (journal, _):
        found = journal.keys()
    lines = [printable(_line(one)) for one in found] or ["There are no keys."]
    echo(as_json, [_told(one) for one in found], lines)


@keys.command()
@click.argument("name", metavar="NAME-OR-ID")
@_of_keys
def revoke(name: str, library: Path, store: str | None, as_json: bool) -> None:
    """End a key: nobody gets in with it any more.

    Example: pincite keys revoke laptop
    """
    with _opened(library, store) as (journal, _):
        ended = journal.revoke(name)
    echo(as_json, _told(ended), [f"{printable(ended.name)} opens nothing any more."])


@contextmanager
def _opened(library: Path, store: str | None) -> Iterator[tuple[Journal, Library | None]]:
    """The journal of the library around a folder, or of the database that is named."""
    root = None if store else library_around(library)
    store = store or from_environment("PINCITE_STORE")
    if root is None and store:
        from pincite.engine.teams import team_journal
        from pincite.engine.teamwork import opened_team

        with closing(opened_team(store)) as team:
            yield team_journal(team), None
        return
    with open_at(root or find_library(library)) as folder:
        yield folder.journal, folder


def _of_team(key: Key, folder: Library | None) -> Key:
    """A key whose user and projects can be; those of a folder's index where none are named."""
    if folder is not None:
        library, user = folder.known_as
        key = replace(key, user=key.user or user, projects=key.projects or (library,))
    if not key.user:
        raise SettingsError("whose key is it? Name a user of the database with --user")
    for project in key.projects or ("any",):
        Scope(key.user, project)  # says which of the names cannot be
    return key


def _told(key: Key) -> dict[str, Any]:
    return {**asdict(key), "valid": key.is_valid(time.time())}


def _line(key: Key) -> str:
    facts = [
        f"user {key.user}" if key.user else "",
        f"projects {', '.join(key.projects)}" if key.projects else "",
        f"up to {key.clearance}" if key.clearance else "",
        "reads and writes" if key.may_write else "reads",
        f"made {_day(key.made_at)}",
        f"expires {_day(key.expires_at)}" if key.expires_at else "",
        "revoked" if key.revoked_at else "" if key.is_valid(time.time()) else "expired",
    ]
    return f"{key.name} ({key.id}): {', '.join(filter(None, facts))}"


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"
