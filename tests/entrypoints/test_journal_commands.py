"""`pincite log`, `feedback` and `keys`, as users meet them."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from helpers import new_database
from pincite import AskSettings, open_library, open_project
from pincite.engine.consent import withdraw
from pincite.engine.keys import admit
from pincite.engine.queries import CALLER, Caller
from pincite.engine.teams import opened_team, team_journal
from pincite.entrypoints.cli.main import cli
from pincite.errors import ConsentNeeded
from pincite.evals.cases import parse_cases
from pincite.records import Case
from pincite.stores.journal import open_journal
from pincite.stores.postgres.team import Team

Run = Callable[..., Result]
QUESTION = "when does the lease of the harbour office end?"
UNANSWERED = "what is the capital of Mongolia?"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line inside a library."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "lease.md").write_text(
        "# The lease\n\nThe lease of the harbour office ends on 30 June 2025.\n"
    )
    (notes / "pumps.md").write_text("# Pumps\n\nThe north pump leaks.\n")
    monkeypatch.chdir(notes)
    for name in ("PINCITE_STORE", "PINCITE_USER", "PINCITE_PROJECT", "PINCITE_LOG"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, code: int = 0, typed: str | None = None) -> Result:
        result = CliRunner().invoke(cli, arguments, input=typed)
        assert result.exit_code == code, result.output
        return result

    call("index", "build", "--model", "hashing")
    return call


def listed(run: Run, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("log", "list", "--json", *arguments).stdout)
    return found


def ask(run: Run, question: str = QUESTION, *, caution: str = "0") -> None:
    run("ask", question, "--caution", caution, code=0 if caution == "0" else 11)


def cases() -> dict[str, Case]:
    text = Path("pincite-eval.jsonl").read_text()
    return {case.question: case for case in parse_cases(text, name="cases")}


# log


def test_what_was_asked_is_listed_and_shown(run: Run) -> None:
    run("search", "pump", "--type", "md")
    ask(run)
    answer, search = listed(run)
    assert (search["question"], search["door"], search["outcome"]) == ("pump", "cli", "results")
    assert search["filters"] == {"types": ["md"]}
    lines = run("log", "list").stdout.splitlines()
    assert QUESTION in lines[0]
    assert answer["id"] in lines[0]
    assert len(lines) == 2
    assert len(listed(run, "--limit", "1")) == 1

    shown = run("log", "show", "last").stdout
    assert QUESTION in shown
    assert "lease.md" in shown
    told = json.loads(run("log", "show", answer["id"][:15], "--json").stdout)
    assert told["places"][0]["citation"].startswith("lease.md")
    assert told["feedback"] is None
    assert "asked" in run("log", "show", search["id"]).stdout


def test_a_place_that_is_gone_is_said_so_and_one_that_is_forgotten_is_not_named(run: Run) -> None:
    ask(run)
    Path("lease.md").write_text("# The lease\n\nEnded.\n")
    run("index", "update")
    assert "The lease (lines 1–3) (an earlier version)" in run("log", "show", "last").stdout
    Path("lease.md").unlink()
    run("index", "update")
    run("forget", "lease.md", "--yes")
    assert "the log is empty" in run("log", "show", "last", code=2).stderr


def test_an_id_must_be_of_one_query(run: Run) -> None:
    assert "the log is empty" in run("log", "show", "last", code=2).stderr
    run("search", "pump")
    run("search", "pump")
    assert "several queries begin with '01'" in run("log", "show", "01", code=2).stderr
    assert "there is no query that begins with 'xyz'" in run("log", "show", "xyz", code=2).stderr


def test_nothing_that_was_asked_reaches_the_terminal_unescaped(run: Run) -> None:
    with open_library(".") as library:
        before = CALLER.set(Caller("http", user="a\x1b[2J", agent="b\u202ec"))
        library.search("c\x1b]0;pump\x07\u202e\nd", filters={"name": "\x1b[1m"})
        CALLER.reset(before)
    for arguments in (("list",), ("show", "last"), ("export", "-")):
        told = run("log", *arguments).stdout
        assert not {"\x1b", "\x07", "\u202e"} & set(told)
        assert "\\u001b" in told


def test_a_list_is_of_a_stretch_of_time(run: Run) -> None:
    run("search", "pump")
    tomorrow = datetime.now() + timedelta(days=1)
    assert len(listed(run, "--since", "7d")) == 1
    assert len(listed(run, "--since", "2020-01-01")) == 1
    assert listed(run, "--since", f"{tomorrow:%Y-%m-%d}") == []
    assert "Nothing was asked" in run("log", "list", "--since", f"{tomorrow:%Y-%m-%d}").stdout
    for wrong in ("yesterday", "7", "-7d", "2026-13-01", "99999999d"):
        assert "is no time" in run("log", "list", f"--since={wrong}", code=2).stderr


def test_an_export_is_json_lines_and_never_a_document(run: Run, tmp_path: Path) -> None:
    run("search", "pump")
    ask(run)
    run("feedback", "last", "good", "--note", "héllo")
    file = tmp_path / "log.jsonl"
    assert "Written: 2 questions" in run("log", "export", str(file)).stdout
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one["question"] for one in rows] == ["pump", QUESTION]
    assert [one["feedback"] and one["feedback"]["note"] for one in rows] == [None, "héllo"]
    printed = run("log", "export", "-").stdout.splitlines()
    assert [json.loads(line) for line in printed] == rows
    assert "would be indexed" in run("log", "export", "log.jsonl", code=2).stderr


def test_a_purge_asks_first_and_forgets_for_good(run: Run) -> None:
    run("search", "pump")
    assert "give either" in run("log", "purge", code=2).stderr.lower()
    assert "to confirm, add --yes" in run("log", "purge", "--all", code=2).stderr
    assert "Forgotten: 0 questions" in run("log", "purge", "--before", "1d").stdout
    assert "Forgotten: 1 question." in run("log", "purge", "--all", "--yes").stdout
    assert listed(run) == []


def test_the_log_is_kept_as_the_settings_say(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_LOG", "off")
    run("search", "pump")
    settings = tmp_path / "config.toml"
    settings.write_text('log = "facts"\n')
    monkeypatch.setenv("PINCITE_CONFIG", str(settings))
    monkeypatch.delenv("PINCITE_LOG")
    run("search", "pump")
    (query,) = listed(run)
    assert query["question"] == ""
    assert "(not kept)" in run("log", "list").stdout
    assert "the question is not kept" in run("log", "show", "last").stdout
    assert "It teaches no question" in run("feedback", "last", "good").stdout
    assert not Path("pincite-eval.jsonl").exists()
    monkeypatch.setenv("PINCITE_LOG", "some")
    assert "log must be one of: full, facts, off" in run("search", "pump", code=2).stderr
    assert json.loads(run("config", "show", "--json", code=2).stderr)["error"]


def test_a_damaged_journal_is_an_error_of_the_log_alone(run: Run) -> None:
    Path(".index/journal.sqlite").write_bytes(b"no database" * 1_000)
    run("search", "pump")
    for arguments in (("log", "list"), ("keys", "list")):
        assert "remove it" in run(*arguments, code=4).stderr


# feedback


def test_a_good_answer_becomes_a_question_that_expects_what_it_cited(run: Run) -> None:
    ask(run)
    done = run("feedback", "last", "good", "--note", "the right year", "--json")
    told = json.loads(done.stdout)
    assert (told["added"], told["verdict"]) == (True, "good")
    case = cases()[QUESTION]
    assert not case.draft
    assert case.documents == {"lease.md": 1}
    assert [(one.document, one.lines) for one in case.places] == [("lease.md", (1, 3))]
    assert case.note.endswith(": the right year")
    figures = json.loads(run("eval", "run", "--json").stdout)["figures"]["all"]
    assert figures["hit@1"] == figures["place_hit@1"] == 1

    assert "has this question already" in run("feedback", "last", "bad").stdout
    assert cases() == {QUESTION: case}
    shown = json.loads(run("log", "show", "last", "--json").stdout)
    assert shown["feedback"]["good"] is False


def test_a_good_refusal_becomes_a_question_without_an_answer(run: Run) -> None:
    run("ask", UNANSWERED, code=11)
    run("feedback", "last", "good")
    assert cases()[UNANSWERED].unanswerable
    assert not cases()[UNANSWERED].draft


def test_of_a_good_search_the_first_result_is_a_draft_under_the_same_filters(run: Run) -> None:
    run("search", "pump leaks", "--type", "md", "--name", "pumps")
    run("feedback", "last", "good")
    case = cases()["pump leaks"]
    assert case.draft
    assert case.documents == {"pumps.md": 1}
    assert (case.filters.types, case.filters.name) == (("md",), "pumps")


def test_a_bad_answer_is_a_draft_that_a_person_completes(run: Run) -> None:
    for question in (QUESTION, "which pump leaks?", UNANSWERED):
        run("search", question)
        told = run("feedback", "last", "bad").stdout
        assert "`pincite eval confirm` completes it" in told
    assert all(case.is_open and case.draft for case in cases().values())
    assert "is left to ask" in run("eval", "run", "--drafts", code=2).stderr
    assert "3 drafts left" in run("eval", "confirm", "--all").stdout

    keys = "k\nnowhere.md\nlease.md\ne\nWhich pump is broken?\npumps.md\nk\n\n"
    confirmed = run("eval", "confirm", typed=keys).stdout
    assert "There is no such document" in confirmed
    held = cases()
    assert held[QUESTION].documents == {"lease.md": 1}
    assert held["Which pump is broken?"].documents == {"pumps.md": 1}
    assert held[UNANSWERED].unanswerable
    assert not any(case.draft for case in held.values())


def test_what_was_counted_or_made_teaches_no_question(run: Run) -> None:
    for code, *asked in (
        (0, "ask", "--all", "which mention pumps?"),
        (11, "make", "blueprint", "--about", "zzz"),
    ):
        run(*asked, code=code)
        for verdict in ("good", "bad"):
            assert "It teaches no question" in run("feedback", "last", verdict).stdout
    assert [one["verb"] for one in listed(run)] == ["make", "count"]
    assert not Path("pincite-eval.jsonl").exists()


def test_a_query_that_failed_or_is_not_known_teaches_nothing(run: Run) -> None:
    run("search", "pump", "-k", "-1", code=2)
    assert listed(run)[0]["error"] == "SettingsError"
    assert "It teaches no question" in run("feedback", "last", "bad").stdout
    ask(run)
    Path("lease.md").unlink()
    run("index", "update")
    assert "It teaches no question" in run("feedback", "last", "good").stdout
    assert "there is no query" in run("feedback", "xyz", "good", code=2).stderr
    assert not Path("pincite-eval.jsonl").exists()


# keys


def secret_of(added: Result) -> str:
    assert added.stdout.startswith("pincite_")
    return added.stdout.rstrip("\n")


def test_a_key_is_made_listed_and_revoked(run: Run) -> None:
    added = run("keys", "add", "laptop", "--write", "--expires", "90d")
    secret = secret_of(added)
    assert "laptop" in added.stderr
    assert secret not in added.stderr
    with closing(open_journal(Path(".index/journal.sqlite").resolve())) as journal:
        key = journal.key_of(secret)
        assert key is not None
        assert (key.name, key.may_write) == ("laptop", True)
        assert key.expires_at is not None
        assert 89 < (key.expires_at - time.time()) / 86_400 <= 90
        told = run("keys", "list").stdout
        assert told.startswith(f"laptop ({key.id}): reads and writes, made 20")
        assert secret not in run("keys", "list", "--json").output

        reader = json.loads(run("keys", "add", "phone", "--json").stdout)
        found = journal.key_of(reader["secret"])
        assert found is not None
        assert not found.may_write
        assert "already" in run("keys", "add", "phone", code=2).stderr
        assert "opens nothing any more" in run("keys", "revoke", "phone").stdout
        assert json.loads(run("keys", "revoke", key.id, "--json").stdout)["valid"] is False
        assert journal.key_of(secret) is None
    assert [one["valid"] for one in json.loads(run("keys", "list", "--json").stdout)] == [False] * 2
    assert "there is no key 'phone'" in run("keys", "revoke", "phone", code=2).stderr


def test_a_key_of_a_folder_opens_all_of_it(run: Run) -> None:
    for option, value in (("--user", "ada"), ("--project", "ada"), ("--clearance", "public")):
        told = run("keys", "add", "laptop", option, value, code=2).stderr
        assert "the key of a folder opens all of its library and no other" in told
    assert "expired already" in run("keys", "add", "old", "--expires", "2020-01-01", code=2).stderr
    assert "printable" in run("keys", "add", "a\x1b[2J", code=2).stderr
    assert run("keys", "list").stdout == "There are no keys.\n"


def test_keys_that_came_with_a_folder_open_nothing_before_its_user_agrees(
    run: Run, tmp_path: Path
) -> None:
    run("keys", "add", "stranger")
    received = tmp_path / "received"
    shutil.copytree(".", received)
    with open_library(".") as library:
        admit(library)
    asks = "wants to let in whoever holds one of its API keys"
    with open_library(received) as library, pytest.raises(ConsentNeeded, match=asks):
        admit(library)
    told = run("keys", "add", "own", "-l", str(received), code=13).stderr
    assert "pincite trust" in told
    assert "API keys" in run("trust", str(received), "--yes").stdout
    run("keys", "add", "own", "-l", str(received))
    with open_library(received) as library:
        admit(library)
        withdraw(received)
        with pytest.raises(ConsentNeeded, match=asks):
            admit(library)
        for name in ("stranger", "own"):
            run("keys", "revoke", name, "-l", str(received))
        admit(library)


# a team's database


@pytest.fixture
def store(run: Run) -> str:
    """A database in which Ada and Grace asked something of Ada's project."""
    store = new_database()
    run(
        "index",
        "build",
        "--model",
        "hashing",
        "--store",
        store,
        "--user",
        "ada",
        "--project",
        "plans",
    )
    with closing(Team.at(store)) as team:
        with open_project(store, user="ada", project="plans") as plans:
            plans.search("pump")
            address = plans._home.address
        team.share(address.scope, "grace", role="reader", clearance="internal")
        with open_project(store, user="grace", project="ada/plans") as plans:
            plans.ask(QUESTION, asking=AskSettings(caution=0))
    return store


