"""Programs and the pages about them, found by what is known of their code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite import Filters, Library, open_library

SERVICE = '''"""Tokens of visitors."""

import datetime
from os import path


def validate_token(token):
    """Whether a token is still good."""
    return bool(token) and datetime.date.today() < token.until


class TokenStore:
    """Keeps tokens."""

    def forgetOldTokens(self):
        """Drop what nobody needs."""
        self.tokens.clear()
'''
PAGE = """# src/auth/service.py

## Tokens

A token is checked by validate_token before the door opens.

## Storage

Old ones are dropped at night.
"""


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    (tmp_path / "src" / "auth").mkdir(parents=True)
    (tmp_path / "wiki").mkdir()
    (tmp_path / "src" / "auth" / "service.py").write_text(SERVICE)
    (tmp_path / "wiki" / "service.md").write_text(PAGE)
    with open_library(tmp_path) as opened:
        opened.index(model="hashing", policy="wiki")
        yield opened


def found(library: Library, question: str, filters: Filters) -> set[str]:
    results = library.search(question, mode="words", filters=filters).results
    return {result.document.path for result in results}


def know(library: Library, layer: str) -> None:
    known = {
        "version": 1,
        "files": {
            "src/auth/service.py": {
                "layer": layer,
                "symbols": ["validate_token", "TokenStore"],
                "imports": ["datetime"],
            }
        },
    }
    (library.root / "pincite-analysis.json").write_text(json.dumps(known))


def test_code_is_cited_by_its_definition_and_lines(library: Library) -> None:
    (first, *_) = library.search("validate_token", filters=Filters(languages=("python",))).results
    assert first.quote.heading_path == ("validate_token",)
    assert (first.quote.section.line_start, first.quote.section.line_end) == (7, 9)


def test_a_name_is_found_by_the_words_it_is_made_of(library: Library) -> None:
    assert found(library, "forget old tokens", Filters(languages=("python",)))


@pytest.mark.parametrize(
    "filters",
    [
        Filters(symbols=("validate_token",)),
        Filters(imports=("os",)),
        Filters(imports=("datetime",)),
    ],
)
def test_code_is_filtered_by_symbols_and_imports(library: Library, filters: Filters) -> None:
    assert found(library, "token", filters) == {"src/auth/service.py"}


def test_an_analysis_file_describes_pages_about_code(library: Library) -> None:
    assert found(library, "token", Filters(layers=("api",))) == set()
    know(library, "api")
    report = library.index()
    assert (report.recut, report.embedded) == (2, 0)
    assert found(library, "token", Filters(layers=("api",))) == {
        "src/auth/service.py",
        "wiki/service.md",
    }
    # Only the section that names the function has it as a symbol.
    results = library.search(
        "token", mode="words", filters=Filters(symbols=("validate_token",), types=("md",))
    ).results
    assert [result.quote.heading_path[-1] for result in results] == ["Tokens"]


def test_a_page_has_what_is_found_in_the_source_it_is_mapped_to(library: Library) -> None:
    (library.root / "wiki" / "doors.md").write_text("# Doors\n\nSee validate_token.\n")
    known = {"version": 1, "pages": {"wiki/doors.md": "src/auth/service.py"}}
    (library.root / "pincite-analysis.json").write_text(json.dumps(known))
    library.index()
    both = {"src/auth/service.py", "wiki/doors.md"}
    assert found(library, "token doors", Filters(symbols=("validate_token",))) == both
    assert found(library, "token doors", Filters(symbols=("TokenStore",))) == {
        "src/auth/service.py"  # the page does not name it
    }
    assert found(library, "token doors", Filters(imports=("datetime",))) == both
    (library.root / "src" / "auth" / "service.py").write_text("import os\n\nkept = os\n")
    report = library.index()
    assert (report.paths["changed"], report.paths["recut"]) == (
        ("src/auth/service.py",),
        ("wiki/doors.md",),
    )
    assert found(library, "doors", Filters(imports=("datetime",))) == set()
    assert found(library, "doors", Filters(imports=("os",))) == {"wiki/doors.md"}


def test_another_analysis_is_followed_and_a_missing_one_forgotten(library: Library) -> None:
    know(library, "api")
    library.index()
    know(library, "domain")
    library.index()
    assert found(library, "token", Filters(layers=("api",))) == set()
    assert found(library, "token", Filters(layers=("domain",)))
    (library.root / "pincite-analysis.json").unlink()
    library.index()
    assert found(library, "token", Filters(layers=("domain",))) == set()
    assert library.verify() == []
