"""For every test: the same generated examples on every machine, and every store where asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from helpers import STORES, open_test_store
from pincite.ports import Store

settings.register_profile("pincite", deadline=None, derandomize=True, database=None)
settings.load_profile("pincite")


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of every kind there is, one after the other."""
    with open_test_store(request.param, tmp_path / "index") as opened:
        yield opened
