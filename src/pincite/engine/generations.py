"""The indexes of a library or project side by side, and what a new one must show."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pincite.engine.folders import begun
from pincite.engine.homes import Home
from pincite.engine.models import Embedders
from pincite.errors import IndexBuildFailed, IndexMissing
from pincite.evals.gate import check, floors_from
from pincite.evals.measures import ALL
from pincite.ports import Store
from pincite.records import EvalRun, GateReport, GenerationStats, LibraryHeader, Role

# Whether what was expected is found. How much else is found beside it also depends on how large
# chunks are, and is no reason to stay; neither are twenty figures, of which one is often lower.
_COMPARED = ("questions", "ndcg@10", "recall@10", "place_hit@3", "citation_recall@3", "terms@10")


@dataclass(frozen=True)
class IndexGenerations:
    """The generations of one index: which there are, the way back, and giving them up."""

    root: Path
    home: Home
    embedders: Embedders

    def rollback(self) -> LibraryHeader:
        """Make the generation before the live one again; it says how that is made.

        What changed in a folder since the switch is not in it: an update follows.
        """
        before = self.home.generations().rolled_back().live
        with closing(self.home.at(before).read()) as store:
            header = begun(store.header(), self.root)
            self.embedders.of(header)  # else nothing could be found in it
        self.home.rollback()
        return header

    def cancel(self) -> None:
        """Give up the generation that is being made; searches never saw it."""
        self.home.cancel()

    def drop_before(self) -> None:
        """Forget the generation before, and with it the way back."""
        self.home.drop_before()

    def stats(self) -> list[GenerationStats]:
        """Each generation that there is: the live one, the next one, the one before."""
        numbers = self.home.generations()
        roles: tuple[tuple[Role, int | None], ...] = (
            ("live", numbers.live),
            ("next", numbers.next),
            ("before", numbers.before),
        )
        return [self._stats(role, number) for role, number in roles if number is not None]

    def _stats(self, role: Role, number: int) -> GenerationStats:
        try:
            with closing(self.home.at(number).read()) as store:
                refused = role == "next" and self._was_refused(number)
                return GenerationStats(number, role, store.header(), store.stats(), refused)
        except IndexMissing:
            if role == "live":
                raise
            return GenerationStats(number, role, None, None)

    def _was_refused(self, number: int) -> bool:
        """Whether it is known to answer worse."""
        return False


class IndexMaking:
    """Makes the index for vectors of a store that is about to become the live one.

    Before that, so that searches are quick from the first on. Whether it can be made or not decides
    nothing, and so is told when all else is done.
    """

    def __init__(self) -> None:
        self._failure: IndexBuildFailed | None = None

    def make(self, store: Store) -> None:
        """Make it where that is due."""
        try:
            store.make_index()
        except IndexBuildFailed as error:
            self._failure = error

    def tell(self) -> None:
        """IndexBuildFailed where it could not be made."""
        if self._failure is not None:
            raise self._failure


def judged(before: EvalRun, after: EvalRun, *, slack: float) -> GateReport:
    """Whether the same questions are answered as well, but for the slack."""
    floors = floors_from(before, slack=slack).get(ALL, {})
    compared = {name: floor for name, floor in floors.items() if name in _COMPARED}
    return GateReport(before, after, tuple(check(after, {ALL: compared})))
