"""API keys of a library, and the user's consent to those that came with its folder."""

from __future__ import annotations

import time

from pincite.engine.consent import Ask, Consent, Request, refuse
from pincite.engine.searchable import Searchable
from pincite.records.journal import Key

_ADMIT = Request("admit", "")


def admit(library: Searchable, ask: Ask = refuse) -> None:
    """Let in whoever holds a key of the library; ConsentNeeded where its user must agree first.

    A folder that was received may bring keys along, whose holders nobody knows. In a team's
    database whoever can make keys can do everything else, too.
    """
    if library.place:
        return
    keys, now = library.journal.keys(), time.time()
    if any(key.is_valid(now) for key in keys):
        Consent(library.root, ask).require(_ADMIT)


def add_key(library: Searchable, key: Key, ask: Ask = refuse) -> tuple[Key, str]:
    """A new key of a folder's library with its secret, which is kept nowhere."""
    admit(library, ask)
    made = library.journal.add_key(key)
    if not library.place:
        Consent(library.root).allow(_ADMIT)
    return made
