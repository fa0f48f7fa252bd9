"""`pincite eval generate` and `confirm`: questions drafted, and someone's word on them."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pincite.engine import Library
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo_json,
    echo_lines,
    faint,
    library_option,
    open_around,
    strong,
)
from pincite.errors import CitationNotFound, ModelError, SettingsError, StoreReadOnly
from pincite.evals import wording
from pincite.evals.cases import dump_cases, parse_cases
from pincite.records import Case, ExpectedPlace
from pincite.settings import EVAL_FILE
from pincite.text.printable import printable
from pincite.text.times import clock

_LINES_SHOWN = 6  # of an expected place
_WIDEST = 160  # characters of a line


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


def write_text(file: Path, text: str) -> None:
    """Replace the file at once, so that nothing is lost where the disk is full."""
    target = file.resolve()  # a link stays a link
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=target.parent, delete=False
        ) as unfinished:
            unfinished.write(text)
        written = Path(unfinished.name)
        try:
            written.chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
            written.replace(target)
        finally:
            written.unlink(missing_ok=True)  # where it could not take its place
    except OSError as error:
        raise StoreReadOnly(f"{file} cannot be written: {error.strerror or error}") from error


def _umask() -> int:
    """What new files are kept from; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@click.command()
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file to add them to. [default: {EVAL_FILE} of the library]",
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    help="Maximum number of drafts.",
)
@click.option("--model", metavar="MODEL", help="Let openai:MODEL write questions, too.")
@click.option("--seed", default=0, show_default=True, help="Change it to get different drafts.")
@library_option
@as_json_option
def generate(
    output: Path | None, most: int, model: str | None, seed: int, library: Path, as_json: bool
) -> None:
    """Draft questions from the library's own documents, for you to confirm.

    They come from titles, headings, definitions, codes and times; with --model a language model
    writes some. `eval run` asks a draft only after you confirm it with `eval confirm`.

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
    # What stands there is left to the letter, and read again: drafting may have taken minutes.
    before = read_text(file) if file.exists() else ""
    gap = "\n" if before and not before.endswith("\n") else ""
    write_text(file, before + gap + dump_cases(new))
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
    yield f"Drafts: {len(new)}{f' ({told})' if told else ''} in {printable(str(file))}."
    if already:
        yield f"{already} more were there already; another --seed gives others."
    if new:
        named = "" if file.name == EVAL_FILE else f" {printable(str(file))}"
        yield f"Look through them: `pincite eval confirm{named}`; then: `pincite eval run{named}`."


@click.command()
@click.argument(
    "cases", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)
@click.option("--all", "everything", is_flag=True, help="Confirm every draft without asking.")
@library_option
def confirm(cases: Path | None, everything: bool, library: Path) -> None:
    """Keep, edit or drop each drafted question. You can stop and go on later.

    Example: pincite eval confirm
    """
    with open_around(library) as opened:
        file = cases or opened.root / EVAL_FILE
        drafts = [case for case in read_cases(file) if case.draft]
        for number, case in enumerate(drafts, start=1):
            if everything:
                decided: Case | None = replace(case, draft=False)
            else:
                echo_lines(_shown(case, number, len(drafts), opened))
                decided = _decided(case, {one.id for one in read_cases(file)})
            if decided is case:
                break
            _put(file, case, decided)
    cases_now = read_cases(file)
    left = sum(case.draft for case in cases_now)
    click.echo(f"{len(cases_now) - left} questions confirmed, {left} drafts left.")


def _put(file: Path, case: Case, decided: Case | None) -> None:
    """Change the one line of the case; every other stays as its writer wrote it."""
    lines = [line for line in re.split(r"\r\n?|\n", read_text(file)) if line.strip()]
    known = [one.id for one in parse_cases("\n".join(lines), name=file.name)]
    place = known.index(case.id)
    lines[place : place + 1] = [] if decided is None else [dump_cases([decided]).rstrip("\n")]
    write_text(file, "".join(f"{line}\n" for line in lines))


def _decided(case: Case, known: set[str]) -> Case | None:
    """The case as confirmed; None to drop it; the very same case to stop here."""
    choice = _asked(
        "[k]eep, [e]dit, [d]rop, [q]uit",
        type=click.Choice(["k", "e", "d", "q"], case_sensitive=False),
        show_choices=False,
    )
    if choice == "q":
        return case
    if choice == "d":
        return None
    if choice == "e":
        return _edited(case, known)
    return replace(case, draft=False)


def _asked(text: str, **how: Any) -> str:  # noqa: ANN401 — as click.prompt
    try:
        return str(click.prompt(text, **how))
    except click.Abort:
        if sys.stdin.isatty():
            raise KeyboardInterrupt from None
        raise SettingsError(
            "there is no terminal to ask on; run it in one, or confirm every draft with --all"
        ) from None


def _edited(case: Case, known: set[str]) -> Case:
    while True:
        question = _asked("Question", default=case.question).strip() or case.question
        edited = replace(case, question=question, draft=False)
        if edited.id == case.id or edited.id not in known:
            return edited
        click.echo("That question is there already; ask another one.")


def _shown(case: Case, number: int, of: int, library: Library) -> Iterator[str]:
    yield f"\n{strong(printable(case.question))} {faint(f'{number}/{of}, {case.kind}')}"
    for one in wording.expected(case):
        yield f"  expected: {printable(one)}"
    for place in case.places:
        yield from (f"  | {printable(line)[:_WIDEST]}" for line in _text_at(place, library))
    if case.note:
        yield faint(f"  {printable(case.note)}")


def _text_at(place: ExpectedPlace, library: Library) -> Sequence[str]:
    """The beginning of what stands at the place, so that nobody has to open the file."""
    at = ""
    if place.lines is not None:
        at = f":{place.lines[0]}-{place.lines[1]}"
    elif place.pages is not None:
        at = f":p{place.pages[0]}"
    elif place.time is not None:
        at = f"@{clock(place.time[0])}"
    try:
        return library.show(f"{place.document}{at}", around=0).lines[:_LINES_SHOWN] if at else ()
    except CitationNotFound:
        return ()
