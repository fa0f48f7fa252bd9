"""What a search may see, on the command line."""

from __future__ import annotations

from typing import Any

import click

from pincite.records import LEVELS, DocumentId, Filters, Modality

_OPTIONS = (
    click.option(
        "--type", "types", multiple=True, metavar="TYPE", help="Only files of this type: md, pdf, …"
    ),
    click.option("--name", help="Only files whose name contains this, or is like report-*.pdf."),
    click.option("--path", help="Only files whose path in the library begins with this."),
    click.option(
        "--tag", "tags", multiple=True, help="Only documents with this tag; repeat for several."
    ),
    click.option("--project", "projects", multiple=True, help="Only documents of this project."),
    click.option("--author", help="Only documents whose author's name contains this."),
    click.option("--since", metavar="DATE", help="Only documents from then on: 2024, 2024-05-31."),
    click.option("--until", metavar="DATE", help="Only documents up to then."),
    click.option(
        "--clearance",
        type=click.Choice(LEVELS),
        help="Only documents that are no more confidential than this.",
    ),
    click.option("--agent", "agents", multiple=True, help="Only documents meant for this agent."),
    click.option("--heading", help="Only chunks under a heading that contains this."),
    click.option(
        "--modality",
        "modalities",
        multiple=True,
        type=click.Choice([str(one) for one in Modality]),
        help="Only evidence of this kind.",
    ),
    click.option(
        "--language", "languages", multiple=True, help="Only in this language: en, python."
    ),
    click.option("--layer", "layers", multiple=True, help="Only about this layer of a program."),
    click.option(
        "--symbol", "symbols", multiple=True, help="Only chunks with this function or class."
    ),
    click.option("--import", "imports", multiple=True, help="Only code that imports this module."),
    click.option("--document", "documents", multiple=True, help="Only the document with this id."),
    click.option(
        "--where",
        metavar="EXPRESSION",
        help="Only what this holds for, such as 'type = pdf and not tag = draft'.",
    ),
)


def filter_options(command: Any) -> Any:  # noqa: ANN401 — as click's own decorators
    """The options that say what a search may see; `chosen_filters` takes what they give."""
    for option in _OPTIONS[::-1]:
        command = option(command)
    return command


def chosen_filters(
    *,
    documents: tuple[str, ...],
    types: tuple[str, ...],
    modalities: tuple[str, ...],
    path: str | None,
    **given: Any,  # noqa: ANN401 — the others are named as the fields of Filters
) -> Filters:
    """What the options come to; an option that was not given restricts nothing."""
    return Filters(
        document_ids=tuple(map(DocumentId, documents)) or None,
        types=tuple(one.lower().removeprefix(".") for one in types) or None,
        modalities=tuple(map(Modality, modalities)) or None,
        path=path.removeprefix("./") if path else path,
        **{name: None if value == () else value for name, value in given.items()},
    )
