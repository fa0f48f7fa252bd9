"""Settings of the index for vectors, as parameters of a database's address."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pincite.errors import SettingsError
from pincite.stores.postgres.address import PREFIX, without_settings
from pincite.stores.postgres.indexes import IndexSettings

_NUMBERS = (one.name for one in fields(IndexSettings) if one.name not in ("kind", "memory"))
_KNOWN = ("index", "memory", *_NUMBERS)
_MOST_DIGITS = 18  # of a number; Python refuses those of some thousand


def taken_apart(url: str) -> tuple[str, IndexSettings]:
    """The address as PostgreSQL knows it, and the settings that it named.

    `postgresql://db/notes?pincite.index=ivfflat&pincite.probes=20`
    """
    address, ours = without_settings(url)
    given: dict[str, Any] = {}
    for one in ours:
        name, _, value = one.partition("=")
        if name not in _KNOWN:
            known = ", ".join(f"{PREFIX}{each}" for each in _KNOWN)
            raise SettingsError(
                f"{PREFIX}{name} is not a setting of an address; settings are: {known}"
            )
        if name in ("index", "memory"):
            given["kind" if name == "index" else name] = value
        elif not value.isdecimal() or len(value) > _MOST_DIGITS:
            raise SettingsError(f"{PREFIX}{name} is {value!r}, but a whole number is expected")
        else:
            given[name] = int(value)
    settings = IndexSettings(**given)
    settings.check()
    return address, settings
