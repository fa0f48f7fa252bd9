"""Small TOML files that people write: agents, and templates of artifacts."""

from __future__ import annotations

import re
from typing import Literal, TypeVar, get_args, get_origin, get_type_hints

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
        field = re.search(r" - at `\$\.(\w+)`$", str(error))
        wanted = get_type_hints(kind).get(field[1]) if field else None
        if field and get_origin(wanted) is Literal:
            known = list(get_args(wanted))
            raise SettingsError(
                f"{what}: {field[1]} is {values[field[1]]!r}; it can be: {', '.join(known)}"
            ) from error
        told = re.sub(r" - at `\$\.?(.*?)`$", r" in `\1`", str(error))
        raise SettingsError(f"{what}: {told}") from error
