"""A team's database that is half made, too new, held by another, full, or that can only be read."""

from __future__ import annotations

import itertools
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from postgres_world import PATIENCE, Held, broken_promises, document, held_by, wait_for_the_dead
from small_disk import small_disk

from helpers import HEADER, at_angle
from pincite.errors import (
    LibraryBusy,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    StoreUnsupported,
)
from pincite.records import Filters, Scope
from pincite.stores.postgres import migrating
from pincite.stores.postgres.connection import HeldLock
from pincite.stores.postgres.indexes import IndexSettings
from pincite.stores.postgres.store import PostgresStore
from pincite.stores.postgres.team import Team
from postgres_server import (
    KILLED,
    SCHEMA_OPTIONS,
    SCOPE,
    BreakableServer,
    Driver,
    opened,
    start_driver,
)
from soak import times

ROUNDS = 4
INDEXED = IndexSettings(from_windows=1, rebuilt_after=1)
WAITING = "pincite-waiting"  # how the connection of whoever waits is called


@pytest.fixture
def url(breakable_server: BreakableServer) -> str:
    """The address of a database of the test's own."""
    return breakable_server.database()


# Migrations


def made_in(url: str) -> list[str]:
    """Everything a migration makes in a database: schemas, tables, functions, extensions."""
    statement = """
        SELECT nspname::text FROM pg_namespace WHERE nspname = 'pincite'
        UNION ALL SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('pincite')
        UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace('pincite')
        UNION ALL SELECT extname FROM pg_extension WHERE extname = 'vector'
    """
    with psycopg.connect(url) as connection:
        return [str(name) for (name,) in connection.execute(statement)]


def kill_a_migration(driver: Driver, url: str, **job: object) -> None:
    killed = f"{url}&application_name={KILLED}"
    driver.run(**{"work": "migrate", "url": killed, "naive": False, "delay": 0.0, **job})
    # A sleeping server process notices only later that nobody listens any more.
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
            (KILLED,),
        )
    wait_for_the_dead(url)


@pytest.mark.parametrize("after", range(len(migrating.MIGRATIONS) + 1))
def test_a_migration_killed_between_two_steps_leaves_nothing(
    postgres_driver: Driver, url: str, after: int
) -> None:
    kill_a_migration(postgres_driver, url, after=after)

    assert made_in(url) == []
    with opened(url) as store:
        store.replace_document(document("note.md", 1))
        assert broken_promises(url, store, {"note.md": 1}) == []


def test_a_migration_killed_at_any_moment_leaves_nothing_or_all(
    postgres_driver: Driver, breakable_server: BreakableServer
) -> None:
    chance = random.Random(1)
    made = breakable_server.database()
    with closing(Team.at(made)):
        whole = made_in(made)
    for _ in range(ROUNDS):
        url = breakable_server.database()
        kill_a_migration(postgres_driver, url, delay=chance.uniform(0, 0.15))
        assert made_in(url) in ([], whole)
        Team.at(url).close()
        assert sorted(made_in(url)) == sorted(whole)


def test_a_migration_without_a_transaction_leaves_half_of_it(
    postgres_driver: Driver, url: str
) -> None:
    kill_a_migration(postgres_driver, url, after=1, naive=True)
    assert len(made_in(url)) > 1


@pytest.mark.parametrize("databases", [1, 2][: times(1, soak=2)])
def test_two_processes_may_migrate_at_once(databases: int) -> None:
    """One database, or two of one server: roles are the server's own, and not there yet."""
    with closing(BreakableServer()) as new_server:
        urls = [new_server.database() for _ in range(databases)]
        job = {
            "work": "migrate",
            "url": f"{urls[-1]}&application_name={WAITING}",
            "naive": False,
        }
        with psycopg.connect(urls[0], options=SCHEMA_OPTIONS) as first, first.transaction():
            migrating.migrate(first)
            second = start_driver(json.dumps(job))
            wait_for_one_who_waits(new_server.address)
        second.communicate()
        assert second.returncode == 0
        for url in urls:
            with opened(url) as store:
                store.replace_document(document("note.md", 1))
                assert broken_promises(url, store, {"note.md": 1}) == []


def wait_for_one_who_waits(url: str) -> None:
    until = time.monotonic() + PATIENCE
    waiting = """
        SELECT count(*) FROM pg_stat_activity
        WHERE application_name = %s AND wait_event_type = 'Lock'
    """
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(waiting, (WAITING,)).fetchone() != (1,):
            assert time.monotonic() < until, "nobody waits"
            time.sleep(0.01)


