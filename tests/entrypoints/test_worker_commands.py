"""`pincite worker`, and searches with and without one, as processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pincite
from pincite import open_library
from pincite.models.worker.client import all_places

Pincite = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "one.md").write_text("# One\n\nThe north pump leaks.\n")
    with open_library(tmp_path) as library:
        library.index(model="hashing")
    return tmp_path


@pytest.fixture
def run(runtime_folder: Path) -> Pincite:
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name != "PINCITE_WORKER"}
        return subprocess.run(
            [sys.executable, "-m", "pincite", *arguments],
            capture_output=True,
            text=True,
            env={**kept, "PINCITE_WORKER_FOLDER": str(runtime_folder), **environment},
            check=False,
        )

    return run


def status(run: Pincite, **environment: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(run("worker", "status", "--json", **environment).stdout)
    return told


def search(run: Pincite, notes: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run("search", "--library", str(notes), "which pump leaks?", **environment)


def test_a_worker_is_started_looked_at_restarted_and_stopped(run: Pincite) -> None:
    assert "No worker is running" in run("worker", "status").stdout
    assert run("worker", "start", "hashing").stdout.startswith("hashing: running, process ")
    (first,) = status(run)
    assert (first["model"], first["state"], first["calls"]) == ("hashing", "running", 0)
    run("worker", "start", "hashing")
    assert status(run)[0]["process_id"] == first["process_id"]
    run("worker", "restart", "hashing")
    (second,) = status(run)
    assert second["process_id"] != first["process_id"]
    assert run("worker", "stop").stdout == "Workers stopped: 1.\n"
    assert status(run) == []
    assert json.loads(run("worker", "stop", "hashing", "--json").stdout) == {"stopped": 0}


def test_a_search_uses_a_worker_that_was_started_and_starts_none(run: Pincite, notes: Path) -> None:
    without = search(run, notes)
    assert "one.md" in without.stdout
    assert status(run) == []
    run("worker", "start", "hashing")
    assert search(run, notes).stdout == without.stdout
    calls = status(run)[0]["calls"]
    assert calls > 0
    assert search(run, notes, PINCITE_WORKER="off").stdout == without.stdout
    assert status(run)[0]["calls"] == calls


def test_a_search_starts_a_worker_where_that_is_wanted(run: Pincite, notes: Path) -> None:
    found = search(run, notes, PINCITE_WORKER="on", PINCITE_WORKER_IDLE="77")
    assert "one.md" in found.stdout
    assert status(run)[0]["idle_seconds"] == 77


def test_a_worker_that_cannot_be_used_is_told_and_the_search_goes_on(
    run: Pincite, notes: Path, runtime_folder: Path
) -> None:
    run("worker", "start", "hashing")
    (place,) = all_places(runtime_folder)
    place.folder.chmod(0o755)
    found = search(run, notes)
    assert "one.md" in found.stdout
    assert found.stderr.startswith("Note: ")
    assert "in this process instead" in found.stderr
    refused = search(run, notes, PINCITE_WORKER="on")
    assert refused.returncode == 5
    assert "for you alone" in refused.stderr
    place.folder.chmod(0o700)


def test_after_an_upgrade_the_worker_of_the_old_version_is_replaced(
    run: Pincite, notes: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    code = tmp_path_factory.mktemp("code")
    shutil.copytree(Path(pincite.__file__).parent, code / "pincite")
    run("worker", "start", "hashing", PYTHONPATH=str(code))
    (old,) = status(run, PYTHONPATH=str(code))
    with (code / "pincite" / "models" / "hashing.py").open("a") as upgraded:
        upgraded.write("# upgraded\n")
    (seen,) = status(run, PYTHONPATH=str(code))
    assert (seen["state"], seen["process_id"]) == ("other version", old["process_id"])
    assert "one.md" in search(run, notes, PYTHONPATH=str(code)).stdout
    (new,) = status(run, PYTHONPATH=str(code))
    assert new["state"] == "running"
    assert new["process_id"] != old["process_id"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PINCITE_WORKER", "sometimes"),
        ("PINCITE_WORKER_IDLE", "soon"),
    ],
)
def test_a_wrong_setting_is_refused(run: Pincite, notes: Path, variable: str, value: str) -> None:
    refused = search(run, notes, **{variable: value})
    assert refused.returncode == 2
    assert variable in refused.stderr


def test_a_worker_imports_nothing_from_the_folder_one_stands_in(
    runtime_folder: Path, tmp_path: Path
) -> None:
    # Python imports a module of this name at its start, from wherever it is told to look.
    (tmp_path / "sitecustomize.py").write_text(
        f"open({str(tmp_path / 'imported')!r}, 'w').close()\n"
    )
    result = subprocess.run(
        [sys.executable, "-m", "pincite", "worker", "start", "hashing"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            "PYTHONPATH": str(Path(pincite.__file__).parent.parent),
            "PINCITE_WORKER_FOLDER": str(runtime_folder),
        },
        check=False,
    )
    assert result.stdout.startswith("hashing: running, process "), result.stderr
    assert not (tmp_path / "imported").exists()
