"""`pincite mcp`: the tools for an agent on this machine, and how it is told of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pincite.engine import Library
from pincite.engine.folders import has_index, library_around
from pincite.entrypoints.cli.common import GivenPath
from pincite.errors import IndexMissing, SettingsError
from pincite.settings import ONE_THREAD
from pincite.text.printable import printable

_IMPORTED_LATE = (
    *("answer.checking", "answer.flow", "answer.receipts"),
    *("engine.catalog", "engine.handing_in", "engine.indexing", "engine.searching"),
    *("ingest.flow", "models.local", "reading.reader", "retrieve.cite", "retrieve.flow"),
    *("retrieve.moments", "retrieve.pack", "retrieve.passages", "stores.sqlite.opening"),
)
_BEING_MADE = (
    " (It is being made now, if the folder holds anything to read: ask again in a moment.)"
)
_TOOLS = click.option(
    "--tools",
    default="default",
    show_default=True,
    metavar="LIST",
    help="Tools by name or group: default, write, connector, all; such as default,write.",
)
_LIBRARY = click.option(
    "-l",
    "--library",
    "folders",
    multiple=True,
    type=GivenPath(),
    help="A library's folder; else the one around the current folder.  [several]",
)

_DEFAULT_TOKENS = 4_000
_MAX_TOKENS = click.option(
    "--max-tokens",
    type=click.IntRange(300, 100_000),
    default=_DEFAULT_TOKENS,
    show_default=True,
    help="Tokens of a result, where the call names no other number.",
)
_NO_WATCH = click.option("--no-watch", is_flag=True, help="Do not follow changes in the folders.")


@click.group(invoke_without_command=True)
@_LIBRARY
@_TOOLS
@_MAX_TOKENS
@_NO_WATCH
@click.pass_context
def mcp(
    context: click.Context,
    folders: tuple[Path, ...],
    tools: str,
    max_tokens: int,
    no_watch: bool,
) -> None:
    """Offer libraries to an agent over standard input and output (the Model Context Protocol).

    An agent's program starts this by itself; `pincite mcp install` tells it how. Teams and other
    machines use a service's address instead: http://HOST:PORT/mcp of `pincite serve`.

    Example: pincite mcp --library ~/notes
    """
    if context.invoked_subcommand is None:
        _serve(folders, tools, max_tokens, watch=not no_watch)
    elif folders:
        raise click.UsageError(
            "options of `install` stand behind it: mcp install … --library FOLDER"
        )


def _serve(folders: tuple[Path, ...], tools: str, max_tokens: int, *, watch: bool) -> None:
    os.environ.update({**ONE_THREAD, **os.environ})
    import anyio
    from mcp.server.stdio import stdio_server

    from pincite.engine.queries import CALLER, UNLOGGED, Caller
    from pincite.engine.serving import FolderLibraries
    from pincite.entrypoints.cli.serve import follow, open_named
    from pincite.entrypoints.mcp import McpRequest, agent_of, mcp_server
    from pincite.tools import ToolContext, chosen, file_link

    offered = chosen(tools)
    stop = threading.Event()
    with ExitStack() as ending:
        opened = open_named(folders or (_around(),))
        for library in opened.values():
            ending.callback(library.close)
            if not has_index(library.root):
                click.echo(f"{printable(str(library.root))} has no index yet.", err=True)
        ending.callback(stop.set)
        # Threads that import the same modules for the first time get in each other's way.
        for name in _IMPORTED_LATE:
            import_module(f"pincite.{name}")
        before = CALLER.set(UNLOGGED)
        FolderLibraries(opened).warm_up()
        CALLER.reset(before)
        for library in opened.values():
            if watch and not library.place:
                threading.Thread(target=follow, args=(library, stop), daemon=True).start()
        context = ToolContext(
            open=lambda name: opened[name],
            names=tuple(opened),
            link=file_link(opened),
            may_write=True,
            max_tokens=max_tokens,
            while_missing=_BEING_MADE if watch else "",
        )

        async def context_of(request: McpRequest) -> ToolContext:
            def open_for(name: str) -> Library:
                CALLER.set(Caller(door="mcp", agent=agent_of(request)))
                return opened[name]

            return replace(context, open=open_for)

        server = mcp_server(offered, context_of, libraries=context.names)

        async def run() -> None:
            async with stdio_server() as (reads, writes):
                await server.run(reads, writes, server.create_initialization_options())

        with suppress(KeyboardInterrupt):
            anyio.run(run)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)  # a search may still be under way; every write is crash-safe


def _around() -> Path:
    found = library_around(Path())
    if found is None:
        raise IndexMissing(
            "there is no library here: name its folder with --library, or make one with "
            "`pincite index build FOLDER`"
        )
    return found


@dataclass(frozen=True)
class _Client:
    """Where a program keeps the servers that it starts."""

    file: Path
    servers: str = "mcpServers"
    extra: Mapping[str, str] = field(default_factory=dict)


def _clients() -> dict[str, _Client]:
    home = Path.home()
    if sys.platform == "darwin":
        settings = home / "Library" / "Application Support"
    else:
        settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "claude-desktop": _Client(settings / "Claude" / "claude_desktop_config.json"),
        "claude-code": _Client(home / ".claude.json", extra={"type": "stdio"}),
        "cursor": _Client(home / ".cursor" / "mcp.json"),
        "vscode": _Client(settings / "Code" / "User" / "mcp.json", "servers", {"type": "stdio"}),
    }


@mcp.command()
@click.argument("client", type=click.Choice(["claude-desktop", "claude-code", "cursor", "vscode"]))
@_LIBRARY
@_TOOLS
@_MAX_TOKENS
@_NO_WATCH
@click.option("--name", default="pincite", show_default=True, help="What the program calls it.")
@click.option("--print", "only_print", is_flag=True, help="Show the change, and write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before writing.")
def install(
    client: str,
    folders: tuple[Path, ...],
    tools: str,
    max_tokens: int,
    no_watch: bool,
    name: str,
    only_print: bool,
    yes: bool,
) -> None:
    """Tell a program how to start pincite: shows the change to its settings, and writes it.

    Example: pincite mcp install claude-desktop --library ~/notes
    """
    from pincite.entrypoints.cli.questions import write_text
    from pincite.tools import chosen

    chosen(tools)  # said at once where one is not known
    where = _clients()[client]
    libraries = [folder.resolve() for folder in folders or (_around(),)]
    for folder in libraries:
        if not folder.is_dir():
            raise SettingsError(f"{folder} is not a folder")
    if len({folder.name for folder in libraries}) < len(libraries):
        raise SettingsError("two folders have one name; rename one, as tools name them by it")
    program = shutil.which(sys.argv[0]) or ""
    is_ours = Path(program).stem == "pincite"
    entry: dict[str, Any] = {
        **dict(where.extra),
        "command": str(Path(program).absolute()) if is_ours else sys.executable,
        "args": [
            *([] if is_ours else ["-m", "pincite"]),
            "mcp",
            *(part for folder in libraries for part in ("--library", str(folder))),
            *(["--tools", tools] if tools != "default" else []),
            *(["--max-tokens", str(max_tokens)] if max_tokens != _DEFAULT_TOKENS else []),
            *(["--no-watch"] if no_watch else []),
        ],
    }
    shown = json.dumps({where.servers: {name: entry}}, indent=2, ensure_ascii=False)
    click.echo(f"In {where.file}:\n{printable(shown, keep=chr(10))}")
    if only_print:
        if where.file.exists():
            click.echo(f"Where “{where.servers}” stands there already, add to it what is inside.")
        return

    def changed() -> tuple[bytes, dict[str, Any], object]:
        before, settings = _settings(where)
        old = settings[where.servers].get(name)
        is_pincites = isinstance(old, dict) and "mcp" in (old.get("args") or ())
        # What the user added, such as `env`, stays.
        settings[where.servers][name] = {**old, **entry} if is_pincites else entry
        return before, settings, old

    _, settings, old = changed()
    new = settings[where.servers][name]
    if new == old:
        click.echo("It stands there already.")
        return
    if old is not None:
        click.echo(f"This replaces: {printable(json.dumps(old, ensure_ascii=False))}")
    if added := sorted(new.keys() - entry.keys()):
        click.echo(f"Of that is kept: {printable(', '.join(added))}")
    if not yes:
        click.confirm("Write it?", default=True, abort=True)
    before, settings, _ = changed()  # the program may have written meanwhile
    where.file.parent.mkdir(parents=True, exist_ok=True)
    copy = where.file.with_name(f"{where.file.name}.before-pincite")
    if before:
        copy.unlink(missing_ok=True)
        with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as kept:  # noqa: PTH123 — a descriptor
            kept.write(before)
        click.echo(f"The file as it was is kept as {copy}.")
    write_text(where.file, _as_json(settings))
    click.echo(f"Written. Start {client} again to use it.")


def _as_json(settings: dict[str, Any]) -> str:
    """As it is written; ValueError where a number has no form in JSON.

    Half a character, which a program that cuts texts leaves behind, stays the escape that it was.
    """
    text = json.dumps(settings, indent=2, ensure_ascii=False, allow_nan=False)
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):x}", text) + "\n"


def _settings(client: _Client) -> tuple[bytes, dict[str, Any]]:
    """What stands in a program's settings; it must be understood before it is changed."""
    file = client.file
    try:
        before = file.read_bytes()
    except FileNotFoundError:
        before = b""
    try:
        settings = json.loads(before.decode("utf-8-sig")) if before.strip() else {}
        _as_json(settings)  # what could not be written again is not changed
    except (ValueError, RecursionError) as error:
        raise SettingsError(
            f"{file} cannot be read as JSON ({error}), perhaps because of comments, so it is left "
            "alone; add the lines above by hand"
        ) from error
    if not isinstance(settings, dict) or not isinstance(
        settings.setdefault(client.servers, {}), dict
    ):
        raise SettingsError(f"{file} has another form than expected; add the lines above by hand")
    return before, settings
