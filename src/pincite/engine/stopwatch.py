"""How long each stage of a search took, and whether it is still wanted."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from pincite.errors import SearchCancelled


class Stopwatch:
    """Started when made; each lap is added to what its stage took before."""

    def __init__(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.seconds: dict[str, float] = {}
        self._since = perf_counter()
        self._cancelled = cancelled

    def lap(self, stage: str) -> None:
        """The stage ends now; SearchCancelled where nobody wants the next one."""
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now
        try:
            cancelled = self._cancelled()
        except Exception as error:
            # Inside a store it would be taken for damage.
            raise SearchCancelled(
                f"whether it is cancelled could not be asked: {error!r}"
            ) from error
        if cancelled:
            raise SearchCancelled(f"the search was cancelled after its stage {stage!r}")
