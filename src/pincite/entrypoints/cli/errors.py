"""What an error looks like on the command line: one line, or an object for `--json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import takewhile

import click

from pincite.text.printable import printable

_ASKED = "pincite.json"


def note_json(context: click.Context, arguments: Sequence[str]) -> None:
    """Note whether JSON was asked for, before anything can go wrong."""
    options = takewhile(lambda one: one != "--", arguments)
    context.meta[_ASKED] = "--json" in options


def is_json(context: click.Context) -> bool:
    """Whether it was."""
    return bool(context.meta.get(_ASKED))


def tell_error(context: click.Context, kind: str, message: str) -> None:
    """Say on standard error what went wrong; as JSON on one line, which is the last one."""
    if is_json(context):
        told = json.dumps({"error": {"kind": kind, "message": message}}, ensure_ascii=False)
        click.echo(printable(told), err=True)
    else:
        told = printable(message, keep="\n")
        click.echo(f"Error: {told}", err=True)
