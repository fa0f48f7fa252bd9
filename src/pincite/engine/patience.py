"""Indexing that waits for what may pass."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from pincite.errors import (
    LibraryBusy,
    ModelUnavailable,
    NothingToIndex,
    PinciteError,
    StoreBusy,
    StoreFull,
    StoreUnreachable,
)

if TYPE_CHECKING:
    from pincite.records import IndexReport

_SECONDS_BETWEEN_TRIES = 5.0
_PASSING = (
    LibraryBusy,
    NothingToIndex,
    StoreBusy,
    StoreFull,
    StoreUnreachable,
    ModelUnavailable,
)


def patiently(
    index: Callable[[], IndexReport],
    stop: threading.Event,
    on_trouble: Callable[[PinciteError], None],
) -> IndexReport | None:
    """Index as soon as it can be done, or not at all if it is to stop before."""
    while not stop.is_set():
        try:
            return index()
        except _PASSING as trouble:
            on_trouble(trouble)
            stop.wait(_SECONDS_BETWEEN_TRIES)
    return None
