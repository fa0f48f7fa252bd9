"""Filters as SQL. Values are bound, never written into a statement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pincite.records import INSIDE, LEVELS, AllOf, AnyOf, Clause, Condition, Not
from pincite.stores.fields import LISTS, TEXTS, UNFOLDED, storable
from pincite.stores.postgres.bm25 import Bound, holding_phrase
from pincite.text.dates import day_span
from pincite.text.words import fold, phrase_term


def condition_as_sql(condition: Condition, bound: Bound) -> str:
    """A condition on `chunk` and `document` that is true or false, never unknown."""
    match condition:
        case AllOf(parts):
            return f"({' AND '.join(condition_as_sql(part, bound) for part in parts) or 'true'})"
        case AnyOf(parts):
            return f"({' OR '.join(condition_as_sql(part, bound) for part in parts) or 'false'})"
        case Not(part):
            return f"NOT {condition_as_sql(part, bound)}"
        case Clause(_, "is", values) if condition.field in TEXTS:
            wanted = bound(_wanted(condition.field, values))
            return _any_equal(TEXTS[condition.field], condition.field, wanted)
        case Clause(_, "is", values) if condition.field in LISTS:
            return _any_listed(condition, values, bound)
        case Clause():
            each = [_clause(condition, value, bound) for value in condition.values]
            return f"({' OR '.join(each) or 'false'})"


def _clause(clause: Clause, value: str, bound: Bound) -> str:
    match clause.field:
        case "text":
            chunks = holding_phrase(phrase_term(value), bound, letters="BD")
            return "false" if chunks is None else f"chunk.row = ANY (ARRAY({chunks}))"
        case "date":
            return _dated(clause.operator, value, bound)
        case "confidentiality":
            sign = "=" if clause.operator == "is" else clause.operator
            return f"document.level {sign} {bound(LEVELS.index(value))}"
        case field if field in LISTS:
            held = _compared("held.value", clause, value, bound)
            listed = f"jsonb_array_elements_text({LISTS[field]}) AS held (value)"
            return f"EXISTS (SELECT 1 FROM {listed} WHERE {held})"
        case field:
            return _compared(TEXTS[field], clause, value, bound)


def _any_listed(clause: Clause, values: Sequence[str], bound: Bound) -> str:
    column = LISTS[clause.field]
    wanted = bound(_wanted(clause.field, [value for value in values if value]))
    if clause.field == "import":
        holds = (
            f"EXISTS (SELECT 1 FROM jsonb_array_elements_text({column}) AS held (value) "
            f"WHERE {_any_equal('held.value', clause.field, wanted)})"
        )
    else:
        holds = f"{column} ?| {wanted}::text[]"
    return f"({holds} OR {column} = '[]'::jsonb)" if "" in values else f"({holds})"


def _any_equal(held: str, field: str, wanted: str) -> str:
    if field not in INSIDE:
        return f"{held} = ANY ({wanted}::text[])"
    inside = ", ".join(f"wanted.value || '{mark}'" for mark in INSIDE[field])
    return (
        f"EXISTS (SELECT 1 FROM unnest({wanted}::text[]) AS wanted (value) "
        f"WHERE {held} = wanted.value OR wanted.value <> '' "
        f"AND left({held}, length(wanted.value) + 1) IN ({inside}))"
    )


def _compared(held: str, clause: Clause, value: str, bound: Bound) -> str:
    value = storable(value if clause.field in UNFOLDED else fold(value))
    match clause.operator:
        case "contains":
            return f"strpos({held}, {bound(value)}::text) > 0"
        case "begins":
            return f"starts_with({held}, {bound(value)}::text)"
        case _:
            # Our `*` and `?` as LIKE's, whose own signs are plain characters to us.
            escaped = re.sub(r"([\\%_])", r"\\\1", value)
            return f"{held} LIKE {bound(escaped.replace('*', '%').replace('?', '_'))}::text"


def _dated(operator: str, value: str, bound: Bound) -> str:
    """A date known only by its month may be any day of it: it is let through if it may fit."""
    span = day_span(value)
    if not value or span is None:
        return "document.date_first = ''" if operator == "is" and not value else "false"
    first, last = f"{bound(span[0])}::text", f"{bound(span[1])}::text"
    fits = {
        "<": f"document.date_first < {first}",
        "<=": f"document.date_first <= {last}",
        ">": f"document.date_last > {last}",
        ">=": f"document.date_last >= {first}",
        "is": f"document.date_first <= {last} AND document.date_last >= {first}",
    }
    return f"(document.date_first <> '' AND {fits[operator]})"


def _wanted(field: str, values: Sequence[str]) -> list[str]:
    return [storable(value if field in UNFOLDED else fold(value)) for value in values]
