"""What several commands share: where the library is, which models, how output looks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pincite.engine import (
    INDEX_FOLDER,
    Library,
    ModelAccess,
    Profile,
    default_store,
    find_library,
    has_own_index,
    open_library,
)
from pincite.engine.consent import Request, told
from pincite.engine.queries import CALLER, Caller
from pincite.entrypoints.render import asides_as_text
from pincite.errors import PinciteError, SettingsError
from pincite.records import Asides
from pincite.settings import ProfileSettings
from pincite.text.printable import printable

if TYPE_CHECKING:
    from pincite.entrypoints.client import RemoteLibrary


class GivenPath(click.Path):
    """A path that was named: an empty one, of a variable that is not set say, is none."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """The path, or why it is none."""
        if value == "":
            self.fail("the path is empty; write `.` for the folder you are in", param, ctx)
        return super().convert(value, param, ctx)


@dataclass(frozen=True)
class Asked:
    """A command that a service runs for another process of its user."""

    library: Library  # the only one it may ask
    folder: Path  # where that process stands
    colors: tuple[bool, bool]  # whether its output shows colours, and its notes
    streams: tuple[StringIO, StringIO] = field(default_factory=lambda: (StringIO(), StringIO()))


ASKED_BY: ContextVar[Asked | None] = ContextVar("pincite_asked_by", default=None)


class OnlyThere(PinciteError):
    """What a command wants is only in the process that it was started in."""


_SERVER = "pincite.server"
server_option = click.option(
    "--server",
    metavar="URL",
    envvar="PINCITE_SERVER",
    help="Ask a pincite server, with the key in PINCITE_API_KEY; `--library` then is a name there."
    "  [env var: PINCITE_SERVER]",
    callback=lambda context, _, url: context.meta.setdefault(_SERVER, url or None),
    expose_value=False,
)


def server() -> str | None:
    """The address of the server that is asked instead of a library here."""
    url: str | None = click.get_current_context().meta.get(_SERVER)
    return url


def refuse_elsewhere(what: str) -> None:
    """Refuse what only this process can do, where a server or a service does the work."""
    if ASKED_BY.get() is not None:
        raise OnlyThere(what)
    if server() is not None:
        raise SettingsError(f"{what} does not work through a server; leave it or --server out")


as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
library_option = click.option(
    "--library",
    "-l",
    type=GivenPath(),
    default=Path(),
    help="The library, or a folder in it.  [default: the current folder]",
)


def model_access(profiles: Mapping[str, Profile] = {}) -> ModelAccess:
    """Where models are, from the environment; and language models, where they are needed."""
    from pincite.entrypoints.config import settings_file

    folder = from_environment("PINCITE_MODELS")
    return ModelAccess(
        folder=Path(folder) if folder else None,
        base_url=os.environ.get("OPENAI_BASE_URL"),
        api_key=os.environ.get("OPENAI_API_KEY"),
        profiles=profiles,
        settings_file=settings_file(os.environ) if profiles else None,
    )


def with_keys(profiles: Mapping[str, ProfileSettings]) -> dict[str, Profile]:
    """The language models of the user's settings, each with its key from the environment."""
    return {
        name: Profile(
            base_url=one.base_url,
            model=one.model,
            api_key_env=one.api_key_env,
            api_key=from_environment(one.api_key_env),
        )
        for name, one in profiles.items()
    }


def own_profiles() -> dict[str, Profile]:
    """The language models of the user's settings, for what an index asks of one."""
    from pincite.entrypoints.config import user_settings

    return with_keys(user_settings(os.environ).profiles)


def given_options() -> set[str]:
    """The parameters that were named on the command line."""
    context = click.get_current_context()
    return {
        name
        for name in context.params
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }


def from_environment(name: str) -> str | None:
    """A variable of ours; None where it is empty, too."""
    return os.environ.get(name) or None


def open_at(
    folder: Path,
    profiles: Mapping[str, Profile] = {},
    /,
    *,
    store: str | None = None,
    user: str | None = None,
    project: str | None = None,
) -> Library:
    """The library in exactly this folder."""
    from pincite.entrypoints.config import user_settings

    default = from_environment("PINCITE_STORE")
    CALLER.set(Caller(door="cli"))
    return open_library(
        folder,
        models=model_access(profiles),
        store=store or (default and default_store(folder, default)),
        user=user or from_environment("PINCITE_USER"),
        project=project or from_environment("PINCITE_PROJECT"),
        consent=ask_for_consent,
        log=user_settings(os.environ).log,
    )


