"""The languages that are read by function and class, and how what they define is named.

For each: its grammar, the extensions of its files, which nodes of its syntax tree define something
and how to name it, which only stand around definitions, and how it imports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language as Grammar, Node

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

_SCRIPT_WRAPPERS = frozenset(
    ("export_statement", "lexical_declaration", "variable_declaration", "expression_statement")
)
_SCRIPT_PASSAGES = frozenset(
    ("lexical_declaration", "variable_declaration", "export_statement", "if_statement")
)
_SCRIPT_LEADS = frozenset(("comment", "decorator"))
_SCRIPT_IMPORTS = """
    (import_statement source: (string) @quoted)
    (export_statement source: (string) @quoted)
    (call_expression function: (import) arguments: (arguments . (string) @quoted))
    (call_expression function: (identifier) @require arguments: (arguments . (string) @quoted))
"""
_C_PASSAGES = frozenset(
    ("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef")
)
# The macro in `class LIBRARY_EXPORT Parser : public Reader {`.
_C_NOISE = re.compile(
    r"(?:(?<=\bclass )|(?<=\bstruct ))[A-Z][A-Z0-9_]{2,}(?:\([^()\n]{0,100}\))?"
    r"(?=[ \t]+[A-Za-z_]\w*\s*(?:final\s*)?[:{])"
)
_C_IMPORTS = "(preproc_include path: [(string_literal) (system_lib_string)] @quoted)"

_ONLY_IN_CPP = re.compile(
    r"^[ \t]*(?:template[ \t]*<|namespace[ \t]+[\w:]+\s*\{"
    r"|class[ \t]+\w[\w \t]*(?::[^;{]{0,300}|[^\S \t]\s*)?\{"
    r"|using[ \t]+(?:namespace[ \t]+)?[\w:]+[ \t]*[=;]"
    r"|(?:public|protected|private)[ \t]*:|\#[ \t]*include[ \t]*<[a-z_]+>)|\bstd::",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Language:
    """What is to know of a language to find the definitions of a file."""

    name: str
    type: str  # what `--type` takes
    grammar: Grammar
    suffixes: tuple[str, ...]
    definitions: Mapping[str, Naming]
    passages: frozenset[str]  # hold definitions but are none: `if`, `try`, `#ifdef`
    imports: str  # a query; what it calls `module` is a name, `quoted` a string, `use` Rust's
    wrappers: frozenset[str] = frozenset()  # hold one definition and belong to it: `export`
    leads: frozenset[str] = frozenset(("comment",))  # stand before a definition and go with it
    noise: re.Pattern[str] | None = None  # what the grammar stumbles over; it is read as blanks


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


def words(node: Node, text: str) -> str:
    """What the node says, on one line, as much of it as a heading can hold."""
    said = text[node.start_byte : min(node.end_byte, node.start_byte + 2 * _LONGEST_NAME)]
    return _BLANKS.sub(" ", said).strip()[:_LONGEST_NAME]


def _named(role: Role, field: str = "name") -> Naming:
    """Definitions that keep their name in a field."""

    def name(node: Node, text: str) -> Named | None:
        found = node.child_by_field_name(field)
        if found is None or not (said := words(found, text).strip("\"'`")):
            return None
        return Named(role, (said,), found.start_byte)

    return name


_TYPE, _FUNCTION = _named(Role.TYPE), _named(Role.FUNCTION)

_DECLARATION, _CONSTANT = _named(Role.DECLARATION), _named(Role.CONSTANT)


def _with_body(role: Role, bare: Role | None = None) -> Naming:
    """As `named`; without a body it is only `bare`, or nothing at all."""
    whole = _named(role)
    announced = _named(bare) if bare else None

    def name(node: Node, text: str) -> Named | None:
        if node.child_by_field_name("body") is not None:
            return whole(node, text)
        return announced(node, text) if announced else None

    return name


def _split_at(mark: str, naming: Naming) -> Naming:
    """Names that say several levels at once: a.b or a::b."""

    def name(node: Node, text: str) -> Named | None:
        found = naming(node, text)
        if found is None:
            return None
        parts = tuple(part.strip() for one in found.names for part in one.split(mark))
        return Named(found.role, tuple(part for part in parts if part), found.at)

    return name


def _python_assignment(node: Node, text: str) -> Named | None:
    """`NAME = …`, but neither `a.b = …` nor `a, b = …`."""
    left = node.child_by_field_name("left")
    if left is None or left.type not in ("identifier", "type"):
        return None
    return Named(Role.CONSTANT, (words(left, text),), left.start_byte)


_PYTHON = Language(
    name="python",
    type="py",
    grammar=Grammar(tree_sitter_python.language()),
    suffixes=(".py", ".pyi"),
    definitions={
        "function_definition": _FUNCTION,
        "class_definition": _TYPE,
        "assignment": _python_assignment,
        "type_alias_statement": _python_assignment,
    },
    wrappers=frozenset(("decorated_definition", "expression_statement")),
    passages=frozenset(
        (
            *("if_statement", "elif_clause", "else_clause", "with_statement"),
            *("try_statement", "except_clause", "finally_clause"),
        )
    ),
    imports="""
        (import_statement name: (dotted_name) @module)
        (import_statement name: (aliased_import name: (dotted_name) @module))
        (import_from_statement module_name: (dotted_name) @module)
        (import_from_statement module_name: (relative_import)) @relative
    """,
)


def _go_method(node: Node, text: str) -> Named | None:
    """`func (p *Parser[T]) Parse()` is Parser, Parse."""
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    if name is None or receiver is None:
        return None
    kind = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)?\)$", words(receiver, text))
    above = (kind[1],) if kind else ()
    return Named(Role.FUNCTION, (*above, words(name, text)), name.start_byte)


_GO = Language(
    name="go",
    type="go",
    grammar=Grammar(tree_sitter_go.language()),
    suffixes=(".go",),
    definitions={
        "function_declaration": _FUNCTION,
        "method_declaration": _go_method,
        "type_spec": _TYPE,
        "type_alias": _TYPE,
        "const_spec": _CONSTANT,
        "var_spec": _CONSTANT,
    },
    wrappers=frozenset(("type_declaration", "const_declaration", "var_declaration")),
    passages=frozenset(
        ("type_declaration", "const_declaration", "var_declaration", "var_spec_list")
    ),
    imports="(import_spec path: (_) @quoted)",
)


def _rust_impl(node: Node, text: str) -> Named | None:
    """`impl Parser<'a>` is Parser; `impl Display for Parser` says so in full."""
    kind, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
    if kind is None:
        return None
    inner = kind.child_by_field_name("type") if kind.type == "generic_type" else None
    name = words(inner or kind, text)
    if trait is not None:
        name = f"impl {words(trait, text)} for {name}"
    return Named(Role.TYPE, (name,), kind.start_byte)


_RUST = Language(
    name="rust",
    type="rs",
    grammar=Grammar(tree_sitter_rust.language()),
    suffixes=(".rs",),
    definitions={
        "function_item": _FUNCTION,
        "function_signature_item": _DECLARATION,
        "struct_item": _TYPE,
        "enum_item": _TYPE,
        "union_item": _TYPE,
        "trait_item": _TYPE,
        "impl_item": _rust_impl,
        "mod_item": _with_body(Role.TYPE),
        "macro_definition": _FUNCTION,
        "const_item": _CONSTANT,
        "static_item": _CONSTANT,
        "type_item": _DECLARATION,
    },
    passages=frozenset(("foreign_mod_item",)),
    leads=frozenset(("line_comment", "block_comment", "attribute_item")),
    imports="""
        (use_declaration argument: (_) @use)
        (extern_crate_declaration name: (identifier) @module)
    """,
)


def _java_field(node: Node, text: str) -> Named | None:
    """Only what is `static final`; other fields belong to their class."""
    declarator = node.child_by_field_name("declarator")
    if declarator is None or not {"static", "final"} <= set(
        text[node.start_byte : declarator.start_byte].split()
    ):
        return None
    return _named(Role.CONSTANT)(declarator, text)


_JAVA = Language(
    name="java",
    type="java",
    grammar=Grammar(tree_sitter_java.language()),
    suffixes=(".java",),
    definitions={
        "class_declaration": _TYPE,
        "interface_declaration": _TYPE,
        "enum_declaration": _TYPE,
        "record_declaration": _TYPE,
        "annotation_type_declaration": _TYPE,
        "method_declaration": _with_body(Role.FUNCTION, Role.DECLARATION),
        "constructor_declaration": _FUNCTION,
        "compact_constructor_declaration": _FUNCTION,
        "field_declaration": _java_field,
    },
    passages=frozenset(("enum_body_declarations",)),
    leads=frozenset(("line_comment", "block_comment")),
    imports="""
        (import_declaration (scoped_identifier) @module)
        (import_declaration (identifier) @module)
    """,
)


def _script_value(name_field: str, value_field: str) -> Naming:
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


_SCRIPT_DEFINITIONS: Mapping[str, Naming] = {
    "function_declaration": _FUNCTION,
    "generator_function_declaration": _FUNCTION,
    "class_declaration": _TYPE,
    "method_definition": _FUNCTION,
    "variable_declarator": _script_value("name", "value"),
    "assignment_expression": _script_value("left", "right"),
    "pair": _script_value("key", "value"),
    "field_definition": _script_value("property", "value"),
}

_JAVASCRIPT = Language(
    name="javascript",
    type="js",
    grammar=Grammar(tree_sitter_javascript.language()),
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    definitions=_SCRIPT_DEFINITIONS,
    wrappers=_SCRIPT_WRAPPERS,
    passages=_SCRIPT_PASSAGES,
    leads=_SCRIPT_LEADS,
    imports=_SCRIPT_IMPORTS,
)


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


def _c_function(node: Node, text: str) -> Named | None:
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


def _c_declaration(node: Node, text: str) -> Named | None:
    """A prototype, or a variable with a value."""
    name, is_function = _declared(node)
    if name is None:
        return None
    names = _qualified(name, text)
    if is_function and names and names[-1].isupper():  # a macro around the real name
        return None
    return Named(Role.DECLARATION if is_function else Role.CONSTANT, names, name.start_byte)


def _c_field(node: Node, text: str) -> Named | None:
    """A method that a class only declares; fields belong to their class."""
    found = _c_declaration(node, text)
    return found if found is not None and found.role is Role.DECLARATION else None


def _c_typedef(node: Node, text: str) -> Named | None:
    """`typedef struct { … } name;` is a type like any other; other aliases are declarations."""
    name, _ = _declared(node)
    if name is None:
        return None
    kind = node.child_by_field_name("type")
    has_body = kind is not None and kind.child_by_field_name("body") is not None
    return Named(Role.TYPE if has_body else Role.DECLARATION, (words(name, text),), name.start_byte)


def _c_macro(node: Node, text: str) -> Named | None:
    """`#define NAME value`; without a value it only guards a header."""
    if node.child_by_field_name("value") is None:
        return None
    return _named(Role.CONSTANT)(node, text)


_C_DEFINITIONS: Mapping[str, Naming] = {
    "function_definition": _c_function,
    "declaration": _c_declaration,
    "type_definition": _c_typedef,
    "struct_specifier": _with_body(Role.TYPE),
    "union_specifier": _with_body(Role.TYPE),
    "enum_specifier": _with_body(Role.TYPE),
    "preproc_function_def": _DECLARATION,
    "preproc_def": _c_macro,
}

_C = Language(
    name="c",
    type="c",
    grammar=Grammar(tree_sitter_c.language()),
    suffixes=(".c", ".h"),
    definitions=_C_DEFINITIONS,
    wrappers=frozenset(("linkage_specification",)),
    passages=_C_PASSAGES | {"linkage_specification"},
    imports=_C_IMPORTS,
    noise=_C_NOISE,
)

_CPP = Language(
    name="cpp",
    type="cpp",
    grammar=Grammar(tree_sitter_cpp.language()),
    suffixes=(".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx"),
    definitions={
        **_C_DEFINITIONS,
        "class_specifier": _with_body(Role.TYPE),
        "namespace_definition": _split_at("::", _TYPE),
        "field_declaration": _c_field,
        "alias_declaration": _DECLARATION,
        "concept_definition": _DECLARATION,
    },
    wrappers=frozenset(("template_declaration", "linkage_specification")),
    passages=_C_PASSAGES | {"linkage_specification", "namespace_definition"},
    leads=frozenset(("comment", "access_specifier")),
    imports=_C_IMPORTS,
    noise=_C_NOISE,
)


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


def _typescript(grammar: Grammar, suffixes: tuple[str, ...]) -> Language:
    return Language(
        name="typescript",
        type="ts",
        grammar=grammar,
        suffixes=suffixes,
        definitions={
            **_SCRIPT_DEFINITIONS,
            "public_field_definition": _script_value("name", "value"),
            "abstract_class_declaration": _TYPE,
            "interface_declaration": _TYPE,
            "enum_declaration": _TYPE,
            "type_alias_declaration": _TYPE,
            "module": _TYPE,
            "internal_module": _split_at(".", _TYPE),
            "function_signature": _FUNCTION,
            "method_signature": _DECLARATION,
            "abstract_method_signature": _DECLARATION,
        },
        wrappers=_SCRIPT_WRAPPERS | {"ambient_declaration"},
        passages=_SCRIPT_PASSAGES | {"ambient_declaration"},
        leads=_SCRIPT_LEADS,
        imports=_SCRIPT_IMPORTS + "(import_require_clause source: (string) @quoted)",
    )


_TYPESCRIPT = _typescript(
    Grammar(tree_sitter_typescript.language_typescript()),
    (".ts", ".mts", ".cts"),
)

_TSX = _typescript(Grammar(tree_sitter_typescript.language_tsx()), (".tsx",))

LANGUAGES = (_PYTHON, _JAVASCRIPT, _TYPESCRIPT, _TSX, _GO, _RUST, _JAVA, _C, _CPP)

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}


def language_of(suffix: str, text: str) -> Language:
    """The language of a file with that extension; a header is C unless it looks like C++."""
    if suffix == ".h" and _ONLY_IN_CPP.search(text):
        return _CPP
    return _BY_SUFFIX[suffix]
