"""Moving a library to another generation of its index: what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pincite.records.evaluation import EvalRun, FloorCheck
from pincite.records.header import LibraryHeader
from pincite.records.indexing import IndexReport, StoreStats

Role = Literal["live", "next", "before"]
ReindexOutcome = Literal["switched", "already", "ready", "incomplete", "worse"]


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """What one generation is and holds."""

    number: int
    role: Role
    header: LibraryHeader | None  # None before anything was written to it
    store: StoreStats | None
    refused: bool = False  # it is complete, and its answers were worse


@dataclass(frozen=True, slots=True)
class GateReport:
    """The same questions asked of two generations, and whether the later one may be switched to."""

    before: EvalRun
    after: EvalRun
    checks: tuple[FloorCheck, ...]  # floors are what the earlier one reached, less the slack

    @property
    def holds(self) -> bool:
        """Whether no figure is worse."""
        return all(one.holds for one in self.checks)


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What became of a new generation."""

    outcome: ReindexOutcome
    header: LibraryHeader  # how the new one is made
    index: IndexReport = field(default_factory=IndexReport)
    # What was done at its end, while nobody else could write.
    caught_up: IndexReport = field(default_factory=IndexReport)
    lost: tuple[str, ...] = ()  # documents of the live one whose files could not be read now
    gate: GateReport | None = None
