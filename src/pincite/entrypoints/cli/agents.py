"""`pincite agents`: who can answer, and the choice of one."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from pincite.engine.agents import (
    AGENTS_FOLDER,
    Agent,
    Source,
    agent_named,
    find_agent,
    new_agent,
    sources,
)
from pincite.engine.consent import Consent
from pincite.engine.folders import find_library, library_around
from pincite.entrypoints.cli.common import (
    ASKED_BY,
    OnlyThere,
    as_json_option,
    ask_for_consent,
    echo,
    library_option,
    server,
)
from pincite.entrypoints.config import settings_file
from pincite.entrypoints.render import faint, strong
from pincite.errors import SettingsError
from pincite.text.printable import printable

_FROM = {"pincite": "comes with pincite", "you": "yours", "library": "in this library's folder"}


@click.group()
def agents() -> None:
    """Who answers: a persona, a profile, a filter, an output and a hint, each in a small file."""


@agents.command("list")
@library_option
@as_json_option
def list_(library: Path, as_json: bool) -> None:
    """List the agents that there are: pincite's, yours, and those in the library's folder.

    Example: pincite agents list
    """
    root = library_around(library)
    rows = [_row(source, root) for source in sources(own_folder(), root).values()]
    lines = [
        f"{row['name']:<16} {row['about'] or row['problem']}  "
        + faint(f"({_FROM[row['origin']]}{'' if row['allowed'] else ', not allowed yet'})")
        for row in rows
    ]
    echo(as_json, rows, lines)


def _row(source: Source, root: Path | None) -> dict[str, Any]:
    """One line of the list; an agent that cannot be used is in it, with the reason."""
    about, problem, allowed = "", "", True
    try:
        text = source.text()
        about = source.read(text).about
        if source.origin == "library" and root is not None:
            allowed = Consent(root).allows(source.request(text))
    except SettingsError as error:
        problem = str(error)
    return {
        "name": source.name,
        "about": printable(about),
        "origin": source.origin,
        "file": str(source.file) if source.file else None,
        "allowed": allowed,
        "problem": printable(problem),
    }


@agents.command()
@click.argument("name")
@library_option
@as_json_option
def show(name: str, library: Path, as_json: bool) -> None:
    """Print the agent NAME as its file has it, and where that is.

    Example: pincite agents show researcher
    """
    source = find_agent(name, own_folder(), library_around(library))
    text = source.text()
    if as_json:
        agent = asdict(source.read(text))
        echo(True, {**agent, "origin": source.origin, "file": str(source.file or "") or None}, [])
    else:
        echo(False, {}, [strong(printable(str(source))), printable(text.rstrip(), keep="\n\t")])


@agents.command()
@click.argument("name")
@as_json_option
def new(name: str, as_json: bool) -> None:
    """Write a commented template for your agent NAME, and say where it is.

    Example: pincite agents new planner
    """
    folder = own_folder()
    if folder is None:
        raise SettingsError("PINCITE_CONFIG says that there are no settings; unset it first")
    file = new_agent(name, folder)
    lines = [f"Edit {printable(str(file))}", f'then: pincite ask --agent {name} "…"']
    echo(as_json, {"name": name, "file": str(file)}, lines)


def own_folder() -> Path | None:
    """Where the user's agents are, or would be: beside their settings."""
    file = settings_file(os.environ)
    return None if str(file) == os.devnull else file.parent / AGENTS_FOLDER


def chosen_agent(name: str | None, library: Path) -> Agent:
    """The agent that `--agent` names; without a name nobody in particular."""
    if name is None:
        return Agent()
    if ASKED_BY.get() is not None:
        raise OnlyThere("--agent")  # consent is asked for at the user's terminal
    root = find_library(library) if server() is None else None
    agent = agent_named(name, own_folder(), root, ask_for_consent)
    # A server answers in the documents' own words: there is nobody to be told how.
    return agent if server() is None else replace(agent, persona="", hint="")
