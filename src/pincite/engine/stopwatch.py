"""How long each stage of a search took."""

from __future__ import annotations

from time import perf_counter


class Stopwatch:
    """Started when made; each lap is added to what its stage took before."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()

    def lap(self, stage: str) -> None:
        """The stage ends now."""
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now
