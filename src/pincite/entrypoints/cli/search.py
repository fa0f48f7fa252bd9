"""`pincite search` and `pincite show`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

import click

from pincite.entrypoints import render
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo_json,
    echo_lines,
    faint,
    highlight,
    library_option,
    open_around,
    strong,
)
from pincite.entrypoints.cli.filtering import chosen_filters, filter_options
from pincite.entrypoints.cli.tuning import search_settings, set_option
from pincite.records import Mode
from pincite.settings import SearchSettings

_DEFAULTS = SearchSettings()


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--top-k", "-k", type=int, help=f"How many results.  [default: {_DEFAULTS.top_k}]")
@filter_options
@click.option(
    "--per-document",
    type=click.IntRange(min=0),
    help=f"Most results from one document; 0 is no limit.  [default: {_DEFAULTS.per_document}]",
)
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="hybrid",
    show_default=True,
    help="Search by words, by meaning, or both.",
)
@click.option(
    "--rerank",
    metavar="MODEL",
    help="Look at the best hits once more with maxsim, a folder's cross-encoder or service:MODEL.",
)
@set_option
@click.option("--explain", is_flag=True, help="Show what each search gave to each result.")
@library_option
@as_json_option
def search(
    question: tuple[str, ...],
    top_k: int | None,
    per_document: int | None,
    mode: str,
    rerank: str | None,
    settings: tuple[str, ...],
    explain: bool,
    library: Path,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 — what `filter_options` gives
) -> None:
    """Find the places that speak to QUESTION, from anywhere inside a library.

    A question that begins with a dash goes after `--`.

    Example: pincite search "who signs the release?" --type md
    """
    chosen = search_settings(settings)
    if top_k is not None:
        chosen = replace(chosen, top_k=top_k)
    if per_document is not None:
        chosen = replace(chosen, per_document=per_document)
    if rerank is not None:
        chosen = replace(chosen, rerank=rerank)
    with open_around(library) as opened:
        found = opened.search(
            " ".join(question),
            mode=cast(Mode, mode),
            filters=chosen_filters(**filters),
            settings=chosen,
        )
    if as_json:
        echo_json(render.results_as_json(found))
    else:
        echo_lines(
            render.results_as_text(found, explain=explain, highlight=highlight, strong=strong)
        )
        for notice in render.notices(found):
            click.echo(notice, err=True)


@click.command()
@click.argument("citation")
@click.option(
    "--around",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Lines shown before and after.",
)
@library_option
@as_json_option
def show(citation: str, around: int, library: Path, as_json: bool) -> None:
    """Print the lines that CITATION names, with their surroundings.

    CITATION is a path with lines (notes/a.md:12-20), a page (report.pdf:p3) or a time
    (talk.vtt@00:01:05), a chunk id, or a line as `pincite search` prints it.

    Example: pincite show notes/glossary.md:12-20
    """
    with open_around(library) as opened:
        cited = opened.show(citation, around=around, base=Path.cwd())
    if as_json:
        echo_json(render.place_as_json(cited))
    else:
        echo_lines(render.place_as_text(cited, strong=strong, faint=faint))
