"""The languages that are read by function and class: one table.

For each: its grammar, the extensions of its files, which nodes of its syntax tree define something
and how to name it, which only stand around definitions, and how it imports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language as Grammar

from pincite.reading.code.language import Language
from pincite.reading.code.naming import (
    Naming,
    Role,
    c_declaration,
    c_field,
    c_function,
    c_macro,
    c_typedef,
    go_method,
    java_field,
    named,
    python_assignment,
    rust_impl,
    script_value,
    split_at,
    with_body,
)

_TYPE, _FUNCTION = named(Role.TYPE), named(Role.FUNCTION)
_DECLARATION, _CONSTANT = named(Role.DECLARATION), named(Role.CONSTANT)

_PYTHON = Language(
    name="python",
    type="py",
    grammar=Grammar(tree_sitter_python.language()),
    suffixes=(".py", ".pyi"),
    definitions={
        "function_definition": _FUNCTION,
        "class_definition": _TYPE,
        "assignment": python_assignment,
        "type_alias_statement": python_assignment,
    },
    wrappers=frozenset(("decorated_definition", "expression_statement")),
    passages=frozenset(
        (
            *("if_statement", "elif_clause", "else_clause", "with_statement"),
            *("try_statement", "except_clause", "finally_clause"),
        )
    ),
    leads=frozenset(("comment",)),
    imports="""
        (import_statement name: (dotted_name) @module)
        (import_statement name: (aliased_import name: (dotted_name) @module))
        (import_from_statement module_name: (dotted_name) @module)
        (import_from_statement module_name: (relative_import)) @relative
    """,
)

_SCRIPT_DEFINITIONS: Mapping[str, Naming] = {
    "function_declaration": _FUNCTION,
    "generator_function_declaration": _FUNCTION,
    "class_declaration": _TYPE,
    "method_definition": _FUNCTION,
    "variable_declarator": script_value("name", "value"),
    "assignment_expression": script_value("left", "right"),
    "pair": script_value("key", "value"),
    "field_definition": script_value("property", "value"),
}
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


def _typescript(grammar: Grammar, suffixes: tuple[str, ...]) -> Language:
    return Language(
        name="typescript",
        type="ts",
        grammar=grammar,
        suffixes=suffixes,
        definitions={
            **_SCRIPT_DEFINITIONS,
            "public_field_definition": script_value("name", "value"),
            "abstract_class_declaration": _TYPE,
            "interface_declaration": _TYPE,
            "enum_declaration": _TYPE,
            "type_alias_declaration": _TYPE,
            "module": _TYPE,
            "internal_module": split_at(".", _TYPE),
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

_GO = Language(
    name="go",
    type="go",
    grammar=Grammar(tree_sitter_go.language()),
    suffixes=(".go",),
    definitions={
        "function_declaration": _FUNCTION,
        "method_declaration": go_method,
        "type_spec": _TYPE,
        "type_alias": _TYPE,
        "const_spec": _CONSTANT,
        "var_spec": _CONSTANT,
    },
    wrappers=frozenset(("type_declaration", "const_declaration", "var_declaration")),
    passages=frozenset(
        ("type_declaration", "const_declaration", "var_declaration", "var_spec_list")
    ),
    leads=frozenset(("comment",)),
    imports="(import_spec path: (_) @quoted)",
)

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
        "impl_item": rust_impl,
        "mod_item": with_body(Role.TYPE),
        "macro_definition": _FUNCTION,
        "const_item": _CONSTANT,
        "static_item": _CONSTANT,
        "type_item": _DECLARATION,
    },
    wrappers=frozenset(),
    passages=frozenset(("foreign_mod_item",)),
    leads=frozenset(("line_comment", "block_comment", "attribute_item")),
    imports="""
        (use_declaration argument: (_) @use)
        (extern_crate_declaration name: (identifier) @module)
    """,
)

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
        "method_declaration": with_body(Role.FUNCTION, Role.DECLARATION),
        "constructor_declaration": _FUNCTION,
        "compact_constructor_declaration": _FUNCTION,
        "field_declaration": java_field,
    },
    wrappers=frozenset(),
    passages=frozenset(("enum_body_declarations",)),
    leads=frozenset(("line_comment", "block_comment")),
    imports="""
        (import_declaration (scoped_identifier) @module)
        (import_declaration (identifier) @module)
    """,
)

_C_DEFINITIONS: Mapping[str, Naming] = {
    "function_definition": c_function,
    "declaration": c_declaration,
    "type_definition": c_typedef,
    "struct_specifier": with_body(Role.TYPE),
    "union_specifier": with_body(Role.TYPE),
    "enum_specifier": with_body(Role.TYPE),
    "preproc_function_def": _DECLARATION,
    "preproc_def": c_macro,
}
_C_PASSAGES = frozenset(
    ("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef")
)
_C_LEADS = frozenset(("comment",))
# The macro in `class LIBRARY_EXPORT Parser : public Reader {`.
_C_NOISE = re.compile(
    r"(?:(?<=\bclass )|(?<=\bstruct ))[A-Z][A-Z0-9_]{2,}(?:\([^()\n]{0,100}\))?"
    r"(?=[ \t]+[A-Za-z_]\w*\s*(?:final\s*)?[:{])"
)
_C_IMPORTS = "(preproc_include path: [(string_literal) (system_lib_string)] @quoted)"

_C = Language(
    name="c",
    type="c",
    grammar=Grammar(tree_sitter_c.language()),
    suffixes=(".c", ".h"),
    definitions=_C_DEFINITIONS,
    wrappers=frozenset(("linkage_specification",)),
    passages=_C_PASSAGES | {"linkage_specification"},
    leads=_C_LEADS,
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
        "class_specifier": with_body(Role.TYPE),
        "namespace_definition": split_at("::", _TYPE),
        "field_declaration": c_field,
        "alias_declaration": _DECLARATION,
        "concept_definition": _DECLARATION,
    },
    wrappers=frozenset(("template_declaration", "linkage_specification")),
    passages=_C_PASSAGES | {"linkage_specification", "namespace_definition"},
    leads=_C_LEADS | {"access_specifier"},
    imports=_C_IMPORTS,
    noise=_C_NOISE,
)

LANGUAGES = (_PYTHON, _JAVASCRIPT, _TYPESCRIPT, _TSX, _GO, _RUST, _JAVA, _C, _CPP)
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}

_ONLY_IN_CPP = re.compile(
    r"^[ \t]*(?:template[ \t]*<|namespace[ \t]+[\w:]+\s*\{"
    r"|class[ \t]+\w[\w \t]*(?::[^;{]{0,300}|[^\S \t]\s*)?\{"
    r"|using[ \t]+(?:namespace[ \t]+)?[\w:]+[ \t]*[=;]"
    r"|(?:public|protected|private)[ \t]*:|\#[ \t]*include[ \t]*<[a-z_]+>)|\bstd::",
    re.MULTILINE,
)


def language_of(suffix: str, text: str) -> Language:
    """The language of a file with that extension; a header is C unless it looks like C++."""
    if suffix == ".h" and _ONLY_IN_CPP.search(text):
        return _CPP
    return _BY_SUFFIX[suffix]
