"""`pincite --server URL …`: the same commands, asked of a server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pincite import open_library
from pincite.entrypoints.cli.main import cli
from service import folders, key_for, listening

TIMES = re.compile(r'"seconds": \{[^}]*\}|"query_id": "\w*"')
Pincite = Callable[..., Result]


def notes_in(folder: Path) -> Path:
    (folder / "notes").mkdir()
    (folder / "notes" / "pumps.md").write_text("# Pumps\n\nThe north pump leaks at the seal.\n")
    (folder / "notes" / "lease.md").write_text("# Lease\n\nThe lease ends in June.\n")
    return folder / "notes"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A library that is only asked, and the address of its server."""
    notes = notes_in(tmp_path_factory.mktemp("served"))
    with listening(folders(notes)) as address:
        yield notes, address


@pytest.fixture
def url(served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(served[0])
    return served[1]


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(cli, arguments, env=environment)


@pytest.mark.parametrize(
    "command",
    [
        ("search", "which pump leaks?", "--top-k", "1"),
        ("search", "pump", "--json", "--type", "md", "--set", "typos=off"),
        ("search", "pump", "--by-document", "--json"),
        ("search", "zebra", "--mode", "words"),
        ("ask", "which pump leaks?"),
        ("ask", "which pump leaks?", "--json", "--claims", "1"),
        ("ask", "which pump leaks?", "--copy"),
        ("ask", "who won the cup final?"),
        ("ask", "which pump leaks?", "--agent", "researcher"),
        ("show", "pumps.md:3", "--around", "1"),
        ("show", "pumps.md:99"),
        ("context", "which pump leaks?", "--budget", "90"),
        ("context", "which pump leaks?", "--json"),
        ("catalog",),
        ("catalog", "pumps", "--json"),
        ("search", "pump", "--where", "colour = red", "--json"),
    ],
)
def test_a_command_says_the_same_of_a_server(url: str, command: tuple[str, ...]) -> None:
    asked, own = run("--server", url, *command), run(*command)
    assert (asked.exit_code, asked.stderr) == (own.exit_code, own.stderr)
    assert TIMES.sub("", asked.stdout) == TIMES.sub("", own.stdout)


def test_a_chat_is_held_with_a_server(url: str) -> None:
    lines = "which pump leaks?\n/sources\n/agent helper\nand when?\n"
    asked, own = (
        CliRunner().invoke(cli, [*server, "chat"], input=lines)
        for server in (["--server", url], [])
    )
    assert (asked.exit_code, asked.output) == (0, own.output)
    assert "[1]" in asked.stdout


def test_a_receipt_is_checked_by_a_server(url: str, tmp_path: Path) -> None:
    proof, wrong = str(tmp_path / "proof.json"), tmp_path / "not.json"
    run("ask", "which pump leaks?", "--receipt", proof)
    wrong.write_text("not a receipt")
    for command in (("check", proof), ("check", proof, str(wrong), "--json")):
        asked, own = run("--server", url, *command), run(*command)
        assert (asked.exit_code, asked.output) == (own.exit_code, own.output)


def test_server_library_and_key_are_taken_from_where_they_are_said(tmp_path: Path) -> None:
    notes, plans = notes_in(tmp_path), tmp_path / "plans"
    plans.mkdir()
    (plans / "plan.md").write_text("# Plan\n\nThe bridge opens in autumn.\n")
    libraries = folders(notes, plans)
    secret = key_for(libraries)["Authorization"].removeprefix("Bearer ")
    with listening(libraries) as url:
        assert "plan.md" in run("search", "bridge", "-l", "plans", PINCITE_SERVER=url).stdout
        refused = run("search", "pump", "-l", "notes", PINCITE_SERVER=url)
        assert refused.exit_code == 3
        wrong = run("--server", url, "search", "pump", "--json", PINCITE_API_KEY=f"{secret}x")
        assert wrong.exit_code == 10
        assert json.loads(wrong.stderr)["error"]["kind"] == "ServerDenied"
        opened = run("--server", url, "search", "pump", PINCITE_API_KEY=secret)
        assert "pumps.md" in opened.stdout


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("index", "build"), "`pincite index build`"),
        (("index", "update"), "`pincite index update`"),
        (("eval", "run"), "`pincite eval`"),
        (("serve",), "`pincite serve`"),
        (("ask", "which pump?", "--profile", "cheap"), "--profile"),
        (("ask", "which pump?", "--receipt", "r.json"), "--receipt"),
        (("search", "pump", "--rerank", "maxsim"), "--rerank"),
        (("search", "pump", "--expand", "openai:m"), "--expand"),
        (("search", "pump", "--set", "expand=openai:m"), "--expand"),
    ],
)
def test_what_does_not_work_through_a_server_says_so(command: tuple[str, ...], told: str) -> None:
    refused = run("--server", "http://localhost:1", *command)
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"Error: {told} does not work through a server; leave it or --server out\n"
    )


def test_moments_are_not_shown_by_a_server(url: str) -> None:
    refused = run("--server", url, "search", "pump", "--moments")
    assert (refused.exit_code, "moments" in refused.stderr) == (2, True)


def test_a_server_that_is_not_there_is_told() -> None:
    gone = run("--server", "http://localhost:1", "search", "pump")
    assert gone.exit_code == 9
    assert "cannot be reached" in gone.stderr
    assert run("--server", "http://user:secret@localhost", "search", "pump").exit_code == 2


@pytest.mark.parametrize("through_server", [False, True])
def test_files_are_handed_in_and_one_that_fails_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, through_server: bool
) -> None:
    notes = notes_in(tmp_path)
    monkeypatch.chdir(notes)
    (tmp_path / "valve.md").write_text("# Valve\n\nThe valve sticks when it is cold.\n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    with listening(folders(notes)) as url:
        server = ("--server", url) if through_server else ()
        labels = ("--label", "project=plant", "--label", "tags=cold", "--label", "tags=sticky")
        files = [str(tmp_path / name) for name in ("valve.md", "broken.pdf", "nowhere.md")]
        added = run(*server, "index", "add", *files, *labels, "--json")
        assert added.exit_code == 1, added.output
        told = json.loads(added.stdout)
        assert told["failed"] == 2
        assert [one["status"] for one in told["files"]] == ["indexed", "failed", "failed"]
        assert "No such file" in told["files"][2]["reason"]
        again = run(*server, "index", "add", files[0])
        assert again.exit_code == 0
        assert again.stdout.startswith("deduplicated: uploads/")
        wrong = run(*server, "index", "add", files[0], "--label", "projects=plant")
        assert wrong.exit_code == 1
        assert "did you mean project" in wrong.stdout
    with open_library(notes) as library:
        (found,) = library.search("valve", filters={"tags": ["cold", "sticky"]}).results
        assert found.document.metadata.project == "plant"
