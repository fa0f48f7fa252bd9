"""Syntax tree → the definitions of a file, and the places between them where it may be cut.

Also what it imports, by the names its author wrote, and where it is entered from outside: `main`,
and the routes of a web service. Offsets in bytes are those of the text: see `reader.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from tree_sitter import Node, Query, QueryCursor, Tree

from pincite.reading.code.languages import LANGUAGES, Language, Named, Role, words

_SHORT_BLOCK = 120  # characters; up to here the next statement goes with it
_DEEPEST_INDENT = 200  # characters; what stands further right does not begin its line
# Between braces, or indented: nothing is cut off before the brace.
_BODIES = frozenset(
    (
        *("block", "statement_block", "compound_statement", "constructor_body", "statement_list"),
        *("class_body", "interface_body", "enum_body", "annotation_type_body", "object_type"),
        *("declaration_list", "field_declaration_list", "enumerator_list", "enum_variant_list"),
        *("switch_body", "match_block", "ERROR"),
    )
)

_LONG_STATEMENT = 800  # characters, of which a token has three or four

# In characters.
_LONG_CONSTANT = 400  # from here on it has a section of its own
_LONG_FUNCTION = 2_400  # from here on functions inside it have sections of their own ...
_LONG_NESTED = 400  # ... if they are not mere helpers of a few lines

_DEEPEST = 12  # names in a path; more is machine-made
_CONSTANT_NAME = re.compile(r"_*[A-Z]")

_QUERIES = {id(one): Query(one.grammar, one.imports) for one in LANGUAGES}

_MOST_IMPORTS = 2_000
_LONGEST = 200  # characters of one name
_LONGEST_USE = 10_000  # characters of one `use` in Rust
_USE_PART = re.compile(r"[{},]|\bas\s+\w+|[\w:*]+")

_MOST_ENTRY_POINTS = 500
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


@dataclass(frozen=True, slots=True)
class Mark:
    """A line where a statement or a definition begins, with the names it stands under."""

    start: int
    path: tuple[str, ...]
    owner: int  # counts definitions; 0 is the file itself


@dataclass(frozen=True, slots=True)
class Definition:
    """Something that has a name. Its head is what stands before that: comments, annotations."""

    role: Role
    path: tuple[str, ...]
    head_start: int
    head_end: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The marks and definitions of a file, in order."""

    marks: tuple[Mark, ...]
    definitions: tuple[Definition, ...]


def outline(tree: Tree, text: str, language: Language) -> Outline:
    """What the file defines, down to the methods of classes and into very long functions."""
    walk = _Walk(text, language)
    walk.run(tree.root_node)
    return Outline(tuple(walk.marks), tuple(walk.definitions))


@dataclass(frozen=True, slots=True)
class _Lead:
    """A comment or the like on lines of its own, which may belong to what follows."""

    start: int  # of its first line
    indent: int | None  # None where it says nothing: `public:` may stand anywhere
    first_row: int
    last_row: int


@dataclass(frozen=True, slots=True)
class _Group:
    """Declarations on lines that follow each other: a comment is above them all."""

    frame: Frame
    last_row: int


