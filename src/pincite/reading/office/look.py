"""How a stretch of text looks in its file, as far as that decides whether it is seen."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pincite.records import OmissionReason

_TINY = 1.0  # points
_WHITE = re.compile(r"#?(?:F[A-F]){3}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Look:
    """What is said of a stretch of text; None is not said."""

    is_hidden: bool | None = None
    colour: str | None = None  # six hexadecimal figures
    points: float | None = None
    is_shaded: bool | None = None  # something other than white paper lies under it

    def over(self, below: Look) -> Look:
        """What is said here, and for the rest what is said below."""
        return Look(
            below.is_hidden if self.is_hidden is None else self.is_hidden,
            below.colour if self.colour is None else self.colour,
            below.points if self.points is None else self.points,
            below.is_shaded if self.is_shaded is None else self.is_shaded,
        )

    @property
    def reason(self) -> OmissionReason | None:
        """Why it would not be seen; None where it would."""
        if self.is_hidden:
            return OmissionReason.HIDDEN
        if self.points is not None and self.points <= _TINY:
            return OmissionReason.TINY
        if self.colour is not None and is_white(self.colour) and not self.is_shaded:
            return OmissionReason.WHITE
        return None


def is_white(colour: str) -> bool:
    """Whether nobody could tell the colour from white."""
    return _WHITE.fullmatch(colour) is not None
