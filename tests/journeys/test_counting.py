"""`ask --all`: everything is looked at, every hit is cited, and it is said how much that was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from pincite import Library, open_library
from pincite.entrypoints.cli.main import cli
from pincite.errors import SearchCancelled, SettingsError

TEXTS = {
    "bread.md": "# Bread\n\nThe loaf needs rye flour and water.\n\nRye flour is kept dry.\n",
    "cake.md": "# Cake\n\nThe cake needs wheat flour.\n\nRye grows near the river.\n",
    "soup.md": "# Soup\n\nThe soup needs salt.\n",
    "stew.md": "# Stew\n\nThe stew is thickened with RYE-flour.\n",
    "broken.pdf": "%PDF-1.7 nothing",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        yield library


def test_every_document_is_looked_at_and_every_passage_cited(library: Library) -> None:
    found = library.count("how many documents mention rye flour?")
    assert set(found.documents) == {"bread.md", "stew.md"}
    assert (found.looked_at, found.total) == (4, 4)
    quotes = {(one.path, one.quote) for one in found.hits}
    assert ("bread.md", "Rye flour is kept dry.") in quotes
    assert len(quotes) == 3
    for one in found.hits:
        document = library.get_document(one.document_id)
        assert document is not None
        assert document.text[one.start : one.end] == one.quote
    assert found.statement.startswith(
        "4 of 4 documents looked at, 2 hold it, 1 could not be read: broken.pdf."
    )


def test_which_do_not_is_the_other_ones(library: Library) -> None:
    found = library.count("which documents do not mention flour?")
    assert found.documents == ("soup.md",)
    assert found.hits == ()
    assert "1 do not hold it" in found.statement


def test_filters_choose_what_is_looked_at_and_a_question_must_say_for_what(
    library: Library,
) -> None:
    found = library.count("list all that mention flour", filters={"name": "cake"})
    assert (found.documents, found.total) == (("cake.md",), 1)
    with pytest.raises(SettingsError, match="what to look for"):
        library.count("how many documents are there?")
    with pytest.raises(SearchCancelled):
        library.count("which documents mention flour?", cancelled=lambda: True)


def test_a_name_of_several_words_is_looked_for_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Ada likes River Otters and Sea Birds.\n")
    (tmp_path / "b.md").write_text("Ben likes Sea Otters and River Birds.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        assert library.count("Who likes River Otters?").documents == ("a.md",)
        assert len(library.count("who likes river otters?").documents) == 2


def test_the_command_counts_and_the_abstention_offers_it(library: Library) -> None:
    def asked(*more: str) -> str:
        arguments = ["ask", *more, "--library", str(library.root)]
        return CliRunner().invoke(cli, arguments).output

    question = "which documents mention rye flour?"
    assert "ask --all" in asked(question)
    told = asked("--all", question)
    assert "2 hold it" in told
    assert "bread.md" in told
    as_json = json.loads(asked("--all", question, "--json"))
    assert set(as_json["documents"]) == {"bread.md", "stew.md"}