@dataclass(slots=True)
class _Walk:
    """One way through a tree, from statement to statement, without recursion."""

    text: str
    language: Language
    marks: list[Mark] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    _leads: list[_Lead] = field(default_factory=list)
    _owners: int = 0
    _declared: _Group | None = None
    _floor: int = 0  # nothing before this is marked: it is the head of a definition

    def run(self, root: Node) -> None:
        """Visit what may hold definitions or be cut; the rest of the tree is left alone."""
        open_nodes: list[tuple[Iterator[Node], Frame]] = [(iter(root.children), Frame())]
        while open_nodes:
            siblings, frame = open_nodes[-1]
            node = next(siblings, None)
            if node is None:
                open_nodes.pop()
            elif (entered := self._visit(node, frame)) is not None:
                inner, inner_frame = entered
                open_nodes.append((iter(inner.children), inner_frame))

    def _visit(self, node: Node, frame: Frame) -> tuple[Node, Frame] | None:
        """Note what the node is; what to go into, if there is more inside."""
        if not node.is_named:
            return None
        if node.type in self.language.leads:
            if self._begins_line(node):
                indent = None if node.type == "access_specifier" else _column(node)
                lead = _Lead(node.start_byte - _column(node), indent, _row(node), _last_row(node))
                self._leads.append(lead)
            return None
        if node.type in _BODIES:
            return node, frame
        start = self._start_of(node)
        has_comment = any(lead.indent is not None for lead in self._leads)
        self._leads.clear()
        found = self._unwrapped(node) if frame.inside < Inside.FUNCTION else None
        if found is not None and found.counts_in(frame):
            return self._define(found, frame, start, has_comment=has_comment)
        self._mark(start, frame)
        is_passage = node.type in self.language.passages and frame.inside is Inside.FILE
        return (node, frame) if is_passage or _is_long(node) else None

    def _unwrapped(self, whole: Node) -> Found | None:
        """The definition that the node is, or that is all it holds."""
        node = whole
        while (naming := self.language.definitions.get(node.type)) is None:
            if node.type not in self.language.wrappers:
                return None
            inner = [child for child in node.named_children if self._may_define(child)]
            if len(inner) != 1:
                return None
            node = inner[0]
        named = naming(node, self.text)
        if named is None or not any(named.names):  # in broken code a name may be missing
            return None
        return Found(whole, node, named)

    def _may_define(self, node: Node) -> bool:
        return node.type in self.language.definitions or node.type in self.language.wrappers

    def _define(
        self, found: Found, frame: Frame, start: int | None, *, has_comment: bool
    ) -> tuple[Node, Frame] | None:
        path = found.path_in(frame)
        above = start is not None and start < found.whole.start_byte - _column(found.whole)
        if found.has_section(documented=has_comment and above):
            self._owners += 1
            frame = found.frame_in(frame, self._owners)
        elif found.role is Role.DECLARATION:
            # Without a comment, it goes on with the section of the one above it.
            group = self._declared
            if group is not None and _row(found.whole) == group.last_row + 1:
                frame = group.frame
        elif not found.is_exported:
            self._mark(start, frame)
            return (found.inner, frame) if _is_long(found.whole) else None
        if found.role is Role.DECLARATION:
            self._declared = _Group(frame, _last_row(found.whole))
        head_start = found.whole.start_byte if start is None else start
        self.definitions.append(Definition(found.role, path, head_start, found.named.at))
        self._mark(start, frame)
        self._floor = max(self._floor, found.named.at)
        enter = found.role is Role.TYPE or _is_long(found.whole)
        return (found.inner, frame) if enter else None

    def _mark(self, start: int | None, frame: Frame) -> None:
        """A block begins here, unless it begins in the middle of a line."""
        if start is None or start < self._floor:
            return
        mark = Mark(start, frame.path, frame.owner)
        before = self.marks[-1] if self.marks else None
        if before is not None and before.start == start:
            self.marks[-1] = mark  # a definition at the start of the statement it stands in
        elif before is None or _far_enough(before, mark):
            self.marks.append(mark)

    def _start_of(self, node: Node) -> int | None:
        """The start of its first line, with the comments above it; None in the middle of a line."""
        below, indent = _row(node), _column(node)
        start = node.start_byte - indent
        if not self._begins_line(node):
            if not self._leads or self._leads[-1].last_row != below:
                return None
            indent = self._leads[-1].indent or 0
        for lead in reversed(self._leads):
            if lead.indent not in (None, indent):
                break
            # What stands at the top of a file with a blank line below it is about the file.
            if below - lead.last_row > 1 and not self.marks:
                break
            start, below = lead.start, lead.first_row
        return start

    def _begins_line(self, node: Node) -> bool:
        indent, at = _column(node), node.start_byte
        return indent <= _DEEPEST_INDENT and not self.text[at - indent : at].strip()


def _far_enough(before: Mark, mark: Mark) -> bool:
    """Whether a new block is worth it; a definition always is."""
    least = _SHORT_BLOCK if before.owner == mark.owner else 1
    return mark.start - before.start >= least


def _length(node: Node) -> int:
    """How many characters it has."""
    return node.end_byte - node.start_byte


def _is_long(node: Node) -> bool:
    """Whether it may be cut inside; a string has no inside."""
    return _length(node) > _LONG_STATEMENT and "string" not in node.type


# A point is read as the tuple it is: to ask for its attributes crashes tree-sitter 0.26.
def _row(node: Node) -> int:
    """Its first line, from 0."""
    return node.start_point[0]


def _column(node: Node) -> int:
    """How many characters stand before it in its line."""
    return node.start_point[1]


