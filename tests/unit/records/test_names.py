"""The names that `pincite` and `pincite.records` offer, those that are loaded late among them."""

from __future__ import annotations

from types import ModuleType

import pytest

import pincite
from pincite import records


@pytest.mark.parametrize("module", [pincite, records], ids=lambda module: module.__name__)
def test_every_name_that_is_offered_can_be_had(module: ModuleType) -> None:
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert missing == []


@pytest.mark.parametrize("module", [pincite, records], ids=lambda module: module.__name__)
def test_a_name_that_is_not_offered_is_refused_as_python_does(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"{module.__name__}.*'nonsense'"):
        module.nonsense  # noqa: B018 — asked for, not used
