"""Syntax tree → the definitions of a file, and the places between them where it may be cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node, Tree

from pincite.reading.code.extent import column, is_long, last_row, row
from pincite.reading.code.found import Found, Frame, Inside
from pincite.reading.code.language import Language
from pincite.reading.code.naming import Role

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
            self._note_lead(node)
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
        return (node, frame) if is_passage or is_long(node) else None

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
        above = start is not None and start < found.whole.start_byte - column(found.whole)
        if found.has_section(documented=has_comment and above):
            self._owners += 1
            frame = found.frame_in(frame, self._owners)
        elif found.role is Role.DECLARATION:
            frame = self._group_of(found, frame)
        elif not found.is_exported:
            self._mark(start, frame)
            return (found.inner, frame) if is_long(found.whole) else None
        if found.role is Role.DECLARATION:
            self._declared = _Group(frame, last_row(found.whole))
        head_start = found.whole.start_byte if start is None else start
        self.definitions.append(Definition(found.role, path, head_start, found.named.at))
        self._mark(start, frame)
        self._floor = max(self._floor, found.named.at)
        enter = found.role is Role.TYPE or is_long(found.whole)
        return (found.inner, frame) if enter else None

    def _group_of(self, found: Found, frame: Frame) -> Frame:
        """The section that a declaration without a comment goes on with."""
        group = self._declared
        if group is None or row(found.whole) != group.last_row + 1:
            return frame
        return group.frame

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

    def _note_lead(self, node: Node) -> None:
        if self._begins_line(node):
            indent = None if node.type == "access_specifier" else column(node)
            start = node.start_byte - column(node)
            self._leads.append(_Lead(start, indent, row(node), last_row(node)))

    def _start_of(self, node: Node) -> int | None:
        """The start of its first line, with the comments above it; None in the middle of a line."""
        below, indent = row(node), column(node)
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
        indent, at = column(node), node.start_byte
        return indent <= _DEEPEST_INDENT and not self.text[at - indent : at].strip()


def _far_enough(before: Mark, mark: Mark) -> bool:
    """Whether a new block is worth it; a definition always is."""
    least = _SHORT_BLOCK if before.owner == mark.owner else 1
    return mark.start - before.start >= least
