"""Questions that do not say what the documents say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pincite import Library, ModelAccess, SearchSettings, open_library
from pincite.entrypoints.cli.main import cli
from pincite.errors import SettingsError

NOWHERE = ModelAccess(base_url="http://127.0.0.1:9/v1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("library")
    (root / "fusion.md").write_text("# Lists\n\nReciprocal Rank Fusion (RRF) joins rankings.\n")
    (root / "late.md").write_text("# Ranking\n\nThe reciprocal rank fusion is late.\n")
    (root / "boats.md").write_text("---\ndate: 2021-06-01\n---\nThe skiff leaks at the transom.\n")
    (root / "pincite-glossary.txt").write_text("dinghy = skiff\nnonsense\n")
    with open_library(root) as library:
        library.index(model="hashing")
    return root


@pytest.fixture
def library(folder: Path) -> Iterator[Library]:
    with open_library(folder, models=NOWHERE) as opened:
        yield opened


DEFAULTS = SearchSettings()


def paths(library: Library, question: str, settings: SearchSettings = DEFAULTS) -> set[str]:
    found = library.search(question, mode="words", settings=settings)
    return {result.document.path for result in found.results}


def search(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        cli, ["search", "--library", str(folder), "--mode", "words", *arguments]
    )


def test_an_abbreviation_finds_documents_that_only_have_the_full_name(library: Library) -> None:
    assert paths(library, "RRF") == {"fusion.md"}
    on = replace(DEFAULTS, acronyms=True)
    assert paths(library, "RRF", on) == {"fusion.md", "late.md"}


def test_the_glossary_is_used_and_is_no_document(library: Library) -> None:
    assert paths(library, "dinghy") == {"boats.md"}
    assert paths(library, "dinghy", replace(DEFAULTS, glossary=False)) == set()
    assert [entry.path for entry in library.documents()] == ["boats.md", "fusion.md", "late.md"]


def test_a_typo_still_finds_and_is_quoted_with_its_match(library: Library) -> None:
    (result,) = library.search("transmo", mode="words").results
    start, end = result.quote.matches[0]
    assert result.quote.text[start:end] == "transom"


def test_what_was_done_is_told_beside_the_results(folder: Path) -> None:
    result = search(folder, "transmo")
    assert "boats.md" in result.stdout
    assert "also searched for" not in result.stdout
    assert "(also searched for: transom (for “transmo”))" in result.stderr
    assert "(pincite-glossary.txt, line 2: left out" in result.stderr
    notes = json.loads(search(folder, "transmo", "--json").stdout)["notes"]
    assert notes[-1] == "also searched for: transom (for “transmo”)"


def test_dates_are_understood_on_request(folder: Path) -> None:
    assert (
        "(only up to 2021-12-31 (for “before 2022”))"
        in search(folder, "skiff before 2022", "--dates").stderr
    )
    assert "2021" not in search(folder, "skiff before 2022").stderr


def test_quoted_words_come_first_and_dates_restrict_the_results(library: Library) -> None:
    quoted = library.search('"fusion is late" of rankings')
    assert quoted.results[0].document.path == "late.md"
    assert library.search('"late is fusion" of rankings').notices != ()
    dated = replace(DEFAULTS, date_words=True)
    assert paths(library, "skiff in 2021", dated) == {"boats.md"}
    assert paths(library, "skiff after 2021", dated) == set()


def test_a_model_that_cannot_be_reached_costs_a_notice_and_no_result(library: Library) -> None:
    asked = SearchSettings(expand="openai:smollm2")
    found = library.search("skiff", mode="words", settings=asked)
    assert [result.document.path for result in found.results] == ["boats.md"]
    assert "127.0.0.1 cannot be reached" in found.notices[0]


def test_a_model_that_could_not_be_reached_is_asked_again(library: Library) -> None:
    asked = SearchSettings(expand="openai:smollm2")
    library.search("skiff", mode="words", settings=asked)
    again = library.search("skiff", mode="words", settings=asked)
    assert "understand" in again.seconds  # no stage runs for what is remembered


def test_a_model_that_is_none_is_refused(library: Library) -> None:
    with pytest.raises(SettingsError, match="unknown language model"):
        library.search("skiff", mode="words", settings=SearchSettings(expand="minilm"))