def test_a_schema_of_a_newer_pincite_is_refused_and_left_alone(url: str) -> None:
    with opened(url) as store:
        store.replace_document(document("note.md", 1))
    newer = len(migrating.MIGRATIONS) + 1
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO pincite.migration VALUES (%s)", (newer,))
    before = made_in(url)

    with pytest.raises(StoreTooNew, match=f"schema {newer}"):
        Team.at(url)
    assert made_in(url) == before


def test_a_pgvector_that_is_too_old_is_refused_and_nothing_is_made(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "OLDEST_VECTOR", (99, 0))

    with pytest.raises(StoreUnsupported, match="too old; pincite needs 99"):
        Team.at(url)
    assert made_in(url) == []


# One who makes all of a generation anew


class Unnoticed:
    """A connection of which the server does not notice for a while that it was closed."""

    def __init__(self, connection: object) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def close(self) -> None:
        pass


def test_what_is_released_can_be_held_at_once(url: str) -> None:
    with opened(url), closing(Team.at(url)) as team:
        held = team.hold(SCOPE, 1)
        with closing(held.connection):
            HeldLock(Unnoticed(held.connection)).release()  # type: ignore[arg-type]
            team.hold(SCOPE, 1).release()


def test_whoever_is_killed_holds_nothing_any_more(url: str) -> None:
    with opened(url), closing(Team.at(url)) as team:
        job = {"work": "hold", "url": f"{url}&application_name={KILLED}"}
        with start_driver(json.dumps(job)) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "started\n"
            with pytest.raises(LibraryBusy):
                team.only_writer(SCOPE, 1)
            other.kill()
        wait_for_the_dead(url)
        with closing(team.only_writer(SCOPE, 1)) as store:
            store.replace_document(document("note.md", 1))


# The index for vectors, which is made beside the old one


def vector_indexes(url: str) -> list[tuple[str, bool]]:
    """Each with whether searches may use it."""
    statement = """
        SELECT relname::text, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE relname LIKE 'window_space%'
    """
    with psycopg.connect(url) as connection:
        return [(str(name), bool(valid)) for name, valid in connection.execute(statement)]


def test_an_index_for_vectors_killed_in_the_making_is_made_by_the_next(
    postgres_driver: Driver, url: str
) -> None:
    chance = random.Random(1)
    with opened(url) as store:
        for number in range(ROUNDS):
            postgres_driver.run(
                work="index",
                url=f"{url}&application_name={KILLED}",
                first=(number + 1) * 1_000,
                delay=chance.uniform(0, 0.2),
            )
            wait_for_the_dead(url)
            assert broken_promises(url, store, held_by(store)) == []
            store.replace_document(document(f"own{number}.md", 3))
            with closing(Team.at(url, index=INDEXED)) as team:
                team.optimize(SCOPE)
            # One that was killed at its very end leaves the old one to the next that is due.
            in_use = [one for one in vector_indexes(url) if not one[0].endswith("_old")]
            assert [valid for _, valid in in_use] == [True]
            near = store.search(None, at_angle(0), filters=Filters(), limit=500)["vector"]
            assert len(near) == store.stats().chunks


def test_several_may_make_an_index_for_vectors_at_once(url: str) -> None:
    with opened(url), closing(Team.at(url, index=INDEXED)) as team:

        def add_and_index(writer: int) -> bool:
            store = team.store(SCOPE)
            made = []
            for version in range(1, 9):
                store.replace_document(document(f"note{writer}-{version}.md", version))
                made.append(store.make_index())
            return any(made)

        with ThreadPoolExecutor(3) as threads:
            assert any(list(threads.map(add_and_index, range(3))))
        assert broken_promises(url, team.store(SCOPE), held_by(team.store(SCOPE))) == []


def test_indexes_for_the_vectors_of_two_models_may_be_made_at_once(url: str) -> None:
    settings = replace(INDEXED, rebuilt_after=0)
    with opened(url), closing(Team.at(url, index=settings)) as team:

        def make(model: str) -> bool:
            scope = Scope("ada", model)
            team.create(scope)
            store = team.store(scope)
            card = replace(HEADER.model, fingerprint=f"test:{model}")
            store.begin(replace(HEADER, model=card))
            for number in range(4):
                store.replace_document(document(f"note{number}.md", 100))
            return store.make_index()

        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(make, "abcd")) == [True] * 4
        assert [valid for _, valid in vector_indexes(url)] == [True] * 4


