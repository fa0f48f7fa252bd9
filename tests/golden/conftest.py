"""The sample library and the golden corpus, each indexed once in a run with the real model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from libraries import indexed_copy
from pincite import Library, open_library
from pincite.evals.cases import parse_cases
from pincite.records import Case

HERE = Path(__file__).parent
SAMPLE = HERE.parent.parent / "examples" / "library"
CORPUS = HERE / "library"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_library(indexed_copy(SAMPLE, tmp_path_factory)) as opened:
        yield opened


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_library(indexed_copy(CORPUS, tmp_path_factory)) as opened:
        yield opened


@pytest.fixture(scope="session")
def golden() -> tuple[Case, ...]:
    return cases_in("questions.jsonl")


@pytest.fixture(scope="session")
def hard() -> tuple[Case, ...]:
    return cases_in("hard.jsonl")


def cases_in(name: str) -> tuple[Case, ...]:
    return parse_cases((HERE / name).read_text(), name=name)
