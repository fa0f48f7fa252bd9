"""`pincite check`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from pincite.entrypoints import answers
from pincite.entrypoints.cli.common import (
    GivenPath,
    as_json_option,
    echo_json,
    echo_lines,
    library_option,
    open_for,
)
from pincite.errors import ReceiptInvalid
from pincite.records import CheckedCitation
from pincite.text.printable import printable

EXIT_NOT_VALID = 12
STILL_TRUE = ("valid", "moved")  # the words stand in the library, there or elsewhere
EXIT_NOT_CHECKED = 4  # as where one file that cannot be read is all there is


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=GivenPath())
@library_option
@as_json_option
def check(files: tuple[Path, ...], library: Path, as_json: bool) -> None:
    """Tell what became of the citations in receipts, or in Markdown that `ask --copy` printed.

    Each is compared with the library as it is now. The exit code is 0 if all are valid or moved, 12
    if one is not, and 4 if a file cannot be read; the others are checked anyway.

    Example: pincite check answer.json
    """
    checked: dict[str, tuple[CheckedCitation, ...]] = {}
    problems: dict[str, str] = {}
    with open_for(library) as opened:
        for file in files:
            try:
                checked[str(file)] = opened.check(file)
            except ReceiptInvalid as error:
                problems[str(file)] = str(error)
    every = [one for found in checked.values() for one in found]
    if as_json:
        echo_json(
            {
                "files": [
                    {
                        "file": str(file),
                        "error": problems.get(str(file)),
                        "citations": [asdict(one) for one in checked.get(str(file), ())],
                    }
                    for file in files
                ],
                "counts": answers.counts_of(every),
                "valid": not problems and all(one.state in STILL_TRUE for one in every),
            }
        )
    else:
        for name, found in checked.items():
            click.echo(f"{printable(name)}:")
            echo_lines(answers.checked_as_text(found))
        click.echo(answers.counts_as_text(every))
        for name, problem in problems.items():
            click.echo(printable(f"Error: {name}: {problem}"), err=True)
    if problems:
        raise SystemExit(EXIT_NOT_CHECKED)
    if any(one.state not in STILL_TRUE for one in every):
        raise SystemExit(EXIT_NOT_VALID)
