"""`pincite answers`: answers that are kept, and told of when they no longer hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from pincite.engine import saved_answers
from pincite.engine.searchable import Searchable
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo_json,
    echo_lines,
    library_option,
    open_for,
    own_profiles,
    refuse_elsewhere,
)
from pincite.entrypoints.cli.tuning import chosen_filters, filter_options
from pincite.entrypoints.config import user_settings
from pincite.entrypoints.render import faint, strong
from pincite.entrypoints.reports import recheck_as_text
from pincite.errors import ReceiptInvalid, SettingsError
from pincite.records.journal import SavedAnswer
from pincite.settings import AskSettings
from pincite.text.printable import printable

EXIT_NOT_VALID = 12
SHORT_ID = 8  # the last letters of an id: the first ones tell the time


@click.group()
def answers() -> None:
    """Keep answers, and be told when your documents no longer bear them out.

    `pincite index update`, `index watch` and the service check those whose documents changed.
    """
    refuse_elsewhere("`pincite answers`")


@answers.command()
@click.argument("question", metavar="QUESTION|FILE")
@click.option(
    "--claims",
    type=click.IntRange(min=1),
    default=AskSettings.claims,
    show_default=True,
    help="Maximum number of claims to keep of an answer to QUESTION.",
)
@filter_options
@library_option
@as_json_option
def save(
    question: str,
    claims: int,
    library: Path,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 — what `filter_options` gives
) -> None:
    """Ask QUESTION and keep the answer; or keep what stands in FILE.

    A file is a receipt, or Markdown that `ask --copy` or `make` wrote.

    Example: pincite answers save "when does the lease end?"
    """
    seen = chosen_filters(**filters)
    with open_for(library, own_profiles()) as opened:
        local = _local(opened)
        if os.path.isfile(question):  # noqa: PTH113 — a long question is no path, and no error
            try:
                text = Path(question).read_bytes().decode("utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise ReceiptInvalid(f"{question} cannot be read: {error}") from error
            try:
                saved = saved_answers.save_text(local, Path(question).stem, text)
            except ReceiptInvalid as error:
                raise ReceiptInvalid(f"{question}: {error}") from error
        elif question.endswith((".md", ".json")) and len(question.split()) == 1:
            raise ReceiptInvalid(f"there is no file {question}")
        else:
            own = user_settings(os.environ)
            asking = replace(own.asking, claims=claims)
            told = local.ask(
                question,
                filters=seen,
                asking=asking,
                profile=own.profile or None,
                judge=own.judge,
            )
            saved = saved_answers.save_outcome(local, told, seen, asking)
            if not as_json:
                echo_lines(_said(saved))
    if as_json:
        echo_json(_as_json(saved))
        return
    echo_lines(f"No longer: {printable(one)}" for one in saved.broken)
    echo_lines([f"Saved as {saved.id[-SHORT_ID:]}: {printable(saved.question)}"])


@answers.command(name="list")
@library_option
@as_json_option
def list_(library: Path, as_json: bool) -> None:
    """List the answers that were saved, and whether they still held when they were checked last.

    Example: pincite answers list
    """
    with open_for(library) as opened:
        found = saved_answers.saved_answers(_local(opened))
    if as_json:
        echo_json({"answers": [_as_json(one) for one in found]})
        return
    for one in found:
        state = "holds" if not one.broken else strong("no longer holds")
        day = f"{datetime.fromtimestamp(one.saved_at):%Y-%m-%d}"
        echo_lines([f"{one.id[-SHORT_ID:]}  {day}  {state}  {printable(one.question)}"])
    if not found:
        click.echo('No answers were saved yet; `pincite answers save "…"` keeps one.')


@answers.command()
@click.argument("answer", metavar="ID")
@library_option
@as_json_option
def show(answer: str, library: Path, as_json: bool) -> None:
    """Show a saved answer, with what no longer holds of it.

    Example: pincite answers show 3f2a9c1b
    """
    with open_for(library) as opened:
        found = saved_answers.answer_named(_local(opened), answer)
    if as_json:
        echo_json(_as_json(found) | {"text": found.text})
        return
    echo_lines([strong(printable(found.question)), *_said(found)])
    echo_lines([f"No longer: {printable(one)}" for one in found.broken])


@answers.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--ask", "again", is_flag=True, help="Ask again, and show what is different now.")
@library_option
@as_json_option
def recheck(ids: tuple[str, ...], again: bool, library: Path, as_json: bool) -> None:
    """Check saved answers again, all of them or those named. The exit code is 12 if one fails.

    Example: pincite answers recheck
    """
    with open_for(library, own_profiles()) as opened:
        local = _local(opened)
        named = [saved_answers.answer_named(local, one) for one in ids]
        own = user_settings(os.environ)
        checked = saved_answers.recheck(local, named or saved_answers.saved_answers(local))
        told: list[dict[str, Any]] = []
        for one in checked:
            if not as_json:
                echo_lines([f"{one.answer.id[-SHORT_ID:]}  {recheck_as_text(one)}"])
            now = None
            try:
                if again:
                    now = saved_answers.difference(local, one.answer, own.profile, own.judge)
            except SettingsError as error:
                click.echo(f"    It cannot be asked again: {printable(str(error))}", err=as_json)
            if not as_json:
                echo_lines(f"    {printable(line)}" for line in now or ())
            told.append(_as_json(one.answer) | {"outdated": one.outdated, "now": now})
        if not as_json:
            click.echo(f"{sum(one.holds for one in checked)} of {len(checked)} hold.")
        else:
            echo_json({"answers": told, "valid": all(one.holds for one in checked)})
        saved_answers.note_told(local, checked)
    if not all(one.holds for one in checked):
        raise SystemExit(EXIT_NOT_VALID)


@answers.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@library_option
def forget(ids: tuple[str, ...], library: Path) -> None:
    """Forget saved answers for good.

    Example: pincite answers forget 3f2a9c1b
    """
    with open_for(library) as opened:
        local = _local(opened)
        found = [saved_answers.answer_named(local, one) for one in ids]
        local.journal.forget_answers([one.id for one in found])
    echo_lines(printable(f"Forgotten: {one.question}") for one in found)


def _local(opened: object) -> Searchable:
    if not isinstance(opened, Searchable):
        raise SettingsError("saved answers are kept beside a library; open it without --server")
    return opened


def _said(saved: SavedAnswer) -> Iterator[str]:
    """The claims of a receipt, each with its places; Markdown as it is."""
    from pincite.answer.receipts import receipt_in

    receipt = receipt_in(saved.text.encode())
    if receipt is None:
        yield printable(saved.text, keep="\n").rstrip()
        return
    for number, claim in enumerate(receipt.claims, start=1):
        yield f"[{number}] {printable(' '.join(claim.text.split()))}"
        yield from (faint(f"    {printable(one.citation)}") for one in claim.citations)


def _as_json(saved: SavedAnswer) -> dict[str, Any]:
    told = asdict(saved) | {"holds": not saved.broken}
    return {name: one for name, one in told.items() if name not in ("text", "cited")}
