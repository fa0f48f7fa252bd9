"""How far something long has come, on stderr."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

from pincite.records import Progress


@dataclass
class Meter:
    """Tells on stderr how far something has come, how fast it goes, and how long it will take."""

    what: str
    every: float = 0.5 if sys.stderr.isatty() else 20.0  # seconds
    started: float = field(default_factory=time.perf_counter)
    told: float = field(default_factory=time.perf_counter)

    def __call__(self, done: int, total: int) -> None:
        """So many of so many are done."""
        now = time.perf_counter()
        if now - self.told < self.every and done < total:
            return
        self.told = now
        if not done:  # a model is prepared first: there is no rate yet
            return
        rate = done / max(now - self.started, 1e-9)
        left = time.strftime("%H:%M:%S", time.gmtime((total - done) / rate))
        end = "\r" if sys.stderr.isatty() and done < total else "\n"
        speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        line = f"{self.what}: {done:,} of {total:,}, {speed} a second, {left} left"
        print(f"{line:<78}", end=end, file=sys.stderr, flush=True)

    def indexed(self, progress: Progress) -> None:
        """The same for a run of the index."""
        self(progress.documents_done, progress.documents_total)

    @property
    def seconds(self) -> float:
        """Since it was started."""
        return time.perf_counter() - self.started
