"""Asking: answers in the documents' own words, each proven; or an honest no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pincite import Abstention, Answer, AskSettings, open_library
from pincite.entrypoints.answers import abstention_as_text
from pincite.entrypoints.cli.main import cli
from pincite.errors import SettingsError

CAUTIOUS = AskSettings(caution=1)
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
        assert told.reason == "not_answered"
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


@pytest.mark.parametrize(
    "question",
    [
        "list all leases",
        "which leases do not end in June?",
        "which documents mention the harbour?",
        "How many documents mention the buoy?",
    ],
)
def test_what_is_asked_of_everything_is_not_answered_from_the_best_places(
    folder: Path, question: str
) -> None:
    with open_library(folder) as library:
        told = library.ask(question, asking=AskSettings(caution=0))
    assert isinstance(told, Abstention)
    assert told.reason == "counting"
    assert told.nearest
    assert "pincite ask" not in told.message  # who reads it may have no command line
    assert "pincite ask --all" in " ".join(abstention_as_text(told))


@pytest.mark.parametrize(
    "question", ["list all rules of the harbour", "which boats do not pay for the harbour?"]
)
def test_a_list_that_is_no_list_of_documents_may_stand_in_one_place(
    question: str, tmp_path: Path
) -> None:
    (tmp_path / "rules.md").write_text(
        "# Harbour\n\nThe rules of the harbour are: go slow, and light a lamp.\n\n"
        "Boats of the harbour board do not pay for the harbour.\n"
    )
    (tmp_path / "lease.md").write_text(NOTES["lease.md"])
    with open_library(tmp_path) as library:
        library.index()
        told = library.ask(question)
    assert isinstance(told, Answer)
    assert told.claims[0].citations[0].path == "rules.md"


def test_how_many_that_one_place_says_is_answered(folder: Path) -> None:
    with open_library(folder) as library:
        told = library.ask("in how many metres of water does the yellow buoy lie?")
    assert isinstance(told, Answer)
    assert "27 metres" in told.claims[0].text


@pytest.mark.parametrize(
    "days",
    [
        ("30 June 2025", "31 March 2026"),
        ("30 June 2025", "12 June 2025"),
        ("30 January 2025", "30 July 2025"),
    ],
)
def test_documents_that_give_another_date_for_the_same_are_both_named(
    days: tuple[str, str], tmp_path: Path
) -> None:
    for year, day in (("2023", days[0]), ("2024", days[1])):
        (tmp_path / f"lease-{year}.md").write_text(
            f"---\ndate: {year}-05-01\n---\n# Lease\n\nThe lease of the office ends on {day}.\n"
        )
    (tmp_path / "pier.md").write_text("# Pier\n\nThe pier was painted on 3 May 2021.\n")
    with open_library(tmp_path) as library:
        library.index()
        told = library.ask("when does the lease of the office end?")
    assert isinstance(told, Answer)
    (note,) = told.differences
    assert f"“The lease of the office ends on {days[0]}.”" in note
    assert ", of 2024-05-01" in note
    assert "pier" not in note


def test_a_typo_that_was_understood_is_not_said_to_stand_nowhere(folder: Path) -> None:
    with open_library(folder) as library:
        told = library.ask(
            "when does the leese of the harbour offise of Mongolia end?",
            asking=AskSettings(caution=1),
        )
    assert isinstance(told, Abstention)
    assert told.missing_terms == ("Mongolia",)


@pytest.mark.parametrize(
    "question",
    [
        "What happens if the tenant of the office does not pay?",
        "What is the email address of the harbour office?",
        "Who is not allowed to enter the office?",
        "How many pages does the lease have?",
    ],
)
def test_what_is_asked_of_one_place_is_no_question_for_everything(
    folder: Path, question: str
) -> None:
    with open_library(folder) as library:
        assert library.ask(question, asking=AskSettings(caution=0)).outcome == "answer"


def test_one_ordinary_word_that_is_missing_does_not_make_a_question_foreign(folder: Path) -> None:
    with open_library(folder) as library:
        told = library.ask("when does the rental lease of the office end?", asking=CAUTIOUS)
    assert isinstance(told, Abstention)
    assert (told.reason, told.missing_terms) == ("not_answered", ("rental",))
    assert "nothing mentions “rental”" in told.message


def test_the_probability_comes_with_its_parts(folder: Path) -> None:
    asked = ["ask", "--library", str(folder), "--json", "when does the lease end?"]
    told = json.loads(CliRunner().invoke(cli, asked).stdout)
    assert told["probability"] > 0
    assert {"cosine", "coverage", "together"} <= told["parts"].keys()


def test_an_answer_that_was_written_down_is_never_evidence(tmp_path: Path) -> None:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text)
    question = "how deep is the water at the yellow buoy?"
    asked = ["ask", "--library", str(tmp_path), "--caution", "0"]
    with open_library(tmp_path) as library:
        library.index()
        copy = CliRunner().invoke(
            cli, [*asked, "--copy", "--receipt", str(tmp_path / "proof.json"), question]
        )
        (tmp_path / "copy.md").write_text(copy.stdout)
        (tmp_path / "buoy.md").unlink()
        report = library.index()
        assert {one.path for one in report.skipped} == {"proof.json", "copy.md"}
        (checked, *_) = library.check(tmp_path / "proof.json")
        assert checked.state == "gone"


def test_a_file_that_is_no_receipt_is_never_written_over(folder: Path) -> None:
    asked = ["ask", "--library", str(folder), "when does the lease end?", "--receipt"]
    refused = CliRunner().invoke(cli, [*asked, str(folder / "lease.md")])
    assert refused.exit_code == 2
    assert (folder / "lease.md").read_text() == NOTES["lease.md"]
    copy = folder / ".copy.md"
    copy.write_text(CliRunner().invoke(cli, [*asked[:-1], "--copy"]).stdout + "\nMy own notes.\n")
    assert CliRunner().invoke(cli, [*asked, str(copy)]).exit_code == 2
    for _ in range(2):
        assert CliRunner().invoke(cli, [*asked, str(folder / ".proof.json")]).exit_code == 0


def test_a_copy_passes_its_own_check_whatever_marks_its_words_hold(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text(
        "# Rules\n\nThe deposit list says “the following:\n\n- The deposit is 1800 euros.\n"
        "- A sign says “no smoking”.\n"
    )
    with open_library(tmp_path) as library:
        library.index()
        asked = ["ask", "-l", str(tmp_path), "--caution", "0", "--copy", "how much is the deposit?"]
        copy = CliRunner().invoke(cli, asked).stdout
        checked = library.check(copy)
    assert checked
    assert {one.state for one in checked} == {"valid"}


def test_a_short_line_of_a_mixed_note_answers_what_it_says_word_for_word(tmp_path: Path) -> None:
    lines = [
        "The kettle in the galley leaks and the tea tastes of tin.",
        "Mara wants new curtains for the reading room before the winter.",
        "Each team gets 40 crates.",
        "The cat has been to the vet and is well again, thank you all.",
        "Somebody left a blue bicycle at the gate on Sunday evening.",
    ]
    (tmp_path / "mixed.md").write_text("# Odds and ends\n\n" + "\n\n".join(lines * 2) + "\n")
    with open_library(tmp_path) as library:
        library.index()
        told = library.ask("how many crates does each team get?")
    assert isinstance(told, Answer)
    assert told.claims[0].text == "Each team gets 40 crates."
