"""What of a file's analysis concerns one of its chunks."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pincite.chunking.flow import chunk_analysis
from pincite.records import Analysis

FILE = Analysis(
    layer="api",
    symbols=("validate", "Token.check", "net::open", "Store#put", "größe", "$store", "operator=="),
    imports=("os", "re"),
    entry_points=("GET /x",),
)


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("call validate(token)", ["validate"]),
        ("validated, revalidate, _validate, Validate", []),
        ("x.check(); open(f)\nstore->put(1)", ["Token.check", "net::open", "Store#put"]),
        ("Token and net and Store", []),
        ("die größe von $store", ["größe", "$store"]),
    ],
)
def test_symbols_that_occur_as_whole_words_are_kept(text: str, symbols: list[str]) -> None:
    assert list(chunk_analysis(FILE, text).symbols) == symbols


def test_the_rest_holds_for_every_chunk() -> None:
    kept = chunk_analysis(FILE, "nothing")
    assert (kept.layer, kept.imports, kept.entry_points) == ("api", ("os", "re"), ("GET /x",))
    assert kept.symbols == ()


@given(st.lists(st.from_regex(r"[a-z_]{1,6}", fullmatch=True), unique=True), st.text("ab_ .(\n"))
def test_what_is_kept_is_in_the_text_and_in_order(names: list[str], text: str) -> None:
    kept = chunk_analysis(Analysis(symbols=tuple(names)), text).symbols
    assert list(kept) == [name for name in names if name in kept]
    assert all(name in text for name in kept)
