"""Another model or chunk policy for a project: made anew from the files that were handed in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pincite.engine.eval_wishes import EvalWishes, Gate
from pincite.engine.evaluation import asked_all
from pincite.engine.generations import IndexGenerations, judged
from pincite.engine.index_making import IndexMaking
from pincite.engine.making import Making, making
from pincite.errors import FileUnreadable, LibraryBusy
from pincite.records import (
    EvalRun,
    Failure,
    GateReport,
    IndexReport,
    LibraryHeader,
    Progress,
    ReindexReport,
)

if TYPE_CHECKING:
    from pincite.engine.project import Project
    from pincite.engine.team_home import TeamHome
    from pincite.stores.postgres.uploads import UploadStore


@dataclass(frozen=True)
class ProjectGenerations(IndexGenerations):
    """The generations of a project to which files are handed in."""

    home: TeamHome
    project: Project

    def reindex(
        self, header: LibraryHeader, gate: Gate, on_progress: Callable[[Progress], None]
    ) -> ReindexReport:
        """Fill the next generation; what comes or goes meanwhile is followed until the switch."""
        asked: GateReport | None = None
        index = IndexMaking()
        with (
            closing(self.home.write_next()) as coming,
            making(header, self.embedders.of(header)) as made,
        ):
            coming.begin(header)
            filling = _Filling(coming, made, on_progress)
            while True:
                report = filling.fill()
                if report.failures:
                    lost = tuple(sorted(failure.path for failure in report.failures))
                    return ReindexReport("incomplete", header, report, lost=lost)
                index.make(coming)
                if gate.cases and asked is None:
                    asked = self._asked(gate)
                if asked is not None and not asked.holds:
                    return ReindexReport("worse", header, report, gate=asked)
                with suppress(LibraryBusy):  # a file came or went just now
                    self.home.switch()
                    index.tell()
                    return ReindexReport("switched", header, report, gate=asked)

    def _asked(self, gate: Gate) -> GateReport:
        """The same questions asked of both."""
        from pincite.engine.project import Project

        numbers = self.home.generations()

        def asked(of: Project, number: int, *, done_before: int) -> EvalRun:
            def on_progress(done: int, total: int) -> None:
                gate.on_progress(done_before + done, 2 * total)

            wishes = EvalWishes(label=f"generation {number}")
            return asked_all(of, gate.cases, wishes, on_progress)

        with Project(self.root, self.embedders, self.home.at(numbers.last)) as coming:
            before = asked(self.project, numbers.live, done_before=0)
            after = asked(coming, numbers.last, done_before=len(gate.cases))
        return judged(before, after, slack=gate.slack)


class _Filling:
    """Makes the next generation equal to the files there are, as often as it is asked to."""

    def __init__(
        self, store: UploadStore, making: Making, on_progress: Callable[[Progress], None]
    ) -> None:
        self._store = store
        self._making = making
        self._on_progress = on_progress
        self._done = self._bytes = 0
        self._failures: dict[str, Failure] = {}  # by checksum

    def fill(self) -> IndexReport:
        """Make, cut and embed what is not there yet."""
        self._store.forget_deleted()
        files, size = self._store.left_to_make()
        files, size = files + self._done, size + self._bytes
        while (found := self._store.to_make(apart_from=list(self._failures))) is not None:
            owner, original = found
            try:
                embedded = self._making.made(original, self._store)
            except FileUnreadable as error:
                self._failures[original.checksum] = Failure(original.path, str(error))
            else:
                if not self._store.take_over(embedded, original, owner):
                    continue  # it is another by now, and found so in the next round
            self._done += 1
            self._bytes += len(original.data)
            total = max(files, self._done), max(size, self._bytes)
            self._on_progress(Progress(self._done, total[0], self._bytes, total[1], original.path))
        self._store.finish(list(self._failures.values()))
        return IndexReport(failures=tuple(self._failures.values()))
