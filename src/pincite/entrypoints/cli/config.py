"""`pincite config`: what is set, and where."""

from __future__ import annotations

import os
from typing import Any

import click

from pincite.entrypoints.cli.common import as_json_option, echo_json, echo_lines
from pincite.entrypoints.config import KINDS, settings_file, user_settings
from pincite.entrypoints.render import faint
from pincite.settings import UserSettings
from pincite.text.printable import printable


@click.group()
def config() -> None:
    """Your settings: who writes answers, how sure an answer must be, what is logged."""


@config.command()
def path() -> None:
    """Print where the settings file is, or would be.

    Example: pincite config path
    """
    echo_lines([printable(str(settings_file(os.environ)))])


@config.command()
@as_json_option
def show(as_json: bool) -> None:
    """List every setting, its value, and where that comes from. Keys are never shown.

    Example: pincite config show
    """
    file = settings_file(os.environ)
    settings = user_settings(os.environ)
    values = [
        {"name": name, "value": value, "source": settings.sources[name]} | _key_of(name, value)
        for name in KINDS
        if name in settings.sources
        for value in [_value(settings, name)]
    ]
    if as_json:
        echo_json({"file": str(file), "exists": file.exists(), "settings": values})
        return
    echo_lines([printable(f"{file}{'' if file.exists() else ' (not there)'}")])
    for one in values:
        shown = "none" if one["value"] in (None, "") else str(one["value"])
        if "is_set" in one:
            shown += " (is set)" if one["is_set"] else " (is not set)"
        echo_lines([f"{one['name']:<24} {printable(shown):<40} {faint(printable(one['source']))}"])


def _value(settings: UserSettings, name: str) -> Any:  # noqa: ANN401 — as its kind is
    match name.split("."):
        case ["log"]:
            return settings.log
        case ["ask", ("profile" | "judge") as field]:
            return getattr(settings, field)
        case ["ask", field]:
            return getattr(settings.asking, field)
        case [_, profile, field]:
            return getattr(settings.profiles[profile], field)
    raise AssertionError(name)


def _key_of(name: str, variable: str) -> dict[str, bool]:
    """Whether the variable holds a key, never which."""
    return {"is_set": bool(os.environ.get(variable))} if name.endswith(".api_key_env") else {}
