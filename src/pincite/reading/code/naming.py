"""A node of a syntax tree → what it defines and what a person would call it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tree_sitter import Node


class Role(StrEnum):
    """What a definition is, as far as sections are concerned."""

    TYPE = "type"  # a class and the like: its members are definitions of their own
    FUNCTION = "function"
    DECLARATION = "declaration"  # promises something whose body stands elsewhere, or has none
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Named:
    """What a node defines. A method that stands outside its class is named with the class."""

    role: Role
    names: tuple[str, ...]
    at: int  # where the name stands; what comes before are keywords and annotations


Naming = Callable[[Node, str], Named | None]
"""Node and text → what it defines; None if it has no name, or does not define anything."""

_LONGEST_NAME = 120
_BLANKS = re.compile(r"\s+")
_DOTTED = re.compile(r"[\w$#]+(?:\.[\w$#]+)*")
# Where JavaScript hangs up what it offers; no part of a name.
_SHELVES = frozenset(("exports", "module", "prototype", "this", "self", "window", "globalThis"))
_IMPORTED = re.compile(r"(?:await )?(?:require|import)\(")
_SCRIPT_FUNCTIONS = frozenset(("arrow_function", "function_expression", "generator_function"))
# Inside these the name is one level further down, though not in a field of its own.
_UNFIELDED_DECLARATORS = frozenset(
    ("parenthesized_declarator", "reference_declarator", "attributed_declarator")
)


def words(node: Node, text: str) -> str:
    """What the node says, on one line, as much of it as a heading can hold."""
    said = text[node.start_byte : min(node.end_byte, node.start_byte + 2 * _LONGEST_NAME)]
    return _BLANKS.sub(" ", said).strip()[:_LONGEST_NAME]


def named(role: Role, field: str = "name") -> Naming:
    """Definitions that keep their name in a field."""

    def name(node: Node, text: str) -> Named | None:
        found = node.child_by_field_name(field)
        if found is None or not (said := words(found, text).strip("\"'`")):
            return None
        return Named(role, (said,), found.start_byte)

    return name


def with_body(role: Role, bare: Role | None = None) -> Naming:
    """As `named`; without a body it is only `bare`, or nothing at all."""
    whole = named(role)
    announced = named(bare) if bare else None

    def name(node: Node, text: str) -> Named | None:
        if node.child_by_field_name("body") is not None:
            return whole(node, text)
        return announced(node, text) if announced else None

    return name


def split_at(mark: str, naming: Naming) -> Naming:
    """Names that say several levels at once: a.b or a::b."""

    def name(node: Node, text: str) -> Named | None:
        found = naming(node, text)
        if found is None:
            return None
        parts = tuple(part.strip() for one in found.names for part in one.split(mark))
        return Named(found.role, tuple(part for part in parts if part), found.at)

    return name


def python_assignment(node: Node, text: str) -> Named | None:
    """`NAME = …`, but neither `a.b = …` nor `a, b = …`."""
    left = node.child_by_field_name("left")
    if left is None or left.type not in ("identifier", "type"):
        return None
    return Named(Role.CONSTANT, (words(left, text),), left.start_byte)


def go_method(node: Node, text: str) -> Named | None:
    """`func (p *Parser[T]) Parse()` is Parser, Parse."""
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    if name is None or receiver is None:
        return None
    kind = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)?\)$", words(receiver, text))
    above = (kind[1],) if kind else ()
    return Named(Role.FUNCTION, (*above, words(name, text)), name.start_byte)


def rust_impl(node: Node, text: str) -> Named | None:
    """`impl Parser<'a>` is Parser; `impl Display for Parser` says so in full."""
    kind, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
    if kind is None:
        return None
    inner = kind.child_by_field_name("type") if kind.type == "generic_type" else None
    name = words(inner or kind, text)
    if trait is not None:
        name = f"impl {words(trait, text)} for {name}"
    return Named(Role.TYPE, (name,), kind.start_byte)


def java_field(node: Node, text: str) -> Named | None:
    """Only what is `static final`; other fields belong to their class."""
    declarator = node.child_by_field_name("declarator")
    if declarator is None or not {"static", "final"} <= set(
        text[node.start_byte : declarator.start_byte].split()
    ):
        return None
    return named(Role.CONSTANT)(declarator, text)


def script_value(name_field: str, value_field: str) -> Naming:
    """JavaScript's `name = value`, `name: value`: what it defines is for the value to say."""

    def name(node: Node, text: str) -> Named | None:
        left, value = node.child_by_field_name(name_field), node.child_by_field_name(value_field)
        if left is None or value is None or _IMPORTED.match(text, value.start_byte):
            return None
        names = _script_names(left, text)
        own = value.child_by_field_name("name")
        if not names and own is not None:
            names = (words(own, text),)
        return Named(_script_role(value), names, left.start_byte) if names else None

    return name


