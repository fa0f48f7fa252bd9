"""Asking: answers in the documents' own words, each proven; or an honest no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pincite import Abstention, Answer, AskSettings, open_library
from pincite.entrypoints.cli.main import cli
from pincite.errors import SettingsError

NOTES = {
    "lease.md": "# The lease\n\nThe lease of the harbour office ends on 30 June 2025.\n",
    "buoy.md": "# Buoy seven\n\nThe yellow buoy lies in 27 metres of water.\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("library")
    for name, text in NOTES.items():
        (root / name).write_text(text)
    with open_library(root) as library:
        library.index()
    return root


def test_an_answer_quotes_words_that_stand_at_their_place(folder: Path) -> None:
    with open_library(folder) as library:
        told = library.ask("when does the lease of the harbour office end?")
    assert isinstance(told, Answer)
    assert told.claims[0].text == "The lease of the harbour office ends on 30 June 2025."
    for claim in told.claims:
        (proof,) = claim.citations
        assert (claim.state, claim.judge) == ("quoted", "verbatim")
        assert NOTES[proof.path][proof.start : proof.end] == proof.quote == claim.text


def test_what_stands_nowhere_is_not_answered_and_named(folder: Path) -> None:
    with open_library(folder) as library:
        told = library.ask("what is the capital of Mongolia?")
    assert isinstance(told, Abstention)
    assert told.reason == "out_of_domain"
    assert "Mongolia" in told.missing_terms
    assert "nothing mentions “capital”, “Mongolia”" in told.message


def test_caution_decides_how_likely_an_answer_must_be(folder: Path) -> None:
    question = "how deep is the water at the yellow buoy?"
    with open_library(folder) as library:
        assert library.ask(question, asking=AskSettings(caution=0)).outcome == "answer"
        told = library.ask(question, asking=AskSettings(caution=1))
        assert isinstance(told, Abstention)
        assert told.reason == "out_of_domain" if told.missing_terms else "not_answered"
        assert "27 metres" in told.nearest[0].quote
        with pytest.raises(SettingsError, match="caution"):
            library.ask(question, asking=AskSettings(caution=2))


def test_a_question_without_words_is_not_understood(folder: Path) -> None:
    with open_library(folder) as library:
        told = library.ask("???")
    assert isinstance(told, Abstention)
    assert (told.reason, told.nearest) == ("not_understood", ())


def test_the_command_prints_the_proof_and_its_exit_code_says_whether_there_is_one(
    folder: Path,
) -> None:
    asked = ["ask", "--library", str(folder)]
    answered = CliRunner().invoke(cli, [*asked, "when does the lease end?"])
    assert answered.exit_code == 0
    assert "[1] “The lease of the harbour office ends on 30 June 2025.”" in answered.stdout
    assert "lease.md — The lease (line 3)" in answered.stdout

    refused = CliRunner().invoke(cli, [*asked, "--json", "what is the capital of Mongolia?"])
    assert refused.exit_code == 11
    told = json.loads(refused.stdout)
    assert (told["outcome"], told["claims"]) == ("abstention", [])
    assert told["missing_terms"] == ["capital", "Mongolia"]
