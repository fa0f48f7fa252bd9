"""Small TOML files that people write: agents, and templates of artifacts."""

from __future__ import annotations

from typing import TypeVar

from pincite.errors import SettingsError, did_you_mean

T = TypeVar("T")


def parse_toml(text: str, kind: type[T], what: str, **given: str) -> T:
    """What a text says, with what is given and so no key; SettingsError names file and key."""
    import tomllib

    import msgspec

    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{what} is not TOML: {error}") from None
    known = [one for one in kind.__annotations__ if one not in given]
    if unknown := next((key for key in values if key not in known), None):
        meant = did_you_mean(unknown, known)
        raise SettingsError(
            f"{what} has an unknown key {unknown!r}{meant}; known are: {', '.join(known)}"
        )
    try:
        return msgspec.convert(values | given, kind)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{what}: {error}") from error
