"""`pincite`: the commands, and what an error looks like on the command line."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from pincite import __version__
from pincite.entrypoints.cli import index, models, search
from pincite.errors import (
    CitationNotFound,
    FileUnreadable,
    LibraryBusy,
    LibraryError,
    ModelError,
    PinciteError,
    SettingsError,
    StoreDamaged,
    StoreError,
)

EXIT_PARTLY_FAILED = 1
EXIT_INTERRUPTED = 130

# The first line that fits counts. Documented in docs/cli.md.
EXIT_CODES: tuple[tuple[type[PinciteError], int], ...] = (
    (SettingsError, 2),
    (LibraryBusy, 6),
    (LibraryError, 3),
    (CitationNotFound, 3),
    (StoreDamaged, 4),
    (ModelError, 5),
    (StoreError, 7),
    (FileUnreadable, 1),
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="pincite %(version)s")
def cli() -> None:
    """Find things in your own documents, cited to the line."""


cli.add_command(index.index)
cli.add_command(search.search)
cli.add_command(search.show)
cli.add_command(models.models)


def main() -> NoReturn:
    """Run the command line; every expected error is one line and an exit code."""
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "\nStopped. What was indexed is kept; the same command goes on from there.", err=True
        )
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (`pincite search … | head`): nothing is wrong.
        sys.stderr.close()
        sys.exit(0)
    except PinciteError as error:
        click.echo(f"{click.style('Error:', fg='red')} {error}", err=True)
        sys.exit(next(code for kind, code in EXIT_CODES if isinstance(error, kind)))
