"""Filters: which chunks a search may see."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pincite.errors import FilterError
from pincite.records.conditions import LEVELS, AllOf, AnyOf, Clause, Condition, Field, Operator
from pincite.records.documents import DocumentId, Modality
from pincite.text.dates import day_span

_MOST_OF_ALL = 100  # tags and phrases, which must all be there


@dataclass(frozen=True, slots=True)
class Filters:
    """Which chunks a search may see, decided before ranking.

    `None` is no restriction; an empty tuple lets nothing through. Within a field any value
    suffices, except tags and phrases, which must all be there; between fields all must agree.
    """

    document_ids: tuple[DocumentId, ...] | None = None
    types: tuple[str, ...] | None = None
    modalities: tuple[Modality, ...] | None = None
    tags: tuple[str, ...] | None = None
    name: str | None = None  # part of the file's name, or a pattern for all of it: report-*.pdf
    path: str | None = None  # what the path in the library begins with
    heading: str | None = None  # part of one heading above the chunk
    languages: tuple[str, ...] | None = None  # "en" or "python", as the catalog shows them
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

    @property
    def none_given(self) -> bool:
        """Whether the whole library may be seen."""
        return self == Filters()

    def check(self) -> None:
        """Refuse what can never be meant: FilterError."""
        for field in fields(self):
            value = getattr(self, field.name)
            wanted = str if "tuple" not in str(field.type) else tuple
            if value is not None and not isinstance(value, wanted):
                kind = "a text" if wanted is str else "a tuple of texts"
                raise FilterError(f"{field.name} takes {kind}, not {value!r}")
        if len(self.tags or ()) + len(self.phrases or ()) > _MOST_OF_ALL:
            raise FilterError(f"at most {_MOST_OF_ALL} tags and phrases can be asked for at once")
        _ = self.condition

    @property
    def condition(self) -> Condition:
        """All of it as one condition; FilterError where it can never be meant."""
        listed: tuple[tuple[Field, tuple[str, ...] | None], ...] = (
            ("document", self.document_ids),
            ("type", self.types),
            ("modality", self.modalities),
            ("language", self.languages),
            ("layer", self.layers),
            ("symbol", self.symbols),
            ("import", self.imports),
            ("project", self.projects),
            ("agent", self.agents),
        )
        named: tuple[tuple[Field, Operator, str | None], ...] = (
            ("name", "matches" if _is_pattern(self.name) else "contains", self.name),
            ("path", "begins", self.path),
            ("heading", "contains", self.heading),
            ("author", "contains", self.author),
            ("confidentiality", "<=", _level(self.clearance)),
            ("date", ">=", _date(self.since)),
            ("date", "<=", _date(self.until)),
        )
        parts: list[Condition] = [
            *(Clause(field, "is", values) for field, values in listed if values is not None),
            *(Clause(field, how, (value,)) for field, how, value in named if value is not None),
            *_each("tag", "is", self.tags),
            *_each("text", "contains", self.phrases),
        ]
        if self.where is not None and self.where.strip():
            from pincite.records.filter_expression import parse_filter

            parts.append(parse_filter(self.where))
        return AllOf(tuple(parts))


def _each(field: Field, operator: Operator, values: tuple[str, ...] | None) -> list[Condition]:
    """All of the values, each on its own; an empty tuple lets nothing through."""
    if values == ():
        return [AnyOf(())]
    return [Clause(field, operator, (value,)) for value in values or ()]


def _is_pattern(name: str | None) -> bool:
    return name is not None and not {"*", "?"}.isdisjoint(name)


def _level(clearance: str | None) -> str | None:
    if clearance is not None and clearance.lower() not in LEVELS:
        raise FilterError(f"unknown clearance {clearance!r}; levels are: {', '.join(LEVELS)}")
    return clearance and clearance.lower()


def _date(written: str | None) -> str | None:
    if written is not None and day_span(written) is None:
        raise FilterError(f"{written!r} is no date; write 2024, 2024-05 or 2024-05-31")
    return written
