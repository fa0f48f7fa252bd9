"""What a search may see and how it is tuned on the command line, and how its options are listed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from shlex import quote
from typing import Any, get_args, get_type_hints

import click

from pincite.entrypoints.cli.common import refuse_elsewhere, say, with_options
from pincite.errors import SettingsError
from pincite.records import LEVELS, Filters, Modality, Mode
from pincite.records.conditions import Clause
from pincite.records.filters import LISTED
from pincite.settings import SEARCH_PRESETS, SearchSettings
from pincite.text.printable import printable

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
    ("--agent", "agents", "Deprecated: use --where 'agent = NAME'."),
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
_WORDS = {"on": True, "off": False, "true": True, "false": False, "none": None}

mode_option = click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="hybrid",
    show_default=True,
    help="Search by words, by meaning, or both.",
)
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a search setting, such as top_k_words=200; repeat for several. "
    f"preset=NAME sets several at once: {', '.join(SEARCH_PRESETS)}.",
)
_FILTERS = {
    field: click.option(
        flag,
        field,
        multiple=field in LISTED,
        metavar=_SHOWN.get(field),
        type=click.Choice(_CHOICES[field]) if field in _CHOICES else str,
        help=told,
    )
    for flag, field, told in _OPTIONS
}
filter_options = with_options(*_FILTERS.values())
"""The options that say what a search may see; `chosen_filters` takes what they give."""

where_option = _FILTERS["where"]
agent_option = click.option(
    "--agent", metavar="NAME", help="Who answers: one of `pincite agents list`."
)
asking_filter_options = with_options(
    agent_option, *(option for field, option in _FILTERS.items() if field != "agents")
)
"""The same where an agent answers: `--agent` says who, and what that one may see."""

_TUNING = {"caution", "date_words", "expand", "mode", "per_document", "rerank", "settings"}
understanding_options = with_options(
    click.option(
        "--dates",
        "date_words",
        is_flag=True,
        default=None,
        help="Treat “since March” or “in 2024” as a filter; English only.",
    ),
    click.option(
        "--expand",
        metavar="MODEL",
        help="Let a language model (openai:MODEL) suggest more words to search for.",
    ),
)


class Asking(click.Command):
    """A command that takes a question: its help lists filters and tuning after the rest."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, in sections."""
        filters = {field for _, field, _ in _OPTIONS}
        sections: dict[str, list[tuple[str, str]]] = {"Options": [], "Filters": [], "Tuning": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and not isinstance(param, click.Argument):
                rare = "Filters" if param.name in filters else "Tuning"
                common = param.name not in filters | _TUNING
                sections["Options" if common else rare].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def chosen_filters(*, path: str | None, **given: Any) -> Filters:  # noqa: ANN401 — as named above
    """What the options come to; an option that was not given restricts nothing."""
    if named := given.get("agents"):
        same = quote(printable(str(Clause("agent", "is", named))))
        say(f"Note: --agent as a filter is deprecated; use --where {same}", err=True)
    chosen = {name: None if value == () else value for name, value in given.items()}
    return Filters(path=path.removeprefix("./") if path else path, **chosen)


def search_settings(given: tuple[str, ...], **options: Any) -> SearchSettings:  # noqa: ANN401
    """The defaults with each `name=value` put in place, then each option that was given."""
    chosen = {name: value for name, value in options.items() if value is not None}
    if not given:
        return _of_this_process(SearchSettings(**chosen))
    values: dict[str, Any] = asdict(SearchSettings())
    for one in given:
        name, _, value = one.partition("=")
        name = name.strip().replace("-", "_")
        if name == "preset":
            if value.strip() not in SEARCH_PRESETS:
                known = ", ".join(SEARCH_PRESETS)
                raise SettingsError(f"unknown preset {value.strip()!r}; choose one of: {known}")
            values = asdict(SEARCH_PRESETS[value.strip()])
            continue
        if name not in values:
            raise SettingsError(f"unknown setting {name!r}; choose one of: {', '.join(values)}")
        values[name] = _value(value.strip())
    import msgspec

    kinds = get_type_hints(SearchSettings)
    for name, value in values.items():
        try:
            values[name] = msgspec.convert(value, kinds[name])
        except msgspec.ValidationError:
            raise SettingsError(f"--set {name}: {value!r} is not {_wanted(kinds[name])}") from None
    return _of_this_process(SearchSettings(**values | chosen))


def _of_this_process(settings: SearchSettings) -> SearchSettings:
    """A model is named as it is found from here, and asked with the keys that are here."""
    if settings.rerank or settings.expand:
        refuse_elsewhere("--rerank" if settings.rerank else "--expand")
    return settings


def _wanted(kind: Any) -> str:  # noqa: ANN401 — a type, or several
    """What a setting takes, in words."""
    choices = get_args(kind)
    if choices and all(isinstance(one, str) for one in choices):
        return f"one of: {', '.join(choices)}"
    words = {bool: "on or off", int: "a whole number", float: "a number", str: "a text"}
    named = [words.get(one, "none") for one in choices or (kind,)]
    return " or ".join(named)


def _value(text: str) -> float | int | bool | str | None:
    """A number or a switch, else the text as it is."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text
