"""Conditions on chunks and their documents: what a filter comes down to in every store."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pincite.records.documents import Modality
from pincite.text.dates import day_span

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

# `en` is also en-US and en_GB, `os` also os.path: what stands behind these marks is a part of it.
INSIDE: Mapping[str, str] = {"language": "-_", "import": "./:"}

_PLAIN = re.compile(r"[\w./:#@+*?-]+")
RESERVED = frozenset(("and", "or", "not", "in", "contains", "begins", "matches"))


@dataclass(frozen=True, slots=True)
class Clause:
    """What one field must be. Any of the values suffices; without values nothing does.

    `is` with an empty value means that the document says nothing of it; of languages and imports
    it takes what they begin with, as INSIDE says. `matches` takes patterns with `*` and `?` for the
    whole. Case is ignored, except in ids and paths.
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

# What people call a type and no file has as its own: what was said and seen in recordings …
_MEDIA = {
    "video": ("video_transcript", "video_frame"),
    "audio": ("audio_transcript",),
    "image": ("ocr", "image_caption"),
}
_OTHER_NAMES = {"markdown": "md", "text": "txt", "htm": "html"}  # … and other names of types


def type_is(values: Sequence[str]) -> Condition:
    """Files of any of these types, or what was recognised in video, audio and images."""
    usual = [value.lower().removeprefix(".") for value in values]
    types = tuple(_OTHER_NAMES.get(one, one) for one in usual if one not in _MEDIA)
    media = tuple(dict.fromkeys(kind for one in usual for kind in _MEDIA.get(one, ())))
    recognised = Clause("modality", "is", media)
    if not media:
        return Clause("type", "is", types)
    return AnyOf((Clause("type", "is", types), recognised)) if types else recognised


def value_problem(field: Field, operator: Operator, value: str) -> str:
    """Why the field can never be that; empty where it can."""
    if field == "date" and (value or operator != "is") and day_span(value) is None:
        return f"{value!r} is not a date; write 2024, 2024-05 or 2024-05-31"
    if field == "confidentiality" and value.lower() not in LEVELS:
        return f"{value!r} is not a confidentiality level; levels are: {', '.join(LEVELS)}"
    if field == "modality" and value.lower() not in frozenset(Modality):
        return f"{value!r} is not a modality; modalities are: {', '.join(Modality)}"
    return ""


def clauses_of(condition: Condition) -> Iterator[Clause]:
    """The clauses that a condition is made of."""
    match condition:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from clauses_of(part)
        case Not(part):
            yield from clauses_of(part)
        case Clause():
            yield condition


def fields_of(condition: Condition) -> Iterator[Field]:
    """The fields that a condition asks for, as often as it does."""
    return (clause.field for clause in clauses_of(condition))


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
