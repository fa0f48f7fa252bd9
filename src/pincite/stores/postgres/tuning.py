"""Settings of the index for vectors, as parameters of a database's address."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pincite.errors import SettingsError
from pincite.stores.postgres.address import PREFIX, without_settings
from pincite.stores.postgres.indexes import IndexSettings

_TEXTS = ("kind", "memory")
_NUMBERS = tuple(field.name for field in fields(IndexSettings) if field.name not in _TEXTS)
_KNOWN = ("index", "memory", *_NUMBERS)
_MOST_DIGITS = 18  # of a number; Python refuses those of some thousand


def taken_apart(url: str) -> tuple[str, IndexSettings]:
    """The address as PostgreSQL knows it, and the settings that it named.

    `postgresql://db/notes?pincite.index=ivfflat&pincite.probes=20`
    """
    address, ours = without_settings(url)
    settings = IndexSettings(**dict(_setting(*one.partition("=")[::2]) for one in ours))
    settings.check()
    return address, settings


def _setting(name: str, value: str) -> tuple[str, Any]:
    if name == "index":
        return "kind", value
    if name == "memory":
        return name, value
    if name not in _NUMBERS:
        known = ", ".join(f"{PREFIX}{one}" for one in _KNOWN)
        raise SettingsError(f"{PREFIX}{name} is not a setting of an address; settings are: {known}")
    if not value.isdecimal() or len(value) > _MOST_DIGITS:
        raise SettingsError(f"{PREFIX}{name} is {value!r}, but a whole number is expected")
    return name, int(value)
