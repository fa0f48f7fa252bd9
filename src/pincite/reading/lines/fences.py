"""Markdown with code blocks → what these define and import, by the same grammars as source files.

A page about code is then found by the functions it shows. A grammar can be made to run wild by what
is not quite code; a page that it fails on can still be read by `markdown`, without this. The
grammars are loaded only where a page has such blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from textwrap import dedent

from pincite.reading.lines import markdown
from pincite.reading.source_file import SourceFile
from pincite.records import Analysis, Content

_LONGEST_BLOCK = 100_000  # characters
_LONGEST_TOGETHER = 1_000_000
_MOST = 5_000  # symbols, or imports

# What authors write behind the fence → the extension of such files.
_SUFFIXES = {
    **dict.fromkeys(("python", "py", "python3", "py3"), ".py"),
    **dict.fromkeys(("javascript", "js", "jsx", "mjs", "cjs", "node"), ".js"),
    **dict.fromkeys(("typescript", "ts", "mts", "cts"), ".ts"),
    "tsx": ".tsx",
    **dict.fromkeys(("go", "golang"), ".go"),
    **dict.fromkeys(("rust", "rs"), ".rs"),
    "java": ".java",
    **dict.fromkeys(("c", "h"), ".h"),
    **dict.fromkeys(("cpp", "c++", "cc", "cxx", "hpp"), ".cpp"),
}

# The line that opens a block, anywhere a block may stand: in a list, in a quotation.
_OPENING = re.compile(
    r"^(?P<before>[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?)"
    r"(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<tag>[\w+#-]{1,20})[^\n`]*$",
    re.MULTILINE,
)
_QUOTED = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)


def read(file: SourceFile) -> Content:
    """Read a Markdown file, and what its code blocks define and import."""
    content = markdown.read(file)
    return replace(content, analysis=code_facts(content)) if has_code(file.data) else content


def has_code(data: bytes) -> bool:
    """Whether a Markdown file may have code blocks in a language we know: a quick look."""
    openings = _OPENING.finditer(data.decode("utf-8", "replace"))
    return any(opening["tag"].lower() in _SUFFIXES for opening in openings)


def code_facts(content: Content) -> Analysis:
    """The symbols and imports of all code blocks that say a language we know, each once."""
    # Loaded here, so that a library without code never loads a grammar.
    from pincite.reading.code.reader import facts_of

    symbols: dict[str, None] = {}
    imports: dict[str, None] = {}
    for suffix, code in _code_blocks(content.text):
        facts = facts_of(code, suffix)
        symbols.update(dict.fromkeys(facts.symbols))
        imports.update(dict.fromkeys(facts.imports))
    return Analysis(symbols=tuple(symbols)[:_MOST], imports=tuple(imports)[:_MOST])


def _code_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Extension and code of each block, up to what is reasonable in one page."""
    together = 0
    at = 0
    while opening := _OPENING.search(text, at):
        closing = re.compile(rf"^[ \t>]*{opening['fence']}[`~]*[ \t\r]*$", re.MULTILINE).search(
            text, opening.end()
        )
        end, at = closing.span() if closing else (len(text), len(text))
        suffix = _SUFFIXES.get(opening["tag"].lower())
        code = text[opening.end() : end]
        if suffix is None or len(code) > _LONGEST_BLOCK:
            continue
        together += len(code)
        if together > _LONGEST_TOGETHER:
            return
        yield suffix, dedent(_QUOTED.sub("", code) if ">" in opening["before"] else code)
