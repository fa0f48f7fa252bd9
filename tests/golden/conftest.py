"""The sample library, indexed once with the real model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite import Library, open_library
from pincite.evals.cases import parse_cases
from pincite.records import Case

HERE = Path(__file__).parent
SAMPLE = HERE.parent.parent / "examples" / "library"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("golden") / "library"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns(".index"))
    with open_library(folder) as opened:
        opened.index()
        yield opened


@pytest.fixture(scope="session")
def golden() -> tuple[Case, ...]:
    return cases_in("questions.jsonl")


@pytest.fixture(scope="session")
def hard() -> tuple[Case, ...]:
    return cases_in("hard.jsonl")


def cases_in(name: str) -> tuple[Case, ...]:
    return parse_cases((HERE / name).read_text(), name=name)