def test_a_member_sees_their_own_queries_and_whoever_names_the_database_all(
    run: Run, store: str
) -> None:
    assert [one["question"] for one in listed(run)] == ["pump"]
    everybody = listed(run, "--store", store)
    assert [(one["user"], one["library"]) for one in everybody] == [
        ("grace", "ada/plans"),
        ("ada", "ada/plans"),
    ]
    assert [one["question"] for one in listed(run, "--store", store, "--user", "grace")] == [
        QUESTION
    ]
    of_project = ("--store", store, "--project", "ada/plans")
    assert len(listed(run, *of_project)) == 2
    assert listed(run, "--store", store, "--user", "ada", "--project", "others") == []
    assert (
        "whose project?"
        in run("log", "list", "--store", store, "--project", "plans", code=2).stderr
    )
    assert "lease.md" in run("log", "show", "last", "--store", store).stdout
    with closing(opened_team(store)) as team:
        team_journal(team)
        run("team", "revoke", "grace")
    assert "ada/plans" in run("log", "show", "last", "--store", store).stdout

    run("log", "purge", "--all", "--yes")
    assert [one["user"] for one in listed(run, "--store", store)] == ["grace"]
    run("log", "purge", "--all", "--yes", "--store", store)
    assert listed(run, "--store", store) == []


