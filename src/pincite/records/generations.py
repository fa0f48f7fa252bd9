"""The indexes of one library side by side: which one answers, which one is being made."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pincite.errors import IndexMissing


@dataclass(frozen=True, slots=True)
class Generations:
    """The generations of a library by number. Each change of them is one step."""

    live: int = 1  # what searches use
    before: int | None = None  # what was live before it, for a rollback
    next: int | None = None  # what is being made
    last: int = 1  # the highest number that was ever given: none is given twice

    @property
    def kept(self) -> frozenset[int]:
        """Those that are still wanted."""
        return frozenset(one for one in (self.live, self.before, self.next) if one is not None)

    def begun(self) -> Generations:
        """With a next one; the one that is being made already, where there is one."""
        if self.next is not None:
            return self
        return replace(self, next=self.last + 1, last=self.last + 1)

    def switched(self) -> Generations:
        """The next one is live."""
        if self.next is None:
            raise IndexMissing("there is no other generation to switch to; run `pincite reindex`")
        return replace(self, live=self.next, before=self.live, next=None)

    def replaced(self) -> Generations:
        """The next one is live, and it is another library: nothing leads back."""
        return replace(self.switched(), before=None)

    def rolled_back(self) -> Generations:
        """The one before is live again, and can be left again in the same way."""
        if self.before is None:
            raise IndexMissing(
                "there is no earlier generation to go back to: none was left by a switch, or it "
                "was removed; `pincite reindex --status` shows what there is"
            )
        return replace(self, live=self.before, before=self.live)

    def without_next(self) -> Generations:
        """What was being made is given up."""
        return replace(self, next=None)

    def without_before(self) -> Generations:
        """There is no way back any more."""
        if self.before is None:
            raise IndexMissing("there is no earlier generation to remove")
        return replace(self, before=None)
