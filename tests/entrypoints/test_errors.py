"""What an error looks like: a line for people, an object for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pincite.entrypoints.cli.main import cli


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (("search", "pump", "-l", "."), "IndexMissing", 3),
        (("show", "a.md:1", "-l", "gone"), "FolderMissing", 3),
        (("team", "projects", "--store", "postgresql://127.0.0.1:1/x"), "StoreUnreachable", 9),
        (("search",), "UsageError", 2),
        (("search", "pump", "--colour", "red"), "UsageError", 2),
    ],
)
def test_where_json_is_asked_for_an_error_is_json_too(
    arguments: tuple[str, ...],
    kind: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    plain, result = run(*arguments), run(*arguments, "--json")
    (told,) = map(json.loads, result.stderr.splitlines())
    assert (told["error"]["kind"], result.exit_code, result.stdout) == (kind, code, "")
    assert plain.exit_code == code
    assert f"Error: {told['error']['message']}" in plain.stderr


def test_what_stands_behind_two_dashes_asks_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("search", "--", "--json").stderr.startswith("Error: neither ")


def test_an_error_in_json_leaves_a_terminal_alone(tmp_path: Path) -> None:
    told = run("index", "stats", str(tmp_path / "a\x1b[2Jb"), "--json").stderr
    assert "\x1b" not in told
    assert json.loads(told)["error"]["kind"] == "FolderMissing"
