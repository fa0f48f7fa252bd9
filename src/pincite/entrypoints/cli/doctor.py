"""`pincite doctor`: what is wrong, and how to mend it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from pincite.engine import ModelAccess
from pincite.engine.doctor import Check, examine, guarded
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo,
    from_environment,
    library_option,
    model_access,
)
from pincite.entrypoints.config import settings_file, user_settings
from pincite.entrypoints.render import faint, highlight, strong
from pincite.errors import PinciteError
from pincite.text.printable import printable

EXIT_FAILED = 1


@click.command()
@library_option
@as_json_option
def doctor(library: Path, as_json: bool) -> None:
    """Look at all that pincite needs, and tell what is wrong and which command mends it.

    It looks at Python, SQLite, your settings, the disk, the database, the library around the
    current folder with its model, index and log, and services that run. Nothing is changed, and no
    model service is asked. The exit code is 1 if something does not work.

    Example: pincite doctor
    """
    try:
        models = model_access()
    except PinciteError:  # told with the settings
        models = ModelAccess()
    checks = [
        *examine(
            library,
            models,
            _settings,
            store=from_environment("PINCITE_STORE"),
            user=from_environment("PINCITE_USER"),
            project=from_environment("PINCITE_PROJECT"),
        ),
        *guarded("service", _services, "pincite service restart"),
    ]
    echo(as_json, [asdict(one) for one in checks], [_line(one) for one in checks])
    if any(one.state == "failed" for one in checks):
        sys.exit(EXIT_FAILED)


def _settings() -> str:
    model_access()
    file, settings = settings_file(os.environ), user_settings(os.environ)
    where = str(file) if file.exists() else f"no file at {file}"
    return f"{where}; profile {settings.profile or 'none'}, log {settings.log}"


def _services() -> Iterator[Check]:
    """Those of this user that answer commands."""
    from pincite.entrypoints.cli.service import running

    for one in running():
        found = f"{one.state}: {', '.join(one.libraries)} (process {one.pid})"
        if one.state not in ("ready", "warming up"):
            told = f"{found} {one.message}".rstrip()
            yield Check("service", "failed", told, "pincite service restart")
        elif not one.is_current:
            told = f"{found}; of another version or other settings, so commands do not use it"
            yield Check("service", "warning", told, "pincite service restart")
        else:
            yield Check("service", "ok", found)


def _line(check: Check) -> str:
    state = f"{check.state:<8}"
    shown = state if check.state == "ok" else highlight(state)
    mend = f"\n{'':<9}{faint('mend it:')} {strong(printable(check.mend))}" if check.mend else ""
    return f"{shown} {check.part:<9} {printable(check.found)}{mend}"
