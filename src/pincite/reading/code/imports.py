"""Syntax tree → the modules and packages that a file imports, by the names its author wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node, Query, QueryCursor, Tree

from pincite.reading.code.language import Language
from pincite.reading.code.languages import LANGUAGES
from pincite.reading.code.naming import words

_QUERIES = {id(one): Query(one.grammar, one.imports) for one in LANGUAGES}

_MOST = 2_000
_LONGEST = 200  # characters of one name
_LONGEST_USE = 10_000  # characters of one `use` in Rust
_USE_PART = re.compile(r"[{},]|\bas\s+\w+|[\w:*]+")


def imports(tree: Tree, text: str, language: Language) -> tuple[str, ...]:
    """Each import once, in the order they come."""
    found: dict[str, None] = {}
    for _, captured in QueryCursor(_QUERIES[id(language)]).matches(tree.root_node):
        for name in _names(captured, text):
            if name and len(name) <= _LONGEST:
                found[name] = None
        if len(found) >= _MOST:
            break
    return tuple(found)


def _names(captured: dict[str, list[Node]], text: str) -> Iterator[str]:
    if "require" in captured and words(captured["require"][0], text) != "require":
        return
    for node in captured.get("module", ()):
        yield "".join(words(node, text).split())
    for node in captured.get("quoted", ()):
        yield words(node, text).strip("\"'`<>")
    for node in captured.get("use", ()):
        yield from _used(text[node.start_byte : min(node.end_byte, node.start_byte + _LONGEST_USE)])
    for node in captured.get("relative", ()):
        yield from _relative(node, text)


def _relative(node: Node, text: str) -> Iterator[str]:
    """`from .a import b` imports .a; `from . import b` imports .b, which may be a module."""
    module = node.child_by_field_name("module_name")
    if module is None:
        return
    said = "".join(words(module, text).split())
    if said.strip("."):
        yield said
        return
    for name in node.children_by_field_name("name"):
        plain = name.child_by_field_name("name") if name.type == "aliased_import" else name
        yield said + words(plain or name, text)


def _used(argument: str) -> Iterator[str]:
    """`std::{io, fmt::{self, Write as W}}` imports std::io, std::fmt, std::fmt::Write."""
    above = [""]
    path = ""
    for part in _USE_PART.findall(argument):
        if part == "{":
            above.append(path)
            path = ""
        elif part in ("}", ","):
            if path:
                yield _whole(path)
            if part == "}" and len(above) > 1:
                above.pop()
            path = ""
        elif not part.startswith("as "):
            path = above[-1] + part if len(above[-1]) < _LONGEST else ""
    if path:
        yield _whole(path)


def _whole(path: str) -> str:
    """Without what only says "all of it" or "it itself"."""
    return path.removesuffix("*").removesuffix("self").removesuffix("::").removeprefix("::")
