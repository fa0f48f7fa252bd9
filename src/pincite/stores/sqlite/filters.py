"""Filters as SQL. Values are bound, never written into a statement."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.records import INSIDE, LEVELS, AllOf, AnyOf, Clause, Condition, Filters, Not, fields_of
from pincite.stores.fields import LISTS, OF_CHUNKS, TEXTS, UNFOLDED, storable
from pincite.text.dates import day_span
from pincite.text.words import Term, fold, phrase_term

Value = str | int


@dataclass(frozen=True)
class Visible:
    """What a search may see, as a statement or a condition, and what to bind to it."""

    rows: str
    values: dict[str, Value]


def visible_chunks(filters: Filters) -> Visible:
    """What the filters let through.

    What is asked of documents alone is looked up first: they are fewer than chunks, and what they
    are filtered by stands together, apart from their texts.
    """
    compiler = _Compiler()
    of_documents, of_chunks, is_of_both = _apart(filters, compiler)
    if of_documents:
        documents = f"SELECT document.rowid FROM document WHERE {' AND '.join(of_documents)}"
        of_chunks.insert(0, f"chunk.document IN ({documents})")
    join = "JOIN document ON document.rowid = chunk.document " if is_of_both else ""
    rows = f"SELECT chunk.rowid FROM chunk {join}WHERE {' AND '.join(of_chunks) or '1'}"
    return Visible(rows, compiler.values)


def visible_documents(filters: Filters) -> Visible:
    """A condition on `document`: the filters let some of its chunks through."""
    if filters.none_given:
        return Visible("1", {})
    compiler = _Compiler()
    of_documents, of_chunks, _ = _apart(filters, compiler)
    chunks = " AND ".join(("chunk.document = document.rowid", *of_chunks))
    seen = f"EXISTS (SELECT 1 FROM chunk WHERE {chunks})"
    return Visible(" AND ".join((*of_documents, seen)), compiler.values)


def _apart(filters: Filters, compiler: _Compiler) -> tuple[list[str], list[str], bool]:
    """What is asked of documents alone, and of chunks; whether the latter is also of documents."""
    of_documents: list[str] = []
    of_chunks: list[str] = []
    mentioned_there: set[str] = set()
    for part in _conjuncts(filters.condition):
        mentioned = set(fields_of(part))
        if OF_CHUNKS.isdisjoint(mentioned):
            of_documents.append(compiler.said(part))
        else:
            of_chunks.append(compiler.said(part))
            mentioned_there |= mentioned
    return of_documents, of_chunks, not mentioned_there <= OF_CHUNKS


def _conjuncts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, AllOf):
        for part in condition.parts:
            yield from _conjuncts(part)
    else:
        yield condition


class _Compiler:
    """Writes conditions as SQL that is true or false, never unknown, and collects their values."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}

    def said(self, condition: Condition) -> str:
        match condition:
            case AllOf(parts):
                return f"({' AND '.join(map(self.said, parts)) or '1'})"
            case AnyOf(parts):
                return f"({' OR '.join(map(self.said, parts)) or '0'})"
            case Not(part):
                return f"NOT {self.said(part)}"
            case Clause(_, "is", values) if condition.field in TEXTS:
                return self._any_equal(condition.field, values)
            case Clause(_, "is", values) if condition.field in LISTS:
                return self._any_listed(condition, values)
            case Clause():
                each = [self._clause(condition, value) for value in condition.values]
                return f"({' OR '.join(each) or '0'})"

    def _clause(self, clause: Clause, value: str) -> str:
        match clause.field:
            case "text":
                return self._holds_phrase(phrase_term(value))
            case "date":
                return self._dated(clause.operator, value)
            case "confidentiality":
                sign = "=" if clause.operator == "is" else clause.operator
                return f"document.level {sign} {self._bound(LEVELS.index(value))}"
            case field if field in LISTS:
                return self._listed(clause, value)
            case field:
                return self._compared(TEXTS[field], clause, value)

    def _any_listed(self, clause: Clause, values: Sequence[str]) -> str:
        column = LISTS[clause.field]
        wanted = [value for value in values if value]
        held = self._any_equal(clause.field, wanted, "held.value")
        holds = f"EXISTS (SELECT 1 FROM json_each({column}) AS held WHERE {held})"
        return f"({holds} OR json_array_length({column}) = 0)" if "" in values else holds

    def _any_equal(self, field: str, values: Sequence[str], held: str = "") -> str:
        held = held or TEXTS[field]
        wanted = self._all(field, values)
        marks = INSIDE.get(field)
        if marks is None:
            return f"{held} IN ({wanted})"
        inside = ", ".join(f"wanted.value || '{mark}'" for mark in marks)
        return (
            f"EXISTS (SELECT 1 FROM ({wanted}) AS wanted WHERE {held} = wanted.value OR "
            f"wanted.value <> '' AND substr({held}, 1, length(wanted.value) + 1) IN ({inside}))"
        )

    def _listed(self, clause: Clause, value: str) -> str:
        held = self._compared("held.value", clause, value)
        return f"EXISTS (SELECT 1 FROM json_each({LISTS[clause.field]}) AS held WHERE {held})"

    def _compared(self, held: str, clause: Clause, value: str) -> str:
        value = value if clause.field in UNFOLDED else fold(value)
        match clause.operator:
            case "contains":
                return f"instr({held}, {self._bound(value)}) > 0"
            case "begins":
                name = self._bound(value)
                return f"substr({held}, 1, length({name})) = {name}"
            case _:
                # GLOB also knows classes of characters; our patterns do not.
                return f"{held} GLOB {self._bound(value.replace('[', '[[]'))}"

    def _dated(self, operator: str, value: str) -> str:
        """A date known only by its month may be any day of it: it is let through if it may fit."""
        span = day_span(value)
        if not value or span is None:
            return "document.date_first = ''" if operator == "is" and not value else "0"
        first, last = self._bound(span[0]), self._bound(span[1])
        fits = {
            "<": f"document.date_first < {first}",
            "<=": f"document.date_first <= {last}",
            ">": f"document.date_last > {last}",
            ">=": f"document.date_last >= {first}",
            "is": f"document.date_first <= {last} AND document.date_last >= {first}",
        }
        return f"(document.date_first <> '' AND {fits[operator]})"

    def _holds_phrase(self, phrase: Term) -> str:
        if not phrase.tokens:
            return "0"
        match = self._bound(f"{{text headings}} : ({match_expression([phrase])})")
        return f"chunk.rowid IN (SELECT rowid FROM chunk_words WHERE chunk_words MATCH {match})"

    def _all(self, field: str, values: Sequence[str]) -> str:
        """However many there are, they are bound as one."""
        wanted = values if field in UNFOLDED else [fold(value) for value in values]
        return f"SELECT value FROM json_each({self._bound(json.dumps(list(wanted)))})"

    def _bound(self, value: Value) -> str:
        name = f"value{len(self.values)}"
        self.values[name] = storable(value) if isinstance(value, str) else value
        return f":{name}"


def match_expression(terms: Sequence[Term]) -> str:
    """User words are data, never FTS5 syntax: each term becomes a quoted phrase, joined by OR."""
    return " OR ".join(
        '"{}"{}'.format(" ".join(term.tokens).replace('"', '""'), " *" if term.prefix else "")
        for term in terms
    )
