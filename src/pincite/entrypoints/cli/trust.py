"""`pincite trust`: what indexes may do that may be a stranger's."""

from __future__ import annotations

from pathlib import Path

import click

from pincite.engine import default_store, find_library, trust as allow_all
from pincite.engine.consent import allowed, withdraw
from pincite.engine.folders import library_around
from pincite.entrypoints.cli.common import (
    GivenPath,
    as_json_option,
    ask_for_consent,
    echo_json,
    echo_lines,
    from_environment,
)
from pincite.errors import SettingsError
from pincite.text.printable import printable


@click.command()
@click.argument("folder", type=GivenPath(), default=Path())
@click.option("--yes", is_flag=True, help="Allow it without being asked.")
@click.option("--list", "listed", is_flag=True, help="List what you allowed, for every folder.")
@click.option("--remove", is_flag=True, help="Allow nothing to FOLDER any more.")
@as_json_option
def trust(folder: Path, yes: bool, listed: bool, remove: bool, as_json: bool) -> None:
    """Allow what the index of the library around FOLDER wants, after you have seen what it is.

    An index may name a database to connect to, a service to send texts to or a model to load, and
    it may belong to another user. Nothing of this happens before you allow it.

    Example: pincite trust ~/received --yes
    """
    if yes + listed + remove > 1:
        raise SettingsError("--yes, --list and --remove exclude each other; give one of them")
    if remove:
        place = folder.expanduser().resolve()
        if place.exists():  # one that is gone may have been allowed something, too
            place = library_around(place) or place
        removed = withdraw(place)
        what = "Nothing is allowed to" if removed else "Nothing was allowed to"
        lines = [f"{what} the index in {place}."]
        values = [{"folder": str(place), "removed": removed}]
    elif listed:
        found = sorted(allowed())
        lines = [f"{place} {request}" for place, request in found]
        values = [{"folder": place, "allowed": str(request)} for place, request in found]
    else:
        place = find_library(folder)
        default = from_environment("PINCITE_STORE")
        granted = allow_all(
            place,
            (lambda place, requests: True) if yes else ask_for_consent,
            store=default and default_store(place, default),
        )
        lines = [f"Allowed: {place} {request}" for request in granted]
        lines = lines or [f"The index in {place} wants nothing that you have to allow."]
        values = [{"folder": str(place), "allowed": str(request)} for request in granted]
    if as_json:
        echo_json(values)
    else:
        echo_lines(map(printable, lines))
