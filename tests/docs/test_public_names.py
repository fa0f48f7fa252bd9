"""What the package offers, and that it is documented."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pincite
from pincite import errors, records
from pincite.entrypoints.cli.main import EXIT_CODES

ROOT = Path(__file__).parent.parent.parent


def test_all_lists_every_public_name_in_order() -> None:
    assert sorted(pincite.__all__) == pincite.__all__
    # Some are loaded late.
    assert [name for name in pincite.__all__ if not hasattr(pincite, name)] == []


def test_records_give_every_name_that_type_checkers_see() -> None:
    source = (ROOT / "src/pincite/records/__init__.py").read_text(encoding="utf-8")
    told = [
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    ]
    assert told
    assert [name for name in told if not hasattr(records, name)] == []


def test_every_public_name_is_listed_before_it_is_used() -> None:
    listed = subprocess.check_output(
        [sys.executable, "-c", "import pincite; print(*dir(pincite))"], text=True
    )
    assert set(pincite.__all__) <= set(listed.split())


def test_every_exception_is_in_the_tree_at_the_top_of_its_module() -> None:
    tree = errors.__doc__ or ""
    names = [name for name, kind in vars(errors).items() if isinstance(kind, type)]
    assert "PinciteError" in names
    assert [name for name in names if name not in tree] == []


def test_every_exit_code_is_documented() -> None:
    documented = (ROOT / "docs" / "cli.md").read_text()
    for _, code in EXIT_CODES:
        assert f"\n| {code} | " in documented


def test_the_changelog_and_the_decisions_are_there() -> None:
    assert (ROOT / "CHANGELOG.md").read_text().startswith("# Changelog")
    numbers = sorted(path.name[:4] for path in (ROOT / "docs" / "decisions").glob("*.md"))
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
