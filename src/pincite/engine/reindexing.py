"""Another model or chunk policy: a new generation beside the live one, then one step to it.

The new one is filled from the folder, as any index is. Cutting needs more of a document than a
store keeps (see docs/decisions/0022), and so it also holds what was added meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.engine.eval_wishes import EvalWishes, Gate
from pincite.engine.folders import begun
from pincite.engine.generations import IndexGenerations, judged
from pincite.engine.homes import patiently, try_index
from pincite.engine.indexing import Run
from pincite.engine.models import Wishes
from pincite.files import open_file, remove, replace_file
from pincite.ingest.embed import KnownVectors, nothing_known
from pincite.ingest.sync import is_unreadable
from pincite.ports import Store
from pincite.records import (
    EvalRun,
    Failure,
    GateReport,
    LibraryHeader,
    ReindexReport,
)

if TYPE_CHECKING:
    from pincite.engine.library import Library

_PATIENCE = 60.0  # seconds for the moment in which nobody else writes


@dataclass(frozen=True)
class LibraryGenerations(IndexGenerations):
    """The generations of a folder's library, each filled from its files."""

    library: Library

    def reindex(self, run: Run, gate: Gate, *, switch: bool) -> ReindexReport:
        """Fill the next generation and make it the live one, if nothing speaks against it."""
        with closing(self.home.read()) as live:
            current = begun(live.header(), run.root)
            goes_on = run.wishes == Wishes() and self.home.generations().next is not None
            if not goes_on and run.header(current) == current:
                return ReindexReport("already", current)
            with closing(self.home.write_next()) as store:
                made_as = (store.header() if goes_on else None) or current
                if run.header(made_as) == current:  # it was stopped before it was begun
                    return ReindexReport("already", current)
                filling = _Filling(run, made_as, live, store, self.home.files)
                return self._made(filling, gate, switch=switch)

    def _made(self, filling: _Filling, gate: Gate, *, switch: bool) -> ReindexReport:
        remove(self._refused)  # what is filled now has not been judged yet
        report = filling.fill()
        if report.outcome != "ready":
            return report
        no_index = try_index(filling.store)
        if gate.cases:
            report = replace(report, gate=self._asked(gate))
            if report.gate and not report.gate.holds:
                number = self.home.generations().last  # the next one: it was given last
                noted = {"place": self.home.place(), "generation": number}
                replace_file(self._refused, [json.dumps(noted).encode(), b"\n"])
                return replace(report, outcome="worse")
        if not switch:
            if no_index:
                raise no_index
            return report
        # An update that runs just now is waited for: hours of work should not end with it.
        with closing(patiently(self.home.write, seconds=_PATIENCE)):
            # Nobody else can write now: what came meanwhile is in both, or in neither.
            last = filling.fill()
            report = replace(report, outcome=last.outcome, caught_up=last.index, lost=last.lost)
            if last.outcome == "ready":
                self.home.switch()
                report = replace(report, outcome="switched")
        if report.outcome == "switched" and no_index:
            raise no_index
        return report

    def _was_refused(self, number: int) -> bool:
        try:
            with open_file(self._refused) as file:
                noted = json.load(file)
        except (OSError, ValueError):
            return False
        return bool(noted == {"place": self.home.place(), "generation": number})

    @property
    def _refused(self) -> Path:
        """Notes which generation answered its questions worse than the live one."""
        return self.home.files / "refused.json"

    def _asked(self, gate: Gate) -> GateReport:
        """The same questions asked of both; the runs are kept with the library."""
        from pincite.engine.library import Library

        numbers = self.home.generations()
        next_home = self.home.at(numbers.last)  # which is the next one: it was given last

        def asked(library: Library, number: int, *, done_before: int) -> EvalRun:
            def on_progress(done: int, of: int) -> None:
                gate.on_progress(done_before + done, 2 * of)

            wishes = EvalWishes(label=f"generation {number}")
            return library.evaluation.run(gate.cases, wishes, on_progress=on_progress)

        with Library(self.root, self.embedders, next_home) as coming:
            before = asked(self.library, numbers.live, done_before=0)
            after = asked(coming, numbers.last, done_before=len(gate.cases))
        return judged(before, after, slack=gate.slack)


@dataclass(frozen=True)
class _Filling:
    """Makes the next generation equal to the folder, as often as it is asked to."""

    run: Run
    made_as: LibraryHeader  # but for what the run wishes otherwise
    live: Store
    store: Store
    files: Path

    def fill(self) -> ReindexReport:
        """Make, cut and embed what is not there yet."""
        header = self.run.header(self.made_as)
        held = self.live.documents()
        index = self.run.fill(
            self.store,
            self.made_as,
            files=self.files,
            held=held,
            elsewhere=self._reusable(header),
        )
        lost = tuple(sorted(self._lost(index.failures)))
        return ReindexReport("incomplete" if lost else "ready", header, index, lost=lost)

    def _reusable(self, header: LibraryHeader) -> KnownVectors:
        """The live one's vectors, where they are of the same space and not to be made again."""
        live = self.live.header()
        same = live is not None and (
            (live.model.fingerprint, live.model.dimensions, live.edition)
            == (header.model.fingerprint, header.model.dimensions, header.edition)
        )
        return self.live.known_vectors if same else nothing_known

    def _lost(self, failures: Sequence[Failure]) -> set[str]:
        """What the live one has and this one could not get: the file cannot be read any more."""
        failed = {failure.path for failure in failures}
        made = {document.path for document in self.store.documents()}
        return {
            document.path
            for document in self.live.documents()
            if document.path not in made and is_unreadable(document.path, failed)
        }
