"""Summaries by a language model: a real one, if small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_server import language_model
from pincite import ModelAccess, open_library


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with language_model() as address:
        yield address


def write_notes(folder: Path) -> None:
    (folder / "lease.md").write_text(
        "# The lease\n\nThe lease of the harbour office ends on 30 June 2025. The rent is 900 a "
        "month. Either side may give notice three months before.\n"
    )


def test_a_language_model_writes_the_summaries_on_request(tmp_path: Path, url: str) -> None:
    write_notes(tmp_path)
    with open_library(tmp_path, models=ModelAccess(base_url=url)) as library:
        library.index(model="hashing")
        (extracted,) = library.catalog()
        report = library.index(summaries="openai:smollm2")
        (written,) = library.catalog()
        assert extracted.document is not None
        assert written.document is not None
        assert written.document.summary not in ("", extracted.document.summary)
        assert len(written.document.summary) <= 402
        assert (report.recut, report.embedded) == (1, 0)  # nothing is embedded again for it
        again = library.index()
        assert (again.unchanged, again.recut) == (1, 0)
        library.index(summaries="")
        (back,) = library.catalog()
        assert back.document is not None
        assert back.document.summary == extracted.document.summary


def test_a_model_that_cannot_be_reached_costs_a_note_and_no_document(tmp_path: Path) -> None:
    write_notes(tmp_path)
    nowhere = ModelAccess(base_url="http://127.0.0.1:9/v1")
    with open_library(tmp_path, models=nowhere) as library:
        report = library.index(model="hashing", summaries="openai:smollm2")
        (entry,) = library.catalog()
    assert report.added == 1
    assert "its summary is taken from its text: 127.0.0.1 cannot be reached" in entry.reason
    assert entry.state == "partly read"
    assert entry.document is not None
    assert "lease" in entry.document.summary
