"""Vectors of two models say nothing of each other, though they may be of the same size."""

from __future__ import annotations

from pincite.errors import StoreBusy
from pincite.records import LibraryHeader


def refuse_other_space(header: LibraryHeader | None, made_by: str | None) -> None:
    """A question's vector was made as the index said a moment ago; it may be of another model now.

    The header is the one of the state that is searched.
    """
    if header is not None and made_by not in (None, header.model.fingerprint):
        raise StoreBusy(
            f"the library moved to the model {header.model.name} just now, while it was searched; "
            "ask again"
        )
