"""What a question is understood to ask for, and what a library's own words say of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Definition:
    """An abbreviation, what it stands for, and how many documents say so."""

    short: str
    long: str
    documents: int


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as it is searched: what each search gets, and what results must obey."""

    words: str  # for the words search
    embedded: str  # for the vector search
    phrases: tuple[str, ...] = ()  # chunks that have them word for word come first
    since: str | None = None  # ISO dates, both included
    until: str | None = None
    notes: tuple[str, ...] = ()  # what was done, for whoever asked
    notices: tuple[str, ...] = ()  # what was asked for and could not be done, in sentences
