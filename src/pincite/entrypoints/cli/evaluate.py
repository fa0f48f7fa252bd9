"""`pincite eval`: run, runs, compare, report, gate. Drafting is in questions.py."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec

from pincite.entrypoints import evaluations
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo,
    given_options,
    library_option,
    open_around,
    own_profiles,
)
from pincite.entrypoints.cli.index import EXIT_PARTLY_FAILED
from pincite.entrypoints.cli.log import Moment
from pincite.entrypoints.cli.questions import (
    asking_options,
    confirm,
    generate,
    own_file,
    read_text,
    refuse_to_index,
    run_cases,
    run_logged,
    write_text,
)
from pincite.errors import SettingsError
from pincite.settings import REPORT_FILE
from pincite.text.printable import printable

EXIT_BELOW_FLOOR = 8

cases_argument = click.argument(
    "cases", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)


@click.group("eval")
def evaluate() -> None:
    """Measure how well a library finds what it should."""


@evaluate.command()
@cases_argument
@click.option(
    "--log", is_flag=True, help="Ask what was asked of the library before, instead of CASES."
)
@click.option(
    "--since",
    type=Moment(),
    help="With --log: only what was asked since then: 7d, 12h, or 2026-11-01.",
)
@asking_options
@library_option
@as_json_option
def run(
    cases: Path | None,
    log: bool,
    since: float | None,
    library: Path,
    as_json: bool,
    **asking: Any,  # noqa: ANN401
) -> None:
    """Ask every question of CASES and measure what comes back; the run is kept in the library.

    CASES is a file with a question on each line, by default pincite-eval.jsonl of the library; see
    docs/eval.md. With --log the questions are those of the log of queries. Nobody said what should
    be found for them, so you see what came out, and `eval compare` tells what changed.

    Example: pincite eval run questions.jsonl --ask
    """
    if since is not None and not log:
        raise click.UsageError("--since is about the log; add --log")
    with open_around(library, own_profiles()) as opened:
        made = run_logged(opened, since, **asking) if log else run_cases(opened, cases, **asking)
    echo(as_json, msgspec.to_builtins(made), evaluations.run_as_text(made))
    if any(result.error for result in made.results):
        sys.exit(EXIT_PARTLY_FAILED)


@evaluate.command()
@library_option
@as_json_option
def runs(library: Path, as_json: bool) -> None:
    """List the runs that are kept in the library, oldest first."""
    with open_around(library) as opened:
        kept = opened.evaluation.runs.heads()
        damaged = set(opened.evaluation.runs.ids()) - {one.id for one in kept}
    for run_id in sorted(damaged):
        click.echo(f"Note: run {printable(run_id)} cannot be read", err=True)
    told = [msgspec.to_builtins(replace(one, results=())) for one in kept]
    echo(as_json, told, evaluations.runs_as_text(kept))


@evaluate.command()
@click.argument("before", default="last~1")
@click.argument("after", default="last")
@click.option(
    "--figure", default="ndcg@10", show_default=True, help="Compare questions by this figure."
)
@click.option(
    "--most",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many improved and how many worsened questions to show.",
)
@library_option
@as_json_option
def compare(before: str, after: str, figure: str, most: int, library: Path, as_json: bool) -> None:
    """Show what changed from run BEFORE to run AFTER, question by question.

    A run is named by its id or the beginning of it, its label, `last`, or `last~1` and so on.
    Without names the last two are compared.

    Example: pincite eval compare last~1 last
    """
    from pincite.evals.compare import compare as compare_runs

    with open_around(library) as opened:
        kept = opened.evaluation.runs
        compared = compare_runs(kept.load(before), kept.load(after), figure=figure)
    lines = evaluations.comparison_as_text(compared, most=most)
    echo(as_json, msgspec.to_builtins(compared), lines)


@evaluate.command()
@click.argument("run_name", metavar="[RUN]", default="last")
@click.option("--compare", "before", metavar="RUN", help="Show what changed since this run.")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file to write. [default: {REPORT_FILE} of the library]",
)
@library_option
def report(run_name: str, before: str | None, output: Path | None, library: Path) -> None:
    """Write one HTML page about RUN, by default the last one: figures, plots, worst questions.

    Example: pincite eval report --compare last~1 -o report.html
    """
    from pincite.evals.compare import compare as compare_runs
    from pincite.evals.report import report as report_page

    with open_around(library) as opened:
        kept = opened.evaluation.runs
        chosen = kept.load(run_name)
        compared = compare_runs(kept.load(before), chosen) if before else None
        file = own_file(output, opened.root, REPORT_FILE)
        refuse_to_index(
            opened.root, file, f", or leave out --output to write {REPORT_FILE} at its top"
        )
    write_text(file, report_page(chosen, compared=compared))
    click.echo(f"Written: {printable(str(file))}")


@evaluate.command()
@cases_argument
@click.option(
    "--floors",
    "floors_file",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help='JSON, such as {"all": {"ndcg@10": 0.8}}: no figure may be below its floor.',
)
@click.option("--run", "run_name", metavar="RUN", help="Check this run instead of making one.")
@click.option(
    "--write", is_flag=True, help="Write the floors from the figures instead of checking."
)
@click.option(
    "--slack",
    type=click.FloatRange(min=0, max=1),
    default=0.02,
    show_default=True,
    help="With --write: how far below the figures the floors are.",
)
@asking_options
@library_option
@as_json_option
def gate(
    cases: Path | None,
    floors_file: Path,
    run_name: str | None,
    write: bool,
    slack: float,
    library: Path,
    as_json: bool,
    **asking: Any,  # noqa: ANN401
) -> None:
    """Ask every question of CASES and fail, with exit code 8, where a figure is below its floor.

    Example: pincite eval gate questions.jsonl --floors floors.json
    """
    from pincite.evals.gate import check, dump_floors, floors_from, parse_floors

    # A run that was made cannot be asked in another way any more.
    asked = {name: name for name in ("cases", "mode", "policy", "settings", "abstain_below")}
    asked |= {"kinds": "kinds", "drafts": "drafts", "answers": "ask", "profile": "profile"}
    given = [told for name, told in asked.items() if name in given_options()]
    if run_name and given:
        raise SettingsError(f"--run checks a run as it is; leave out {', '.join(given)}")
    floors = {} if write else parse_floors(read_text(floors_file))
    with open_around(library, own_profiles()) as opened:
        made = (
            opened.evaluation.runs.load(run_name)
            if run_name
            else run_cases(opened, cases, **asking)
        )
    if write:
        floors = floors_from(made, slack=slack)
        write_text(floors_file, dump_floors(floors))
        written = f"Written: {printable(str(floors_file))}, from run {printable(made.id)}"
        echo(as_json, {"run": made.id, "floors": floors}, [written])
        return
    checks = check(made, floors)
    told = [{**msgspec.to_builtins(one), "holds": one.holds} for one in checks]
    echo(as_json, {"run": made.id, "floors": told}, evaluations.gate_as_text(checks))
    below = [one for one in checks if not one.holds]
    if below:
        click.echo(f"{len(below)} of {len(checks)} floors were not reached.", err=True)
        sys.exit(EXIT_BELOW_FLOOR)


evaluate.add_command(generate)
evaluate.add_command(confirm)
