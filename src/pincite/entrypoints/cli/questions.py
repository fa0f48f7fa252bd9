"""Files of questions: asked by `pincite eval run` and `gate`, drafted by `generate`, confirmed."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pincite.engine import Library
from pincite.engine.eval_wishes import EvalWishes
from pincite.entrypoints.cli import progress
from pincite.entrypoints.cli.common import (
    as_json_option,
    echo,
    echo_lines,
    given_options,
    library_option,
    open_around,
    with_options,
)
from pincite.entrypoints.cli.index import passwords_in, passwords_option
from pincite.entrypoints.cli.tuning import mode_option, search_settings, set_option
from pincite.entrypoints.config import user_settings
from pincite.entrypoints.render import faint, strong
from pincite.errors import CitationNotFound, ModelError, SettingsError, StoreReadOnly
from pincite.evals import wording
from pincite.evals.cases import dump_cases, parse_cases
from pincite.files import refuse_links
from pincite.records import Case, EvalRun
from pincite.settings import EVAL_FILE, POLICY_NAMES, PROFILES, REPORT_FILE
from pincite.text.printable import printable
from pincite.text.times import clock

LOG_NAME = "the log of queries"  # as what its questions come from
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


def own_file(given: Path | None, root: Path, name: str) -> Path:
    """The file that the user names, else the library's own, which must not lead elsewhere."""
    if given is None:
        refuse_links(root / name)
    return given or root / name


def write_text(file: Path, text: str) -> None:
    """Replace the file at once, so that nothing is lost where the disk is full."""
    target = file.resolve()  # a link stays a link
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, "utf-8")  # a pipe or a device, such as /dev/null, stays one
            return
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as unfinished:
            written = Path(unfinished.name)
        try:
            written.write_text(text, "utf-8", newline="")
            umask = os.umask(0)  # what new files are kept from; it can only be read by setting it
            os.umask(umask)
            written.chmod(target.stat().st_mode if target.exists() else 0o666 & ~umask)
            written.replace(target)
        finally:
            written.unlink(missing_ok=True)  # where it could not take its place
    except OSError as error:
        raise StoreReadOnly(f"{file} cannot be written: {error.strerror or error}") from error


asking_options = with_options(
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
    click.option(
        "--ask",
        "answers",
        is_flag=True,
        help="Ask for answers, too, and measure what they say, cite and refuse.",
    ),
    click.option(
        "--profile",
        type=click.Choice(PROFILES),
        help="With --ask: the language model that writes the answers, as your settings name it. "
        "[default: the documents' own words]",
    ),
    click.option("--kind", "kinds", multiple=True, help="Only questions of this kind."),
    click.option("--drafts", is_flag=True, help="Ask unconfirmed drafts, too."),
    click.option("--label", default="", help="A name for the run, so that you can find it again."),
    passwords_option,
)
"""The options that say how questions are asked; `run_cases` takes what they give."""


def run_cases(
    library: Library,
    file: Path | None,
    *,
    kinds: tuple[str, ...],
    drafts: bool,
    **asking: Any,  # noqa: ANN401 — what else `asking_options` gives
) -> EvalRun:
    """Ask the questions of the file, by default of the library's own, and keep the run."""
    file = own_file(file, library.root, EVAL_FILE)
    cases = cases_to_ask(library, file, kinds=kinds, drafts=drafts)
    return run_these(library, cases, file.name, **asking)


def run_logged(
    library: Library,
    since: float | None,
    **asking: Any,  # noqa: ANN401 — what `asking_options` gives
) -> EvalRun:
    """Ask what the log says was asked of the library since then, and keep the run."""
    if given_options() & {"cases", "kinds", "drafts"}:
        raise click.UsageError(
            "--log asks what the log holds; leave out CASES, --kind and --drafts"
        )
    del asking["kinds"], asking["drafts"]
    cases = library.evaluation.logged(since=since or 0.0)
    if not cases:
        why = "" if library.log_mode == "full" else f"; your settings say log = {library.log_mode}"
        raise SettingsError(
            f"the log holds no question to ask again{' since then' if since else ''}{why}; "
            "`pincite log list` shows what it holds"
        )
    return run_these(library, cases, LOG_NAME, **asking)


