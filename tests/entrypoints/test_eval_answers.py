"""`pincite eval run --ask` and `--log` as a user meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from lxml import html

from model_service import Reply, running_service, said
from pincite.entrypoints.cli.index import EXIT_PARTLY_FAILED
from pincite.entrypoints.cli.main import cli

Run = Callable[..., Result]

LEASE = "When does the lease of the harbour office end?"
PARROT = "What did the captain's parrot weigh at birth?"
WRITER = "openai:some-model at 127.0.0.1"
CASES: list[dict[str, object]] = [
    {
        "question": LEASE,
        "places": [{"document": "lease.md", "lines": 3}],
        "terms": ["30 June 2025"],
    },
    {"question": "How far west of the jetty is the buoy?", "documents": ["lease.md"]},
    {"question": PARROT, "unanswerable": True},
]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text(
        "# The lease\n\nThe lease of the harbour office ends on 30 June 2025.\n\n"
        "The office has two rooms and a view of the lighthouse.\n"
    )
    (folder / "buoy.md").write_text(
        "# Buoy seven\n\nThe yellow buoy lies 1.2 kilometres west of the jetty.\n"
    )
    (folder / "pincite-eval.jsonl").write_text("\n".join(map(json.dumps, CASES)))
    return folder


@pytest.fixture
def run(notes: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(notes)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments)

    assert call("index", "build", "--model", "hashing").exit_code == 0
    return call


def told(run: Run, *options: str) -> dict[str, Any]:
    result = run("eval", "run", *options, "--json")
    assert result.exit_code == 0, result.output
    made: dict[str, Any] = json.loads(result.stdout)
    return made


def test_a_run_with_answers_keeps_what_they_say_and_cite_and_why_others_are_refused(
    run: Run,
) -> None:
    lease, buoy, parrot = told(run, "--ask")["results"]
    (cited,) = lease["told"]["claims"][0]["citations"]
    assert (cited["document"], cited["locator"]["line_start"]) == ("lease.md", 3)
    assert "30 June 2025" in lease["told"]["claims"][0]["text"]
    assert lease["told"]["claims"][0]["state"] == "quoted"
    assert buoy["told"]["claims"][0]["citations"][0]["document"] == "buoy.md"
    assert parrot["told"]["claims"] == []
    assert parrot["told"]["reason"]
    assert all(one["found"] for one in (lease, buoy))


def test_answers_are_measured_beside_what_is_found(run: Run) -> None:
    figures = told(run, "--ask")["figures"]["all"]
    assert figures["answer_terms"] == 1.0
    assert figures["answer_citation_recall"] == 0.5  # the buoy is said to stand in the lease
    assert 0 < figures["answer_citation_precision"] < 1
    assert (figures["refusal_precision"], figures["refusal_recall"]) == (1.0, 1.0)
    assert (figures["answered"], figures["refused"]) == (2.0, 1.0)
    printed = run("eval", "run", "--ask").stdout
    for name in ("answer_terms", "answer_citation_precision", "refusal_recall 1.000", "answer 2"):
        assert name in printed


def test_a_run_without_answers_has_no_figures_of_them(run: Run) -> None:
    made = told(run)
    names = made["figures"]["all"].keys()
    assert not [one for one in names if one.startswith(("answer_", "refus", "answered"))]
    assert made["setup"]["asking"] is None
    assert "Came out" not in run("eval", "run").stdout


def test_answers_have_floors_a_page_and_a_comparison(run: Run, notes: Path) -> None:
    assert run("eval", "gate", "--ask", "--floors", "floors.json", "--write").exit_code == 0
    floors = json.loads((notes / "floors.json").read_text())
    assert floors["all"]["answer_terms"] == 0.98
    assert floors["all"]["refusal_recall"] == 0.98
    assert run("eval", "gate", "--ask", "--floors", "floors.json").exit_code == 0
    without = run("eval", "gate", "--floors", "floors.json")
    assert (without.exit_code, "MISSING" in without.stdout) == (8, True)
    assert run("eval", "report", "last~1").exit_code == 0
    page = html.fromstring((notes / "pincite-eval.html").read_text())
    (missed,) = page.xpath("//section[@id='missed']")
    assert "1.2 kilometres west" in missed.text_content()
    assert "answer_citation_recall" in page.text_content()
    compared = run("eval", "compare", "last~2", "last~1")
    assert "answer_terms" in compared.stdout


def test_answers_that_became_refusals_are_told(run: Run, notes: Path) -> None:
    run("eval", "run", "--ask")
    (notes / "lease.md").write_text("# Nothing\n\nThere is no more to say.\n")
    run("index", "update")
    assert "refusal_precision 0.500" in run("eval", "run", "--ask").stdout
    compared = run("eval", "compare").stdout
    assert "Came out in another way: 1" in compared
    assert "before   answer, lease.md" in compared
    assert "refusal_precision 1.000 → 0.500" in compared


def test_how_careful_the_users_settings_are_is_kept_with_the_run(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_CAUTION", "0.9")
    assert "caution=0.9" in run("eval", "run", "--ask").stdout
    assert "caution" not in run("eval", "run").stdout


@pytest.mark.parametrize(
    ("options", "said_in_words"),
    [
        (("--profile", "cheap"), "add --ask"),
        (("--ask", "--mode", "words"), "leave out --mode"),
        (("--ask", "--profile", "cheap"), "no language model for the profile 'cheap'"),
        (("--since", "7d"), "add --log"),
        (("--log", "--kind", "content"), "leave out CASES, --kind and --drafts"),
        (("--log",), "the log holds no question"),
    ],
)
def test_what_cannot_be_asked_is_said_in_words(
    run: Run, options: tuple[str, ...], said_in_words: str
) -> None:
    result = run("eval", "run", *options)
    assert result.exit_code == 2, result.output
    assert said_in_words in result.stderr


def settings_with_a_model(url: str, file: Path) -> None:
    file.write_text(f'[llm.cheap]\nbase_url = "{url}"\nmodel = "some-model"\n')


def test_a_language_model_can_write_the_answers(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path / "config.toml"))
    with running_service() as service:
        settings_with_a_model(service.url, tmp_path / "config.toml")
        service.plays(said("The lease of the harbour office ends on 30 June 2025. [1]\n"))
        made = told(run, "--ask", "--profile", "cheap")
    assert made["setup"]["asking"]["writer"] == WRITER
    assert made["results"][0]["told"]["writer"] == WRITER


def test_a_language_model_that_fails_is_no_answer_in_the_documents_own_words(
    run: Run, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path / "config.toml"))
    (notes / "pincite-eval.jsonl").write_text("\n".join(map(json.dumps, CASES[:2])))
    with running_service() as service:
        settings_with_a_model(service.url, tmp_path / "config.toml")
        service.plays(Reply({"error": "no"}, status=401))
        result = run("eval", "run", "--ask", "--profile", "cheap", "--json")
    assert result.exit_code == EXIT_PARTLY_FAILED
    made = json.loads(result.stdout)
    assert all(one["error"] and one["told"] is None for one in made["results"])
    assert made["figures"]["all"]["answer_terms"] == 0.0
    assert made["figures"]["all"]["hit@3"] == 1.0  # what was found, was found


def test_the_log_is_asked_again_and_two_runs_of_it_tell_what_changed(run: Run, notes: Path) -> None:
    for question in (LEASE, PARROT, LEASE):
        run("ask", question)
    run("make", "blueprint", "--about", "lease")  # a subject, and no question
    run("ask", "--all", "which documents mention the lease?")  # no answer comes from one place
    made = told(run, "--log", "--ask", "--label", "before")
    assert [one["case"]["question"] for one in made["results"]] == [LEASE, PARROT]
    assert made["figures"]["all"]["unlabelled"] == 2.0
    assert not {"ndcg@10", "answer_terms", "refusal_recall"} & made["figures"]["all"].keys()
    (notes / "lease.md").write_text("# The lease\n\nNothing is said of it any more.\n")
    run("index", "update")
    printed = run("eval", "run", "--log", "--ask", "--since", "1d").stdout
    assert "2 questions of the log" in printed
    assert "Came out: refused 2" in printed
    compared = run("eval", "compare")
    assert "Came out in another way: 1" in compared.stdout
    assert "before   answer, lease.md" in compared.stdout
    assert "Came out the same: 1 of 2" in compared.stdout
    assert run("eval", "report", "--compare", "before").exit_code == 0
    page = html.fromstring((notes / "pincite-eval.html").read_text())
    assert LEASE in page.xpath("//section[@id='outcomes']")[0].text_content()
    assert "answer → " in page.xpath("//section[@id='changes']")[0].text_content()
    assert len(told(run, "--log")["results"]) == 2  # a replay is not logged itself
