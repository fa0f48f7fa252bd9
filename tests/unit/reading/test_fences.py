"""What Markdown pages show of code."""

from __future__ import annotations

import pytest

from pincite.reading.reader import LibraryReader
from pincite.records import Analysis


def facts(text: str) -> Analysis:
    return LibraryReader("lib").read("a.md", text.encode()).analysis


def test_code_blocks_tell_what_they_define_and_import() -> None:
    text = (
        "# Auth\n\n```python\nimport jwt\n\n"
        "def validate_token(token):\n    return jwt.decode(token)\n"
        '```\n\n~~~ go\npackage a\nimport "fmt"\nfunc Run() {\n}\n~~~\n'
        "\n```python\nclass TokenError(Exception): pass\n\ndef validate_token(): pass\n```\n"
    )
    assert facts(text) == Analysis(
        symbols=("validate_token", "Run", "TokenError"), imports=("jwt", "fmt")
    )


@pytest.mark.parametrize(
    "opening",
    ["````python title='a.py'", "~~~Python", "```{.python .numberLines}"],
)
def test_the_language_is_found_however_it_is_marked(opening: str) -> None:
    closing = opening.split("p")[0].split("P")[0].split("{")[0].strip()
    assert facts(f"{opening}\ndef f(): pass\n{closing}\n").symbols == ("f",)


@pytest.mark.parametrize("before", ["- ", "1. ", "> ", "   "])
def test_blocks_in_lists_and_quotations_count(before: str) -> None:
    inner = ">" if ">" in before else " " * len(before)
    lines = [f"{before}```python", f"{inner} class A:", f"{inner}     x = 1", f"{inner}```"]
    assert facts("\n".join(lines)).symbols == ("A",)


@pytest.mark.parametrize(
    "text",
    [
        "```\ndef f(): pass\n```\n",  # does not say its language
        "```bash\ndef f(): pass\n```\n",
        "    def f(): pass\n",
        "````md\n```python\ndef f(): pass\n```\n````\n",
    ],
)
def test_other_blocks_tell_nothing(text: str) -> None:
    assert facts(text) == Analysis()


def test_very_long_blocks_are_left_alone() -> None:
    long = "def f(): pass\n" * 8_000
    assert facts(f"```python\n{long}```\n\n```python\ndef g(): pass\n```\n").symbols == ("g",)
