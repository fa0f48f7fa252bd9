"""Settings for every test: the same generated examples on every machine, and no clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("pincite", deadline=None, derandomize=True, database=None)
settings.load_profile("pincite")
