"""`pincite catalog`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import get_args

import click

from pincite.entrypoints import reports
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo_json,
    echo_lines,
    library_option,
    open_for,
)
from pincite.errors import did_you_mean
from pincite.records import CatalogEntry, CatalogState
from pincite.text.printable import printable


@click.command()
@click.argument("query", nargs=-1)
@click.option(
    "--type", "types", multiple=True, metavar="TYPE", help="Only files of this type: md, pdf, …"
)
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(get_args(CatalogState)),
    help="Only files in this state.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Maximum number of documents.")
@library_option
@as_json_option
def catalog(
    query: tuple[str, ...],
    types: tuple[str, ...],
    states: tuple[str, ...],
    limit: int | None,
    library: Path,
    as_json: bool,
) -> None:
    """List the documents of a library, or find those that QUERY names or describes.

    By name, title, author, tags, type and summary; `pincite search` looks into their text.

    Example: pincite catalog budget --type xlsx
    """
    with open_for(library) as opened:
        entries = opened.catalog(" ".join(query))
    wanted = {one.lower().removeprefix(".") for one in types}

    def is_wanted(entry: CatalogEntry) -> bool:
        kind = entry.document.type if entry.document else entry.path.rpartition(".")[2].lower()
        return (not wanted or kind in wanted) and (not states or entry.state in states)

    held = sorted({one.document.type for one in entries if one.document})
    for one in sorted(wanted.difference(held)) if entries else ():
        click.echo(f"No file is of type {printable(one)}{did_you_mean(one, held)}.", err=True)
    shown = list(islice(filter(is_wanted, entries), limit))
    if as_json:
        echo_json(reports.catalog_as_json(shown))
    else:
        echo_lines(reports.catalog_as_text(shown))
