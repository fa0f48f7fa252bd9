"""`pincite mcp install`: the settings of somebody else's program are changed with care."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pincite.entrypoints.cli.main import cli
from pincite.entrypoints.cli.questions import write_text

CLIENTS = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return home


def install(home: Path, client: str, *more: str, answer: str = "") -> Result:
    arguments = ["mcp", "install", client, "--library", str(home / "notes"), *more]
    return CliRunner().invoke(cli, arguments, input=answer)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_program_is_told_with_absolute_paths_and_the_rest_stays(home: Path, client: str) -> None:
    file = home / CLIENTS[client]
    shown = install(home, client, "--print")
    assert shown.exit_code == 0, shown.output
    assert not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    table = "servers" if client == "vscode" else "mcpServers"
    before = json.dumps({"theme": "dürk", table: {"other": {"command": "x"}}})
    file.write_text(before)
    file.chmod(0o600)
    assert install(home, client, answer="n\n").exit_code == 1
    assert file.read_text() == before
    assert install(home, client, answer="y\n").exit_code == 0
    told = json.loads(file.read_text())
    assert (told["theme"], told[table]["other"]) == ("dürk", {"command": "x"})
    entry = told[table]["pincite"]
    assert Path(entry["command"]).is_absolute()
    assert os.access(entry["command"], os.X_OK)
    assert entry["args"][-3:] == ["mcp", "--library", str(home / "notes")]
    copy = file.with_name(f"{file.name}.before-pincite")
    assert copy.read_text() == before
    assert {oct(one.stat().st_mode & 0o777) for one in (file, copy)} == {"0o600"}
    again = install(home, client, "--yes")
    assert "stands there already" in again.output
    last = file.read_text()
    assert install(home, client, "--yes", "--name", "more").exit_code == 0
    assert copy.read_text() == last  # as it was before the last change


def test_what_a_user_added_to_the_entry_stays_and_every_option_is_passed_on(home: Path) -> None:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    mine = {"command": "/old/pincite", "args": ["mcp"], "env": {"A": "1"}, "disabled": True}
    other = {"url": "http://x.example", "args": ["y"]}
    file.write_text(json.dumps({"mcpServers": {"pincite": mine, "other": other}}))
    assert "add to it what is inside" in install(home, "cursor", "--print").output
    told = install(home, "cursor", "--yes", "--max-tokens", "900", "--no-watch")
    assert told.exit_code == 0, told.output
    entry = json.loads(file.read_text())["mcpServers"]["pincite"]
    assert (entry["env"], entry["disabled"]) == ({"A": "1"}, True)
    assert entry["args"][-3:] == ["--max-tokens", "900", "--no-watch"]
    assert install(home, "cursor", "--yes", "--name", "other").exit_code == 0
    assert "url" not in json.loads(file.read_text())["mcpServers"]["other"]


def test_settings_that_are_not_understood_are_left_alone(home: Path) -> None:
    file = home / ".cursor/mcp.json"
    file.parent.mkdir()
    for broken in (
        "{ // mine\n}",
        "[1]",
        '{"mcpServers": 3}',
        '{"a": ',
        '{"a": NaN}',
        '{"a": 1e999}',
    ):
        file.write_text(broken)
        told = install(home, "cursor", "--yes")
        assert told.exit_code == 2
        assert "by hand" in told.output
        assert file.read_text() == broken


def test_half_a_character_in_the_settings_stays_what_it_was(home: Path) -> None:
    file = home / ".claude.json"
    file.write_text('{"history": ["caf\\ud83d", "\\udc80\\ud83d\\ude00", "\\u00e9"]}')
    before = json.loads(file.read_text())["history"]
    told = install(home, "claude-code", "--yes")
    assert told.exit_code == 0, told.output
    assert json.loads(file.read_bytes())["history"] == before
    assert "é" in file.read_text()
    assert {one.name for one in home.iterdir()} == {
        *("notes", ".claude.json", ".claude.json.before-pincite"),
    }


def test_a_text_that_cannot_be_written_leaves_no_unfinished_file(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("as it was")
    with pytest.raises(UnicodeEncodeError):
        write_text(file, "half a character: \ud83d")
    assert [one.name for one in tmp_path.iterdir()] == ["cases.jsonl"]
    assert file.read_text() == "as it was"


def test_what_cannot_work_is_said_before_anything_is_written(home: Path) -> None:
    (home / "b" / "notes").mkdir(parents=True)
    for wrong in (
        ("--tools", "nonsense"),
        ("--library", str(home / "b" / "notes")),
        ("--library", str(home / "none")),
    ):
        assert install(home, "cursor", "--yes", *wrong).exit_code != 0
    misplaced = ["mcp", "--library", str(home), "install", "cursor", "--yes"]
    assert CliRunner().invoke(cli, misplaced).exit_code == 2
    assert not (home / ".cursor").exists()
