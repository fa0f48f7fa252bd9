"""Conditions on chunks and their documents: what a filter comes down to in every store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

LEVELS = ("public", "internal", "confidential", "restricted")
"""How far a document may go, the least guarded first."""

_UNSAID = LEVELS.index("internal")  # what says nothing was not meant for everyone

Field = Literal[
    "document",
    "type",
    "modality",
    "language",
    "tag",
    "project",
    "agent",
    "author",
    "confidentiality",
    "date",
    "name",
    "path",
    "heading",
    "layer",
    "symbol",
    "import",
    "text",
]
Operator = Literal["is", "contains", "begins", "matches", "<", "<=", ">", ">="]

_PLAIN = re.compile(r"[\w./:#@+*?-]+")
RESERVED = frozenset(("and", "or", "not", "in", "contains", "begins", "matches"))


@dataclass(frozen=True, slots=True)
class Clause:
    """What one field must be. Any of the values suffices; without values nothing does.

    `is` with an empty value means that the document says nothing of it. `matches` takes patterns
    with `*` and `?` for the whole. Case is ignored, except in ids and paths.
    """

    field: Field
    operator: Operator
    values: tuple[str, ...]

    def __str__(self) -> str:
        values = [value_written(value) for value in self.values]
        sign = "=" if self.operator == "is" else self.operator
        if self.operator == "is" and len(values) != 1:
            return f"{self.field} in ({', '.join(values)})"
        if len(values) != 1:
            return str(AnyOf(tuple(Clause(self.field, self.operator, (v,)) for v in self.values)))
        return f"{self.field} {sign} {values[0]}"


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part must hold; without parts everything does."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return f"({' and '.join(map(str, self.parts))})"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One part must hold; without parts nothing does."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return f"({' or '.join(map(str, self.parts))})"


@dataclass(frozen=True, slots=True)
class Not:
    """The part must not hold."""

    part: Condition

    def __str__(self) -> str:
        return f"not {self.part}"


Condition = Clause | AllOf | AnyOf | Not


def fields_of(condition: Condition) -> Iterator[Field]:
    """The fields that a condition asks for, as often as it does."""
    match condition:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from fields_of(part)
        case Not(part):
            yield from fields_of(part)
        case Clause():
            yield condition.field


def value_written(value: str) -> str:
    """A value as an expression takes it: quoted where it is more than one plain word."""
    if _PLAIN.fullmatch(value) and value.lower() not in RESERVED:
        return value
    return '"{}"'.format(value.replace("\\", "\\\\").replace('"', '\\"'))


def level_of(confidentiality: str | None) -> int:
    """The place of a document's label among LEVELS; a label that nobody knows is the strictest."""
    if confidentiality is None:
        return _UNSAID
    label = confidentiality.strip().lower()
    return LEVELS.index(label) if label in LEVELS else len(LEVELS) - 1
