"""How much a test tries: a little on every change, at length in `make soak`.

`PINCITE_SEED=2 make soak` hunts in other places than the last time.
"""

from __future__ import annotations

import os

SOAK = os.environ.get("PINCITE_SOAK", "0") != "0"
SEED = os.environ.get("PINCITE_SEED", "1")


def times(quick: int, *, soak: int) -> int:
    """So often on every change, and so often in a soak."""
    return soak if SOAK else quick
