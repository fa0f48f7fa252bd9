"""Source code that no person wrote."""

from __future__ import annotations

import pytest

from pincite.reading.code import lines, read
from pincite.reading.code.languages import language_of
from pincite.reading.code.parsing import parse
from pincite.reading.source_file import SourceFile
from pincite.records import Content

NOTE = "read by lines, without its functions and classes"


def read_data(path: str, data: bytes) -> Content:
    return read(SourceFile(path, data))


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.js", b"var a=function(b){return b+1};" * 100_000),  # minified
        ("a.py", b"x = 1\n" * 400_000),  # longer than people write
    ],
)
def test_what_machines_make_is_read_by_lines(path: str, data: bytes) -> None:
    content = read_data(path, data)
    assert content.metadata.notes == (NOTE,)
    assert [one.heading_path for one in content.sections] == [()]
    assert content.text == data.decode()


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.cpp", b"template <class T>\n" * 20_000 + b"void f() {\n}\n"),
        ("a.js", b"function f() {\n" * 2_000 + b"}\n" * 2_000),
        ("a.rs", b"use a::{\n" * 20_000 + b"};\n"),
    ],
)
def test_what_is_nested_or_repeated_without_end_is_read(path: str, data: bytes) -> None:
    content = read_data(path, data)
    assert content.text == data.decode()
    assert max(len(one.heading_path) for one in content.sections) <= 12


def test_a_text_that_takes_too_long_to_parse_is_given_up() -> None:
    text = "def f():\n    pass\n"
    python = language_of(".py", text)
    assert parse(text, python) is not None
    assert parse(text, python, seconds=-1.0) is None


def test_any_code_can_be_read_without_its_structure() -> None:
    content = lines.read(SourceFile("a.go", b"func f() {\n}\n\nfunc g() {\n}\n"))
    assert (content.type, content.metadata.language) == ("go", "go")
    assert [content.text[one.start : one.end] for one in content.blocks] == [
        *("func f() {\n}", "func g() {\n}")
    ]
