"""What several journeys begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from projects import Open, new_project


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Ada's project, opened by whoever asks."""
    return new_project(tmp_path)