def index_number(url: str) -> int | None:
    """Which index searches use: another number after each switch to a new one."""
    statement = """
        SELECT pg_class.oid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE relname ~ '^window_space_[0-9]+$' AND indisvalid
    """
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()
    return None if row is None else int(row[0])


def wait_for_a_switch(url: str, before: int | None) -> None:
    until = time.monotonic() + PATIENCE
    while index_number(url) in (None, before):
        assert time.monotonic() < until, "the new index did not take the old one's place"
        time.sleep(0.01)


def test_a_new_index_for_vectors_takes_its_place_while_a_backup_reads(url: str) -> None:
    with opened(url) as store, closing(Team.at(url, index=INDEXED)) as team:
        store.replace_document(document("note.md", 1))
        team.optimize(SCOPE)
        before = index_number(url)
        store.replace_document(document("more.md", 2))
        with ThreadPoolExecutor(1) as thread, psycopg.connect(url) as backup:
            backup.execute("SELECT count(*) FROM pincite.window_vector")
            made = thread.submit(team.optimize, SCOPE)
            try:
                wait_for_a_switch(url, before)
                near = store.search(None, at_angle(0), filters=Filters(), limit=500)["vector"]
                assert len(near) == store.stats().chunks
            finally:
                backup.rollback()
            assert made.result(PATIENCE)
        assert [valid for _, valid in vector_indexes(url)] == [True]


def test_what_a_killed_build_left_behind_is_dropped_by_the_next(url: str) -> None:
    with opened(url) as store, closing(Team.at(url, index=INDEXED)) as team:
        store.replace_document(document("note.md", 1))
        team.optimize(SCOPE)
        ((made, _),) = vector_indexes(url)
        with psycopg.connect(url, autocommit=True) as connection:
            for left in ("old", "new"):
                connection.execute(f"CREATE INDEX {made}_{left} ON pincite.window_vector (space)")
        store.replace_document(document("more.md", 2))
        assert team.optimize(SCOPE)
        assert vector_indexes(url) == [(made, True)]


def test_memory_for_making_an_index_is_given_back(url: str) -> None:
    lavish = replace(INDEXED, memory="3GB")
    with opened(url) as store, closing(Team.at(url, index=lavish, connections=1)) as team:
        store.replace_document(document("note.md", 1))
        assert team.optimize(SCOPE)
        with team._server.as_owner() as connection, psycopg.connect(url) as new:
            asked = "SHOW maintenance_work_mem"
            assert connection.execute(asked).fetchone() == new.execute(asked).fetchone()


# A server that is full, or that can only be read


def fill_up(path: Path) -> None:
    with suppress(OSError), path.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def add_without_end(store: PostgresStore, held: Held) -> None:
    for version in itertools.count(100):
        store.replace_document(document(f"more{version}.md", version))
        held[f"more{version}.md"] = version


def test_a_full_disk_is_told_and_once_there_is_space_the_same_store_goes_on(
    breakable_server: BreakableServer,
) -> None:
    with small_disk("40m") as disk:
        url = breakable_server.database_on(disk, "crowded")
        fill = disk / "fill"
        with opened(url) as store:
            held = {f"note{number}.md": number for number in range(1, 9)}
            for path, version in held.items():
                store.replace_document(document(path, version))
            fill_up(fill)
            with pytest.raises(StoreFull):
                add_without_end(store, held)
            found = store.search("valve", at_angle(0), filters=Filters(), limit=10)
            assert all(len(ranking) >= 10 for ranking in found.values())
            assert broken_promises(url, store, held) == []

            fill.unlink()
            store.replace_document(document("after.md", 20_000))
            assert broken_promises(url, store, {**held, "after.md": 20_000}) == []
        breakable_server.forget("crowded")


def test_a_database_that_can_only_be_read_is_searched_and_refuses_changes(url: str) -> None:
    with opened(url) as store:
        store.replace_document(document("note.md", 1))
    with psycopg.connect(url, autocommit=True) as connection:
        database = connection.info.dbname
        connection.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")

    with closing(Team.at(url)) as team:
        kept = team.store(SCOPE)
        assert held_by(kept) == {"note.md": 1}
        assert kept.search("valve", at_angle(0), filters=Filters(), limit=10)["words"]
        with pytest.raises(StoreReadOnly):
            kept.replace_document(document("note.md", 2))
        with pytest.raises(StoreReadOnly):
            kept.remove_documents([document("note.md", 1).document.id])
        assert held_by(kept) == {"note.md": 1}
