"""`pincite ask`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pincite.entrypoints import answers, render
from pincite.entrypoints.cli.common import (
    GivenPath,
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
from pincite.settings import AskSettings

EXIT_ABSTAINED = 11


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--caution",
    type=click.FloatRange(0, 1),
    default=AskSettings.caution,
    show_default=True,
    help="How likely the best evidence must be to answer; below it there is no answer.",
)
@click.option(
    "--receipt",
    metavar="FILE",
    type=GivenPath(),
    help="Also write what the answer rests on to FILE, for `pincite check`.",
)
@click.option(
    "--copy", is_flag=True, help="Print Markdown with footnotes, which `pincite check` reads."
)
@filter_options
@set_option
@library_option
@as_json_option
def ask(
    question: tuple[str, ...],
    caution: float,
    receipt: Path | None,
    copy: bool,
    settings: tuple[str, ...],
    library: Path,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 — what `filter_options` gives
) -> None:
    """Answer QUESTION in the documents' own words, each with its place; or say that they do not.

    The exit code is 11 where there is no answer.

    Example: pincite ask "when does the lease end?"
    """
    if copy and as_json:
        raise click.UsageError("--copy prints Markdown; leave out --json")
    seen, tuned = chosen_filters(**filters), search_settings(settings)
    asking = AskSettings(caution=caution)
    with open_around(library) as opened:
        told = opened.ask(" ".join(question), filters=seen, settings=tuned, asking=asking)
        proof = receipt and opened.receipt(told, filters=seen, settings=tuned, asking=asking)
    if as_json:
        echo_json(answers.outcome_as_json(told))
    elif copy:
        from pincite.answer.footnotes import outcome_as_markdown

        click.echo(outcome_as_markdown(told), nl=False)
    else:
        echo_lines(answers.outcome_as_text(told, highlight=highlight, strong=strong))
        for line in render.asides_as_text(told.asides, faint=faint):
            click.echo(line, err=True)
    if receipt and proof:
        from pincite.entrypoints.cli.questions import write_text

        write_text(receipt, proof)
    if told.outcome == "abstention":
        raise SystemExit(EXIT_ABSTAINED)
