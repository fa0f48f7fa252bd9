"""`pincite doctor`: it says what is wrong and what mends it, whatever is broken."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from helpers import new_database
from pincite.entrypoints.cli.main import cli
from pincite.settings import INGESTION_VERSION
from pincite.stores.postgres.team import Team

Doctor = Callable[..., dict[str, dict[str, str]]]
SECRET = "wild-geese-7"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    for name in ("PINCITE_STORE", "PINCITE_USER", "PINCITE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pumps.md").write_text("# Pumps\n\nThe north pump leaks.\n")
    (notes / "empty.md").write_text("")
    (notes / "table.bin").write_bytes(b"\0\1\2")
    monkeypatch.chdir(notes)
    return lambda *arguments: CliRunner().invoke(cli, arguments)


@pytest.fixture
def doctor(run: Callable[..., Result]) -> Doctor:
    """The checks of a library that is well, by part; the exit code fits to them."""

    def checked(*arguments: str) -> dict[str, dict[str, str]]:
        result = run("doctor", "--json", *arguments)
        checks = {one["part"]: one for one in json.loads(result.stdout)}
        failed = any(one["state"] == "failed" for one in checks.values())
        assert result.exit_code == failed, result.output
        assert all(one["mend"] for one in checks.values() if one["state"] == "warning")
        return checks

    assert run("index", "build", "--model", "hashing").exit_code == 0
    return checked


def states(checks: dict[str, dict[str, str]]) -> dict[str, str]:
    return {part: one["state"] for part, one in checks.items() if one["state"] != "ok"}


def test_where_all_is_well_it_says_so(doctor: Doctor, run: Callable[..., Result]) -> None:
    checks = doctor()
    assert states(checks) == {}
    assert [*checks] == [
        *("python", "sqlite", "settings", "disk"),
        *("index", "model", "updates", "log"),
    ]
    assert "documents: 1, chunks: 1, hashing" in checks["index"]["found"]
    shown = run("doctor").stdout
    assert "mend it" not in shown
    assert len(shown.splitlines()) == len(checks)


def test_a_folder_that_is_no_library_is_only_to_be_indexed_where_it_is_named(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    def library(*arguments: str) -> tuple[int, str, str]:
        result = run("doctor", "--json", *arguments)
        (check,) = (one for one in json.loads(result.stdout) if one["part"] == "library")
        return result.exit_code, check["state"], check["mend"]

    assert library()[1:] == ("warning", "name the folder of a library with --library")
    here = str(tmp_path / "notes")
    assert library("--library", here)[1:] == ("warning", f"pincite index build {here}")
    code, state, mend = library("--library", str(tmp_path / "nowhere"))
    assert (code, state) == (1, "failed")
    assert "index build" not in mend


def test_what_an_update_would_do_is_told(doctor: Doctor) -> None:
    Path("more.md").write_text("# More\n\nMore pumps.\n")
    Path("pumps.md").unlink()
    checks = doctor()
    assert states(checks) == {"updates": "warning"}
    assert checks["updates"]["found"] == "new files: 1, changed or gone: 1"
    assert checks["updates"]["mend"] == f"pincite index update {Path.cwd()}"


def test_settings_that_cannot_be_read_hide_nothing_else(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text("[ask\n")
    monkeypatch.setenv("PINCITE_CONFIG", str(settings))
    checks = doctor()
    assert states(checks) == {"settings": "failed"}
    assert "is not TOML" in checks["settings"]["found"]


def test_a_missing_model_and_another_one_are_told(
    run: Callable[..., Result],
    doctor: Doctor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".index").rename(tmp_path / "elsewhere")
    assert states(doctor()) == {"library": "warning"}
    monkeypatch.setenv("PINCITE_MODELS", str(tmp_path / "none"))
    checks = doctor()
    assert states(checks) == {"library": "warning", "model": "failed"}
    assert checks["model"]["mend"] == "pincite models prepare"
    assert checks["library"]["mend"] == "name the folder of a library with --library"


def test_a_model_that_gives_other_vectors_than_the_index_has_is_told(
    run: Callable[..., Result], doctor: Doctor
) -> None:
    """As after an upgrade, or in a library that came from another machine."""
    database = Path(".index/index.db").read_bytes()
    header = json.loads(run("index", "stats", "--json").stdout)
    fingerprint = str(header["model"]["fingerprint"]).encode()
    other = fingerprint[:-1] + (b"9" if fingerprint[-1:] != b"9" else b"8")
    assert fingerprint in database
    Path(".index/index.db").write_bytes(database.replace(fingerprint, other))
    checks = doctor()
    assert checks["model"]["state"] == "failed"
    assert "another model than the one that the index was made with" in checks["model"]["found"]


@pytest.mark.parametrize("damage", ["database", "journal", "both"])
def test_damage_is_told_with_what_mends_it(
    doctor: Doctor, run: Callable[..., Result], damage: str
) -> None:
    if damage != "journal":
        for file in Path(".index").glob("index.db*"):
            file.write_bytes(b"damaged" * 1_000)
        shutil.rmtree(".index/segments")
    if damage != "database":
        Path(".index/journal.sqlite").write_bytes(b"damaged" * 1_000)
    checks = doctor()
    expected = {"database": {"index"}, "journal": {"log"}, "both": {"index", "log"}}[damage]
    assert expected <= {part for part, state in states(checks).items() if state == "failed"}
    if damage == "database":
        assert checks["index"]["mend"] == f"pincite index verify --repair {Path.cwd()}"
        assert run("index", "verify", "--repair").exit_code == 0
        assert states(doctor()) == {}
    else:
        assert "remove it" in checks["log"]["found"]


def test_an_index_that_an_older_pincite_made_wants_an_update(doctor: Doctor) -> None:
    for file in (Path(".index/index.db"), Path(".index/chunks.jsonl")):
        now = f'"ingestion_version": {INGESTION_VERSION}'.encode()
        data = file.read_bytes()
        if file.suffix == ".db":
            assert now in data
            file.write_bytes(data.replace(now, b'"ingestion_version": 1'))
    checks = doctor()
    assert checks["index"]["state"] == "warning"
    assert "older pincite" in checks["index"]["found"]


def test_an_index_that_wants_consent_names_the_command(doctor: Doctor) -> None:
    address = {"store": "postgresql://x@127.0.0.1:1/x", "user": "ada", "project": "plans"}
    Path(".index/store.json").write_text(json.dumps(address))
    checks = doctor()
    assert checks["library"]["state"] == "failed"
    assert checks["library"]["mend"] == f"pincite trust {Path.cwd()}"


def test_a_database_is_asked_and_its_password_not_told(
    doctor: Doctor, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    away = f"postgresql://app:{SECRET}@127.0.0.1:1/pincite"
    monkeypatch.setenv("PINCITE_STORE", away)
    result = run("doctor", "--json")
    checks = {one["part"]: one for one in json.loads(result.stdout)}
    assert result.exit_code == 1
    assert checks["database"]["state"] == "failed"
    assert checks["index"]["state"] == "ok", "this folder's index is its own"
    assert SECRET not in result.output

    store = new_database()
    monkeypatch.setenv("PINCITE_STORE", store)
    assert "run `pincite team setup`" in doctor()["database"]["found"]
    Team.at(store).close()
    assert doctor()["database"]["state"] == "ok"
    shutil.rmtree(".index")
    assert run("index", "build", "--model", "hashing").exit_code == 0
    checks = doctor()
    assert states(checks) == {}
    assert "in the database" in checks["log"]["found"]
