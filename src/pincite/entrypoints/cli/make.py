"""`pincite make`: a document made of yours, every line cited or marked as open."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from pincite.engine.artifacts import KINDS
from pincite.engine.searchable import Searchable
from pincite.entrypoints import answers
from pincite.entrypoints.cli.common import (
    GivenPath,
    as_json_option,
    echo_json,
    library_option,
    open_for,
    own_profiles,
    refuse_elsewhere,
    say,
)
from pincite.entrypoints.cli.tuning import chosen_filters, filter_options
from pincite.entrypoints.config import user_settings
from pincite.errors import NothingToSay, SettingsError
from pincite.text.printable import printable


@click.command()
@click.argument("kind", type=click.Choice(KINDS), required=False)
@click.option("--about", required=True, help='What it is about, such as "the tide gauge".')
@click.option(
    "--template", type=GivenPath(), metavar="FILE", help="A template of your own, instead of KIND."
)
@click.option(
    "--profile",
    metavar="NAME",
    help="The language model that writes; else it is in the documents' own words.",
)
@click.option("--out", type=GivenPath(), metavar="FILE", help="Write the Markdown to FILE.")
@click.option(
    "--receipt",
    type=GivenPath(),
    metavar="FILE",
    help="Also write the evidence to FILE, for `pincite check`.",
)
@filter_options
@library_option
@as_json_option
def make(
    kind: str | None,
    about: str,
    template: Path | None,
    profile: str | None,
    out: Path | None,
    receipt: Path | None,
    library: Path,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 — what `filter_options` gives
) -> None:
    """Make a document of KIND about a subject from your documents, as Markdown with footnotes.

    What nothing is found for is marked as open; where that is all, the exit code is 11. KIND looks
    for English words: documents in other languages need a --template. `pincite check FILE` tells
    later which lines no longer hold.

    Example: pincite make blueprint --about "the tide gauge"
    """
    from pincite.answer.footnotes import artifact_as_markdown
    from pincite.engine import artifacts
    from pincite.entrypoints.cli.questions import write_text

    if (kind is None) is (template is None):
        raise click.UsageError(f"name one kind ({', '.join(KINDS)}), or a file with --template")
    refuse_elsewhere("`pincite make`")
    _refuse_files(out, receipt)
    chosen = artifacts.template_in(template) if template else artifacts.template_named(kind or "")
    seen = chosen_filters(**filters)
    is_told = out is not None or sys.stderr.isatty()
    total = len(chosen.section) * (1 if profile in (None, "none") else 2)
    done = 0

    def tell(heading: str) -> None:
        nonlocal done
        done += 1
        if is_told and not as_json:
            click.echo(f"[{done} of {total}] {printable(heading)}", err=True)

    own = user_settings(os.environ)
    with open_for(library, own_profiles()) as opened:
        if not isinstance(opened, Searchable):
            raise SettingsError(
                "artifacts are made from a library itself; open it without --server"
            )
        made = artifacts.make(
            opened,
            chosen,
            about,
            filters=seen,
            profile=None if profile == "none" else profile,
            asking=own.asking,
            judge=own.judge,
            on_section=tell,
        )
        if not any(one.claims for one in made.sections):
            raise NothingToSay(
                f"nothing was found about “{about}”: name it as your documents do, in few words"
            )
        if receipt is not None:
            asking = own.asking if made.writer else None
            told = artifacts.as_answer(made)
            write_text(receipt, opened.receipt(told, filters=seen, settings=None, asking=asking))
    for notice in made.notices:
        say(f"Note: {printable(notice)}", err=True)
    text = artifact_as_markdown(made)
    if out is not None:
        write_text(out, text)
    if as_json:
        echo_json({**answers.artifact_as_json(made), "markdown": text})
    elif out is None:
        say(text, nl=False)


def _refuse_files(out: Path | None, receipt: Path | None) -> None:
    """Say what cannot be written before anything is made."""
    for file in (out, receipt):
        if file is not None and not _is_new(file):
            raise click.UsageError(f"{printable(str(file))} is already there; name another file")
        if file is not None and not file.absolute().parent.is_dir():
            raise click.UsageError(f"there is no folder {printable(str(file.parent))}")
    if out is not None and receipt is not None and out.resolve() == receipt.resolve():
        raise click.UsageError("--out and --receipt are two files")


def _is_new(file: Path) -> bool:
    """Whether nothing is lost by writing it: a person may have gone on with an artifact."""
    return not file.is_file() or file.stat().st_size == 0
