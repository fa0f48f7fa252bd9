"""Settings of a search on the command line: `--set NAME=VALUE`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, get_args, get_type_hints

import click

from pincite.errors import SettingsError
from pincite.records import Mode
from pincite.settings import SEARCH_PRESETS, SearchSettings

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
    help="Another value for a setting of the search, such as top_k_words=200; repeat for several. "
    f"preset=NAME sets several at once: {', '.join(SEARCH_PRESETS)}.",
)


_UNDERSTANDING = (
    click.option(
        "--dates",
        "date_words",
        is_flag=True,
        default=None,
        help="Take “since March” or “in 2024” as a restriction; English only.",
    ),
    click.option(
        "--expand",
        metavar="MODEL",
        help="Let a language model (openai:MODEL) give other words to search for.",
    ),
)


def understanding_options(command: Any) -> Any:  # noqa: ANN401 — as click's own decorators
    """The options that say how a question is understood; named as the settings are."""
    for option in _UNDERSTANDING[::-1]:
        command = option(command)
    return command


def search_settings(given: tuple[str, ...], **options: Any) -> SearchSettings:  # noqa: ANN401
    """The defaults with each `name=value` put in place, then each option that was given."""
    settings = _set(given) if given else SearchSettings()
    return replace(
        settings, **{name: value for name, value in options.items() if value is not None}
    )


def _set(given: tuple[str, ...]) -> SearchSettings:
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
            raise SettingsError(f"unknown setting {name!r}; known are: {', '.join(values)}")
        values[name] = _value(value.strip())
    import msgspec

    kinds = get_type_hints(SearchSettings)
    for name, value in values.items():
        try:
            values[name] = msgspec.convert(value, kinds[name])
        except msgspec.ValidationError:
            raise SettingsError(f"--set {name}: {value!r} is not {_wanted(kinds[name])}") from None
    return SearchSettings(**values)


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
