"""`pincite forget`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from pincite.entrypoints.cli import progress
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo_json,
    library_option,
    open_around,
)
from pincite.entrypoints.reports import counted
from pincite.errors import SettingsError
from pincite.records import ForgetReport
from pincite.text.printable import printable


@click.command()
@click.argument("documents", metavar="DOCUMENT...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Yes, forget them.")
@library_option
@as_json_option
def forget(documents: tuple[str, ...], yes: bool, library: Path, as_json: bool) -> None:
    """Forget each DOCUMENT for good: every version of it that the index ever held.

    DOCUMENT is a path, or the beginning of a document's or chunk's id. Delete the file first, or
    name it in .pinciteignore. Deleting alone keeps the words of the past, for citations of them;
    afterwards these say that the document was forgotten. The index before the last `reindex`, and
    one that is being made, go with it. Archives and backups made before still hold the document.

    Example: pincite forget letters/offer.md
    """

    def confirmed(report: ForgetReport) -> bool:
        what = f"{', '.join(report.paths)} ({counted(report.versions, 'version')})"
        if yes or not report.paths:
            return True
        if as_json or not sys.stdin.isatty():
            raise SettingsError(f"this forgets {what} for good; to confirm, add --yes")
        return click.confirm(f"Forget {printable(what)} for good?", err=True)

    with (
        open_around(library) as opened,
        progress.shown(quiet=as_json, doing="", at_once=False) as on,
    ):
        report = opened.forget(*documents, base=Path.cwd(), confirmed=confirmed, on_progress=on)
    if report is None:
        click.echo("Nothing was forgotten.")
    elif as_json:
        echo_json(asdict(report))
    else:
        _tell(report)


def _tell(report: ForgetReport) -> None:
    if report.paths:
        what = f"{', '.join(report.paths)}: {counted(report.versions, 'version')}"
        click.echo(f"Forgotten: {printable(what)}.")
    else:
        click.echo("It was forgotten before; what was left of it is gone now.")
    if report.runs:
        click.echo(f"Results were taken out of {counted(report.runs, 'eval run')}.")
    if report.queries:
        click.echo(f"Taken out of the log: {counted(report.queries, 'question')}.")
    if report.answers:
        click.echo(f"Forgotten with it: {counted(report.answers, 'saved answer')}.")
    for path in report.converted:
        click.echo(f"The text that was recognised in {printable(path)} is deleted.")
    click.echo("Archives and backups made before still hold it, and so does a copy of the file.")
