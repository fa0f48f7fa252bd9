"""`pincite reindex` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pincite.entrypoints.cli.main import cli

Run = Callable[..., Result]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    asides = "".join(f"## Aside {number}\n\nThe lease has an end.\n\n" for number in range(4))
    (folder / "lease.md").write_text(
        f"# The lease\n\n## Term\n\nThe lease ends on 30 June.\n\n{asides}"
        "## House\n\nAda owns it.\n"
    )
    (folder / "pumps.md").write_text("# Pumps\n\n## Seals\n\nThe north pump leaks when cold.\n")
    return folder


@pytest.fixture
def run(notes: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(notes)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments)

    assert call("index", "build", "--model", "hashing").exit_code == 0
    return call


def generations(run: Run) -> list[tuple[str, int, str]]:
    told = json.loads(run("reindex", "--status", "--json").stdout)["generations"]
    return [(one["role"], one["number"], one["header"]["policy"]) for one in told]


def test_a_move_tells_what_searches_use_now_and_how_to_go_back(run: Run) -> None:
    result = run("reindex", "--policy", "wiki")
    assert result.exit_code == 0
    assert "Searches now use the new index: model hashing, policy wiki." in result.stdout
    assert "pincite reindex --rollback" in result.stdout
    assert generations(run) == [("live", 2, "wiki"), ("before", 1, "vault")]


def test_another_rollback_returns_to_the_newer_index_and_says_so(run: Run) -> None:
    run("reindex", "--policy", "wiki")
    first = run("reindex", "--rollback").stdout
    assert "Searches use the earlier index again: model hashing, policy vault." in first
    assert "Another --rollback returns to the newer one." in first
    second = run("reindex", "--rollback").stdout
    assert "Searches use the newer index again: model hashing, policy wiki." in second
    run("reindex", "--drop-old")
    assert "no earlier generation to go back to" in run("reindex", "--rollback").stderr


def test_a_new_index_waits_to_be_switched_to_or_given_up(run: Run) -> None:
    assert "is complete" in run("reindex", "--policy", "wiki", "--no-switch").stdout
    assert generations(run) == [("live", 1, "vault"), ("next", 2, "wiki")]
    assert "discarded" in run("reindex", "--cancel").stdout
    assert generations(run) == [("live", 1, "vault")]


def status(run: Run) -> list[str]:
    return run("reindex", "--status").stdout.splitlines()[1:]


def test_the_status_says_whether_a_new_index_is_complete_and_why_it_is_not_used(
    run: Run, tmp_path: Path
) -> None:
    ask(tmp_path / "cases.jsonl", line=25)
    run("reindex", "--policy", "wiki", "--no-switch")
    made, next_step = status(run)
    assert made.startswith("2: complete; model hashing, policy wiki; ")
    assert next_step.startswith("   Not used yet. `pincite reindex` switches to it; ")

    assert run("reindex", "--gate", str(tmp_path / "cases.jsonl")).exit_code == 1
    made, next_step = status(run)
    assert made.startswith("2: complete; ")
    assert next_step.startswith("   Refused: it answered the questions worse.")
    told = json.loads(run("reindex", "--status", "--json").stdout)["generations"]
    assert [one["refused"] for one in told] == [False, True]

    run("reindex", "--no-gate", "--no-switch")  # and was judged by no questions
    assert "Not used yet." in status(run)[1]


@pytest.mark.parametrize("step", ["--rollback", "--cancel", "--drop-old"])
def test_a_step_that_leads_nowhere_is_told(run: Run, step: str) -> None:
    result = run("reindex", step)
    assert result.exit_code == 3
    assert "generation" in result.stderr


def test_the_report_is_also_json(run: Run) -> None:
    told = json.loads(run("reindex", "--policy", "wiki", "--json").stdout)
    assert (told["outcome"], told["header"]["policy"], told["index"]["added"]) == (
        "switched",
        "wiki",
        2,
    )


def test_nothing_to_do_is_said(run: Run) -> None:
    result = run("reindex")
    assert result.exit_code == 0
    assert "already" in result.stdout


def test_a_step_takes_no_other_options(run: Run) -> None:
    result = run("reindex", "--rollback", "--model", "hashing")
    assert result.exit_code == 2
    assert "--rollback must be used alone" in result.stderr


def ask(file: Path, *, line: int = 5, draft: bool = False) -> None:
    """When the lease ends stands in line 5 of its file; who owns the house in line 25."""
    place = {"document": "lease.md", "lines": [line, line]}
    case = {"question": "does the lease end on 30 June?", "places": [place], "draft": draft}
    file.write_text(json.dumps(case) + "\n")


def test_the_questions_of_the_library_are_asked_of_both_indexes(run: Run, notes: Path) -> None:
    ask(notes / "pincite-eval.jsonl")
    result = run("reindex", "--policy", "wiki")
    assert result.exit_code == 0, result.output
    assert "Questions asked of both: 1." in result.stdout
    assert "place_hit@3          1.000 → 1.000" in result.stdout


def test_worse_answers_are_told_with_both_figures_and_an_exit_code(
    run: Run, tmp_path: Path
) -> None:
    ask(tmp_path / "cases.jsonl", line=25)  # in the same chunk only where chunks are large

    result = run("reindex", "--policy", "wiki", "--gate", str(tmp_path / "cases.jsonl"))

    assert result.exit_code == 1
    assert "place_hit@3          1.000 → 0.000  WORSE" in result.stdout
    assert "searches go on with the old one" in result.stdout
    assert generations(run) == [("live", 1, "vault"), ("next", 2, "wiki")]
    assert run("reindex", "--no-gate").exit_code == 0
    assert generations(run) == [("live", 2, "wiki"), ("before", 1, "vault")]


@pytest.mark.parametrize(("draft", "options"), [(True, ()), (False, ("--no-gate",))])
def test_drafts_are_not_asked_and_questions_can_be_left_out(
    run: Run, notes: Path, draft: bool, options: tuple[str, ...]
) -> None:
    ask(notes / "pincite-eval.jsonl", draft=draft)
    result = run("reindex", "--policy", "wiki", *options)
    assert "Questions asked" not in result.stdout
    assert result.exit_code == 0
