"""`pincite index`: build, update, add, watch, stats, verify."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pincite.engine import INDEX_FOLDER, Library, find_library, remembered_place
from pincite.entrypoints import reports
from pincite.entrypoints.cli import progress
from pincite.entrypoints.cli.common import (
    GivenPath,
    as_json_option,
    echo_json,
    echo_lines,
    library_option,
    note_unused_index,
    open_around,
    open_at,
    open_for,
    own_profiles,
    project_options,
    refuse_elsewhere,
    tell_move,
)
from pincite.errors import FileUnreadable, LibraryError, SettingsError
from pincite.records import LARGEST_FILE_BYTES, IndexReport, Progress
from pincite.settings import (
    DEFAULT_MAX_FILE_BYTES,
    DEFAULT_MODEL,
    DEFAULT_POLICY,
    POLICY_NAMES,
    READING_OPTIONS,
)
from pincite.text.printable import printable

EXIT_PARTLY_FAILED = 1
EXIT_DAMAGED = 4
_NOTHING: Mapping[str, str] = {}

folder_argument = click.argument("folder", type=GivenPath(), default=Path())
size_option = click.option(
    "--max-file-size",
    "max_file_bytes",
    type=click.IntRange(min=1, max=LARGEST_FILE_BYTES),
    help=f"Skip files with more bytes than this. [default: {DEFAULT_MAX_FILE_BYTES:,}]",
)
passwords_option = click.option(
    "--passwords",
    "passwords_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="PINCITE_PASSWORDS",
    help="A file with passwords for encrypted documents, one on each line.",
)


@click.group()
@click.pass_context
def index(context: click.Context) -> None:
    """Make a folder searchable and keep it up to date."""
    if context.invoked_subcommand != "add":
        refuse_elsewhere(f"`pincite index {context.invoked_subcommand}`")


@index.command()
@folder_argument
@click.option(
    "--policy",
    type=click.Choice(POLICY_NAMES),
    help=f"The chunk policy. [default: {DEFAULT_POLICY}]",
)
@click.option(
    "--model", help=f"minilm, hashing, openai:MODEL or a folder. [default: {DEFAULT_MODEL}]"
)
@click.option("--name", help="The library's name, part of every id. [default: the folder's name]")
@click.option("--fresh", is_flag=True, help="Read, cut and embed everything again.")
@click.option(
    "--read",
    "options",
    multiple=True,
    type=click.Choice([*READING_OPTIONS, "nothing-else"]),
    help="Also read these parts of Word documents; repeat for several.",
)
@click.option(
    "--summaries",
    metavar="MODEL",
    help="Let openai:MODEL write the catalog's summaries; `text` undoes that.",
)
@size_option
@passwords_option
@project_options
@as_json_option
def build(
    folder: Path,
    policy: str | None,
    model: str | None,
    name: str | None,
    fresh: bool,
    options: tuple[str, ...],
    summaries: str | None,
    max_file_bytes: int | None,
    passwords_file: Path | None,
    as_json: bool,
    **place: str | None,
) -> None:
    """Index every document of FOLDER.

    A stopped build continues where it was. The index remembers all options except passwords.
    Another model means indexing everything from scratch; `pincite reindex` does that while the old
    index still answers. If the default model is missing, it is downloaded (84 MB).

    With --store the index becomes a project in a team's database.

    Example: pincite index build ~/notes
    """
    _warn_of_library_above(folder)
    before = remembered_place(folder)
    with open_at(folder, own_profiles(), **place) as library:
        note_unused_index(library)
        started = time.monotonic()
        with progress.shown(quiet=as_json) as on_progress:
            report = library.index(
                policy=policy,
                model=model,
                name=name,
                fresh=fresh,
                options=tuple(one for one in options if one in READING_OPTIONS)
                if options
                else None,
                summaries="" if summaries == "text" else summaries,
                max_file_bytes=max_file_bytes,
                passwords=passwords_in(passwords_file),
                on_progress=on_progress,
            )
        left = tell_move(library, before, as_json=as_json)
        _print(library, report, time.monotonic() - started, as_json=as_json, more=left)
    _finish(report)


@index.command()
@folder_argument
@size_option
@passwords_option
@as_json_option
def update(
    folder: Path, max_file_bytes: int | None, passwords_file: Path | None, as_json: bool
) -> None:
    """Follow what changed in the library around FOLDER: new, changed, moved and deleted files.

    Example: pincite index update
    """
    with open_around(folder, own_profiles()) as library:
        started = time.monotonic()
        with progress.shown(quiet=as_json) as on_progress:
            report = library.index(
                max_file_bytes=max_file_bytes,
                passwords=passwords_in(passwords_file),
                on_progress=on_progress,
            )
        _print(library, report, time.monotonic() - started, as_json=as_json)
    _finish(report)


@index.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=GivenPath())
@click.option(
    "--label",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="What the files do not say themselves, such as project=apollo or tags=lease; repeat for "
    "several. An empty value takes a label away.",
)
@library_option
@as_json_option
def add(files: tuple[Path, ...], given: tuple[str, ...], library: Path, as_json: bool) -> None:
    """Hand in each FILE: copy it into the library and make it searchable.

    A library in a folder keeps it as `uploads/…`. What the library holds already is not taken
    twice. Works through a server, too.

    Example: pincite index add lease.pdf --label project=office
    """
    labels = _labels(given)
    told: list[dict[str, str]] = []
    with (
        open_for(library, own_profiles()) as opened,
        progress.shown(quiet=as_json, at_once=len(files) > 1, noun="files") as on_progress,
    ):
        for done, file in enumerate(files):
            on_progress(Progress(done, len(files), done, len(files), str(file)))
            try:
                taken = opened.index_document(file.name, file.read_bytes(), labels=labels)
            except (FileUnreadable, SettingsError, OSError) as error:
                why = error.strerror if isinstance(error, OSError) else str(error)
                told.append({"file": str(file), "status": "failed", "reason": why or str(error)})
            else:
                document = taken.document
                facts = {"id": document.id, "path": document.path}
                told.append({"file": str(file), "status": taken.status, **facts})
    failed = sum(one["status"] == "failed" for one in told)
    if as_json:
        echo_json({"files": told, "failed": failed})
    else:
        for one in told:
            echo_lines([printable(f"{one['status']}: {one.get('path') or one['file']}")])
            echo_lines([f"  {printable(one['reason'])}"] if "reason" in one else [])
    if failed:
        sys.exit(EXIT_PARTLY_FAILED)


def _labels(given: tuple[str, ...]) -> dict[str, Any]:
    """Labels as `index_document` takes them: tags and agents are lists."""
    labels: dict[str, Any] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign:
            raise click.UsageError(f"--label takes NAME=VALUE, not {printable(one)!r}")
        if name in ("tags", "agents") and value:
            labels.setdefault(name, []).append(value)
        else:
            labels[name] = value or None
    return labels


@index.command()
@folder_argument
@passwords_option
@as_json_option
def watch(folder: Path, passwords_file: Path | None, as_json: bool) -> None:
    """Keep following the library around FOLDER until Ctrl-C.

    Example: pincite index watch
    """
    with open_around(folder, own_profiles()) as library:
        click.echo(f"Following {printable(str(library.root))}; Ctrl-C ends it.", err=True)
        started = time.monotonic()
        following = library.watch(
            threading.Event(),
            passwords=passwords_in(passwords_file),
            on_trouble=lambda trouble: click.echo(
                f"{printable(str(trouble))} (trying again)", err=True
            ),
        )
        for report in following:
            _print(library, report, time.monotonic() - started, as_json=as_json)
            sys.stdout.flush()
            started = time.monotonic()


@index.command()
@folder_argument
@as_json_option
def stats(folder: Path, as_json: bool) -> None:
    """Print what the index of the library around FOLDER holds.

    Example: pincite index stats --json
    """
    with open_around(folder) as library:
        figures = library.stats()
    if as_json:
        echo_json(reports.stats_as_json(figures))
    else:
        echo_lines(reports.stats_as_text(figures))


@index.command()
@folder_argument
@click.option("--repair", is_flag=True, help="Mend what does not agree.")
@as_json_option
def verify(folder: Path, repair: bool, as_json: bool) -> None:
    """Check that documents, words and vectors of the library around FOLDER agree.

    Example: pincite index verify --repair
    """
    with open_around(folder) as library:
        place = library.place
        findings = library.verify(repair=repair)
        left = library.verify() if repair and findings else findings
    if as_json:
        echo_json(reports.findings_as_json(findings, left))
    else:
        echo_lines(reports.findings_as_text(findings, left, in_folder=not place))
    if left:
        sys.exit(EXIT_DAMAGED)


def _warn_of_library_above(folder: Path) -> None:
    """A library inside a library is rarely meant; its searches would see only the inner one."""
    try:
        above = find_library(folder.absolute().parent)
    except LibraryError:
        return
    if not (folder / INDEX_FOLDER).exists():
        click.echo(
            f"Note: {printable(str(above))} has an index already; this folder gets its own.",
            err=True,
        )


def passwords_in(file: Path | None) -> tuple[str, ...]:
    """The passwords of a file, to the letter; blank lines are left out."""
    if file is None:
        return ()
    try:
        lines = file.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} cannot be read as text in UTF-8: {error}") from error
    return tuple(line.rstrip("\r") for line in lines if line.strip())


def _finish(report: IndexReport) -> None:
    if report.failures or report.lacking:
        sys.exit(EXIT_PARTLY_FAILED)


def _print(
    library: Library,
    report: IndexReport,
    seconds: float,
    *,
    as_json: bool,
    more: Mapping[str, str] = _NOTHING,
) -> None:
    if as_json:
        echo_json({**reports.report_as_json(report, seconds), **more})
    else:
        echo_lines(reports.report_as_text(report, seconds))
    if report.answers:
        from pincite.engine.saved_answers import note_told

        note_told(library, report.answers)