def run_these(
    library: Library,
    cases: Sequence[Case],
    name: str,
    *,
    settings: tuple[str, ...],
    answers: bool,
    passwords_file: Path | None,
    **options: Any,  # noqa: ANN401 — mode, policy, profile and so on, as EvalWishes names them
) -> EvalRun:
    """Ask the questions, which are called so, with progress; and keep the run."""
    own = user_settings(os.environ)
    chosen = EvalWishes(
        settings=search_settings(settings),
        cases_name=name,
        ask=answers,
        asking=own.asking,
        judge=own.judge if options["profile"] else "",
        **options,
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
        case
        for case in known
        if (drafts or not case.draft) and not case.is_open and (not kinds or case.kind in kinds)
    ]
    if not known:
        raise SettingsError(f"{file} has no questions")
    if not cases:
        raise SettingsError(
            f"none of the {len(known)} questions in {file} is left to ask: "
            f"{sum(case.draft for case in known)} are drafts (confirm them, or use --drafts), and "
            f"their kinds are: {', '.join(sorted({case.kind for case in known}))}"
        )
    # Questions that are themselves indexed find themselves, and every figure is a lie.
    path = os.path.relpath(file.resolve(), library.root).replace(os.sep, "/")
    if any(document.path == path for document in library.documents()):
        raise SettingsError(
            f"{file} is itself a document of this library, so its questions would find themselves; "
            f"name it {EVAL_FILE} at the top of the library, move it out, or list it in "
            ".pinciteignore, then run `pincite index update`"
        )
    unknown = library.evaluation.out_of_reach(cases)
    if unknown:
        some = ", ".join(map(printable, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        click.echo(
            f"Note: {len(unknown)} expected places are not in this library and cannot be found: "
            f"{some}",
            err=True,
        )
    return cases


def refuse_to_index(root: Path, file: Path, instead: str = "") -> None:
    """What is full of questions would be found for each of them, were it indexed."""
    path = os.path.relpath(file.resolve(), root).replace(os.sep, "/")
    outside_or_hidden = any(part.startswith(".") for part in path.split("/"))
    if not outside_or_hidden and path != REPORT_FILE:
        raise SettingsError(
            f"{file} would be indexed and found for its own questions; write it outside the "
            f"library{instead}"
        )


def add_cases(file: Path, cases: Sequence[Case]) -> list[Case]:
    """Add those to the end of a file of questions that it does not have yet; which these are."""
    asked = {case.id for case in read_cases(file)} if file.exists() else set()
    new = [case for case in cases if case.id not in asked]
    # What stands there is left to the letter.
    before = read_text(file) if file.exists() else ""
    gap = "\n" if before and not before.endswith("\n") else ""
    write_text(file, before + gap + dump_cases(new))
    return new


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

    def tell_trouble(trouble: ModelError) -> None:
        click.echo(f"The model wrote no question: {printable(str(trouble))}", err=True)

    with open_around(library) as opened:
        file = own_file(output, opened.root, EVAL_FILE)
        if file.exists():
            read_cases(file)  # says what is wrong with it before minutes are spent
        drafts = opened.evaluation.draft(most=most, seed=seed, model=model, on_trouble=tell_trouble)
    new = add_cases(file, drafts)
    counts = Counter(case.kind for case in new)
    kinds = Counter("unanswerable" if case.unanswerable else case.kind for case in new)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    lines = [f"Drafts: {len(new)}{f' ({told})' if told else ''} in {printable(str(file))}."]
    if already := len(drafts) - len(new):
        lines.append(f"{already} more were there already; another --seed gives others.")
    if new:
        named = "" if file.name == EVAL_FILE else f" {printable(str(file))}"
        lines.append(
            f"Look through them: `pincite eval confirm{named}`; then: `pincite eval run{named}`."
        )
    echo(as_json, {"file": str(file), "drafts": len(new), "kinds": dict(counts)}, lines)


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
        file = own_file(cases, opened.root, EVAL_FILE)
        drafts = [case for case in read_cases(file) if case.draft]
        for number, case in enumerate(drafts, start=1):
            if everything and case.is_open:
                continue  # what should be found, only somebody can say
            if everything:
                decided: Case | None = replace(case, draft=False)
            else:
                echo_lines(_shown(case, number, len(drafts), opened))
                decided = _decided(case, {one.id for one in read_cases(file)}, opened)
            if decided is case:
                break
            # Change the one line of the case; every other stays as its writer wrote it.
            lines = [line for line in re.split(r"\r\n?|\n", read_text(file)) if line.strip()]
            known = [one.id for one in parse_cases("\n".join(lines), name=file.name)]
            at = known.index(case.id)
            lines[at : at + 1] = [] if decided is None else [dump_cases([decided]).rstrip("\n")]
            write_text(file, "".join(f"{line}\n" for line in lines))
    cases_now = read_cases(file)
    left = sum(case.draft for case in cases_now)
    click.echo(f"{len(cases_now) - left} questions confirmed, {left} drafts left.")


def _decided(case: Case, known: set[str], library: Library) -> Case | None:
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
    while choice == "e":
        question = _asked("Question", default=case.question).strip() or case.question
        edited = replace(case, question=question, draft=False)
        if edited.id == case.id or edited.id not in known:
            return _completed(edited, library)
        click.echo("That question is there already; ask another one.")
    return _completed(replace(case, draft=False), library)


def _completed(case: Case, library: Library) -> Case:
    """The case with what should be found, where nobody has said that yet."""
    paths = {document.path for document in library.documents()} if case.is_open else set()
    while case.is_open:
        path = _asked("Which document answers it? Its path; nothing if none does", default="")
        if not path:
            return replace(case, unanswerable=True)
        if path in paths:
            return replace(case, documents={path: 1})
        click.echo("There is no such document; `pincite catalog` lists them.")
    return case


def _asked(text: str, **how: Any) -> str:  # noqa: ANN401 — as click.prompt
    try:
        return str(click.prompt(text, **how))
    except click.Abort:
        if sys.stdin.isatty():
            raise KeyboardInterrupt from None
        raise SettingsError(
            "there is no terminal to ask on; run it in one, or confirm every draft with --all"
        ) from None


def _shown(case: Case, number: int, of: int, library: Library) -> Iterator[str]:
    yield f"\n{strong(printable(case.question))} {faint(f'{number}/{of}, {case.kind}')}"
    for one in wording.expected(case):
        yield f"  expected: {printable(one)}"
    # The beginning of what stands there, so that nobody has to open the file.
    for place in case.places:
        at = ""
        if place.lines is not None:
            at = f":{place.lines[0]}-{place.lines[1]}"
        elif place.pages is not None:
            at = f":p{place.pages[0]}"
        elif place.time is not None:
            at = f"@{clock(place.time[0])}"
        with suppress(CitationNotFound):
            lines = library.show(f"{place.document}{at}", around=0).lines if at else ()
            yield from (f"  | {printable(line)[:_WIDEST]}" for line in lines[:_LINES_SHOWN])
    if case.note:
        yield faint(f"  {printable(case.note)}")
