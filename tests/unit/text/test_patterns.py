"""The patterns for `re`: none that Python 3.11.2 gets wrong, and none that runs wild."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from pincite.sources import _rule

_ROOT = Path(__file__).parents[3]
_ESCAPES_AND_CLASSES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_POSSESSIVE_OR_ATOMIC = re.compile(r"(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")


def _is_for_re(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")


def _written_for_re(program: str) -> Iterator[str]:
    """What `re` is given in a program, and the constants that this is put together from."""
    tree = ast.parse(program)
    set_at = [one for one in tree.body if isinstance(one, ast.Assign)]
    constants = {ast.unparse(target): one.value for one in set_at for target in one.targets}
    waiting: list[ast.AST] = [node for node in ast.walk(tree) if _is_for_re(node)]
    waiting += [value for value in constants.values() if any(map(_is_for_re, ast.walk(value)))]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id in constants:
                waiting.append(constants.pop(node.id))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                yield str(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = (one.value if isinstance(one, ast.Constant) else "x" for one in node.values)
                yield "".join(map(str, parts))


def _misread(program: str) -> list[str]:
    """The patterns with possessive quantifiers or atomic groups."""
    bare = {one: _ESCAPES_AND_CLASSES.sub("x", one) for one in _written_for_re(program)}
    return [one for one, text in bare.items() if _POSSESSIVE_OR_ATOMIC.search(text)]


def test_no_pattern_has_possessive_quantifiers_or_atomic_groups() -> None:
    programs = [path for name in ("src", "benchmarks") for path in (_ROOT / name).rglob("*.py")]
    misread = {path: _misread(path.read_text("utf-8")) for path in programs}
    assert len(misread) > 100
    assert not {path: patterns for path, patterns in misread.items() if patterns}


@pytest.mark.parametrize(
    ("program", "is_misread"),
    [
        ('A = re.compile(r"(?:a|b)*+")', True),
        ('A = r"(?:a|b)*+"\ndef f(s): return re.search(rf"{A}c", s)', True),
        ('def f(s):\n    while re.match(rb"(?>a|b)", s): s = s[1:]', True),
        ('A = [re.compile(f"{one}c") for one in ("a", rf"{B}{{1,2}}+")]', True),
        ('A = re.compile(r"[*+]+\\++[]*+](?:\\+\\+)?C\\+")\nB = "C++"', False),
    ],
)
def test_those_are_found_wherever_they_are_written(program: str, *, is_misread: bool) -> None:
    assert bool(_misread(program)) is is_misread


def _is_linear(
    pattern: re.Pattern[str] | re.Pattern[bytes], method: str, start: str, unit: str, end: str
) -> bool:
    """Four times the text takes a linear pattern 4 times as long, a quadratic one 16 times."""

    def seconds(count: int) -> float:
        text = start + unit * count + end
        taken = []
        for _ in range(3):
            begin = time.process_time()
            given = text.encode("latin-1") if isinstance(pattern.pattern, bytes) else text
            found = getattr(pattern, method)(given)
            assert method != "finditer" or all(found)  # goes through all matches
            taken.append(time.process_time() - begin)
        return min(taken)

    count = 500
    while seconds(count) < 0.0005 and count < 200_000:
        count *= 2
    # Tried more than once, as others use the machine, too.
    return any(seconds(4 * count) < 10 * max(seconds(count), 0.0002) for _ in range(3))


@pytest.mark.parametrize(
    ("name", "method", "start", "unit", "end"),
    [
        ("converting.markdown._MARKUP", "match", "-", " -", "x"),
        ("ingest.catalog._STRING", "finditer", '"', '\\"', "\n"),
        ("reading.code.outline._ANNOTATION", "finditer", "@", "a.", ""),
        ("reading.code.outline._CALL", "finditer", "", "a.", "get"),
        ("reading.code.languages._C_NOISE", "finditer", "class ABC Dfinal", " ", "x"),
        ("reading.code.languages._ONLY_IN_CPP", "finditer", "class x", " ", "x"),
        ("reading.code.languages._ONLY_IN_CPP", "finditer", "class x:", " ", ";"),
        ("reading.code.languages._DOTTED", "fullmatch", "a", ".a", "-"),
        ("reading.data.structured._BRACKET", "finditer", "[", '"a",', '"'),
        ("reading.data.structured._LINE", "finditer", '["]"', ',"a"', "{"),
        ("reading.data.structured._NAMED", "match", "{", ' "a" : 1 ,', ""),
        ("reading.data.structured._STRINGS", "finditer", "", '"\n', ""),
        ("reading.data.structured._SINGLE_STRING", "fullmatch", '"a":"b"', " ", "x"),
        ("reading.data.xml._SENTENCE", "search", "", "aa,", ""),
        ("reading.data.xml._SENTENCE", "search", "a,", " ", ""),
        ("reading.data.xml._XHTML_PROLOG", "finditer", "", "<!---->", "<!--"),
        ("reading.invisible._FOUND", "finditer", "", "\u2060\u200b", "x"),
        ("reading.lines.fences._OPENING", "finditer", "```a", "a ", "`"),
        ("reading.lines.front_matter._FENCED", "match", "---\r\n", "a\r\n", ""),
        ("reading.lines.front_matter._GUARDED", "search", "", "\n", ""),
        ("reading.lines.plain._BLANK", "finditer", "\r\n", " ", "x"),
        ("reading.office.sheets._XLSX_TAG", "finditer", "<c", ' a="b"', "<"),
        ("reading.office.sheets._XLSX_TAG", "finditer", '<c r="A1"', " ", "<"),
        ("reading.office.formatting._BLANK_LINES", "finditer", "\n", " ", "x"),
        ("reading.recordings.subtitles._TITLE", "fullmatch", "WEBVTT -", " ", ""),
        ("reading.recordings.subtitles._VOICE", "finditer", "<v", " ", "<"),
        ("reading.recordings.timed._FRAME", "fullmatch", "frame", " ", "x"),
        ("reading.web.html_tree._COMMENT", "finditer", "/*", "*", ""),
        ("reading.web.html_tree._COMPOUND", "match", "a", ".a", "."),
        ("reading.web.html_tree._OVERFILLED", "search", "<a", ' a="b"', "<"),
        ("reading.web.html_tree._OVERFILLED", "search", "<a", " ", "<"),
        ("reading.web.mail._QUOTE", "match", "", "> ", "x"),
        ("reading.xml_safely._DOCTYPE", "match", "<!DOCTYPE x", ' "a"', "["),
        ("text.markup._COMMENT", "match", "", " ", "x"),
        ("text.markup._LINK", "finditer", "[a](", "(a)", ""),
        ("text.markup._SHORTCODE", "finditer", "{{<", '"a"', "{"),
        ("text.sentences._END", "finditer", "", ".", '"""x'),
        ("text.words._CODE", "finditer", "", "a:", ":"),
        ("text.words._CODE", "finditer", "", "a", ""),
    ],
)
def test_no_text_makes_a_pattern_run_wild(
    name: str, method: str, start: str, unit: str, end: str
) -> None:
    module, _, constant = name.rpartition(".")
    pattern = getattr(import_module(f"pincite.{module}"), constant)
    assert _is_linear(pattern, method, start, unit, end)


@pytest.mark.parametrize(
    ("rule", "unit"),
    [
        ("*a*b", "a"),
        ("*a*a*a*b", "a"),
        ("a*?*b/c", "a"),
        ("**/a/**/b", "a/"),
        ("**/*a/**/*b", "a/"),
    ],
)
def test_no_ignore_rule_runs_wild(rule: str, unit: str) -> None:
    made = _rule(rule)
    assert made is not None
    assert _is_linear(made[0], "search", "", unit, "")


def test_a_pattern_that_runs_wild_is_told() -> None:
    assert not _is_linear(re.compile(r"\s*x?\s*y"), "match", "", " ", "")
