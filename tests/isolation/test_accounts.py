"""Who is known to a database, and to whom."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from helpers import new_database
from pincite.errors import ProjectMissing, SettingsError
from pincite.records import Scope
from pincite.stores.postgres.team import Team


def accounts(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM pincite.account")}


def test_to_ask_makes_nobody_known(database: str) -> None:
    with closing(Team.at(database)) as team:
        plans = Scope("ada", "plans")
        team.create(plans)
        assert team.projects("eve") == []
        for asker in (Scope("eve", "ada/plans"), Scope("eve", "plans"), Scope("ada", "zoe/plans")):
            with pytest.raises(ProjectMissing):
                team.store(asker)
        with pytest.raises(SettingsError, match="not a member"):
            team.revoke(plans, "mallory")
        assert accounts(database) == {"ada"}
        team.share(plans, "grace")
        assert accounts(database) == {"ada", "grace"}
        assert [one.owner for one in team.projects("grace")] == ["ada"]


def test_a_member_learns_the_names_that_they_may_list_and_no_others() -> None:
    with closing(Team.at(new_database())) as team:
        plans = Scope("ada", "plans")
        team.create(plans)
        for user in ("grace", "mary"):
            team.share(plans, user)
        team.create(Scope("zoe", "notes"))

        def seen_by(user: str) -> set[str]:
            entry = team.store(Scope(user, plans.project if user == "ada" else "ada/plans"))._entry
            with team._server.within(entry) as connection:
                asked = "SELECT name_of_account(id) FROM generate_series(1, 9) AS id"
                return {name for (name,) in connection.execute(asked) if name}

        assert seen_by("ada") == {"ada", "grace", "mary"}
        assert seen_by("grace") == {"grace", "ada"}  # herself, and whose project it is
