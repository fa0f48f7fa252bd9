"""Which database and project a command works on: what it makes, leaves and shows there."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner, Result

from helpers import server_folder
from pincite.entrypoints.cli.main import cli
from pincite.stores.postgres.embedded import EmbeddedServer

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_folder() as folder, EmbeddedServer(folder) as server:
        yield server.start()


@pytest.fixture
def store(server: str, request: pytest.FixtureRequest) -> str:
    """The address of a new database."""
    name = re.sub(r"\W", "_", request.node.name)[:60]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return server.replace("/postgres?", f"/{name}?")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line beside a folder named `notes`."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "pumps.md").write_text("# Pumps\n\nThe north pump leaks.\n")
    (tmp_path / "notes" / "pay.md").write_text(
        "---\nconfidentiality: confidential\n---\n# Pay\n\nWages of the pump crew.\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("PINCITE_STORE", "PINCITE_USER", "PINCITE_PROJECT"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture
def plans(run: Run, store: str) -> Run:
    """The same, with `notes` as Ada's project `plans`, which Grace reads."""
    place = ("--store", store, "--user", "ada", "--project", "plans")
    run("index", "build", "notes", "--model", "hashing", *place)
    run("team", "share", "grace", "-l", "notes")
    run("team", "connect", "look", "--store", store, "--user", "grace", "--project", "ada/plans")
    return run


def missing_in(folder: Path) -> tuple[str, ...]:
    return ("--store", f"postgresql+embedded://{folder}", "--user", "ada", "--project", "plans")


def test_a_command_that_reads_makes_no_database(run: Run, tmp_path: Path) -> None:
    gone = tmp_path / "mistyped" / "db"
    for command in (
        ("team", "projects"),
        ("team", "members"),
        ("team", "share", "grace"),
        ("team", "drop", "--yes"),
        ("team", "connect", "look"),
    ):
        told = run(*command, *missing_in(gone), code=3).stderr
        assert f"there is no database in {gone}" in told
        assert f"pincite team setup postgresql+embedded://{gone}" in told
    assert not gone.parent.exists()
    assert not Path("look").exists()


def test_a_folder_whose_database_is_gone_does_not_get_an_empty_one(run: Run) -> None:
    """A disk is not mounted, more often than somebody wants to begin anew."""
    with server_folder() as folder:
        away = folder / "mounted"
        build = ("index", "build", "notes", "--model", "hashing", *missing_in(away))
        run(*build)
        away.rename(folder / "elsewhere")
        for command in (
            ("search", "-l", "notes", "pump"),
            ("catalog", "-l", "notes"),
            ("index", "stats", "notes"),
            ("index", "verify", "notes"),
            ("export", "a.pincite", "-l", "notes"),
            ("reindex", "notes", "--status"),
            ("index", "update", "notes"),
            build,
        ):
            assert "there is no database in" in run(*command, code=3).stderr, command
        assert not away.exists()
        assert not Path("a.pincite").exists()
        (folder / "elsewhere").rename(away)
        assert "pumps.md" in run("search", "-l", "notes", "leaks").stdout


def test_a_command_that_writes_makes_the_database(run: Run) -> None:
    with server_folder() as folder:
        run("index", "build", "notes", "--model", "hashing")
        run("export", "a.pincite", "-l", "notes")
        run("import", "a.pincite", "there", *missing_in(folder / "new"))
        assert "pumps.md" in run("search", "-l", "there", "leaks").stdout


def test_reading_makes_no_tables_in_somebody_elses_database(run: Run, store: str) -> None:
    place = ("--store", store, "--user", "ada")
    assert "holds nothing of pincite" in run("team", "projects", *place, code=3).stderr
    with psycopg.connect(store) as connection:
        assert connection.execute("SELECT to_regnamespace('pincite')").fetchone() == (None,)


def test_a_folder_that_goes_to_another_project_says_which_it_left(plans: Run) -> None:
    again = plans("index", "build", "notes")
    assert "Note" not in again.stderr
    moved = plans("index", "build", "notes", "--model", "hashing", "--project", "other")
    assert "now project ada/other, as ada" in moved.stderr
    assert "It was project ada/plans, as ada" in moved.stderr
    told = json.loads(plans("index", "build", "notes", "--project", "plans", "--json").stdout)
    assert told["left"].startswith("project ada/other, as ada, in postgresql://")
    assert json.loads(plans("index", "build", "notes", "--json").stdout)["left"] == ""
    assert "pumps.md" in plans("search", "-l", "look", "leaks").stdout


def test_an_import_into_another_project_says_which_was_left(plans: Run, store: str) -> None:
    plans("export", "a.pincite", "-l", "notes")
    place = ("--store", store, "--user", "ada", "--project", "other")
    assert "It was project ada/plans" in plans("import", "a.pincite", "notes", *place).stderr


def test_an_export_says_what_its_user_may_see_and_not_whether_more_is_there(
    plans: Run, store: str
) -> None:
    some = plans("export", "some.pincite", "-l", "look")
    assert "The file holds what grace may see (up to internal).\n" in some.stdout
    assert "Wrote 1 document," in some.stdout
    told = json.loads(plans("backup", "all.pincite", "-l", "notes", "--json").stdout)
    assert (told["seen_by"], told["clearance"], told["documents"]) == ("ada", "restricted", 2)

    with gzip.open("some.pincite") as lines:
        assert json.loads(next(lines))["entry"]["clearance"] == "internal"
    with gzip.open("all.pincite") as lines:
        assert "clearance" not in json.loads(next(lines))["entry"]

    taken = plans("import", "some.pincite", "mine")
    assert "its author may see (up to internal)" in taken.stdout
    assert "may see" not in plans("import", "all.pincite", "whole").stdout
    assert "may see" not in plans("export", "own.pincite", "-l", "whole").stdout


def test_whoever_wants_to_leaves_a_project_but_for_its_owner(plans: Run, store: str) -> None:
    assert (
        "grace is no member of ada/plans any more." in plans("team", "leave", "-l", "look").stdout
    )
    plans("search", "-l", "look", "pump", code=3)
    plans("team", "share", "mary", "--role", "writer", "-l", "notes")
    mary = ("--store", store, "--user", "mary", "--project", "ada/plans")
    plans("team", "share", "grace", "-l", "notes")
    plans("team", "revoke", "grace", *mary, code=10)
    told = json.loads(plans("team", "revoke", "mary", *mary, "--json").stdout)
    assert told == {"project": "ada/plans", "user": "mary", "revoked": True}
    assert "owns ada/plans" in plans("team", "leave", "-l", "notes", code=10).stderr
    assert "pumps.md" in plans("search", "-l", "notes", "leaks").stdout


def test_messages_name_a_project_with_its_owner(plans: Run) -> None:
    assert "deletes ada/plans with" in plans("team", "drop", "-l", "notes", code=2).stderr
    told = json.loads(plans("team", "optimize", "-l", "notes", "--json").stdout)
    assert told["project"] == "ada/plans"
    assert "ada/plans is deleted" in plans("team", "drop", "--yes", "-l", "notes").stdout
    told = plans("search", "-l", "notes", "pump", code=3).stderr
    assert "ada has no project ada/plans;" in told
