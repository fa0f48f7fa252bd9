"""`pincite eval generate` and `confirm`: questions drafted, and someone's word on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from pincite.entrypoints.cli.common import (
    as_json_option,
    echo_json,
    echo_lines,
    faint,
    library_option,
    open_around,
    strong,
)
from pincite.entrypoints.evaluations import expected_in_words
from pincite.errors import ModelError, SettingsError
from pincite.evals.cases import dump_cases, parse_cases
from pincite.records import Case, ExpectedPlace
from pincite.settings import EVAL_FILE
from pincite.text.printable import printable
from pincite.text.times import clock


def read_text(file: Path) -> str:
    """A file of the user's, as text."""
    try:
        return file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} cannot be read as text in UTF-8: {error}") from error


def read_cases(file: Path) -> tuple[Case, ...]:
    """The questions of a file."""
    if not file.exists():
        raise SettingsError(
            f"there is no {file}; name a file of questions, or draft some with "
            "`pincite eval generate`"
        )
    return parse_cases(read_text(file), name=file.name)


def write_cases(file: Path, cases: Sequence[Case]) -> None:
    """Replace the file at once, so that no question is lost where the disk is full."""
    unfinished = file.with_name(f".{file.name}.part")
    unfinished.write_text(dump_cases(cases), "utf-8")
    unfinished.replace(file)


@click.command()
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file to add them to. [default: {EVAL_FILE} of the library]",
)
@click.option(
    "--most", type=click.IntRange(min=1), default=40, show_default=True, help="How many drafts."
)
@click.option("--model", metavar="MODEL", help="Let openai:MODEL write questions, too.")
@click.option("--seed", default=0, show_default=True, help="Another number gives other drafts.")
@library_option
@as_json_option
def generate(
    output: Path | None, most: int, model: str | None, seed: int, library: Path, as_json: bool
) -> None:
    """Draft questions from the library's own documents, for you to confirm.

    From titles, headings, definitions, codes and times; with --model a language model writes some.
    Drafts are not asked by `eval run` until you have confirmed them with `eval confirm`.

    Example: pincite eval generate --most 60
    """
    with open_around(library) as opened:
        file = output or opened.root / EVAL_FILE
        known = read_cases(file) if file.exists() else ()
        asked = {case.id for case in known}
        drafts = opened.evaluation.draft(
            most=most, seed=seed, model=model, on_trouble=_tell_trouble
        )
        new = [case for case in drafts if case.id not in asked]
    write_cases(file, [*known, *new])
    if as_json:
        counts = Counter(case.kind for case in new)
        echo_json({"file": str(file), "drafts": len(new), "kinds": dict(counts)})
    else:
        echo_lines(_drafted(new, file, already=len(drafts) - len(new)))


def _tell_trouble(trouble: ModelError) -> None:
    click.echo(f"The model wrote no question: {printable(str(trouble))}", err=True)


def _drafted(new: Sequence[Case], file: Path, *, already: int) -> Iterator[str]:
    kinds = Counter("unanswerable" if case.unanswerable else case.kind for case in new)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    yield f"Drafted {len(new)} questions{f' ({told})' if told else ''} in {printable(str(file))}."
    if already:
        yield f"{already} more were there already; another --seed gives others."
    if new:
        yield "Look through them with `pincite eval confirm`, then run `pincite eval run`."


@click.command()
@click.argument(
    "cases", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)
@click.option("--all", "everything", is_flag=True, help="Confirm every draft without asking.")
@library_option
def confirm(cases: Path | None, everything: bool, library: Path) -> None:
    """Look through drafted questions: keep, change or drop each. What you have done is kept.

    Example: pincite eval confirm
    """
    with open_around(library) as opened:
        file = cases or opened.root / EVAL_FILE
    known = list(read_cases(file))
    drafts = [case for case in known if case.draft]
    if everything:
        write_cases(file, [replace(case, draft=False) for case in known])
        click.echo(f"Confirmed {len(drafts)} drafts.")
        return
    for number, case in enumerate(drafts, start=1):
        echo_lines(_shown(case, number, len(drafts)))
        decided = _decided(case)
        if decided is case:
            break
        place = known.index(case)
        known[place : place + 1] = [] if decided is None else [decided]
        write_cases(file, known)
    left = sum(case.draft for case in known)
    click.echo(f"{len(known) - left} questions confirmed, {left} drafts left.")


def _decided(case: Case) -> Case | None:
    """The case as confirmed; None to drop it; the very same case to stop here."""
    choice = click.prompt(
        "[k]eep, [e]dit, [d]rop, [q]uit",
        type=click.Choice(["k", "e", "d", "q"]),
        show_choices=False,
        default="k",
    )
    if choice == "q":
        return case
    if choice == "d":
        return None
    if choice == "e":
        question = click.prompt("Question", default=case.question)
        return replace(case, question=question.strip() or case.question, draft=False)
    return replace(case, draft=False)


def _shown(case: Case, number: int, of: int) -> Iterator[str]:
    yield f"\n{strong(printable(case.question))} {faint(f'{number}/{of}, {case.kind}')}"
    yield f"  expected: {expected_in_words(case)}"
    for place in case.places:
        yield f"  at {place_in_words(place)}"
    if case.terms:
        yield f"  holding: {printable(', '.join(case.terms))}"
    if case.note:
        yield faint(f"  {printable(case.note)}")


def place_in_words(place: ExpectedPlace) -> str:
    """`notes/a.md, lines 3–9`."""
    ranges = {"line": place.lines, "page": place.pages, "row": place.rows}
    told = [
        f"{name} {span[0]}" if span[0] == span[1] else f"{name}s {span[0]}–{span[1]}"
        for name, span in ranges.items()
        if span is not None
    ]
    if place.time is not None:
        told.append("–".join(map(clock, place.time)))
    return printable(f"{place.document}, {', '.join(told)}")
