"""Source code that no person wrote: brackets without end, one long line, text in disguise."""

from __future__ import annotations

from hostile.case import Case, either, read
from pincite.records import OmissionReason

_BRACKETS = 100_000
_LANGUAGES = ("py", "js", "ts", "tsx", "go", "rs", "java", "c", "cpp")


def _minified() -> bytes:
    """Functions on one line."""
    one = b"function f%d(a,b){return a?b[a]+'x%d':{k:[a,b,1,2,3]}};"
    return b"".join(one % (n, n) for n in range(4_000))


_SHAPES = (
    *(
        read(
            f"brackets.{suffix}",
            lambda _: b"seal = " + b"(" * _BRACKETS + b"[" * _BRACKETS,
            has="seal",
        )
        for suffix in _LANGUAGES
    ),
    *(
        read(
            f"closed-brackets.{suffix}",
            lambda _: b"seal = " + b"(" * 20_000 + b"1" + b")" * 20_000,
            has="seal",
        )
        for suffix in ("py", "js", "c")
    ),
    read("braces.c", lambda _: b"int seal() " + b"{" * 50_000 + b"}" * 50_000, has="seal"),
    read("classes.java", lambda _: b"class seal {" * 5_000 + b"}" * 5_000, has="seal"),
    read("functions.py", lambda _: _nested_functions(500), has="seal"),
    read("functions.js", lambda _: b"function seal(){" * 5_000 + b"}" * 5_000, has="seal"),
    read("minified.js", lambda _: _minified(), has="function f0"),
    read("one-line.py", lambda _: b"seal=1;" * 20_000, has="seal"),
    read("operators.py", lambda _: b"seal = 1" + b"+1" * 20_000, has="seal"),
    read("comparisons.cpp", lambda _: b"int seal = a" + b"<a" * 20_000 + b">" * 20_000, has="seal"),
    read("generics.ts", lambda _: b"type seal = A" + b"<A" * 5_000, has="seal"),
    read("elements.tsx", lambda _: b"const seal = " + b"<a>" * 5_000, has="seal"),
    read("lifetimes.rs", lambda _: b"fn seal<" + b"'a, " * 20_000 + b">() {}", has="seal"),
    read("macros.c", lambda _: b"#define seal(x) x##x\n" * 4_000, has="seal"),
    read("conditions.c", lambda _: b"#if seal\n" * 4_000, has="seal"),
    read("string.py", lambda _: b'seal = """' + b"x\n" * 10_000, has="seal"),
    read("strings.js", lambda _: b"seal = `${" * 5_000, has="seal"),
    read("escapes.js", lambda _: b"seal = '" + b"\\" * 200_001, has="seal"),
    read("comments.c", lambda _: b"/* seal " * 10_000, has="seal"),
    read("decorators.py", lambda _: b"@seal\n" * 4_000, has="seal"),
    read("indents.py", lambda _: b"".join(b" " * n + b"if seal:\n" for n in range(1_000)), has="s"),
    read("else-if.py", lambda _: b"if seal: 1\n" + b"elif 1: 2\n" * 4_000, has="seal"),
    read("regular-expression.js", lambda _: b"seal = /" + b"(a+)+" * 20_000 + b"/", has="seal"),
    read("semicolons.go", lambda _: b"package seal" + b";" * 200_000, has="seal"),
    read("imports.py", lambda _: b"import seal, a.b.c\n" * 4_000, has="seal"),
    read("names.java", lambda _: b"class " + b"seal" * 50_000 + b" {}", has="seal"),
)

_TEXTS = (
    read(
        "trojan.c",
        lambda _: "/*\u202e } \u2066if (admin)\u2069 \u2066 begin */ int seal;\n".encode(),
        has="int seal",
        flags=OmissionReason.DIRECTION,
    ),
    read(
        "unseen.js",
        lambda _: "const {seal,\u3164} = x; a\u200b\u200bb\n".encode(),
        has="seal",
        flags=OmissionReason.ZERO_WIDTH,
    ),
    read(
        "latin.c",
        lambda _: "// Prüfung der Dichtung, größer\nint seal;\n".encode("cp1252"),
        has="int seal",
    ),
    read("wide.py", lambda _: "seal = 'x'\n".encode("utf-16"), has="seal"),
    read("mark.py", lambda _: "\ufeffseal = 1\n".encode(), has="seal"),
    read("declared.py", lambda _: b"# -*- coding: rot13 -*-\nseal = 1\n", has="seal"),
    read("no-code.py", lambda _: b"The seal leaks when it is cold.\n" * 50, has="seal"),
    either("only-comment.h", lambda _: b"//"),
    either("only-newlines.go", lambda _: b"\n" * 10_000 + b"\x0c"),
)


def _nested_functions(depth: int) -> bytes:
    return b"".join(b" " * n + b"def seal%d():\n" % n for n in range(depth))


CASES: tuple[Case, ...] = (*_SHAPES, *_TEXTS)