def ask_for_consent(place: Path, requests: tuple[Request, ...]) -> bool:
    """Ask whoever sits at the terminal; where nobody does, nobody allows it."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    asked = f"The index in {printable(str(place))} {told(requests)}. Allow this from now on?"
    return click.confirm(asked, err=True)


def note_unused_index(library: Library) -> None:
    """An index of the folder's own, once the index is in a database, only takes room."""
    if library.place and has_own_index(library.root):
        folder = printable(str(library.root / INDEX_FOLDER))
        click.echo(
            f"Note: the index in {folder} is not used, because store.json there names a database.",
            err=True,
        )


def tell_move(library: Library, before: str, *, as_json: bool) -> dict[str, str]:
    """An index that goes to another project than before leaves one behind, which must be said.

    A note for people; for JSON a field with the place that was left.
    """
    left = "" if before == library.place else before
    if left and not as_json:
        told = (
            f"Note: the index of this folder is now {library.place}. The old index, {left}, stays"
        )
        click.echo(f"{printable(told)} as it is and is no longer updated from here.", err=True)
    return {"left": left}


def open_around(
    folder: Path, profiles: Mapping[str, Profile] = {}
) -> AbstractContextManager[Library]:
    """The library this folder belongs to."""
    asked = ASKED_BY.get()
    if asked is not None:
        if find_library(asked.folder / folder) != asked.library.root:
            raise OnlyThere("another library is meant")
        return nullcontext(asked.library)
    library = open_at(find_library(folder), profiles)
    # Kept to the end of the process: taking a model down would make the user wait.
    click.get_current_context().find_root().obj = library
    return library


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text; colours are left out where the output is not a terminal."""
    asked = ASKED_BY.get()
    if asked is not None:
        click.echo(text, file=asked.streams[err], nl=nl, color=asked.colors[err])
    else:
        color = False if os.environ.get("NO_COLOR") else None  # https://no-color.org
        click.echo(text, err=err, nl=nl, color=color)


def open_for(
    library: Path, profiles: Mapping[str, Profile] = {}
) -> AbstractContextManager[Library | RemoteLibrary]:
    """The library that is asked: of the server where one is named, else around this folder."""
    url = server()
    if url is None:
        return open_around(library, profiles)
    from pincite.entrypoints.client import connect

    name = str(library) if "library" in given_options() else None
    return connect(url, key=from_environment("PINCITE_API_KEY"), library=name)


def echo_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print each line."""
    for line in lines:
        say(line, err=err)


def echo_json(value: dict[str, Any] | list[Any], *, err: bool = False) -> None:
    """Print one JSON value; characters that could rewrite a terminal's screen are escaped."""
    say(printable(json.dumps(value, ensure_ascii=False, indent=2), keep="\n"), err=err)


def echo(as_json: bool, value: dict[str, Any] | list[Any], lines: Iterable[str]) -> None:
    """Print the value where JSON is asked for, else the lines."""
    if as_json:
        echo_json(value)
    else:
        echo_lines(lines)


def echo_asides(asides: Asides) -> None:
    """Tell what a reader should know beside the results, apart from them."""
    echo_lines(asides_as_text(asides), err=True)


def with_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several of click's options as one decorator, which lists them in this order."""

    def decorated(command: Any) -> Any:  # noqa: ANN401 — as click's own decorators
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


project_options = with_options(
    click.option(
        "--store",
        metavar="URL",
        help="A PostgreSQL database: postgresql://USER@HOST/DATABASE or "
        "postgresql+embedded:///FOLDER.  [env var: PINCITE_STORE]",
    ),
    click.option("--user", metavar="NAME", help="Your name in the team.  [env var: PINCITE_USER]"),
    click.option(
        "--project",
        metavar="NAME",
        help="Your project, or OWNER/NAME.  [env var: PINCITE_PROJECT]",
    ),
)
