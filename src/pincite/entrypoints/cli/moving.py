"""`pincite export`, `import`, `backup`, `restore`: a library as one file."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from pincite.engine import INDEX_FOLDER, remembered_place
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
    project_options,
    tell_move,
)
from pincite.errors import FolderMissing, PinciteError, SettingsError
from pincite.records import MoveReport

STANDARD_OUTPUT = Path("/dev/stdout")
_NOTHING: Mapping[str, str] = {}


class FileToWrite(GivenPath):
    """A path that was named; `-` is standard output."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """The path."""
        return super().convert(STANDARD_OUTPUT if value == "-" else value, param, ctx)


class StandardOutput:
    """Standard output for bytes, whole and at once, so that none are left to fail later."""

    def __init__(self) -> None:
        self._number = 1
        if os.isatty(self._number):
            raise SettingsError(
                "this would write binary data to your terminal; redirect it: "
                "`pincite export - > FILE` or `pincite export - | …`"
            )

    def write(self, data: bytes) -> None:
        """Write all of it."""
        left = memoryview(data)
        while left:
            left = left[os.write(self._number, left) :]


file_argument = click.argument("file", type=GivenPath())
written_file_argument = click.argument("file", type=FileToWrite())
folder_argument = click.argument("folder", type=GivenPath())
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
replace_option = click.option(
    "--replace", is_flag=True, help="Replace the index in FOLDER, but not its documents."
)


@click.command()
@written_file_argument
@library_option
@overwrite_option
@as_json_option
def export(file: Path, library: Path, overwrite: bool, as_json: bool) -> None:
    """Write a library with its vectors into one FILE, to be imported elsewhere.

    The file has what the library has today, and nothing that was deleted. For a team's project it
    has what you may see. If FILE is -, it goes to standard output and the report to standard error.

    Example: pincite export notes.pincite
    """
    _export(file, library, history=False, overwrite=overwrite, as_json=as_json)


@click.command()
@written_file_argument
@library_option
@overwrite_option
@as_json_option
def backup(file: Path, library: Path, overwrite: bool, as_json: bool) -> None:
    """Write a library with its past versions into one FILE, even while it is being indexed.

    The file has what `export` writes and the text of past versions, so that old citations still
    open after `restore`. For a team's project it has what you may see.

    Example: pincite backup notes-monday.pincite
    """
    _export(file, library, history=True, overwrite=overwrite, as_json=as_json)


@click.command("import")
@file_argument
@folder_argument
@replace_option
@project_options
@as_json_option
def import_(file: Path, folder: Path, replace: bool, as_json: bool, **place: str | None) -> None:
    """Make the library in FILE searchable in FOLDER, without embedding anything again.

    FOLDER need not hold the documents; it is created if it does not exist. A damaged file changes
    nothing. With --store the index becomes a project of a team's database.

    Example: pincite import notes.pincite ~/notes
    """
    _import(file, folder, place, replace=replace, as_json=as_json)


@click.command()
@file_argument
@folder_argument
@replace_option
@project_options
@as_json_option
def restore(file: Path, folder: Path, replace: bool, as_json: bool, **place: str | None) -> None:
    """Restore the backup in FILE to FOLDER.

    Example: pincite restore notes-monday.pincite ~/notes --replace
    """
    _import(file, folder, place, replace=replace, as_json=as_json)


def _export(file: Path, folder: Path, *, history: bool, overwrite: bool, as_json: bool) -> None:
    started = time.monotonic()
    doing = "Backing up" if history else "Exporting"
    to_stdout = file == STANDARD_OUTPUT
    target = StandardOutput() if to_stdout else file
    with open_around(folder) as library, progress.shown(quiet=as_json, doing=doing) as on_progress:
        report = library.export_to(
            target, history=history, overwrite=overwrite, on_progress=on_progress
        )
    seconds = time.monotonic() - started
    _print(report, "Wrote", seconds, as_json=as_json, err=to_stdout)


def _import(
    file: Path, folder: Path, place: dict[str, str | None], *, replace: bool, as_json: bool
) -> None:
    started = time.monotonic()
    before = remembered_place(folder)
    with (
        _made(folder),
        open_at(folder, **place) as library,
        progress.shown(quiet=as_json, doing="Importing") as on_progress,
    ):
        note_unused_index(library)
        report = library.import_from(file, replace=replace, on_progress=on_progress)
        left = tell_move(library, before, as_json=as_json)
    _print(report, "Took over", time.monotonic() - started, as_json=as_json, more=left)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder is there; one that was made for nothing goes again."""
    made = not folder.exists()
    above = folder.absolute().parent
    if made and not above.is_dir():
        raise FolderMissing(f"{above} does not exist; make it first")
    if made:
        folder.mkdir()
    try:
        yield
    except PinciteError:
        if made:
            shutil.rmtree(folder / INDEX_FOLDER, ignore_errors=True)
            folder.rmdir()
        raise


def _print(
    report: MoveReport,
    done: str,
    seconds: float,
    *,
    as_json: bool,
    err: bool = False,
    more: Mapping[str, str] = _NOTHING,
) -> None:
    if as_json:
        echo_json({**reports.move_as_json(report, seconds), **more}, err=err)
    else:
        echo_lines(reports.move_as_text(report, done, seconds), err=err)
