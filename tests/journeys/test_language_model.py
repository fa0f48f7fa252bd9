"""What a language model writes on request: a real one, if small; and one that refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_server import language_model
from model_service import Reply, running_service, said
from pincite import Answer, AskSettings, ModelAccess, Profile, SearchSettings, open_library
from pincite.answer.verify import veto
from pincite.errors import SettingsError
from pincite.models.chat import open_generator
from pincite.records import Claim

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
MODEL = "openai:smollm2"


@pytest.fixture(scope="module")
def real() -> Iterator[ModelAccess]:
    with language_model() as address:
        yield ModelAccess(base_url=address)


@pytest.fixture
def refusing() -> Iterator[ModelAccess]:
    """It does so at once: nobody waits for another attempt."""
    with running_service() as service:
        service.plays(Reply({"error": "no"}, status=401))
        yield ModelAccess(base_url=service.url)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text)
    with open_library(tmp_path) as opened:
        opened.index(model="hashing")
    return tmp_path


def summaries(folder: Path) -> dict[str, str]:
    with open_library(folder) as library:
        return {one.path: one.document.summary for one in library.catalog() if one.document}


def test_it_writes_the_summaries(notes: Path, real: ModelAccess) -> None:
    extracted = summaries(notes)
    with open_library(notes, models=real) as library:
        report = library.index(summaries=MODEL)
        assert (report.recut, report.embedded) == (3, 0)  # nothing is embedded again for it
        again = library.index()
        assert (again.unchanged, again.recut) == (3, 0)
        written = summaries(notes)
        assert all(written[path] not in ("", extracted[path]) for path in NOTES)
        assert all(len(one) <= 402 for one in written.values())
        library.index(summaries="")
    assert summaries(notes) == extracted


def test_its_words_can_be_read_while_it_writes(real: ModelAccess) -> None:
    writer = open_generator("openai:smollm2", base_url=real.base_url, api_key=None)
    words = writer.stream(
        "Answer in one short sentence.", f"{NOTES['bread.md']}\nWhen is it baked?", most_tokens=200
    )
    pieces = list(words)
    assert len(pieces) > 3
    assert "Friday" in "".join(pieces)


def test_one_that_refuses_costs_a_note_and_no_document(notes: Path, refusing: ModelAccess) -> None:
    extracted = summaries(notes)
    with open_library(notes, models=refusing) as library:
        report = library.index(summaries=MODEL)
        entries = library.catalog()
    assert report.failures == ()
    assert {one.state for one in entries} == {"partly read"}
    assert all("its summary is taken from its text: 127.0.0.1 " in one.reason for one in entries)
    assert summaries(notes) == extracted


def test_it_writes_questions_about_the_documents(notes: Path, real: ModelAccess) -> None:
    with open_library(notes, models=real) as library:
        drafted = library.evaluation.draft(most=6, model=MODEL)
    written = [case for case in drafted if "language model" in case.note]
    assert written
    for case in written:
        (path,) = case.documents
        (place,) = case.places
        assert case.draft
        assert case.question.endswith("?")
        assert place.document == path
        words = case.question.lower().strip("?").split()
        assert any(len(word) > 3 and word in NOTES[path].lower() for word in words)


def test_where_it_refuses_the_text_gives_the_questions(notes: Path, refusing: ModelAccess) -> None:
    with open_library(notes, models=refusing) as library:
        from_text = library.evaluation.draft(most=6)
        assert from_text
        assert library.evaluation.draft(most=6, model=MODEL) == from_text


def test_it_gives_other_words_for_a_question(notes: Path, real: ModelAccess) -> None:
    with open_library(notes, models=real) as library:
        asked = SearchSettings(expand=MODEL)
        found = library.search("where does the buoy lie?", mode="words", settings=asked)
    assert "buoy.md" in {result.document.path for result in found.results}
    assert "language model" in found.notes[-1]


def test_it_writes_answers_of_which_only_what_is_proven_is_shown(
    tmp_path: Path, real: ModelAccess
) -> None:
    """It is too small to keep to a form: what it says is aligned, and what it makes up struck."""
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text)
    profile = Profile(base_url=real.base_url or "", model="smollm2")
    shown: list[Claim] = []
    with open_library(tmp_path, models=ModelAccess(profiles={"cheap": profile})) as library:
        library.index()
        told = library.ask(
            "when does the lease of the harbour office end?",
            asking=AskSettings(budget=300, show_unsupported=True),
            profile="cheap",
            judge="model",
            on_claim=shown.append,
        )
    assert isinstance(told, Answer)
    assert shown == list(told.claims)
    assert told.seconds["write"] > 0
    proven = [claim for claim in told.claims if claim.state != "unsupported"]
    assert any("30 June 2025" in cited.quote for claim in proven for cited in claim.citations)
    for claim in told.claims:
        for cited in claim.citations:
            assert NOTES[cited.path][cited.start : cited.end] == cited.quote
        if claim.state == "supported":
            assert claim.judge.startswith("openai:smollm2")
            assert veto(claim.text, [cited.quote for cited in claim.citations]) == ""


def test_boundaries_that_a_model_cannot_give_are_a_line_in_the_report(notes: Path) -> None:
    with running_service() as service:
        service.plays(said("I would cut it after the bread."))
        profiles = {"balanced": Profile(base_url=service.url, model="m")}
        with open_library(notes, models=ModelAccess(profiles=profiles)) as library:
            report = library.index(policy="semantic")
    assert (report.recut, [one.path for one in report.partly]) == (3, ["bread.md"])
    assert "did not answer with numbers" in report.partly[0].reason


def test_boundaries_need_a_language_model(notes: Path) -> None:
    with (
        open_library(notes) as library,
        pytest.raises(SettingsError, match=r"no language model for the profile 'cheap'"),
    ):
        library.index(policy="semantic")


def test_rule_based_is_flat(notes: Path) -> None:
    with open_library(notes) as library:
        library.index(policy="rule_based")
        assert library.stats().header.policy == "flat"
