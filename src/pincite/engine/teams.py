"""Opening a team's database, or making it first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from pincite.errors import StoreUnsupported, extra_needed
from pincite.stores.postgres.address import refuse_bad_address

if TYPE_CHECKING:
    from pincite.records import Scope
    from pincite.stores.journal import Journal
    from pincite.stores.postgres.team import Team


def opened_team(url: str) -> Team:
    """The team at an address, DatabaseMissing where there is none; whoever opens it closes it."""
    return _team_at(url, make=False)


def made_team(url: str) -> Team:
    """The same, but its database and tables are made where there are none."""
    return _team_at(url, make=True)


def _team_at(url: str, *, make: bool) -> Team:
    with packages_needed():
        from pincite.stores.postgres.team import Team
        from pincite.stores.postgres.tuning import taken_apart
    database, index = taken_apart(url)
    refuse_bad_address(database)
    return Team.at(database, index=index, make=make)


def team_journal(team: Team, scope: Scope | None = None) -> Journal:
    """The journal of a team, of all its projects; it is open for as long as the team is.

    Saved answers are those of a scope.
    """
    from pincite.stores.journal import Journal

    return Journal(partial(team.journal_run, scope=scope))


@contextmanager
def packages_needed() -> Iterator[None]:
    """Say how to get the packages for PostgreSQL where they are not there."""
    try:
        yield
    except ImportError as error:
        told = extra_needed("a store in PostgreSQL", "postgres")
        raise StoreUnsupported(f"{told}; `embedded` for a server of one's own") from error