def _last_row(node: Node) -> int:
    """The line it ends in; some grammars let a comment end at the start of the next line."""
    end_row, end_column = node.end_point
    return end_row - 1 if end_column == 0 else end_row


class Inside(IntEnum):
    """What something stands in: the further down, the less counts as a definition."""

    FILE = 0  # or a class
    LONG_FUNCTION = 1
    FUNCTION = 2


@dataclass(frozen=True, slots=True)
class Frame:
    """The section that something stands in."""

    path: tuple[str, ...] = ()
    owner: int = 0  # counts the definitions that have sections; 0 is the file itself
    inside: Inside = Inside.FILE


@dataclass(frozen=True, slots=True)
class Found:
    """A definition, bare and with the `export` or decorators around it."""

    whole: Node
    inner: Node
    named: Named

    @property
    def role(self) -> Role:
        """What kind of definition it is."""
        return self.named.role

    def counts_in(self, frame: Frame) -> bool:
        """Whether it can be seen from elsewhere, or is large enough by itself."""
        if frame.inside is Inside.FILE:
            return True
        return self.role in (Role.TYPE, Role.FUNCTION) and _length(self.whole) > _LONG_NESTED

    def has_section(self, *, documented: bool) -> bool:
        """Whether a person would look for it by name, not as a line among others."""
        if self.role in (Role.TYPE, Role.FUNCTION) or _length(self.whole) > _LONG_CONSTANT:
            return True
        return self.role is Role.DECLARATION and documented

    @property
    def is_exported(self) -> bool:
        """Whether a constant says so, or is named like one."""
        is_constant = _CONSTANT_NAME.match(self.named.names[-1]) is not None
        return is_constant or self.whole.type == "export_statement"

    def path_in(self, frame: Frame) -> tuple[str, ...]:
        """Its names, below those of what it stands in."""
        return (*frame.path, *self.named.names)[:_DEEPEST]

    def frame_in(self, frame: Frame, owner: int) -> Frame:
        """The section that it opens."""
        path = self.path_in(frame)
        if len(path) >= _DEEPEST:
            inside = Inside.FUNCTION
        elif self.role is Role.TYPE:
            inside = Inside.FILE
        elif self.role is Role.FUNCTION:
            is_long = _length(self.whole) > _LONG_FUNCTION
            inside = Inside.LONG_FUNCTION if is_long else Inside.FUNCTION
        else:
            inside = frame.inside
        return Frame(path, owner, inside)


def imports(tree: Tree, text: str, language: Language) -> tuple[str, ...]:
    """Each import once, in the order they come."""
    found: dict[str, None] = {}
    for _, captured in QueryCursor(_QUERIES[id(language)]).matches(tree.root_node):
        for name in _names(captured, text):
            if name and len(name) <= _LONGEST:
                found[name] = None
        if len(found) >= _MOST_IMPORTS:
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


def entry_points(outline: Outline, text: str, language: Language) -> tuple[str, ...]:
    """Each once: `main`, or a method with its path."""
    found: dict[str, None] = {}
    for entry in _all(outline, text, language):
        found[entry] = None
        if len(found) >= _MOST_ENTRY_POINTS:
            break
    return tuple(found)


def _all(outline: Outline, text: str, language: Language) -> Iterator[str]:
    if language.name == "python" and _PYTHON_MAIN.search(text):
        yield "main"
    for definition in outline.definitions:
        is_function = definition.role is Role.FUNCTION
        if language.name in _MAIN_BY_NAME and is_function and definition.path[-1] == "main":
            yield "main"
        if definition.role in (Role.FUNCTION, Role.DECLARATION):
            start = max(definition.head_start, definition.head_end - _LONGEST_HEAD)
            for match in _ANNOTATION.finditer(text[start : definition.head_end]):
                word, path, rest = match.groups()
                if word.lower() not in ("route", "request"):
                    yield _route(word, path)
                    continue
                for method in dict.fromkeys(_NAMED_METHOD.findall(rest)) or ("GET",):
                    yield _route(method, path)
    if language.name in _CALLS_IN:
        for call in _CALL.finditer(text):
            yield _route(call[1], call[2])


def _route(method: str, path: str) -> str:
    if " " in path:  # it names its method itself
        return path
    any_method = method.lower() in ("handle", "handlefunc", "all")
    return f"{'ANY' if any_method else method.upper()} /{path.removeprefix('/')}"
