"""Questions drafted by a language model: a real one, if small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_server import language_model
from pincite import ModelAccess, open_library
from pincite.records import Case

NOTES = {
    "lease.md": "# The lease\n\nThe lease of the harbour office ends on 30 June 2025. The rent of "
    "the office is 900 a month. Either side may give notice three months before the end of it.\n"
    "The harbour office has two rooms and a view of the lighthouse.\n",
    "bread.md": "# The galley loaf\n\nThe loaf is baked on Friday morning in the galley. It takes "
    "500 grams of flour, 350 grams of water and 10 grams of salt. The dough rests for twelve hours "
    "before it goes into the oven.\n",
    "buoy.md": "# Buoy seven\n\nThe yellow buoy lies 1.2 kilometres west of the jetty, in 27 "
    "metres of water. Its battery lasts for two years. It sends the height of the waves by "
    "radio every ten minutes.\n",
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with language_model() as address:
        yield address


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text)
    with open_library(tmp_path) as opened:
        opened.index(model="hashing")
    return tmp_path


def drafted(library: Path, url: str) -> list[Case]:
    with open_library(library, models=ModelAccess(base_url=url)) as opened:
        return opened.evaluation.draft(most=6, model="openai:smollm2")


def test_a_language_model_writes_questions_on_request(library: Path, url: str) -> None:
    written = [case for case in drafted(library, url) if "language model" in case.note]
    assert written
    for case in written:
        (path,) = case.documents
        (place,) = case.places
        assert case.draft
        assert case.question.endswith("?")
        assert place.document == path
        words = case.question.lower().strip("?").split()
        assert any(len(word) > 3 and word in NOTES[path].lower() for word in words)


def test_where_the_model_cannot_be_reached_the_text_gives_the_questions(library: Path) -> None:
    with open_library(library) as opened:
        from_text = opened.evaluation.draft(most=6)
    assert from_text
    assert drafted(library, "http://127.0.0.1:9/v1") == from_text
