"""Where a node of a syntax tree stands. Offsets in bytes are those of the text: see parsing.py."""

from __future__ import annotations

from tree_sitter import Node

_LONG_STATEMENT = 800  # characters, of which a token has three or four


def length(node: Node) -> int:
    """How many characters it has."""
    return node.end_byte - node.start_byte


def is_long(node: Node) -> bool:
    """Whether it may be cut inside; a string has no inside."""
    return length(node) > _LONG_STATEMENT and "string" not in node.type


# A point is read as the tuple it is: to ask for its attributes crashes tree-sitter 0.26.
def row(node: Node) -> int:
    """Its first line, from 0."""
    return node.start_point[0]


def column(node: Node) -> int:
    """How many characters stand before it in its line."""
    return node.start_point[1]


def last_row(node: Node) -> int:
    """The line it ends in; some grammars let a comment end at the start of the next line."""
    end_row, end_column = node.end_point
    return end_row - 1 if end_column == 0 else end_row
