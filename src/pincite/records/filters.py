"""Filters: which chunks a search may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from pincite.errors import FilterError, did_you_mean
from pincite.records.conditions import (
    AllOf,
    AnyOf,
    Clause,
    Condition,
    Field,
    Operator,
    clauses_of,
    type_is,
    value_problem,
)
from pincite.records.documents import DocumentId, Modality

_MOST_OF_ALL = 100  # tags and phrases, which must all be there


@dataclass(frozen=True, slots=True)
class Filters:
    """Which chunks a search may see, decided before ranking.

    `None` is no restriction; an empty tuple or list lets nothing through, a text by itself is one
    value. Within a field any value suffices, except tags and phrases, which must all be there;
    between fields all must agree.
    """

    document_ids: tuple[DocumentId, ...] | None = None
    types: tuple[str, ...] | None = None  # "pdf"; "video", "audio" and "image" by what they hold
    modalities: tuple[Modality, ...] | None = None
    tags: tuple[str, ...] | None = None
    name: str | None = None  # part of the file's name, or a pattern for all of it: report-*.pdf
    path: str | None = None  # what the path in the library begins with
    heading: str | None = None  # part of one heading above the chunk
    languages: tuple[str, ...] | None = None  # "en", which "en-US" is as well, or "python"
    layers: tuple[str, ...] | None = None
    symbols: tuple[str, ...] | None = None  # names of functions, classes and the like
    imports: tuple[str, ...] | None = None  # "os" also lets "os.path" through
    projects: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None  # for which agents the document says it is
    author: str | None = None  # part of the authors' names
    clearance: str | None = None  # the highest confidentiality that may be seen
    since: str | None = None  # ISO 8601: a day, a month or a year
    until: str | None = None
    phrases: tuple[str, ...] | None = None  # words that stand so in the text or a heading
    where: str | None = None  # an expression, for what the fields cannot say

    def __post_init__(self) -> None:
        for name in LISTED:  # tuples can be compared, and results remembered by them
            value = getattr(self, name)
            if isinstance(value, str | list | set | frozenset):
                listed = (value,) if isinstance(value, str) else tuple(value)
                object.__setattr__(self, name, listed)

    @property
    def none_given(self) -> bool:
        """Whether the whole library may be seen."""
        return self == Filters()

    def check(self) -> None:
        """Refuse what can never be meant: FilterError."""
        for field in fields(self):
            value = getattr(self, field.name)
            wanted = tuple if field.name in LISTED else str
            is_right = isinstance(value, wanted) and all(isinstance(one, str) for one in value)
            if value is not None and not is_right:
                kind = "a text" if wanted is str else "a tuple or list of texts"
                raise FilterError(f"{field.name} takes {kind}, not {value!r}")
        if len(self.tags or ()) + len(self.phrases or ()) > _MOST_OF_ALL:
            raise FilterError(f"at most {_MOST_OF_ALL} tags and phrases can be asked for at once")
        _ = self.condition

    @property
    def condition(self) -> Condition:
        """All of it as one condition; FilterError where it can never be meant."""
        listed: tuple[tuple[Field, tuple[str, ...] | None], ...] = (
            ("document", self.document_ids),
            ("modality", self.modalities),
            ("language", self.languages),
            ("layer", self.layers),
            ("symbol", self.symbols),
            ("import", self.imports),
            ("project", self.projects),
            ("agent", self.agents),
        )
        named: tuple[tuple[Field, Operator, str | None], ...] = (
            ("name", "matches" if {"*", "?"} & set(self.name or "") else "contains", self.name),
            ("path", "begins", self.path),
            ("heading", "contains", self.heading),
            ("author", "contains", self.author),
            ("confidentiality", "<=", self.clearance and self.clearance.lower()),
            ("date", ">=", self.since),
            ("date", "<=", self.until),
        )
        parts: list[Condition] = [
            *([type_is(self.types)] if self.types is not None else []),
            *(Clause(field, "is", values) for field, values in listed if values is not None),
            *(Clause(field, how, (value,)) for field, how, value in named if value is not None),
            *_each("tag", "is", self.tags),
            *_each("text", "contains", self.phrases),
        ]
        for clause in clauses_of(AllOf(tuple(parts))):
            for value in clause.values:
                if problem := value_problem(clause.field, clause.operator, value):
                    raise FilterError(problem)
        if self.where is not None and self.where.strip():
            from pincite.records.filter_expression import parse_filter

            parts.append(parse_filter(self.where))
        return AllOf(tuple(parts))


LISTED = frozenset(one.name for one in fields(Filters) if "tuple" in str(one.type))
FiltersGiven = Filters | Mapping[str, Any] | None
"""As callers may give them: `{"type": "pdf", "since": "2024"}` as well."""

# Fields are also called as the expression and the command line call them.
_FIELD_OF = {"document": "document_ids", "doc_ids": "document_ids", "modality": "modalities"}
_FIELD_OF.update((one.name.removesuffix("s"), one.name) for one in fields(Filters))
_FIELD_OF.update((one.name, one.name) for one in fields(Filters))


def filters_of(given: FiltersGiven) -> Filters:
    """The filters, however they were given."""
    if isinstance(given, Filters):
        return given
    if not isinstance(given, Mapping | None):
        raise FilterError(f'filters are Filters(…) or a dict such as {{"type": "pdf"}}: {given!r}')
    named: dict[str, Any] = {}
    for name, value in (given or {}).items():
        field = _FIELD_OF.get(name)
        if field is None:
            meant = did_you_mean(str(name), [*_FIELD_OF])
            known = ", ".join(one.name for one in fields(Filters))
            raise FilterError(f"unknown filter {name!r}{meant}; filters are: {known}")
        named[field] = value
    return Filters(**named)


def _each(field: Field, operator: Operator, values: tuple[str, ...] | None) -> list[Condition]:
    """All of the values, each on its own; an empty tuple lets nothing through."""
    if values == ():
        return [AnyOf(())]
    return [Clause(field, operator, (value,)) for value in values or ()]
