"""`pincite ask`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pincite.entrypoints import answers, render
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
from pincite.entrypoints.config import user_settings

EXIT_ABSTAINED = 11


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--caution",
    type=click.FloatRange(0, 1),
    help="How likely the best evidence must be to answer; below it there is no answer."
    "  [env var: PINCITE_CAUTION, default: 0.5]",
)
@filter_options
@set_option
@library_option
@as_json_option
def ask(
    question: tuple[str, ...],
    caution: float | None,
    settings: tuple[str, ...],
    library: Path,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 — what `filter_options` gives
) -> None:
    """Answer QUESTION in the documents' own words, each with its place; or say that they do not.

    The exit code is 11 where there is no answer.

    Example: pincite ask "when does the lease end?"
    """
    asking = user_settings(os.environ).asking
    if caution is not None:
        asking = replace(asking, caution=caution)
    with open_around(library) as opened:
        told = opened.ask(
            " ".join(question),
            filters=chosen_filters(**filters),
            settings=search_settings(settings),
            asking=asking,
        )
    if as_json:
        echo_json(answers.outcome_as_json(told))
    else:
        echo_lines(answers.outcome_as_text(told, highlight=highlight, strong=strong))
        for line in render.asides_as_text(told.asides, faint=faint):
            click.echo(line, err=True)
    if told.outcome == "abstention":
        raise SystemExit(EXIT_ABSTAINED)
