"""`pincite eval` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lxml import html

from pincite.entrypoints.cli.main import cli
from pincite.entrypoints.cli.tuning import search_settings
from pincite.settings import SEARCH_PRESETS, SearchSettings

Run = Callable[..., Result]

CASES: list[dict[str, object]] = [
    {"question": "When does the lease end?", "documents": ["lease.md"], "terms": ["30 June"]},
    {
        "question": "What does ERR-4042 say?",
        "kind": "exact_term",
        "places": [{"document": "lease.md", "lines": [5, 7]}],
    },
    {"question": "Which pump leaks?", "documents": ["pumps.txt"]},
    {"question": "How tall is the tower?", "unanswerable": True},
]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text(
        "# The lease\n\nThe lease ends on 30 June.\n\n## Errors\n\nThe portal says ERR-4042.\n"
    )
    (folder / "pumps.txt").write_text("The north pump leaks at the seal when cold.\n")
    write_cases(folder, CASES)
    return folder


def write_cases(folder: Path, cases: list[dict[str, object]]) -> None:
    (folder / "pincite-eval.jsonl").write_text("\n".join(map(json.dumps, cases)))


@pytest.fixture
def run(notes: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(notes)

    def call(*arguments: str, keys: str | None = None) -> Result:
        return CliRunner().invoke(cli, arguments, input=keys)

    assert call("index", "build", "--model", "hashing").exit_code == 0
    return call


def test_the_questions_of_a_library_are_no_document_of_it(run: Run) -> None:
    listed = json.loads(run("catalog", "--json").stdout)
    assert "pincite-eval.jsonl" not in str(listed)


def test_a_run_prints_figures_by_kind_and_latency_by_stage(run: Run) -> None:
    result = run("eval", "run", "--label", "base")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "(base)" in lines[0]
    assert "4 questions of pincite-eval.jsonl" in lines[0]
    assert lines[1].split()[:3] == ["kind", "answerable", "ndcg@10"]
    assert [line.split()[:2] for line in lines[2:5]] == [
        ["all", "3"],
        ["content", "2"],
        ["exact_term", "1"],
    ]
    assert "abstention_auroc" in result.stdout
    assert "embed" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_run_is_kept_with_everything_it_depends_on(run: Run) -> None:
    told = json.loads(run("eval", "run", "--mode", "words", "--set", "top_k=5", "--json").stdout)
    assert told["setup"]["mode"] == "words"
    assert told["setup"]["settings"]["top_k"] == 5
    assert told["setup"]["model"] == "hashing"
    assert told["setup"]["documents"] == 2
    assert len(told["results"]) == 4
    assert told["figures"]["all"]["hit@3"] == 1.0
    (kept,) = json.loads(run("eval", "runs", "--json").stdout)
    assert kept["id"] == told["id"]


def test_runs_are_compared_question_by_question(run: Run) -> None:
    run("eval", "run", "--mode", "words", "--label", "words")
    run("eval", "run", "--mode", "vector", "--label", "vector")
    result = run("eval", "compare", "words", "vector")
    assert result.exit_code == 0, result.output
    assert "p " in result.stdout
    assert "ndcg@10" in result.stdout
    told = json.loads(run("eval", "compare", "--json").stdout)
    assert told["same"] + len(told["better"]) + len(told["worse"]) == 3


def test_the_last_run_is_the_one_that_was_made_last(run: Run) -> None:
    made = [
        json.loads(run("eval", "run", "--mode", "words", "--json").stdout)["id"] for _ in range(3)
    ]
    assert [one["id"] for one in json.loads(run("eval", "runs", "--json").stdout)] == made


def test_a_report_is_one_page_on_its_own_and_no_document(run: Run, notes: Path) -> None:
    run("eval", "run")
    assert run("eval", "report").exit_code == 0
    assert "pincite-eval.html" not in run("index", "update").stdout
    page = html.fromstring((notes / "pincite-eval.html").read_text())
    assert page.xpath("//svg")
    assert not page.xpath("//script | //link[@href] | //img")


def test_the_gate_holds_the_floors_it_wrote(run: Run, notes: Path) -> None:
    assert run("eval", "gate", "--floors", "floors.json", "--write").exit_code == 0
    assert run("eval", "gate", "--floors", "floors.json").exit_code == 0
    floors = json.loads((notes / "floors.json").read_text())
    floors["all"]["abstention_recall"] = 1.0  # nothing abstains from a question that has words
    (notes / "floors.json").write_text(json.dumps(floors))
    result = run("eval", "gate", "--floors", "floors.json", "--mode", "vector")
    assert result.exit_code == 8
    assert "BELOW" in result.stdout
    assert "not reached" in result.stderr


def test_the_gate_can_check_a_run_that_was_made_before(run: Run, notes: Path) -> None:
    run("eval", "run", "--label", "base")
    (notes / "floors.json").write_text('{"all": {"hit@3": 0.5}}')
    assert run("eval", "gate", "--run", "base", "--floors", "floors.json").exit_code == 0
    assert len(json.loads(run("eval", "runs", "--json").stdout)) == 1
    asked = run("eval", "gate", "--run", "base", "--floors", "floors.json", "--mode", "words")
    assert asked.exit_code == 2
    assert "leave out mode" in asked.stderr


def test_another_chunk_policy_is_tried_beside_the_index(run: Run) -> None:
    result = run("eval", "run", "--policy", "flat", "--json")
    assert json.loads(result.stdout)["setup"]["policy"] == "flat"
    stats = json.loads(run("index", "stats", "--json").stdout)
    assert "vault" in str(stats)
    assert run("index", "verify").exit_code == 0
    assert len(json.loads(run("eval", "runs", "--json").stdout)) == 1


def test_a_report_that_would_be_indexed_is_refused(run: Run, notes: Path) -> None:
    run("eval", "run")
    result = run("eval", "report", "-o", "report.html")
    assert result.exit_code == 2
    assert not (notes / "report.html").exists()
    assert run("eval", "report", "-o", "../report.html").exit_code == 0


def test_another_chunk_policy_is_tried_on_the_same_files_only(run: Run, notes: Path) -> None:
    (notes / "new.md").write_text("When does the lease end? When it ends.")
    result = run("eval", "run", "--policy", "flat")
    assert result.exit_code == 2
    assert "new.md" in result.stderr
    assert "index update" in result.stderr


def test_drafts_are_asked_only_where_that_is_wanted(run: Run, notes: Path) -> None:
    write_cases(notes, [*CASES, {"question": "A draft?", "documents": ["lease.md"], "draft": True}])
    assert len(json.loads(run("eval", "run", "--json").stdout)["results"]) == 4
    assert len(json.loads(run("eval", "run", "--drafts", "--json").stdout)["results"]) == 5


def test_drafts_are_kept_edited_or_dropped_one_by_one(run: Run, notes: Path) -> None:
    (notes / "pincite-eval.jsonl").unlink()
    drafted = run("eval", "generate", "--most", "4", "--json")
    assert drafted.exit_code == 0, drafted.output
    before = read_cases(notes)
    assert before
    assert all(case["draft"] for case in before)
    assert len(before) >= 3
    result = run("eval", "confirm", keys="k\nd\ne\nWhat is this?\nq\n")
    assert result.exit_code == 0, result.output
    after = read_cases(notes)
    assert after[0]["question"] == before[0]["question"]
    assert after[1]["question"] == "What is this?"
    assert [case.get("draft", False) for case in after[:2]] == [False, False]
    assert len(after) == len(before) - 1


def read_cases(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "pincite-eval.jsonl").read_text().splitlines()]


def test_a_draft_is_shown_with_the_text_it_expects(run: Run, notes: Path) -> None:
    place = {"document": "lease.md", "lines": [3, 3]}
    write_cases(notes, [{"question": "When?", "places": [place], "draft": True}])
    assert "The lease ends on 30 June." in run("eval", "confirm", keys="q\n").stdout


def test_without_a_terminal_confirm_says_what_to_do(run: Run, notes: Path) -> None:
    write_cases(notes, [{"question": "When?", "documents": ["lease.md"], "draft": True}])
    result = run("eval", "confirm")
    assert result.exit_code == 2
    assert "--all" in result.stderr
    assert run("eval", "confirm", "--all").exit_code == 0
    assert "draft" not in read_cases(notes)[0]


def test_an_edit_that_repeats_a_question_is_asked_again(run: Run, notes: Path) -> None:
    write_cases(notes, [*CASES, {"question": "A draft?", "documents": ["lease.md"], "draft": True}])
    result = run("eval", "confirm", keys="e\nWhich pump leaks?\nWhich pump drips?\n")
    assert "there already" in result.stdout
    assert read_cases(notes)[-1]["question"] == "Which pump drips?"
    assert run("eval", "run").exit_code == 0


def test_lines_that_are_not_decided_on_stay_as_they_were_written(run: Run, notes: Path) -> None:
    own = '{"question":"Wo?",  "places": [{"lines": 1, "document": "lease.md"}]}'
    draft = '{"question": "A draft?", "documents": ["lease.md"], "draft": true}'
    (notes / "pincite-eval.jsonl").write_text(f"{own}\n{draft}\n")
    assert run("eval", "confirm", keys="k\n").exit_code == 0
    assert run("eval", "generate", "--most", "3").exit_code == 0
    lines = (notes / "pincite-eval.jsonl").read_text().splitlines()
    assert lines[0] == own
    assert json.loads(lines[1]) == {"question": "A draft?", "documents": ["lease.md"]}
    assert len(lines) > 2


def test_a_questions_file_behind_a_link_keeps_the_link_and_its_permissions(
    run: Run, notes: Path, tmp_path: Path
) -> None:
    (notes / "pincite-eval.jsonl").rename(tmp_path / "mine.jsonl")
    (tmp_path / "mine.jsonl").chmod(0o600)
    (notes / "pincite-eval.jsonl").symlink_to(tmp_path / "mine.jsonl")
    run("eval", "generate", "--most", "3", "-o", str(notes / "pincite-eval.jsonl"))
    assert (notes / "pincite-eval.jsonl").is_symlink()
    assert (tmp_path / "mine.jsonl").stat().st_mode & 0o777 == 0o600
    assert len(read_cases(notes)) > len(CASES)


def test_what_a_library_keeps_at_its_top_does_not_lead_elsewhere(
    run: Run, notes: Path, tmp_path: Path
) -> None:
    run("eval", "run")
    (notes / "pincite-eval.jsonl").rename(tmp_path / "mine.jsonl")
    for name in ("pincite-eval.jsonl", "pincite-eval.html"):
        (notes / name).symlink_to(tmp_path / "profile")
    for command in (("generate", "--most", "3"), ("report",), ("run",)):
        refused = run("eval", *command)
        assert (refused.exit_code, "is a link" in refused.stderr) == (3, True)
    assert not (tmp_path / "profile").exists()


def test_drafts_are_added_and_no_question_is_lost(run: Run, notes: Path) -> None:
    run("eval", "generate", "--most", "4")
    cases = read_cases(notes)
    assert [case["question"] for case in cases[:4]] == [case["question"] for case in CASES]
    again = run("eval", "generate", "--most", "4")
    assert "there already" in again.stdout
    assert read_cases(notes) == cases


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("run", "--set", "speed=9"), 2, "unknown setting 'speed'"),
        (("run", "--set", "top_k=many"), 2, "top_k"),
        (("run", "--set", "preset=mine"), 2, "unknown preset 'mine'; choose one of: brain"),
        (("run", "--kind", "nothing"), 2, "their kinds are: content, exact_term"),
        (("run", "--label", "last"), 2, "labelled"),
        (("run", "--abstain-below", "nan"), 2, "must be a number"),
        (("compare",), 3, "eval run"),
        (("gate", "--floors", "missing.json"), 2, "missing.json"),
    ],
)
def test_what_cannot_work_is_said_in_words(
    run: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = run("eval", *arguments)
    assert result.exit_code == code, result.output
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_every_bad_line_of_a_questions_file_is_told(run: Run, notes: Path) -> None:
    (notes / "pincite-eval.jsonl").write_text('{"question": "x"}\n{nonsense\n')
    result = run("eval", "run")
    assert result.exit_code == 2
    assert "line 1" in result.stderr
    assert "line 2" in result.stderr


def test_documents_places_and_chunks_that_are_not_there_are_told(run: Run, notes: Path) -> None:
    places = [{"document": "lease.md", "lines": 99}]
    wrong = {"documents": ["gone.md"], "places": places, "chunks": ["deadbeef"]}
    write_cases(notes, [{"question": "Where?", **wrong}])
    result = run("eval", "run")
    assert result.exit_code == 0
    said = result.stderr
    assert "gone.md" in said
    assert "lease.md, line 99" in said
    assert "chunk deadbeef" in said


def test_questions_that_are_indexed_themselves_are_refused(run: Run, notes: Path) -> None:
    (notes / "questions.jsonl").write_text((notes / "pincite-eval.jsonl").read_text())
    run("index", "update")
    result = run("eval", "run", "questions.jsonl")
    assert result.exit_code == 2
    assert "find themselves" in result.stderr


def test_a_preset_sets_several_values_and_what_follows_it_changes_single_ones() -> None:
    assert search_settings(("preset=brain",)) == SEARCH_PRESETS["brain"]
    changed = search_settings(("preset=brain", "top_k_words=30"))
    assert (changed.top_k_words, changed.top_k_vector, changed.context_chunks) == (30, 40, 15)
    assert changed.rerank is None
    assert search_settings(()) == SearchSettings()
