"""`pincite`: the commands, and what an error looks like on the command line."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from pincite import __version__
from pincite.entrypoints.cli import catalog, convert, evaluate, index, models, search
from pincite.errors import (
    CitationNotFound,
    LibraryBusy,
    LibraryError,
    ModelError,
    PinciteError,
    RunNotFound,
    SettingsError,
    StoreDamaged,
    StoreError,
)
from pincite.text.printable import printable

EXIT_INTERRUPTED = 130
EXIT_OUTPUT = 7  # cannot be written

# The first line that fits counts. Documented in docs/cli.md.
EXIT_CODES: tuple[tuple[type[PinciteError], int], ...] = (
    (SettingsError, 2),
    (LibraryBusy, 6),
    (LibraryError, 3),
    (CitationNotFound, 3),
    (RunNotFound, 3),
    (StoreDamaged, 4),
    (ModelError, 5),
    (StoreError, 7),
)


class Commands(click.Group):
    """The commands; an expected error is one line and an exit code, never a traceback."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 — as in click
        """Run the command that was asked for."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except PinciteError as error:
            told = printable(str(error), keep="\n")
            click.echo(f"Error: {told}", err=True)
            ctx.exit(next((code for kind, code in EXIT_CODES if isinstance(error, kind)), 1))
        except BrokenPipeError:
            # The reader of our output has seen enough (`… | head`); nothing more can be written.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except OSError as error:
            click.echo(f"Error: {error.strerror or error}", err=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(EXIT_OUTPUT)
        except KeyboardInterrupt:
            done = {index.index.name: "indexed", convert.convert.name: "recognised"}
            what = done.get(ctx.invoked_subcommand)
            kept = f" What was {what} is kept; the same command goes on from there."
            click.echo(f"\nStopped.{kept if what else ''}", err=True)
            # At once: a thread may still wait for a service, and every write is crash-safe.
            os._exit(EXIT_INTERRUPTED)
        return result


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="pincite %(version)s")
def cli() -> None:
    """Find things in your own documents, cited to the line."""


cli.add_command(index.index)
cli.add_command(convert.convert)
cli.add_command(search.search)
cli.add_command(search.context)
cli.add_command(search.show)
cli.add_command(catalog.catalog)
cli.add_command(evaluate.evaluate)
cli.add_command(models.models)


def main() -> None:
    """Run the command line."""
    cli(prog_name="pincite")
