"""What several commands share: where the library is, which models, how output looks."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, cast

import click

from pincite.engine import Library, ModelAccess, find_library, open_library
from pincite.errors import SettingsError
from pincite.settings import WORKER_USES, WorkerSettings, WorkerUse
from pincite.text.printable import printable

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
library_option = click.option(
    "--library",
    "-l",
    type=click.Path(path_type=Path),
    default=Path(),
    help="A folder of the library; by default where you stand.",
)


def model_access() -> ModelAccess:
    """Where models are, from the environment."""
    folder = os.environ.get("PINCITE_MODELS")
    return ModelAccess(
        folder=Path(folder) if folder else None,
        base_url=os.environ.get("OPENAI_BASE_URL"),
        api_key=os.environ.get("OPENAI_API_KEY"),
        worker=_worker_settings(),
        on_trouble=lambda trouble: click.echo(f"Note: {printable(trouble)}", err=True),
    )


def _worker_settings() -> WorkerSettings:
    use = os.environ.get("PINCITE_WORKER") or "auto"
    if use not in WORKER_USES:
        raise SettingsError(f"PINCITE_WORKER is {use!r}; choose one of: {', '.join(WORKER_USES)}")
    idle = os.environ.get("PINCITE_WORKER_IDLE") or str(WorkerSettings.idle_seconds)
    if not re.fullmatch(r"\d{1,9}(\.\d+)?", idle) or not float(idle):
        raise SettingsError(f"PINCITE_WORKER_IDLE is {idle!r}, but a number of seconds is expected")
    folder = os.environ.get("PINCITE_WORKER_FOLDER")
    return WorkerSettings(
        use=cast(WorkerUse, use),
        idle_seconds=float(idle),
        folder=Path(folder) if folder else None,
    )


def open_at(folder: Path) -> Library:
    """The library in exactly this folder."""
    return open_library(folder, models=model_access())


def open_around(folder: Path) -> Library:
    """The library this folder belongs to."""
    library = open_at(find_library(folder))
    # Kept to the end of the process: taking a model down would make the user wait.
    click.get_current_context().find_root().obj = library
    return library


def echo_lines(lines: Iterable[str]) -> None:
    """Print each line; colours are left out where the output is not a terminal."""
    for line in lines:
        click.echo(line, color=_color())


def echo_json(value: dict[str, Any] | list[Any]) -> None:
    """Print one JSON value; characters that could rewrite a terminal's screen are escaped."""
    click.echo(printable(json.dumps(value, ensure_ascii=False, indent=2), keep="\n"))


def _color() -> bool | None:
    """https://no-color.org; otherwise click decides by the terminal."""
    return False if os.environ.get("NO_COLOR") else None


strong: Callable[[str], str] = partial(click.style, bold=True)
faint: Callable[[str], str] = partial(click.style, dim=True)
highlight: Callable[[str], str] = partial(click.style, fg="yellow", bold=True)
