"""Laws that hold for whatever is called source code."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pincite
from pincite.reading.code import read
from pincite.reading.source_file import SourceFile
from pincite.records import Content


def assert_whole(content: Content) -> None:
    """Sections cover the text, blocks hold all its words, and both begin at lines."""
    text = content.text
    assert content.sections[0].start == 0
    assert content.sections[-1].end == len(text)
    assert all(one.end == after.start for one, after in pairwise(content.sections))
    edges = [0, *(at for one in content.blocks for at in (one.start, one.end)), len(text)]
    assert edges == sorted(edges)
    gaps = zip(edges[::2], edges[1::2], strict=True)
    assert not any(text[start:end].strip() for start, end in gaps)
    starts = {one.start for one in content.blocks}
    assert all(one.start in starts for one in content.sections[1:])
    assert all(at == 0 or text[at - 1] in "\r\n" for at in starts)


OWN_FILES = sorted(Path(pincite.__file__).parent.glob("**/*.py"))[::5]


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: path.stem)
def test_real_files_are_read_whole(path: Path) -> None:
    if path.stat().st_size:
        assert_whole(read(SourceFile(path.name, path.read_bytes())))


LINES = [
    *(
        "class A {",
        "class A:",
        "  def b(self):",
        "    return 1",
        "}",
        "function f() {",
        "{",
        "(",
        ")",
    ),
    *(
        "// c",
        "# c",
        "/* c",
        "*/",
        '"""',
        "@x",
        "export",
        "int f(int a);",
        "namespace n {",
        "é = 1",
    ),
    *(
        "impl A for B {",
        "fn g() {",
        "struct S {",
        "if x:",
        "#ifdef A",
        "#endif",
        "template <T>",
        "",
    ),
    *(
        "func (p *P) M() {",
        "public:",
        "type T = 1;",
        "const A = () => {",
        "};",
        "`",
        "   ",
        "x" * 500,
    ),
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    suffix=st.sampled_from(["py", "js", "ts", "tsx", "go", "rs", "java", "c", "h", "cpp"]),
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=40),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_whatever_is_called_code_is_read_whole(
    suffix: str, lines: list[str], line_end: str
) -> None:
    text = line_end.join([*lines, "x"])
    content = read(SourceFile(f"a.{suffix}", text.encode()))
    assert content.text == text
    assert_whole(content)
