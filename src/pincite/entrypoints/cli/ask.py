"""`pincite ask`."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from pincite.engine import Library
from pincite.engine.agents import Agent
from pincite.engine.searchable import Searchable
from pincite.entrypoints import answers
from pincite.entrypoints.cli import progress
from pincite.entrypoints.cli.agents import chosen_agent
from pincite.entrypoints.cli.common import (
    GivenPath,
    as_json_option,
    echo_asides,
    echo_json,
    echo_lines,
    library_option,
    open_for,
    refuse_elsewhere,
    say,
    server,
    with_keys,
)
from pincite.entrypoints.cli.tuning import (
    Asking,
    asking_filter_options,
    chosen_filters,
    search_settings,
    set_option,
)
from pincite.entrypoints.config import user_settings
from pincite.entrypoints.render import faint
from pincite.entrypoints.reports import counted
from pincite.errors import SettingsError
from pincite.records import Citation, Claim, Filters, Outcome
from pincite.settings import PROFILES, AskSettings, UserSettings
from pincite.text.own_files import is_receipt
from pincite.text.printable import printable

EXIT_ABSTAINED = 11


@click.command(cls=Asking)
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--profile",
    type=click.Choice((*PROFILES, "none")),
    help="The language model that writes the answer, as your settings name it (`pincite config`); "
    "`none`: the documents' own words.  [env var: PINCITE_PROFILE]",
)
@click.option(
    "--caution",
    type=click.FloatRange(0, 1),
    help="Answer only if the best evidence is at least this likely to be right."
    f"  [env var: PINCITE_CAUTION, default: {AskSettings.caution}]",
)
@click.option(
    "--claims",
    type=click.IntRange(min=1),
    default=AskSettings.claims,
    show_default=True,
    help="Maximum number of claims in an answer.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    help="Maximum number of evidence tokens to give a language model."
    f"  [env var: PINCITE_BUDGET, default: {AskSettings.budget}]",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Give no answer if the language model fails or makes a claim that cannot be proven.",
)
@click.option(
    "--show-unsupported",
    is_flag=True,
    help="Show claims of a language model that have no support, struck out.",
)
@click.option(
    "--receipt",
    metavar="FILE",
    type=GivenPath(),
    help="Also write the evidence to FILE, for `pincite check`.",
)
@click.option(
    "--copy", is_flag=True, help="Print Markdown with footnotes, which `pincite check` reads."
)
@click.option(
    "--all",
    "count",
    is_flag=True,
    help="Look at every document, for a question that asks for all of something; count and cite "
    "what has its words.",
)
@asking_filter_options
@set_option
@library_option
@as_json_option
def ask(
    question: tuple[str, ...],
    profile: str | None,
    caution: float | None,
    claims: int,
    budget: int | None,
    strict: bool,
    show_unsupported: bool,
    receipt: Path | None,
    copy: bool,
    count: bool,
    settings: tuple[str, ...],
    library: Path,
    as_json: bool,
    agent: str | None,
    **filters: Any,  # noqa: ANN401 — what `asking_filter_options` gives
) -> None:
    """Answer QUESTION from the documents and cite every claim, or say that they do not answer it.

    Without a language model the answer is in the documents' own words. The exit code is 11 if
    there is no answer.

    Example: pincite ask "when does the lease end?"
    """
    if copy and as_json:
        raise click.UsageError("--copy prints Markdown; leave out --json")
    if receipt is not None and not is_receipt_or_new(receipt):
        raise click.UsageError(
            f"{printable(str(receipt))} already exists and is not a receipt; name another file"
        )
    who = chosen_agent(agent, library)
    seen, tuned = who.seen(chosen_filters(**filters)), search_settings(settings)
    if count:
        if receipt or copy:
            raise click.UsageError("--all gives a list: leave out --receipt and --copy")
        _count(" ".join(question), seen, library, as_json=as_json)
        return
    own = user_settings(os.environ)
    writer = writer_of(profile, who, own)
    copy = copy or (who.output == "markdown" and not as_json)
    if receipt:
        refuse_elsewhere("--receipt")
    asking = replace(
        who.asking(own.asking),
        caution=own.asking.caution if caution is None else caution,
        budget=budget or own.asking.budget,
        claims=claims,
        strict=strict,
        show_unsupported=show_unsupported,
    )
    shown = 0

    def show(claim: Claim) -> None:
        nonlocal shown
        shown += 1
        if not as_json and not copy:
            echo_lines(answers.claim_as_text(shown, claim))

    with open_for(library, with_keys(own.profiles)) as opened:
        ask = partial(opened.ask, " ".join(question), filters=seen, settings=tuned, asking=asking)
        proof = ""
        if not isinstance(opened, Library):
            told = ask(on_claim=show)
        else:
            told = ask(profile=writer, judge=own.judge, on_claim=show)
            if receipt:
                proof = opened.receipt(told, filters=seen, settings=tuned, asking=asking)
    told = _with_sight(told, who)
    print_outcome(told, as_json=as_json, copy=copy)
    if receipt and proof:
        from pincite.entrypoints.cli.questions import write_text

        write_text(receipt, proof)
    if told.outcome == "abstention":
        raise SystemExit(EXIT_ABSTAINED)


def _with_sight(told: Outcome, who: Agent) -> Outcome:
    """A refusal says which documents its agent does not see."""
    if told.outcome == "answer" or not who.where:
        return told
    hides = f"The agent {who.name} sees only documents where {who.where}."
    return replace(told, message=f"{told.message} {hides}")


def _count(question: str, seen: Filters, folder: Path, *, as_json: bool) -> None:
    """How much was looked at, and each document with its first passage; as JSON every passage."""
    refuse_elsewhere("--all")
    with open_for(folder) as opened, progress.shown(quiet=as_json, doing="Looking") as on_progress:
        if not isinstance(opened, Searchable):
            raise SettingsError("--all looks at a library itself; open it without --server")
        found = opened.count(question, filters=seen, on_progress=on_progress)
    if as_json:
        echo_json({**asdict(found), "statement": found.statement})
        return
    click.echo(found.statement)
    hits: dict[str, list[Citation]] = {}
    for one in found.hits:
        hits.setdefault(one.path, []).append(one)
    for number, (path, (first, *more)) in enumerate(hits.items(), start=1):
        click.echo(f"{printable(path)}: {counted(len(more) + 1, 'passage')}")
        echo_lines(answers.claim_as_text(number, Claim(first.quote, "quoted", "", (first,))))
    if len(found.hits) > len(hits):
        click.echo("--json gives every passage.")
    if found.negated:
        echo_lines(map(printable, found.documents))


def writer_of(chosen: str | None, agent: Agent, own: UserSettings) -> str | None:
    """The language model that writes; a server answers in the documents' own words."""
    writer = chosen or agent.profile or own.profile
    if writer in (None, "none") or (chosen is None and server() is not None):
        return None
    refuse_elsewhere("--profile")
    return writer


def print_outcome(told: Outcome, *, as_json: bool, copy: bool) -> None:
    """All that was not printed while it was made."""
    if as_json:
        echo_json(answers.outcome_as_json(told))
    elif copy:
        from pincite.answer.footnotes import outcome_as_markdown

        say(outcome_as_markdown(told), nl=False)
    elif told.outcome == "abstention":
        echo_lines(answers.abstention_as_text(told))
    else:
        echo_lines(map(printable, told.differences))
        echo_lines([faint(f"(written by {printable(told.writer)})")] if told.writer else [])
    if not as_json:
        echo_asides(told.asides)


def is_receipt_or_new(file: Path) -> bool:
    """Whether the file may be written over: a receipt of before, or an empty one."""
    try:
        data = file.read_bytes() if file.is_file() else b""  # of a pipe, reading would wait
    except OSError:
        return True  # writing says what is wrong with it
    return not data or is_receipt(data)
