"""What a filter lets through, said as plainly as can be."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pincite.records import (
    INSIDE,
    LEVELS,
    AllOf,
    AnyOf,
    Chunk,
    Clause,
    Condition,
    DocumentEntry,
    Not,
    level_of,
)
from pincite.text.dates import day_span
from pincite.text.words import fold


@dataclass(frozen=True)
class Seen:
    """What a condition is asked of."""

    entry: DocumentEntry
    chunk: Chunk
    holds_phrase: Callable[[str], bool]


def visible(seen: Seen, condition: Condition) -> bool:
    """Whether the condition holds."""
    match condition:
        case AllOf(parts):
            return all(visible(seen, part) for part in parts)
        case AnyOf(parts):
            return any(visible(seen, part) for part in parts)
        case Not(part):
            return not visible(seen, part)
        case Clause():
            return any(_holds(seen, condition, value) for value in condition.values)


def _holds(seen: Seen, clause: Clause, value: str) -> bool:
    about = seen.entry.metadata
    match clause.field:
        case "text":
            return seen.holds_phrase(value)
        case "date":
            return _dated(about.date or about.modified or "", clause.operator, value)
        case "confidentiality":
            level = level_of(about.confidentiality)
            return bool(_SIGNS[clause.operator](level, LEVELS.index(value)))
        case _:
            return any(_compared(clause, held, value) for held in _held(seen, clause))


def _held(seen: Seen, clause: Clause) -> Iterable[str]:
    """What stands in the field."""
    entry, chunk = seen.entry, seen.chunk
    held: dict[str, tuple[str | None, ...]] = {
        "document": (entry.id,),
        "type": (entry.type,),
        "modality": (chunk.modality.value,),
        "language": (entry.metadata.language,),
        "tag": entry.metadata.tags,
        "project": (entry.metadata.project,),
        "agent": entry.metadata.agents,
        "author": (entry.metadata.author,),
        "name": (entry.name,),
        "path": (entry.path,),
        "heading": chunk.headings,
        "layer": (chunk.analysis.layer,),
        "symbol": chunk.analysis.symbols,
        "import": chunk.analysis.imports,
    }
    values = [value or "" for value in held[clause.field]]
    return values or ([""] if clause.operator == "is" else [])


def _compared(clause: Clause, held: str, value: str) -> bool:
    if clause.field not in ("document", "path"):
        held, value = fold(held), fold(value)
    match clause.operator:
        case "contains":
            return value in held
        case "begins":
            return held.startswith(value)
        case "matches":
            pattern = re.escape(value).replace(r"\*", ".*").replace(r"\?", ".")
            return re.fullmatch(pattern, held, re.DOTALL) is not None
        case _:
            marks = INSIDE.get(clause.field, "") if value else ""
            return held == value or held.startswith(tuple(value + mark for mark in marks))


def _dated(said: str, sign: str, asked: str) -> bool:
    """A date known only by its month may be any day of it, and is let through where it may fit."""
    held, span = day_span(said), day_span(asked)
    if not asked:
        return sign == "is" and held is None
    if held is None or span is None:
        return False
    return {
        "<": held[0] < span[0],
        "<=": held[0] <= span[1],
        ">": held[1] > span[1],
        ">=": held[1] >= span[0],
        "is": held[0] <= span[1] and held[1] >= span[0],
    }[sign]


_SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.eq,
}
