"""Addresses of databases: what is kept of them, what in them is ours, which are refused."""

from __future__ import annotations

import pytest

from pincite.engine.addresses import bare_address
from pincite.errors import SettingsError
from pincite.stores.postgres.address import refuse_bad_address, without_password, without_settings
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
        ("postgresql://ada:ge#ese@db/notes", "postgresql://ada@db/notes"),
        (
            "postgresql://ada:#@db:1/notes?sslmode=require",
            "postgresql://ada@db:1/notes?sslmode=require",
        ),
        ("postgresql://ada:ge[ese@db/notes", "postgresql://ada@db/notes"),
        ("postgresql://ada:geese@db/no#tes", "postgresql://ada@db/no#tes"),
        ("postgresql://ada:geese@[::1]:5433/notes", "postgresql://ada@[::1]:5433/notes"),
        ("postgresql://db/notes?password=g?e@e#se&user=ada", "postgresql://db/notes?user=ada"),
        ("postgresql://db/notes?pass%77ord=geese", "postgresql://db/notes"),
        ("postgresql://db/notes?scram_client_key=geese", "postgresql://db/notes"),
        (
            "postgresql://db/notes?options=-c%20jit%3Doff&host=%2Frun",
            "postgresql://db/notes?options=-c%20jit%3Doff&host=/run",
        ),
        ("postgresql+embedded:///srv/notes", "postgresql+embedded:///srv/notes"),
    ],
)
def test_an_address_is_kept_without_anything_secret(address: str, kept: str) -> None:
    assert without_password(address) == kept


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:ge?ese@db/notes",
        "postgresql://ada:ge?ese@db/notes?pincite.m=4",
        "postgresql://ada:pincite?pincite.m=geese@db/notes",
        "postgresql://ada:ge@ese@db/notes",
        "postgresql://ada:ge/ese@db/notes",
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


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:ge#ese@db/notes",
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
    odd = "postgresql://ada:ge#ese@db/notes?pincite.ef_search=200"
    assert taken_apart(odd) == ("postgresql://ada:ge#ese@db/notes", settings)
    memory = "postgresql://db/notes?pincite.memory=2GB"
    assert taken_apart(memory) == ("postgresql://db/notes", IndexSettings(memory="2GB"))
    plain = "postgresql://db/notes?application_name=a%26b"
    assert taken_apart(plain) == (plain, IndexSettings())


@pytest.mark.parametrize(
    "setting",
    [
        *("kind=hnsw", "index=best", "m", "m=", "m=1", "m=101", f"m={'9' * 5000}"),
        *("ef_construction=3", "ef_construction=1001", "m=33", "m=20&pincite.ef_construction=39"),
        *("ef_search=-1", "ef_search=0", "ef_search=1001", "probes=0", "probes=32769"),
        *("most_scanned=0", "most_scanned=2147483648"),
        *("index=ivfflat&pincite.lists=0", "index=ivfflat&pincite.lists=32769"),
        *("memory=2", "memory=512", "memory=much", "memory=0MB", "memory=1kB", "memory=2048GB"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(setting: str) -> None:
    with pytest.raises(SettingsError):
        taken_apart(f"postgresql://db/notes?pincite.{setting}")


def test_memory_without_a_unit_is_refused_wherever_it_is_set() -> None:
    with pytest.raises(SettingsError, match="512MB"):
        IndexSettings(memory="512").check()
