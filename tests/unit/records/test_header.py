"""No header says what no index can be, wherever it comes from."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import HEADER
from pincite import open_library
from pincite.errors import SettingsError, StoreDamaged
from pincite.stores.codec import header_from_json, header_to_json
from pincite.stores.sqlite.connection import connect

STRANGE: list[dict[str, Any]] = [
    {"max_file_bytes": 10**18},
    {"max_file_bytes": -1},
    {"max_file_bytes": True},
    {"edition": 0},
    {"ingestion_version": "4"},
    {"name": ""},
    {"name": ["a"]},
    {"summaries": None},
    {"options": [1]},
    {"options": 5},
    {"model": []},
    {"model": {}},
    {"surprise": 1},
]


def test_a_header_is_read_as_it_was_written() -> None:
    header = replace(HEADER, options=("comments",), summaries="openai:m")
    assert header_from_json(json.loads(json.dumps(header_to_json(header)))) == header


@pytest.mark.parametrize("strange", STRANGE, ids=str)
def test_a_stored_header_that_cannot_be_is_damage(strange: dict[str, Any]) -> None:
    with pytest.raises(StoreDamaged, match="does not say how it is made"):
        header_from_json({**header_to_json(HEADER), **strange})


@pytest.mark.parametrize("number", ["dimensions", "token_limit"])
def test_so_are_numbers_of_its_model(number: str) -> None:
    stored = header_to_json(HEADER)
    stored["model"][number] = 10**12
    with pytest.raises(StoreDamaged, match=number):
        header_from_json(stored)


def test_an_index_with_such_a_header_is_refused_and_one_is_never_made(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A pump\n")
    with open_library(tmp_path) as library:
        for limit in (10**18, 0):
            with pytest.raises(SettingsError, match="max_file_bytes must be a number from 1"):
                library.index(model="hashing", max_file_bytes=limit)
        library.index(model="hashing")
    with closing(connect(tmp_path / ".index/index.db", writable=True)) as database:
        database.execute(
            "UPDATE meta SET value = json_set(value, '$.max_file_bytes', 1000000000000000000) "
            "WHERE key = 'header'"
        )
    with open_library(tmp_path) as library, pytest.raises(StoreDamaged, match="max_file_bytes"):
        library.index()
