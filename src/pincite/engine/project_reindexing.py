"""Another model or chunk policy for a project: made anew from the files that were handed in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pincite.engine.eval_wishes import EvalWishes, Gate
from pincite.engine.evaluation import asked_all
from pincite.engine.generations import IndexGenerations, judged
from pincite.engine.homes import try_index
from pincite.errors import FileUnreadable
from pincite.ingest.flow import made
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
        with closing(self.home.write_next()) as coming:
            coming.begin(header)
            filling = _Filling(self.project, header, coming, on_progress)
            report = filling.fill()
            no_index = try_index(coming)
            if gate.cases and not report.failures:
                asked = self._asked(gate)
            is_worse = asked is not None and not asked.holds
            if not report.failures and not is_worse:
                with self.home.held_back():
                    # Nobody hands anything in now: what came meanwhile is made before the switch.
                    report = filling.fill()
                    if not report.failures:
                        self.home.switch()
            if report.failures:
                lost = tuple(sorted(failure.path for failure in report.failures))
                return ReindexReport("incomplete", header, report, lost=lost)
            if no_index and not is_worse:
                raise no_index
            return ReindexReport("worse" if is_worse else "switched", header, report, gate=asked)

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
        self,
        project: Project,
        header: LibraryHeader,
        store: UploadStore,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._store = store
        self._by_rule: list[Failure] = []
        self._parts_of = project.making(header, store, self._by_rule.append)
        self._on_progress = on_progress
        self._done = self._bytes = 0
        self._lacking: dict[str, Failure] = {}  # of all rounds, by path

    def fill(self) -> IndexReport:
        """Make, cut and embed what is not there yet."""
        self._store.forget_deleted()
        left = self._store.to_make()
        total, size = self._done + len(left), self._bytes + sum(one.size for one in left)
        failures = []
        for one in left:
            original = self._store.original(one)
            if original is None:
                continue  # deleted just now
            try:
                embedded = made(original.path, self._parts_of(original))
            except FileUnreadable as error:
                failures.append(Failure(original.path, str(error)))
            else:
                # False where it is another by now: it is found so in the next round.
                self._store.take_over(embedded, original, one.owner)
                if embedded.lacking:
                    without = f"{embedded.lacking} of {len(embedded.chunks)} chunks"
                    reason = f"{without} have no vector yet: found by words only"
                    self._lacking[original.path] = Failure(original.path, reason)
            self._done += 1
            self._bytes += one.size
            self._on_progress(Progress(self._done, total, self._bytes, size, original.path))
        self._store.finish(failures)
        return IndexReport(
            failures=tuple(failures),
            lacking=tuple(self._lacking.values()),
            partly=tuple(self._by_rule),
        )
