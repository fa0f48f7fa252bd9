"""`pincite search`, `pincite context` and `pincite show`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import click

from pincite.engine import Library
from pincite.entrypoints import render
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo,
    echo_asides,
    echo_json,
    echo_lines,
    library_option,
    open_for,
    say,
)
from pincite.entrypoints.cli.tuning import (
    Asking,
    chosen_filters,
    filter_options,
    mode_option,
    search_settings,
    set_option,
    understanding_options,
)
from pincite.records import Mode, SearchResults
from pincite.records.searching import NOTHING_FOUND
from pincite.settings import DEFAULT_BUDGET, SearchSettings
from pincite.text.printable import printable

_DEFAULTS = SearchSettings()
EXIT_UNAVAILABLE = 5  # the model or the index, as where they raise an error


@click.command(cls=Asking)
@click.argument("question", nargs=-1, required=True)
@click.option("--top-k", "-k", type=int, help=f"How many results.  [default: {_DEFAULTS.top_k}]")
@click.option("--by-document", is_flag=True, help="List documents, each with its best places.")
@click.option(
    "--explain", is_flag=True, help="Show how each result got its rank, and what was cut."
)
@click.option(
    "--moments",
    is_flag=True,
    help="For recordings, show what was said and seen around each result.",
)
@filter_options
@click.option(
    "--per-document",
    type=click.IntRange(min=0),
    help="Maximum number of results from one document; 0 means no limit.  [default: 3, or all of "
    "one that you name or that has most of the best results]",
)
@mode_option
@understanding_options
@click.option(
    "--rerank",
    metavar="MODEL",
    help="Rerank the best hits with maxsim, a cross-encoder in a folder, or service:MODEL.",
)
@set_option
@library_option
@as_json_option
def search(
    question: tuple[str, ...],
    top_k: int | None,
    per_document: int | None,
    mode: str,
    date_words: bool | None,
    expand: str | None,
    rerank: str | None,
    settings: tuple[str, ...],
    by_document: bool,
    moments: bool,
    explain: bool,
    library: Path,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 — what `filter_options` gives
) -> None:
    """Find the places that answer QUESTION best.

    Put `--` before a question that begins with a dash.

    Example: pincite search "who signs the release?" --type md
    """
    if by_document and (explain or moments):
        raise click.UsageError("--by-document lists documents; leave out --explain and --moments")
    seen = chosen_filters(**filters)
    tuned = search_settings(
        settings,
        top_k=top_k,
        per_document=per_document,
        date_words=date_words,
        expand=expand,
        rerank=rerank,
    )
    with open_for(library) as opened:
        ask = opened.search_documents if by_document else opened.search
        found = ask(" ".join(question), mode=cast(Mode, mode), filters=seen, settings=tuned)
        if not isinstance(found, SearchResults):
            echo(as_json, render.documents_as_json(found), render.documents_as_text(found))
        else:
            around = {
                result.chunk.id: opened.moment(result, filters=seen) if moments else None
                for result in found.results
            }
            if as_json:
                told = render.results_as_json(found, explain=explain)
                for one in told["results"]:
                    moment = around[one["chunk"]["id"]]
                    one["moment"] = asdict(moment) if moment else None
                echo_json(told)
            else:
                echo_lines(render.results_as_text(found, explain=explain, moments=around))
    if not as_json:
        echo_asides(found.asides)


@click.command(cls=Asking)
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=DEFAULT_BUDGET,
    show_default=True,
    help="Maximum number of tokens.",
)
@filter_options
@mode_option
@understanding_options
@set_option
@library_option
@as_json_option
def context(
    question: tuple[str, ...],
    budget: int,
    mode: str,
    date_words: bool | None,
    expand: str | None,
    settings: tuple[str, ...],
    library: Path,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 — what `filter_options` gives
) -> None:
    """Print what a language model should read to answer QUESTION: cited passages within a budget.

    Example: pincite context "who signs the release?" --budget 800
    """
    with open_for(library) as opened:
        packed = opened.get_relevant_context(
            " ".join(question),
            budget=budget,
            mode=cast(Mode, mode),
            filters=chosen_filters(**filters),
            settings=search_settings(settings, date_words=date_words, expand=expand),
        )
    if as_json:
        echo_json(render.context_as_json(packed))
    elif packed.reason is not None:
        say(packed.message or NOTHING_FOUND[packed.reason], err=True)
    else:
        say(printable(packed.text, keep="\n\t"))
    if not as_json:
        echo_asides(packed.asides)
    if packed.reason in ("model_mismatch", "error"):
        raise SystemExit(EXIT_UNAVAILABLE)


@click.command()
@click.argument("citation")
@click.option(
    "--around",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Lines or captions before and after.",
)
@library_option
@as_json_option
def show(citation: str, around: int, library: Path, as_json: bool) -> None:
    """Print the place that CITATION names, and what stands around it.

    CITATION is a path with lines (notes/a.md:12-20), a page (report.pdf:p3) or a time
    (talk.vtt@00:01:05), a chunk id, or a citation or quote line that `search` or `ask` printed.
    The file's name alone is enough if no other file has it, in capitals or not.

    Example: pincite show notes/glossary.md:12-20
    """
    with open_for(library) as opened:
        if isinstance(opened, Library):
            cited = opened.show(citation, around=around, base=Path.cwd())
        else:
            cited = opened.show(citation, around=around)
    echo(as_json, render.place_as_json(cited), render.place_as_text(cited))
