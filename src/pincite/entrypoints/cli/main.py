"""`pincite`: the commands, and what an error looks like on the command line."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from pincite import __version__
from pincite.entrypoints.cli.common import refuse_elsewhere, server_option
from pincite.entrypoints.cli.errors import is_json, note_json, tell_error
from pincite.errors import (
    ArchiveInvalid,
    CitationNotFound,
    ConsentNeeded,
    FileUnreadable,
    LibraryBusy,
    LibraryError,
    ModelError,
    NothingToSay,
    PinciteError,
    ReceiptInvalid,
    RunNotFound,
    SearchCancelled,
    ServerDenied,
    ServerError,
    SettingsError,
    StoreBusy,
    StoreDamaged,
    StoreDenied,
    StoreError,
    StoreUnreachable,
)
from pincite.settings import ONE_THREAD

EXIT_INTERRUPTED = 130
EXIT_OUTPUT = 7  # cannot be written
EXIT_BUG = 70  # as in sysexits.h; Python's own 1 would look like an index run with failed files

# The first line that fits counts. Documented in docs/cli.md.
EXIT_CODES: tuple[tuple[type[PinciteError], int], ...] = (
    (NothingToSay, 11),
    (SettingsError, 2),
    (ConsentNeeded, 13),
    (LibraryBusy, 6),
    (LibraryError, 3),
    (CitationNotFound, 3),
    (RunNotFound, 3),
    (StoreDamaged, 4),
    (ArchiveInvalid, 4),
    (ReceiptInvalid, 4),
    (StoreBusy, 6),
    (StoreUnreachable, 9),
    (StoreDenied, 10),
    (ModelError, 5),
    (StoreError, 7),
    (ServerDenied, 10),
    (ServerError, 9),
    (FileUnreadable, 3),
    (SearchCancelled, EXIT_INTERRUPTED),
)


# In the order of the documentation. Each is imported when it is asked for: most of them bring
# modules with them that the others do without.
COMMANDS = {
    "index": "index:index",
    "reindex": "reindex:reindex",
    "convert": "convert:convert",
    "ask": "ask:ask",
    "chat": "chat:chat",
    "agents": "agents:agents",
    "check": "check:check",
    "answers": "saved:answers",
    "make": "make:make",
    "search": "search:search",
    "context": "search:context",
    "show": "search:show",
    "catalog": "catalog:catalog",
    "forget": "forget:forget",
    "eval": "evaluate:evaluate",
    "export": "moving:export",
    "import": "moving:import_",
    "backup": "moving:backup",
    "restore": "moving:restore",
    "team": "team:team",
    "trust": "trust:trust",
    "models": "models:models",
    "serve": "serve:serve",
    "service": "service:service",
    "mcp": "mcp:mcp",
    "doctor": "doctor:doctor",
    "keys": "keys:keys",
    "log": "log:log",
    "feedback": "log:feedback",
    "config": "config:config",
}
_ONE_QUESTION = frozenset(("ask", "check", "search", "context", "show", "catalog"))


class Commands(click.Group):
    """The commands; an expected error is one line and an exit code, never a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return sorted({*COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(
            import_module(f"pincite.entrypoints.cli.{module}"), attribute
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was asked for; where there is none, those with similar names."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:  # click knows only what is imported
            raise click.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of all commands; those of the one that was asked for come later."""
        note_json(ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 — as in click
        """Run the command that was asked for."""
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:  # closed before we began
                sys.stdout.flush()
        except PinciteError as error:
            tell_error(ctx, type(error).__name__, str(error))
            ctx.exit(next((code for kind, code in EXIT_CODES if isinstance(error, kind)), EXIT_BUG))
        except click.UsageError as error:
            if not is_json(ctx):
                raise  # click tells the usage as well
            tell_error(ctx, click.UsageError.__name__, error.format_message())
            ctx.exit(error.exit_code)
        except BrokenPipeError:
            # The reader of our output has seen enough (`… | head`); nothing more can be written.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            tell_error(ctx, OSError.__name__, f"{where}{error.strerror or error}")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(EXIT_OUTPUT)
        except KeyboardInterrupt as stopped:
            _tell_stopped(ctx, str(stopped))
            # At once: a thread may still wait for a service, and every write is crash-safe.
            os._exit(EXIT_INTERRUPTED)
        return result


def _tell_stopped(ctx: click.Context, goes_on: str) -> None:
    done = {"index": "indexed", "reindex": "indexed", "convert": "recognised"}
    what = done.get(ctx.invoked_subcommand or "")
    kept = f" What was {what} is kept; run the same command to go on."
    told = f"Stopped. {goes_on}" if goes_on else f"Stopped.{kept if what else ''}"
    if is_json(ctx):
        tell_error(ctx, KeyboardInterrupt.__name__, told)
    else:
        click.echo(f"\n{told}", err=True)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="pincite %(version)s")
@server_option
@click.pass_context
def cli(context: click.Context) -> None:
    """Ask and search your own documents; every answer names its page, line or second."""
    if context.invoked_subcommand not in (*_ONE_QUESTION, "chat", "index"):
        refuse_elsewhere(f"`pincite {context.invoked_subcommand}`")


def main() -> None:
    """Run the command line."""
    try:
        if sys.argv[1:] and sys.argv[1] in _ONE_QUESTION:
            _run_briefly()
        cli(prog_name="pincite")
    except Exception:  # noqa: BLE001 — told in full
        sys.excepthook(*sys.exc_info())
        sys.exit(EXIT_BUG)


def _run_briefly() -> NoReturn:
    """For a process that lives half a second: no threads, no collecting, no tidying up.

    When a command ends, its library is closed and its output written; what is left is to take
    modules down, which takes a tenth of the time.
    """
    os.environ.update({**ONE_THREAD, **os.environ})
    gc.disable()
    try:
        cli(prog_name="pincite")
    except SystemExit as end:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # closed before we began
                stream.flush()
        os._exit(end.code if isinstance(end.code, int) else 0)
    raise AssertionError("unreachable")
