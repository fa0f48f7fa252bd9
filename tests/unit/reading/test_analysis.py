"""The analysis file: what it may say, and which document it is about."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from pincite.errors import FileUnreadable
from pincite.reading.analysis import AnalysisFile, parse_analysis
from pincite.records import Analysis

SERVICE = "src/auth/service.py"
KNOWN = Analysis(
    layer="api",
    symbols=("validate_token", "TokenError"),
    imports=("datetime",),
    entry_points=("POST /auth/login",),
)


def parse(**form: object) -> AnalysisFile:
    return parse_analysis(json.dumps({"version": 1, **form}).encode())


def full() -> AnalysisFile:
    return parse(
        files={
            SERVICE: {
                "layer": "api",
                "symbols": ["validate_token", "TokenError", "validate_token", ""],
                "imports": ["datetime"],
                "entry_points": ["POST /auth/login"],
            },
            "src/auth/models.py": {"symbols": ["User"], "imports": ["datetime", "orm"]},
            "setup.py": {"symbols": ["setup"]},
        },
        pages={"wiki/auth.md": SERVICE, "wiki/all.md": ["src/auth/models.py", SERVICE]},
    )


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("src/auth/service.py", "service"),
        ("wiki/auth.md", "Anything"),
        ("a.md", "`src/auth/service.py`"),
        ("files/src-auth-service.md", "Service"),
        ("wiki/src/auth/service.md", "Service"),
    ],
)
def test_a_page_is_about_the_file_that_is_named_for_it(path: str, title: str) -> None:
    assert full().of(path, title) == KNOWN


@pytest.mark.parametrize("path", ["a.md", "service.md", "setup.md", "src/auth/service.ts", "x"])
def test_a_page_that_only_sounds_alike_is_about_nothing(path: str) -> None:
    assert full().of(path, "A page") == Analysis()


def test_a_name_that_fits_two_files_fits_none() -> None:
    analysis = parse(files={"src/a.py": {"layer": "x"}, "src/a.ts": {"layer": "y"}})
    assert analysis.of("wiki/src-a.md", "A") == Analysis()
    assert analysis.of("wiki/src-a-ts.md", "A") == Analysis(layer="y")


def test_a_page_about_several_files_has_what_they_have_together() -> None:
    known = full().of("wiki/all.md", "All")
    assert known == Analysis(
        layer="api",
        symbols=("User", "validate_token", "TokenError"),
        imports=("datetime", "orm"),
        entry_points=("POST /auth/login",),
    )


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/api/**", "src/api/a/b.py", True),
        ("src/api/", "src/api/a/b.py", True),
        ("src/api/*", "src/api/a/b.py", False),
        ("src/**/test_*.py", "src/a/b/test_c.py", True),
        ("./src/*.py", "src/a.py", True),
        ("src", "src/a.py", False),
    ],
)
def test_layers_are_given_by_patterns(pattern: str, path: str, matches: bool) -> None:
    analysis = parse(layers={"api": [pattern], "rest": ["**"]})
    assert analysis.of(path, "") == Analysis(layer="api" if matches else "rest")


def test_a_file_may_say_another_layer_than_its_pattern() -> None:
    files = {"src/a.py": {"layer": "core"}, "src/b.py": {"symbols": ["b"]}}
    analysis = parse(files=files, layers={"api": ["src/**"]}, pages={"a.md": "src/unknown.py"})
    assert analysis.of("src/a.py", "") == Analysis(layer="core")
    assert analysis.of("src/b.py", "") == Analysis(layer="api", symbols=("b",))
    assert analysis.of("a.md", "") == Analysis(layer="api")


def fits(parts: list[str], wanted: list[str]) -> bool:
    """The same in one thought each, for small cases."""
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return fits(parts, wanted[1:]) or (bool(parts) and fits(parts[1:], wanted))
    return bool(parts) and wanted[0] in ("*", parts[0]) and fits(parts[1:], wanted[1:])


@given(
    st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=7),
    st.lists(st.sampled_from(["a", "b", "*", "**"]), min_size=1, max_size=7),
)
def test_patterns_match_part_by_part(parts: list[str], wanted: list[str]) -> None:
    analysis = parse(layers={"x": ["/".join(wanted)]})
    assert (analysis.of("/".join(parts), "").layer == "x") is fits(parts, wanted)


def test_many_wildcards_are_cheap() -> None:
    analysis = parse(layers={"x": ["/".join(["**", "a"] * 200) + "/b"]})
    assert analysis.of("/".join(["a"] * 2_000), "") == Analysis()
    analysis = parse(layers={"x": ["*a" * 200 + "b"]})
    assert analysis.of("a" * 2_000, "") == Analysis()


def test_what_is_given_of_a_source_wins_over_what_is_found_in_it_field_by_field() -> None:
    analysis = parse(files={"a.py": {"layer": "api", "symbols": ["a"]}}, pages={"a.md": "a.py"})
    in_files = {
        "a.py": Analysis(symbols=("x",), imports=("os",), entry_points=("main",)),
        "a.md": Analysis(symbols=("shown",)),
    }
    source = Analysis(layer="api", symbols=("a",), imports=("os",), entry_points=("main",))
    assert analysis.of("a.py", "", in_files.__getitem__) == source
    page = replace(source, symbols=("a", "shown"))
    assert analysis.of("a.md", "", in_files.__getitem__) == page


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "truncated"),
        (b"\xff\xfe", "malformed"),
        (b'{"version": 2}', "Invalid enum value 2"),
        (b'{"version": 1, "file": {}}', "unknown field `file`"),
        (b'{"version": 1, "files": {"a": {"symbols": "f"}}}', "Expected `array`, got `str`"),
        (b'{"version": 1, "pages": {"a.md": 3}}', r"Expected `str \| array`, got `int`"),
        (b'{"version": 1, "x": ' + b"[" * 100_000, "unknown field"),
        (b" " * 20_000_001, "larger than the 20 MB"),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_reason(data: bytes, problem: str) -> None:
    with pytest.raises(FileUnreadable, match=problem):
        parse_analysis(data)
