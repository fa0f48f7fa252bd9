"""What a run of `pincite convert` did, and what it left for the user to decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pincite.converting.kinds import Need, SourceKind
from pincite.records import Failure, Skipped


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file that could be recognised, had that been asked for."""

    path: str
    kind: SourceKind
    pages: int = 0  # scanned pages of a PDF


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """What was recognised, and what not and why."""

    written: tuple[str, ...] = ()  # paths of the files whose text was written
    overwritten: tuple[str, ...] = ()  # of those, the ones that had been corrected by hand
    unchanged: int = 0  # recognised before, and the same since
    without_text: int = 0  # hold nothing to read
    kept: tuple[str, ...] = ()  # have changed, but their text was corrected by hand
    moved: tuple[str, ...] = ()  # to where a text followed its file
    orphaned: tuple[str, ...] = ()  # whose text is there, but not the file itself any more
    waiting: tuple[Waiting, ...] = ()
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    characters: int = 0  # recognised
    engines: Mapping[Need, str] = field(default_factory=dict)