def test_feedback_on_a_team_s_project_goes_where_its_files_are_or_is_told(
    run: Run, store: str, tmp_path: Path
) -> None:
    told = run("feedback", "last", "good", "--store", store).stdout
    assert "Name a file with --output" in told
    file = tmp_path / "cases.jsonl"
    run("feedback", "last", "good", "--store", store, "--output", str(file))
    (case,) = parse_cases(file.read_text(), name="cases")
    assert (case.question, case.documents) == (QUESTION, {"lease.md": 1})
    run("feedback", "last", "bad")
    assert list(cases()) == ["pump"]


def test_a_key_of_a_database_is_a_user_s(run: Run, store: str) -> None:
    of_store = ("--store", store)
    assert "whose key is it?" in run("keys", "add", "bot", *of_store, code=2).stderr
    assert "cannot be" in run("keys", "add", "bot", "--user", "a\nb", *of_store, code=2).stderr
    secret = secret_of(
        run("keys", "add", "bot", "--user", "grace", "--project", "ada/plans", *of_store)
    )
    own = secret_of(run("keys", "add", "own"))
    with closing(opened_team(store)) as team:
        journal = team_journal(team)
        key, mine = journal.key_of(secret), journal.key_of(own)
    assert key is not None
    assert mine is not None
    assert (key.user, key.projects) == ("grace", ("ada/plans",))
    assert (mine.user, mine.projects) == ("ada", ("ada/plans",))
    assert len(json.loads(run("keys", "list", *of_store, "--json").stdout)) == 2
    run("keys", "revoke", "bot", *of_store)
    assert json.loads(run("keys", "list", "--json").stdout)[0]["valid"] is False
