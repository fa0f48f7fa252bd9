"""Packages that only evaluation needs, and that not everyone has."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from pincite.errors import SettingsError, extra_needed


def needed_package(name: str) -> ModuleType:
    """A package that only evaluation needs: loaded late, because it takes seconds."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise SettingsError(extra_needed("evaluation", "eval")) from error