def _script_role(value: Node) -> Role:
    if value.type in _SCRIPT_FUNCTIONS:
        return Role.FUNCTION
    return Role.TYPE if value.type == "class" else Role.CONSTANT


def _script_names(left: Node, text: str) -> tuple[str, ...]:
    """`Parser.prototype.parse` is Parser, parse; `exports.parse` is parse."""
    said = words(left, text).strip("\"'`")
    if not _DOTTED.fullmatch(said):
        return ()
    return tuple(part for part in said.split(".") if part not in _SHELVES)


def c_function(node: Node, text: str) -> Named | None:
    """A function of C or C++, wherever pointers and classes put its name."""
    name, _ = _declared(node)
    if name is None:
        return None
    names = _qualified(name, text)
    if node.child_by_field_name("type") is None and names[-1].isupper():
        # A macro that makes a function, such as TEST(Parser, IgnoresBlanks).
        declarator = node.child_by_field_name("declarator")
        names = (words(declarator or name, text),)
    return Named(Role.FUNCTION, names, name.start_byte)


def c_declaration(node: Node, text: str) -> Named | None:
    """A prototype, or a variable with a value."""
    name, is_function = _declared(node)
    if name is None:
        return None
    names = _qualified(name, text)
    if is_function and names and names[-1].isupper():  # a macro around the real name
        return None
    return Named(Role.DECLARATION if is_function else Role.CONSTANT, names, name.start_byte)


def c_field(node: Node, text: str) -> Named | None:
    """A method that a class only declares; fields belong to their class."""
    found = c_declaration(node, text)
    return found if found is not None and found.role is Role.DECLARATION else None


def c_typedef(node: Node, text: str) -> Named | None:
    """`typedef struct { … } name;` is a type like any other; other aliases are declarations."""
    name, _ = _declared(node)
    if name is None:
        return None
    kind = node.child_by_field_name("type")
    has_body = kind is not None and kind.child_by_field_name("body") is not None
    return Named(Role.TYPE if has_body else Role.DECLARATION, (words(name, text),), name.start_byte)


def c_macro(node: Node, text: str) -> Named | None:
    """`#define NAME value`; without a value it only guards a header."""
    if node.child_by_field_name("value") is None:
        return None
    return named(Role.CONSTANT)(node, text)


def _declared(node: Node) -> tuple[Node | None, bool]:
    """The name that a declaration leads to, and whether it is a function's."""
    at = node.child_by_field_name("declarator")
    is_function = False
    while at is not None:
        is_function = is_function or at.type == "function_declarator"
        if at.type in _UNFIELDED_DECLARATORS:
            below = at.named_child(0) if at.named_child_count else None
        else:
            below = at.child_by_field_name("declarator")
        if below is None or at.type == "operator_cast":
            break
        at = below
    return at, is_function or (at is not None and at.type == "operator_cast")


def _qualified(name: Node, text: str) -> tuple[str, ...]:
    """`net::Socket<T>::open` is net, Socket, open."""
    names = []
    while name.type == "qualified_identifier":
        scope, inner = name.child_by_field_name("scope"), name.child_by_field_name("name")
        if scope is not None:
            names.append(words(scope, text).partition("<")[0].strip())
        if inner is None:
            break
        name = inner
    last = words(name, text)
    names.append(last.partition("(")[0].strip() if name.type == "operator_cast" else last)
    return tuple(part for part in names if part)
