"""Addresses of databases: what is kept of them, what in them is ours, which are refused."""

from __future__ import annotations

import pytest

from pincite.errors import SettingsError
from pincite.stores.postgres.address import refuse_bad_address, without_password
from pincite.stores.postgres.indexes import IndexSettings
from pincite.stores.postgres.tuning import taken_apart


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("postgresql://ada:geese@db/notes", "postgresql://ada@db/notes"),
        ("postgresql://ada:@db/notes", "postgresql://ada@db/notes"),
        ("postgresql://db:5433/notes?password=geese", "postgresql://db:5433/notes"),
        (
            "postgresql://db/notes?sslmode=require&sslpassword=geese",
            "postgresql://db/notes?sslmode=require",
        ),
        ("postgresql://db/notes?oauth_client_secret=geese", "postgresql://db/notes"),
        ("postgresql://ada:geese@one:1,two:2/notes", "postgresql://ada@one:1,two:2/notes"),
        ("postgresql+embedded:///srv/notes", "postgresql+embedded:///srv/notes"),
    ],
)
def test_an_address_is_kept_without_anything_secret(address: str, kept: str) -> None:
    assert without_password(address) == kept


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:a%40b@db:5433,other:5434/notes?sslmode=require",
        "postgres:///notes?host=/run/postgresql",
        "postgresql+embedded:///srv/notes",
    ],
)
def test_an_address_that_can_be_read_is_not_refused(address: str) -> None:
    refuse_bad_address(address)


def test_settings_of_the_index_are_taken_out_of_the_address() -> None:
    address = "postgresql://db/notes?pincite.index=ivfflat&sslmode=require&pincite.probes=20"
    known = IndexSettings(kind="ivfflat", probes=20)
    assert taken_apart(address) == ("postgresql://db/notes?sslmode=require", known)
    embedded = "postgresql+embedded:///srv/notes?pincite.ef_search=200"
    settings = IndexSettings(ef_search=200)
    assert taken_apart(embedded) == ("postgresql+embedded:///srv/notes", settings)
    memory = "postgresql://db/notes?pincite.memory=2GB"
    assert taken_apart(memory) == ("postgresql://db/notes", IndexSettings(memory="2GB"))
    plain = "postgresql://db/notes?application_name=a%26b"
    assert taken_apart(plain) == (plain, IndexSettings())


@pytest.mark.parametrize(
    "setting",
    ["kind=hnsw", "index=best", "m=0", "m=", "ef_search=-1", "m", "memory=2", "memory=much"],
)
def test_a_setting_that_cannot_work_is_refused(setting: str) -> None:
    with pytest.raises(SettingsError):
        taken_apart(f"postgresql://db/notes?pincite.{setting}")
