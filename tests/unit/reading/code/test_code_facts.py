"""What is known of source code: what it defines, what it imports, where it is entered."""

from __future__ import annotations

import pytest

from pincite.reading.code import read
from pincite.reading.source_file import SourceFile
from pincite.records import Analysis


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
