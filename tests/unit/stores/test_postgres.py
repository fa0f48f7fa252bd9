"""Addresses of databases, and the index for vectors that they may ask for."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from helpers import at_angle, embedded, fill, found_by_vector, new_database, next_project, part
from pincite.engine.addresses import bare_address
from pincite.errors import SettingsError
from pincite.records import Scope
from pincite.stores.postgres.address import refuse_bad_address, without_password, without_settings
from pincite.stores.postgres.indexes import IndexKind, IndexSettings
from pincite.stores.postgres.team import Team
from pincite.stores.postgres.tuning import taken_apart


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("postgresql://ada:geese@db/notes", "postgresql://ada@db/notes"),
        ("postgresql://db:5433/notes?password=geese", "postgresql://db:5433/notes"),
        (
            "postgresql://db/notes?sslmode=require&sslpassword=geese",
            "postgresql://db/notes?sslmode=require",
        ),
        ("postgresql://ada:geese@one:1,two:2/notes", "postgresql://ada@one:1,two:2/notes"),
        (
            "postgresql://ada:#@db:1/notes?sslmode=require",
            "postgresql://ada@db:1/notes?sslmode=require",
        ),
        ("postgresql://ada:geese@[::1]:5433/notes", "postgresql://ada@[::1]:5433/notes"),
        ("postgresql://db/notes?password=g?e@e#se&user=ada", "postgresql://db/notes?user=ada"),
        ("postgresql://db/notes?pass%77ord=geese", "postgresql://db/notes"),
        (
            "postgresql://db/notes?options=-c%20jit%3Doff&host=%2Frun",
            "postgresql://db/notes?options=-c%20jit%3Doff&host=/run",
        ),
    ],
)
def test_an_address_is_kept_without_anything_secret(address: str, kept: str) -> None:
    assert without_password(address) == kept


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:ge?ese@db/notes?pincite.m=4",
        "postgresql://ada:pincite?pincite.m=geese@db/notes",
        "postgresql://ada:ge@ese@db/notes",
        "postgresql://db?password=geese@x",
    ],
)
def test_an_address_with_a_password_that_may_end_anywhere_is_refused_and_not_repeated(
    address: str,
) -> None:
    for ask in (without_password, without_settings, bare_address, refuse_bad_address, taken_apart):
        with pytest.raises(SettingsError, match="cannot be read") as refused:
            ask(address)
        assert "ese" not in str(refused.value)


def test_settings_of_the_index_are_taken_out_of_the_address() -> None:
    address = "postgresql://db/notes?pincite.index=ivfflat&sslmode=require&pincite.probes=20"
    known = IndexSettings(kind="ivfflat", probes=20)
    assert taken_apart(address) == ("postgresql://db/notes?sslmode=require", known)
    embedded = "postgresql+embedded:///srv/notes?pincite.ef_search=200"
    settings = IndexSettings(ef_search=200)
    assert taken_apart(embedded) == ("postgresql+embedded:///srv/notes", settings)
    odd = "postgresql://ada:ge#ese@db/notes?pincite.ef_search=200"
    assert taken_apart(odd) == ("postgresql://ada:ge#ese@db/notes", settings)
    memory = "postgresql://db/notes?pincite.memory=2GB"
    assert taken_apart(memory) == ("postgresql://db/notes", IndexSettings(memory="2GB"))
    plain = "postgresql://db/notes?application_name=a%26b"
    assert taken_apart(plain) == (plain, IndexSettings())


@pytest.mark.parametrize(
    "setting",
    [
        *("kind=hnsw", "index=best", "m", "m=1", "m=101", f"m={'9' * 5000}"),
        *("ef_construction=3", "m=20&pincite.ef_construction=39", "ef_search=1001", "probes=0"),
        *("most_scanned=2147483648", "index=ivfflat&pincite.lists=0", "memory=512", "memory=1kB"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(setting: str) -> None:
    with pytest.raises(SettingsError):
        taken_apart(f"postgresql://db/notes?pincite.{setting}")


ANGLES = range(0, 180, 3)


@pytest.fixture(scope="module")
def address() -> str:
    """A database of its own: all projects with vectors of one model share an index."""
    return new_database()


@pytest.mark.parametrize("kind", ["hnsw", "ivfflat"])
def test_the_nearest_are_found_with_an_index_as_without(address: str, kind: IndexKind) -> None:
    settings = IndexSettings(kind=kind, from_windows=1, rebuilt_after=1, lists=2)
    scope = Scope("ada", next_project())
    with closing(Team.at(address)) as team, closing(Team.at(address, index=settings)) as eager:
        team.create(scope)
        store = team.store(scope)
        fill(store, *(embedded(f"{angle}.md", part(f"at {angle}", angle)) for angle in ANGLES))
        expected = found_by_vector(store, at_angle(31), limit=5)
        assert not team.optimize(scope)  # too few
        assert eager.optimize(scope)
        assert not eager.optimize(scope)  # nothing came since
        assert found_by_vector(eager.store(scope), at_angle(31), limit=5) == expected


def test_another_kind_of_index_is_made_where_it_is_asked_for(address: str) -> None:
    scope = Scope("ada", next_project())

    def kind_after_optimizing(kind: IndexKind | None) -> tuple[bool, str | None]:
        """With settings under which nothing else is a reason to make it again."""
        with closing(Team.at(address, index=IndexSettings(kind, from_windows=1, lists=2))) as team:
            made = team.optimize(scope)
            store = team.store(scope)
            assert found_by_vector(store, at_angle(31), limit=1) == nearest
            with store._reading() as (_, state):
                assert state.view is not None
                return made, state.view.index

    with closing(Team.at(address)) as team:
        team.create(scope)
        store = team.store(scope)
        fill(store, *(embedded(f"{angle}.md", part(f"at {angle}", angle)) for angle in ANGLES))
        nearest = found_by_vector(store, at_angle(31), limit=1)
    kind_after_optimizing("ivfflat")
    assert kind_after_optimizing("hnsw") == (True, "hnsw")
    assert kind_after_optimizing("ivfflat") == (True, "ivfflat")
    assert kind_after_optimizing(None) == (False, "ivfflat")  # as it is
    assert kind_after_optimizing("none") == (False, "ivfflat")  # others use it


@pytest.mark.parametrize(
    "limits",
    [
        {"m": 2, "ef_construction": 4, "ef_search": 1, "most_scanned": 1, "memory": "1MB"},
        {
            **{"m": 100, "ef_construction": 1_000, "ef_search": 1_000},
            **{"most_scanned": (1 << 31) - 1, "memory": "2047GB"},
        },
        {"kind": "ivfflat", "probes": 32_768, "lists": 1},
    ],
)
def test_the_server_takes_whatever_settings_are_not_refused(
    address: str, limits: dict[str, Any]
) -> None:
    settings = IndexSettings(**limits, from_windows=1, rebuilt_after=1)
    scope = Scope("ada", next_project())
    with closing(Team.at(address, index=settings)) as team:
        team.create(scope)
        store = team.store(scope)
        fill(store, *(embedded(f"{angle}.md", part(f"at {angle}", angle)) for angle in ANGLES))
        assert team.optimize(scope)
        assert found_by_vector(store, at_angle(31), limit=5)
