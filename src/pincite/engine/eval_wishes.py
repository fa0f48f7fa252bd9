"""What a caller asks of an eval run, and of a new index before it may be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

from pincite.errors import SettingsError
from pincite.records import Mode
from pincite.settings import AskSettings, SearchSettings, check_ask

if TYPE_CHECKING:
    from pincite.records import Case


@dataclass(frozen=True, kw_only=True)
class EvalWishes:
    """How the questions are to be asked, and what the run is called."""

    policy: str | None = None  # another than the library's is tried in an index of its own
    mode: Mode = "hybrid"
    settings: SearchSettings = field(default_factory=SearchSettings)
    abstain_below: float | None = None
    label: str = ""
    cases_name: str = ""
    ask: bool = False  # for answers, too, beside what is found
    asking: AskSettings = AskSettings()
    profile: str | None = None  # the language model that writes them; None: own words
    judge: str = ""  # who looks at its claims, as in `Library.ask`

    def check(self) -> None:
        """Refuse what cannot work, before anything is done for it."""
        if self.label.startswith("last") or self.label[:1].isdigit():
            raise SettingsError(
                f"a run cannot be labelled {self.label!r}: names that begin with a digit or with "
                "`last` are those of runs themselves"
            )
        if self.abstain_below is not None and not isfinite(self.abstain_below):
            raise SettingsError(f"abstain-below must be a number, not {self.abstain_below}")
        check_ask(self.asking)
        if self.profile is not None and not self.ask:
            raise SettingsError("a profile writes answers, which only --ask asks for; add --ask")
        if self.ask and self.mode != "hybrid":
            raise SettingsError("answers always search by words and by meaning; leave out --mode")


@dataclass(frozen=True)
class Gate:
    """Questions that a new index must answer as well as the old one, but for the slack."""

    cases: Sequence[Case] = ()
    slack: float = 0.02  # how much lower a figure may be
    on_progress: Callable[[int, int], None] = lambda done, of: None
