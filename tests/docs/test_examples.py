"""Examples in the documentation run, and name commands and options that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from pincite.entrypoints.cli.main import cli

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


PYTHON = [(page.name, block) for page in PAGES for block in blocks(page, "python")]
COMMANDS = [
    (page.name, line)
    for page in PAGES
    for block in blocks(page, "bash")
    for line in block.splitlines()
    if line.startswith("pincite ")
]


def test_there_are_examples_to_check() -> None:
    assert len(PYTHON) >= 2
    assert len(COMMANDS) >= 4


@pytest.mark.parametrize(("page", "code"), PYTHON)
def test_a_python_example_runs(
    page: str,
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "meeting.md").write_text(
        "# Meeting\n\n## Decisions\n\nThe lease ends in June.\nPetra signs the release.\n"
    )
    monkeypatch.chdir(tmp_path)
    exec(compile(code, page, "exec"), {})
    assert "meeting.md" in capsys.readouterr().out


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_line_example_names_what_exists(page: str, line: str) -> None:
    del page
    words = shlex.split(line, comments=True)[1:]
    command: click.Command = cli
    while isinstance(command, click.Group):
        context = click.Context(command)
        while words[0].startswith("-"):  # an option of all commands, with its value
            assert words[0] in {name for parameter in command.params for name in parameter.opts}
            del words[:2]
        assert words[0] in command.list_commands(context)
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found
    options = {name for parameter in command.params for name in parameter.opts}
    assert [word for word in words if word.startswith("-") and word not in options] == []
