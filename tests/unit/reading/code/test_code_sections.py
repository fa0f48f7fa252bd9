"""Which names the sections of source code have, and where they begin and end."""

from __future__ import annotations

import pytest

from pincite.errors import FileEmpty, FileUnreadable
from pincite.reading.code import read
from pincite.reading.source_file import SourceFile
from pincite.records import BlockKind, Content, Modality

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
