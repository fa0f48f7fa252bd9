"""What a search may see, on the command line."""

from __future__ import annotations

from typing import Any

import click

from pincite.records import LEVELS, Filters, Modality
from pincite.records.filters import LISTED

# Option, field of Filters, what it does; a field of several values can be given several times.
_OPTIONS = (
    ("--type", "types", "Only files of this type: md, pdf, … (video, audio: their transcripts)."),
    ("--name", "name", "Only files whose name contains this, or is like report-*.pdf."),
    ("--path", "path", "Only files whose path in the library begins with this."),
    ("--tag", "tags", "Only documents with this tag; repeat for several."),
    ("--project", "projects", "Only documents of this project."),
    ("--author", "author", "Only documents whose author's name contains this."),
    ("--since", "since", "Only documents from then on: 2024, 2024-05-31."),
    ("--until", "until", "Only documents up to then."),
    ("--clearance", "clearance", "Only documents that are no more confidential than this."),
    ("--agent", "agents", "Only documents meant for this agent."),
    ("--heading", "heading", "Only chunks under a heading that contains this."),
    ("--modality", "modalities", "Only evidence of this kind."),
    ("--language", "languages", "Only in this language: en (en-US, too), python."),
    ("--layer", "layers", "Only about this layer of a program."),
    ("--symbol", "symbols", "Only chunks with this function or class."),
    ("--import", "imports", "Only code that imports this module."),
    ("--document", "document_ids", "Only the document with this id."),
    ("--where", "where", "Only what this holds for, such as 'type = pdf and not tag = draft'."),
)
_SHOWN = {"types": "TYPE", "since": "DATE", "until": "DATE", "where": "EXPRESSION"}
_CHOICES = {"clearance": LEVELS, "modalities": tuple(map(str, Modality))}


def filter_options(command: Any) -> Any:  # noqa: ANN401 — as click's own decorators
    """The options that say what a search may see; `chosen_filters` takes what they give."""
    for flag, field, told in reversed(_OPTIONS):
        command = click.option(
            flag,
            field,
            multiple=field in LISTED,
            metavar=_SHOWN.get(field),
            type=click.Choice(_CHOICES[field]) if field in _CHOICES else str,
            help=told,
        )(command)
    return command


def chosen_filters(*, path: str | None, **given: Any) -> Filters:  # noqa: ANN401 — as named above
    """What the options come to; an option that was not given restricts nothing."""
    chosen = {name: None if value == () else value for name, value in given.items()}
    return Filters(path=path.removeprefix("./") if path else path, **chosen)
