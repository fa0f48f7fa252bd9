"""`pincite reindex`: another model or chunk policy, without a gap in what can be found."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from pincite.engine import Gate, Library
from pincite.entrypoints import reports
from pincite.entrypoints.cli import progress
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo,
    given_options,
    open_around,
    own_profiles,
)
from pincite.entrypoints.cli.index import (
    EXIT_PARTLY_FAILED,
    folder_argument,
    passwords_in,
    passwords_option,
)
from pincite.entrypoints.cli.questions import cases_to_ask, read_cases
from pincite.errors import SettingsError
from pincite.records import Progress
from pincite.settings import EVAL_FILE, POLICY_NAMES


@click.command()
@folder_argument
@click.option("--model", help="The new model: minilm, hashing, openai:MODEL or a folder.")
@click.option("--policy", type=click.Choice(POLICY_NAMES), help="The new chunk policy.")
@click.option("--fresh", is_flag=True, help="Read, cut and embed everything again.")
@click.option(
    "--gate",
    "cases",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"Questions whose results must not get worse. [default: {EVAL_FILE}, if it exists]",
)
@click.option("--no-gate", is_flag=True, help="Ask no questions.")
@click.option(
    "--slack",
    type=click.FloatRange(min=0, max=1),
    default=Gate.slack,
    show_default=True,
    help="How much lower a figure may be before it counts as worse.",
)
@click.option("--no-switch", is_flag=True, help="Make the new index, but do not switch to it.")
@click.option("--status", is_flag=True, help="Show which indexes exist.")
@click.option("--rollback", is_flag=True, help="Go back to the index before the last switch.")
@click.option("--cancel", is_flag=True, help="Discard the new index before it is switched to.")
@click.option("--drop-old", is_flag=True, help="Remove the index before the last switch.")
@passwords_option
@as_json_option
def reindex(
    folder: Path,
    model: str | None,
    policy: str | None,
    fresh: bool,
    cases: Path | None,
    no_gate: bool,
    slack: float,
    no_switch: bool,
    status: bool,
    rollback: bool,
    cancel: bool,
    drop_old: bool,
    passwords_file: Path | None,
    as_json: bool,
) -> None:
    """Move the library around FOLDER to another model or chunk policy.

    A new index is made beside the one there is, which answers until the new one is complete and
    its answers to the questions of --gate are not worse. Stopped, it goes on where it was: run the
    same command, or `pincite reindex` alone.

    Example: pincite reindex --model minilm --policy wiki
    """
    # A step instead of a new index; nothing else goes with it.
    steps = {"status": status, "rollback": rollback, "cancel": cancel, "drop_old": drop_old}
    chosen = next((name for name, wanted in steps.items() if wanted), None)
    if chosen and given_options() - {chosen, "folder", "as_json"}:
        option = chosen.replace("_", "-")
        raise SettingsError(f"--{option} must be used alone; leave out the other options")
    with open_around(folder, own_profiles()) as library:
        if chosen is not None:
            _step(library, chosen, as_json=as_json)
            return
        started = indexed = time.monotonic()

        def on_document(done: Progress) -> None:
            nonlocal indexed
            indexed = time.monotonic()
            on_progress(done)

        with (
            progress.shown(quiet=as_json) as on_progress,
            progress.counted(noun="questions") as on_question,
        ):
            # Without a file, the confirmed ones of the library's own, if it has any.
            own = library.root / EVAL_FILE
            is_gated = not no_gate and (
                cases is not None
                or (own.exists() and not all(case.draft for case in read_cases(own)))
            )
            asked = cases_to_ask(library, cases or own) if is_gated else []
            report = library.reindex(
                model=model,
                policy=policy,
                fresh=fresh,
                gate=Gate(asked, slack, on_question),
                switch=not no_switch,
                passwords=passwords_in(passwords_file),
                on_progress=on_document,
            )
    told = reports.reindex_as_json(report, time.monotonic() - started)
    echo(as_json, told, reports.reindex_as_text(report, indexed - started))
    unfinished = report.index.failures or report.index.lacking
    if report.outcome in ("incomplete", "worse") or unfinished:
        sys.exit(EXIT_PARTLY_FAILED)


def _step(library: Library, chosen: str, *, as_json: bool) -> None:
    told, header = [], None
    match chosen:
        case "rollback":
            header = library.rollback()
        case "cancel":
            library.generations.cancel()
            told = ["The new index was discarded; searches go on as before."]
        case "drop_old":
            library.generations.drop_before()
            told = ["The previous index was removed; you can no longer go back to it."]
    stats = library.generations.stats()
    if header is not None:
        told = [reports.rolled_back(header, stats)]
    lines = [*told, *reports.generations_as_text(stats)]
    echo(as_json, reports.generations_as_json(stats), lines)
