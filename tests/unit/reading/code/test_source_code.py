"""Source code: sections for what it defines, what is known of it, and code that no person wrote."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import pincite
from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.code import lines, read
from pincite.reading.code.languages import language_of
from pincite.reading.code.reader import parse
from pincite.reading.source_file import SourceFile
from pincite.records import Analysis, BlockKind, Content, Modality

FILLING = "x = compute(x)  # so that it is long\n"


def read_text(path: str, text: str) -> Content:
    return read(SourceFile(path, text.encode()))


def sections(path: str, text: str) -> list[tuple[str, str]]:
    """Names and first line of each section."""
    content = read_text(path, text)
    return [
        (" > ".join(one.heading_path), content.text[one.start : one.end].strip().splitlines()[0])
        for one in content.sections
    ]


def names(path: str, text: str) -> list[str]:
    return [name for name, _ in sections(path, text)]


PYTHON = '''\
"""What it is for."""
import os

LIMIT = 3


# Reads lines.
@cached
class Parser(Base):
    """Parses."""

    limit: int = 3

    # One line at a time.
    @property
    def line(self):
        def helper():
            return 1
        return helper()

    strict = True

    async def parse(self):
        pass
    # the end of parse


def main():
    """Begin."""


if __name__ == "__main__":
    main()
'''


def test_python_has_a_section_for_each_function_method_and_class() -> None:
    assert sections("a.py", PYTHON) == [
        ("", '"""What it is for."""'),
        ("Parser", "# Reads lines."),
        ("Parser > line", "# One line at a time."),
        ("Parser", "strict = True"),
        ("Parser > parse", "async def parse(self):"),
        ("main", "def main():"),
        ("", 'if __name__ == "__main__":'),
    ]


def test_what_a_file_says_of_itself_is_known() -> None:
    content = read_text("src/a.pyi", PYTHON)
    assert (content.type, content.metadata.language) == ("py", "python")
    assert content.modality is Modality.CODE
    assert content.title is None
    assert {block.kind for block in content.blocks} == {BlockKind.CODE}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param(
            "a.js",
            "export class A {\n  b() {}\n  c = () => {\n  };\n}\n"
            "export const d = async () => {\n};\nexports.e = function () {\n};\n"
            "F.prototype.g = function () {\n};\nfunction* h() {\n}\nrun(1);\n",
            ["A", "A > b", "A > c", "d", "e", "F > g", "h", ""],
            id="javascript",
        ),
        pytest.param(
            "a.tsx",
            "interface Props {\n  a: string;\n}\ntype T = 1 | 2;\nenum E {\n  A,\n}\n"
            "namespace N.M {\n  export function f(): void {}\n}\n"
            "export const View = (p: Props) => {\n  return <b>{p.a}</b>;\n};\n"
            "@Injectable()\nexport abstract class S {\n  @Get('/x')\n  g() {}\n}\n",
            ["Props", "T", "E", "N > M", "N > M > f", "View", "S", "S > g"],
            id="typescript",
        ),
        pytest.param(
            "a.go",
            "package a\n\n// Doc.\ntype Parser[T any] struct {\n\ta int\n}\n\n"
            "func (p *Parser[T]) Parse() error {\n\treturn nil\n}\n\n"
            'func (Parser) Name() string {\n\treturn ""\n}\n\n'
            "type (\n\tA int\n\tB interface {\n\t\tM()\n\t}\n)\n\nfunc main() {\n}\n",
            ["", "Parser", "Parser > Parse", "Parser > Name", "", "A", "B", "main"],
            id="go",
        ),
        pytest.param(
            "a.rs",
            "use a::b;\n\n/// Doc.\n#[derive(Debug)]\npub struct P<T> {\n    a: T,\n}\n\n"
            "impl<T> fmt::Display for P<T> {\n    fn fmt(&self) {\n    }\n}\n\n"
            "impl P<u8> {\n    pub fn new() -> Self {\n    }\n}\n\n"
            "mod inner {\n    fn f() {}\n}\n\nmacro_rules! m {\n    () => {};\n}\n",
            [
                *("", "P", "impl fmt::Display for P", "impl fmt::Display for P > fmt"),
                *("P", "P > new", "inner", "inner > f", "m"),
            ],
            id="rust",
        ),
        pytest.param(
            "a.java",
            "package a;\n\n/** Doc. */\n@Service\npublic class A<T> {\n    private int x;\n\n"
            "    @Override\n    public void b(int a) {\n    }\n\n    A() {\n    }\n\n"
            "    enum E {\n        P;\n        void z() {\n        }\n    }\n}\n",
            ["", "A", "A > b", "A > A", "A > E", "A > E > z"],
            id="java",
        ),
        pytest.param(
            "a.c",
            "#include <a.h>\n\nstruct point {\n  int x;\n};\n\n"
            "typedef struct {\n  int y;\n} other;\n\n"
            "/* Opens it. */\nAPI int *open_it(const char *path);\nint close_it(int a);\n\n"
            "static int\nrun(void)\n{\n  return 0;\n}\n\nint undocumented(void);\n",
            ["", "point", "other", "open_it", "run", ""],
            id="c",
        ),
        pytest.param(
            "a.cpp",
            "namespace net::io {\nnamespace {\nclass EXPORT Socket final : public Base {\n"
            " public:\n  /// Opens.\n  virtual bool open() const;\n  ~Socket() {}\n  int fd;\n};\n"
            "}  // anon\n}  // net\n\n"
            "template <typename T>\nvoid net::Pool<T>::grow(int a) {\n}\n\n"
            "TEST(Pool, Grows) {\n}\n",
            [
                *("net > io", "net > io > Socket", "net > io > Socket > open"),
                *("net > io > Socket > ~Socket", "net > io > Socket", "net > Pool > grow"),
                "TEST(Pool, Grows)",
            ],
            id="c++",
        ),
    ],
)
def test_every_language_names_its_definitions(path: str, text: str, expected: list[str]) -> None:
    assert names(path, text) == expected


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("/* a class of\n   using namespace tricks */\nint f(int a);\n", "c"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint f(int a);\n', "c"),
        ("class A\n{\n};\n", "cpp"),
        ("#include <string>\n", "cpp"),
    ],
)
def test_a_header_is_c_unless_it_looks_like_cpp(header: str, language: str) -> None:
    content = read_text("a.h", header)
    assert (content.metadata.language, content.type) == (language, language)


def test_the_comment_at_the_top_of_a_file_is_about_the_file() -> None:
    assert sections("a.go", "// Copyright\n\n// Runs.\nfunc run() {\n}\n") == [
        ("", "// Copyright"),
        ("run", "// Runs."),
    ]
    assert sections("a.go", "// Runs.\nfunc run() {\n}\n") == [("run", "// Runs.")]


def test_functions_inside_a_function_count_only_if_both_are_long() -> None:
    inner = "    def inner():\n" + "        " + ("        ".join([FILLING] * 20))
    assert names("a.py", f"def outer():\n{inner}    return inner\n") == ["outer"]
    long = "    " + "    ".join([FILLING] * 60)
    assert names("a.py", f"def outer():\n{long}{inner}    return inner\n") == [
        *("outer", "outer > inner", "outer")
    ]


def test_a_wrapper_around_a_whole_script_is_looked_through() -> None:
    body = "".join(f"  function part{number}() {{\n    go();\n  }}\n" for number in range(40))
    assert names("a.js", f"(function () {{\n{body}}})();\n")[:3] == ["", "part0", "part1"]


def test_a_large_table_is_a_section_and_a_small_constant_is_not() -> None:
    rows = "".join(f"    ({number}, 'row {number}'),\n" for number in range(40))
    assert names("a.py", f"SMALL = 1\n\nTABLE = (\n{rows})\n\nOTHER = 2\n") == ["", "TABLE", ""]


def test_long_functions_have_blocks_at_statements() -> None:
    steps = "".join(
        f"    if ready({number}):\n        start({number})\n        wait({number}, 'until noon')\n"
        for number in range(60)
    )
    content = read_text("a.py", f"def run():\n{steps}")
    starts = [content.text[block.start :].splitlines()[0] for block in content.blocks]
    assert len(starts) > 20
    assert all(line.startswith("    if ready(") for line in starts[1:])


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_letters_and_line_ends_of_all_kinds_keep_their_places(line_end: str) -> None:
    text = line_end.join(
        [
            *("# Grüße 🚀\u2028 日本", "größe = '👩‍👧'", "", "class Naïve:", "    # ¿qué?"),
            *("    def größer(self):", "        return '🚀'", "", "def über():", "    pass", ""),
        ]
    )
    content = read_text("a.py", text)
    assert content.text == text
    assert [
        (one.heading_path, text[one.start :].split(line_end)[0]) for one in content.sections
    ] == [
        ((), "# Grüße 🚀\u2028 日本"),
        (("Naïve",), "class Naïve:"),
        (("Naïve", "größer"), "    # ¿qué?"),
        (("über",), "def über():"),
    ]
    assert content.analysis.symbols == ("Naïve", "größer", "über")


def test_an_empty_file_and_a_binary_one_are_refused() -> None:
    with pytest.raises(FileEmpty):
        read_text("a.py", " \n")
    with pytest.raises(FileUnreadable):
        read(SourceFile("a.ts", b"G@\x00\x10\x00\x00\xb0\x0d\x00\x01" * 100))


def facts(path: str, text: str) -> Analysis:
    return read(SourceFile(path, text.encode())).analysis


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            "import os.path as p, sys\nfrom .a import b\nfrom .. import c as d, e\n"
            "from x.y import (z)\nfrom __future__ import annotations\ndef f():\n    import late\n",
            ["os.path", "sys", ".a", "..c", "..e", "x.y", "late"],
        ),
        (
            "a.js",
            "import a, {b} from './util';\nexport * from \"x\";\nconst fs = require('fs');\n"
            "import('lazy');\nother('not one');\nimport 'effect';\n",
            ["./util", "x", "fs", "lazy", "effect"],
        ),
        ("a.ts", 'import type { A } from "./a";\nimport fs = require("fs");\n', ["./a", "fs"]),
        (
            "a.go",
            'package a\nimport (\n\t"fmt"\n\tx "github.com/x/y"\n)\nimport `os`\n',
            ["fmt", "github.com/x/y", "os"],
        ),
        (
            "a.rs",
            "use std::{collections::{HashMap, HashSet as S}, io::{self, Write}, fmt::*};\n"
            "use crate::a::b;\nextern crate foo;\nuse ::log;\n",
            [
                *("std::collections::HashMap", "std::collections::HashSet", "std::io"),
                *("std::io::Write", "std::fmt", "crate::a::b", "foo", "log"),
            ],
        ),
        (
            "a.java",
            "import java.util.List;\nimport static a.b.C.d;\nimport java.io.*;\nclass A {}\n",
            ["java.util.List", "a.b.C.d", "java.io"],
        ),
        ("a.c", '#include <sys/stat.h>\n#include "own.h"\n', ["sys/stat.h", "own.h"]),
        ("a.cpp", "#include <vector>\n#include CONFIG\n", ["vector"]),
    ],
)
def test_imports_are_named_as_their_authors_do(path: str, text: str, expected: list[str]) -> None:
    assert list(facts(path, text).imports) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            "LIMIT = 1\nlogger = get()\nPair = NewType('Pair', int)\ntype Name = str\n"
            "class A:\n    RED = 1\n    size = 2\n    def b(self):\n        inner = 1\n",
            ["LIMIT", "Pair", "Name", "A", "RED", "b"],
        ),
        (
            "a.js",
            "const Path = require('path');\nexport const limit = 1;\nlet hidden = 2;\n"
            "module.exports = function create() {\n};\n",
            ["limit", "create"],
        ),
        (
            "a.go",
            "package a\nconst (\n\tMax = 1\n\tmin = 2\n)\nvar Default = 3\n",
            ["Max", "Default"],
        ),
        ("a.rs", "pub const K: u8 = 1;\nstatic S: u8 = 2;\ntype Al = u8;\n", ["K", "S", "Al"]),
        (
            "A.java",
            "class A {\n  static final int MAX = 1;\n  int x;\n  void b();\n}\n",
            ["A", "MAX", "b"],
        ),
        (
            "a.h",
            "#ifndef A_H\n#define A_H\n#define LIMIT 3\n#define TWICE(x) (2 * (x))\n"
            "int f(int a);\nextern int value;\n#endif\n",
            ["LIMIT", "TWICE", "f"],
        ),
    ],
)
def test_symbols_are_definitions_and_exported_constants(
    path: str, text: str, expected: list[str]
) -> None:
    assert list(facts(path, text).symbols) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", 'def main():\n    pass\n\n\nif __name__ == "__main__":\n    main()\n', ["main"]),
        ("a.py", "def main():\n    pass\n", []),
        ("a.go", "package main\nfunc main() {\n}\n", ["main"]),
        ("a.rs", "fn main() {\n}\n", ["main"]),
        ("a.c", "int main(int argc, char **argv) {\n}\n", ["main"]),
        ("A.java", "class A {\n  public static void main(String[] a) {\n  }\n}\n", ["main"]),
        (
            "a.py",
            '@app.get("/items/{id}")\nasync def one(id):\n    pass\n\n\n'
            '@blueprint.route("/login", methods=["GET", "POST"])\ndef login():\n    pass\n\n\n'
            '@cache.get\ndef no_route():\n    """@app.get("/in/a/docstring")"""\n',
            ["GET /items/{id}", "GET /login", "POST /login"],
        ),
        (
            "a.js",
            "app.get('/users', list);\nrouter.post(`/users`, (req, res) => {\n});\n"
            "map.get('key', 1);\n// app.get('/in/a/comment', no)\n",
            ["GET /users", "POST /users"],
        ),
        (
            "a.ts",
            "class Users {\n  @Post('users')\n  create() {}\n}\n",
            ["POST /users"],
        ),
        (
            "A.java",
            'class A {\n  @GetMapping("/x")\n  void x() {\n  }\n'
            '  @RequestMapping(value = "/y", method = RequestMethod.PUT)\n  void y() {\n  }\n}\n',
            ["GET /x", "PUT /y"],
        ),
        (
            "a.go",
            'package a\nfunc routes() {\n\thttp.HandleFunc("/x", x)\n\tr.POST("/y", y)\n'
            '\tmux.HandleFunc("GET /z", z)\n}\n',
            ["ANY /x", "POST /y", "GET /z"],
        ),
        ("a.rs", '#[get("/x")]\nfn x() {\n}\n', ["GET /x"]),
    ],
)
def test_entry_points_are_main_and_routes(path: str, text: str, expected: list[str]) -> None:
    assert list(facts(path, text).entry_points) == expected


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
