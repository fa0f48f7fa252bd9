"""Every store runs every test of this folder that asks for `store`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import STORES, open_test_store

from pincite.ports import Store


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with open_test_store(request.param, tmp_path / "index") as opened:
        yield opened
