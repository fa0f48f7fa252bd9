"""How `pincite eval run` and `pincite eval gate` ask: their options, and the run itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import click

from pincite.engine import Library
from pincite.engine.eval_wishes import EvalWishes
from pincite.entrypoints.cli import progress
from pincite.entrypoints.cli.index import passwords_in, passwords_option
from pincite.entrypoints.cli.questions import read_cases
from pincite.entrypoints.cli.tuning import mode_option, search_settings, set_option
from pincite.errors import SettingsError
from pincite.records import Case, EvalRun, Mode
from pincite.settings import EVAL_FILE, POLICY_NAMES, REPORT_FILE
from pincite.text.printable import printable


def asking_options(command: Any) -> Any:  # noqa: ANN401 — as click's own decorators
    """The options that say how questions are asked."""
    for option in (
        mode_option,
        click.option(
            "--policy",
            type=click.Choice(POLICY_NAMES),
            help="Try another chunk policy, in an index of its own. [default: the library's]",
        ),
        set_option,
        click.option(
            "--abstain-below",
            type=float,
            help="Count a search as saying no if it is less confident than this.",
        ),
        click.option("--kind", "kinds", multiple=True, help="Only questions of this kind."),
        click.option("--drafts", is_flag=True, help="Ask unconfirmed drafts, too."),
        click.option(
            "--label", default="", help="A name for the run, so that you can find it again."
        ),
        passwords_option,
    )[::-1]:
        command = option(command)
    return command


def run_cases(
    library: Library,
    file: Path | None,
    *,
    settings: tuple[str, ...],
    kinds: tuple[str, ...],
    drafts: bool,
    passwords_file: Path | None,
    mode: str,
    **wishes: Any,  # noqa: ANN401 — policy, abstain_below and label, as EvalWishes names them
) -> EvalRun:
    """Ask the questions of the file, by default of the library's own, and keep the run."""
    file = file or library.root / EVAL_FILE
    cases = cases_to_ask(library, file, kinds=kinds, drafts=drafts)
    chosen = EvalWishes(
        mode=cast(Mode, mode), settings=search_settings(settings), cases_name=file.name, **wishes
    )
    with (
        progress.shown(quiet=False, at_once=False) as on_indexing,
        progress.counted(noun="questions") as on_progress,
    ):
        return library.evaluation.run(
            cases,
            chosen,
            passwords=passwords_in(passwords_file),
            on_indexing=on_indexing,
            on_progress=on_progress,
        )


def cases_to_ask(
    library: Library, file: Path, *, kinds: tuple[str, ...] = (), drafts: bool = False
) -> list[Case]:
    """The questions of the file that are to be asked; at least one, and none finds itself."""
    known = read_cases(file)
    cases = [
        case for case in known if (drafts or not case.draft) and (not kinds or case.kind in kinds)
    ]
    if not cases:
        raise SettingsError(_why_none(file, known))
    _refuse_leak(library, file)
    _warn_of_unknown(library, cases)
    return cases


def _why_none(file: Path, known: tuple[Case, ...]) -> str:
    if not known:
        return f"{file} has no questions"
    kinds = ", ".join(sorted({case.kind for case in known}))
    drafts = sum(case.draft for case in known)
    return (
        f"none of the {len(known)} questions in {file} is left to ask: {drafts} are drafts "
        f"(confirm them, or use --drafts), and their kinds are: {kinds}"
    )


def _refuse_leak(library: Library, file: Path) -> None:
    """Questions that are themselves indexed find themselves, and every figure is a lie."""
    path = os.path.relpath(file.resolve(), library.root).replace(os.sep, "/")
    if any(document.path == path for document in library.documents()):
        raise SettingsError(
            f"{file} is itself a document of this library, so its questions would find themselves; "
            f"name it {EVAL_FILE} at the top of the library, move it out, or list it in "
            ".pinciteignore, then run `pincite index update`"
        )


def refuse_to_index(library: Library, file: Path) -> None:
    """A report is full of questions: indexed, it would be found for each of them."""
    path = os.path.relpath(file.resolve(), library.root).replace(os.sep, "/")
    outside_or_hidden = any(part.startswith(".") for part in path.split("/"))
    if not outside_or_hidden and path != REPORT_FILE:
        raise SettingsError(
            f"{file} would be indexed and found for its own questions; write it outside the "
            f"library, or leave out --output to write {REPORT_FILE} at its top"
        )


def _warn_of_unknown(library: Library, cases: list[Case]) -> None:
    unknown = library.evaluation.out_of_reach(cases)
    if unknown:
        some = ", ".join(map(printable, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        click.echo(
            f"Note: {len(unknown)} expected places are not in this library and cannot be found: "
            f"{some}",
            err=True,
        )
