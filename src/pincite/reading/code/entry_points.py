"""Where a program is entered from outside: `main`, and the routes of a web service."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pincite.reading.code.language import Language
from pincite.reading.code.naming import Role
from pincite.reading.code.outline import Definition, Outline

_MOST = 500
_LONGEST_HEAD = 4_000  # characters looked at before a definition's name

_MAIN_BY_NAME = frozenset(("go", "rust", "c", "cpp", "java"))
_PYTHON_MAIN = re.compile(r"""^if __name__ == ["']__main__["']""", re.MULTILINE)

# @app.get("/x"), @Get('x'), @GetMapping("/x"), #[get("/x")]
_ANNOTATION = re.compile(
    r"""^[ \t]*(?:@|\#\[)[ \t]*(?:\w+\.)*"""
    r"""(get|post|put|delete|patch|head|options|websocket|route|request)(?:Mapping)?"""
    r"""\(\s*(?:(?:value|path|rule)\s*=\s*)?["']([^"'\n]{0,200})["']([^\n]{0,200})""",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED_METHOD = re.compile(r"""\b(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)\b""")
# app.get("/x", …), r.POST("/x", …), http.HandleFunc("GET /x", …)
_CALL = re.compile(
    r"""^[ \t]*\w[\w.]*\.(get|post|put|delete|patch|all|HandleFunc|Handle)"""
    r"""\(\s*["'`]((?:[A-Z]{3,7} )?/[^"'`\s]{0,200})["'`]\s*,""",
    re.IGNORECASE | re.MULTILINE,
)
_CALLS_IN = frozenset(("javascript", "typescript", "go"))


def entry_points(outline: Outline, text: str, language: Language) -> tuple[str, ...]:
    """Each once: `main`, or a method with its path."""
    found: dict[str, None] = {}
    for entry in _all(outline, text, language):
        found[entry] = None
        if len(found) >= _MOST:
            break
    return tuple(found)


def _all(outline: Outline, text: str, language: Language) -> Iterator[str]:
    if language.name == "python" and _PYTHON_MAIN.search(text):
        yield "main"
    for definition in outline.definitions:
        if language.name in _MAIN_BY_NAME and _is_main(definition):
            yield "main"
        if definition.role in (Role.FUNCTION, Role.DECLARATION):
            start = max(definition.head_start, definition.head_end - _LONGEST_HEAD)
            yield from _annotated(text[start : definition.head_end])
    if language.name in _CALLS_IN:
        for call in _CALL.finditer(text):
            yield _route(call[1], call[2])


def _is_main(definition: Definition) -> bool:
    return definition.role is Role.FUNCTION and definition.path[-1] == "main"


def _annotated(head: str) -> Iterator[str]:
    for match in _ANNOTATION.finditer(head):
        word, path, rest = match.groups()
        if word.lower() not in ("route", "request"):
            yield _route(word, path)
            continue
        for method in dict.fromkeys(_NAMED_METHOD.findall(rest)) or ("GET",):
            yield _route(method, path)


def _route(method: str, path: str) -> str:
    if " " in path:  # it names its method itself
        return path
    any_method = method.lower() in ("handle", "handlefunc", "all")
    return f"{'ANY' if any_method else method.upper()} /{path.removeprefix('/')}"
