"""A team's database under kills, crashes and lost connections: nothing lost, nothing half done."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from postgres_world import (
    Background,
    Change,
    Changes,
    Held,
    Persistent,
    Reader,
    broken_promises,
    document,
    held_by,
    wait_for_the_dead,
)

from pincite.errors import StoreUnreachable
from pincite.stores.postgres import connection as connection_module
from pincite.stores.postgres.connection import Entry, Server
from pincite.stores.postgres.schema import Connection
from pincite.stores.postgres.uploads import UploadStore
from postgres_server import KILLED, BreakableServer, Driver, opened
from soak import SEED, times

KILLS = times(6, soak=200)
CRASHES = times(2, soak=50)
CHANGES = times(10, soak=125)  # while connections end at random
VERSIONS = times(6, soak=100)  # of a document, that each reader meets
ENOUGH = 3  # faults that must show what is wrong with a naive writer
READERS = 4


@pytest.fixture(scope="module")
def breakable_server() -> Iterator[BreakableServer]:
    """One of its own: what the others leave in theirs would have to be recovered after a crash."""
    with closing(BreakableServer()) as server:
        yield server


@pytest.fixture
def url(breakable_server: BreakableServer) -> str:
    """The address of a database of the test's own."""
    return breakable_server.database()


# The application is killed


@dataclass
class Outcome:
    """What some faults did."""

    faults: int = 0
    in_the_middle: int = 0  # of a change
    under_way_done: int = 0  # changes in the middle of which it came, and which had happened
    changes: int = 0  # acknowledged
    caught: int = 0  # faults after which a promise was broken


def kill_at_random(
    driver: Driver, url: str, folder: Path, *, kills: int, naive: bool = False
) -> Outcome:
    """Kill until so many kills came in the middle of a change, however busy the machine is.

    The next writer goes on from wherever the last one was left.
    """
    chance = random.Random(SEED)
    outcome = Outcome()
    with opened(url) as store:
        for number in range(20 * kills):
            if outcome.in_the_middle == kills or outcome.caught == ENOUGH:
                break
            before = held_by(store)
            journal = folder / f"{number}.journal"
            driver.run(
                work="change",
                url=f"{url}&application_name={KILLED}",
                journal=str(journal),
                seed=f"{SEED}/{number}",
                held=before,
                first=(number + 1) * 10_000,
                naive=naive,
                delay=chance.uniform(0, 0.2),
            )
            wait_for_the_dead(url)
            promised, under_way, changes = read_journal(journal, before)
            outcome.faults += 1
            outcome.changes += changes
            allowed = [promised]
            if under_way is not None:
                outcome.in_the_middle += 1
                allowed.append(under_way.applied(promised))
                outcome.under_way_done += held_by(store) == allowed[1] != promised
            broken = broken_promises(url, store, *allowed)
            if not naive:
                assert broken == [], f"seed {SEED}, kill {number}"
            elif broken:
                outcome.caught += 1
                store.repair()
    return outcome


def read_journal(path: Path, held: Held) -> tuple[Held, Change | None, int]:
    """What was acknowledged, the change that was under way, and how many changes there were."""
    under_way, changes = None, 0
    for line in path.read_bytes().split(b"\n")[:-1]:
        name, version, state = json.loads(line)
        under_way = Change(name, version)
        if state == "done":
            held, under_way, changes = under_way.applied(held), None, changes + 1
    return held, under_way, changes


def test_a_writer_killed_at_any_moment_loses_nothing_and_leaves_nothing_half_done(
    postgres_driver: Driver, url: str, tmp_path: Path
) -> None:
    outcome = kill_at_random(postgres_driver, url, tmp_path, kills=KILLS)

    sys.stdout.write(f"seed {SEED}: {outcome}\n")
    assert outcome.in_the_middle == KILLS, "the kills come too early or too late"


def test_a_writer_that_commits_each_statement_does_not_survive_the_same_kills(
    postgres_driver: Driver, url: str, tmp_path: Path
) -> None:
    outcome = kill_at_random(postgres_driver, url, tmp_path, kills=60, naive=True)

    sys.stdout.write(f"naive: {outcome}\n")
    assert outcome.caught == ENOUGH


# The server is stopped at once


def crash_at_random(
    server: BreakableServer, url: str, *, crashes: int, naive: bool = False
) -> Outcome:
    """One store object writes and one reads, while the server crashes and comes back.

    Until so many crashes came in the middle of a change, however busy the machine is.
    """
    chance = random.Random(SEED)
    outcome = Outcome()
    with ExitStack() as stack:
        store = stack.enter_context(opened(url, naive=naive))
        sound = stack.enter_context(opened(url))
        persistent = Persistent(Changes(store, SEED, {}))
        reader = Reader(sound, persistent.changes.known, allowed=(StoreUnreachable,))
        reading = stack.enter_context(Background(reader.step))
        writing = stack.enter_context(Background(persistent.step))
        for number in range(20 * crashes):
            if outcome.in_the_middle == crashes:
                break
            refused = persistent.refused
            time.sleep(chance.uniform(0.05, 0.3))
            server.crash()
            time.sleep(chance.uniform(0, 0.2))
            server.start()
            writing.pause()
            reading.pause()
            outcome.faults += 1
            outcome.in_the_middle += persistent.refused > refused
            outcome.changes = persistent.done
            held = persistent.changes.held
            broken = [*persistent.wrong, *reader.wrong, *broken_promises(url, sound, held)]
            if not naive:
                assert broken == [], f"seed {SEED}, crash {number}"
            elif broken:
                outcome.caught += 1
                break
            reading.resume()
            writing.resume()
        assert naive or reader.searches
    return outcome


def test_a_server_stopped_at_any_moment_loses_nothing_and_the_same_store_goes_on(
    breakable_server: BreakableServer, url: str
) -> None:
    outcome = crash_at_random(breakable_server, url, crashes=CRASHES)

    sys.stdout.write(f"seed {SEED}: {outcome}\n")
    assert outcome.in_the_middle == CRASHES, "the crashes come too early or too late"


def test_a_writer_that_commits_each_statement_does_not_survive_such_a_stop(
    breakable_server: BreakableServer, url: str
) -> None:
    assert crash_at_random(breakable_server, url, crashes=10, naive=True).caught


def test_after_a_long_outage_the_first_call_is_answered(
    breakable_server: BreakableServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "_TIMEOUT", 2.0)
    with opened(url) as store:
        store.replace_document(document("note.md", 1))
        breakable_server.crash()
        until = time.monotonic() + 4  # attempts at growing distances are far apart by then
        while time.monotonic() < until:
            with pytest.raises(StoreUnreachable):
                store.documents()
        breakable_server.start()
        assert held_by(store) == {"note.md": 1}


class DeafServer(Server):
    """Commits, but the answer to it gets lost."""

    losing = False

    @contextmanager
    def within(self, entry: Entry, *, snapshot: bool = False) -> Iterator[Connection]:
        with super().within(entry, snapshot=snapshot) as connection:
            yield connection
        if self.losing:
            raise StoreUnreachable("the connection was lost while it waited for an answer")


@pytest.mark.parametrize("path", ["note.md", "upload.md"])
def test_a_change_repeated_because_its_answer_was_lost_happens_once(url: str, path: str) -> None:
    with opened(url) as sound:
        sound.replace_document(document("note.md", 1))
        deaf = DeafServer(url)
        deaf.open()
        changes = Changes(UploadStore(deaf, sound._scope, sound._entry), SEED, {"note.md": 1})
        for change in (Change(path, 2), Change(path, None)):
            deaf.losing = True
            with pytest.raises(StoreUnreachable):
                changes.apply(change)
            assert broken_promises(url, sound, change.applied(changes.held)) == []
            deaf.losing = False
            changes.apply(change)
            assert broken_promises(url, sound, changes.held) == []
        deaf.close()


# Connections are lost


def end_connections(url: str, stop: threading.Event, chance: random.Random) -> None:
    """Now and then, some connection to this database, whoever it is of."""
    others = """
        SELECT pid FROM pg_stat_activity WHERE datname = current_database()
        AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    """
    with psycopg.connect(url, autocommit=True) as connection:
        while not stop.wait(chance.uniform(0.005, 0.05)):
            pids = [pid for (pid,) in connection.execute(others)]
            if pids:
                connection.execute("SELECT pg_terminate_backend(%s)", (chance.choice(pids),))


def lose_connections(url: str, *, changes: int, naive: bool = False) -> list[str]:
    """What went wrong while connections ended at random."""
    stop = threading.Event()
    ending = threading.Thread(target=end_connections, args=(url, stop, random.Random(SEED)))
    with opened(url, naive=naive) as store, opened(url) as sound:
        persistent = Persistent(Changes(store, SEED, {}))
        readers = [
            Reader(sound, persistent.changes.known, allowed=(StoreUnreachable,)) for _ in range(2)
        ]
        ending.start()
        try:
            with ExitStack() as stack:
                for one in readers:
                    stack.enter_context(Background(one.step))
                while persistent.done < changes and not any(one.wrong for one in readers):
                    persistent.step()
        finally:
            stop.set()
            ending.join()
        assert all(one.searches for one in readers)
        sys.stdout.write(f"{persistent.done} changes, {persistent.refused} times refused\n")
        wrong = [what for one in readers for what in one.wrong]
        return [*persistent.wrong, *wrong, *broken_promises(url, sound, persistent.changes.held)]


def test_connections_that_end_at_random_are_typed_errors_and_never_wrong_answers(url: str) -> None:
    assert lose_connections(url, changes=CHANGES) == []


def test_a_writer_that_commits_each_statement_does_not_survive_lost_connections(url: str) -> None:
    assert lose_connections(url, changes=1_000, naive=True) != []


def test_however_many_idle_connections_ended_the_next_call_is_answered(url: str) -> None:
    with opened(url) as store:
        store.replace_document(document("note.md", 1))
        with ExitStack() as stack:
            for _ in range(8):
                stack.enter_context(store._server.within(store._entry))
        with psycopg.connect(url, autocommit=True) as connection:
            ended = connection.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ).fetchone()
        assert ended == (8,)
        assert held_by(store) == {"note.md": 1}


# Readers meet a document entirely or not at all


def read_while_replacing(url: str, *, naive: bool = False) -> list[Reader]:
    """Until each reader met enough versions, or a naive writer showed what is wrong with it."""
    with opened(url, naive=naive) as store, opened(url) as sound:
        changes = Changes(store, SEED, {})
        changes.apply(Change("note.md", 1))
        readers = [Reader(sound, changes.known) for _ in range(READERS)]
        with ExitStack() as stack:
            for reader in readers:
                stack.enter_context(Background(reader.step))
            for version in range(2, 100 * VERSIONS):
                changes.apply(Change("note.md", version))
                wrong = sum(len(one.wrong) for one in readers)
                if wrong >= ENOUGH or (
                    not naive and all(len(one.versions) > VERSIONS for one in readers)
                ):
                    break
    return readers


def test_searches_during_replacements_see_no_mixed_versions_and_none_fails(url: str) -> None:
    readers = read_while_replacing(url)

    sys.stdout.write(f"{[(one.searches, len(one.versions)) for one in readers]}\n")
    assert [wrong for one in readers for wrong in one.wrong] == []
    assert all(len(one.versions) > VERSIONS for one in readers)


def test_a_writer_that_commits_each_statement_shows_half_a_document(url: str) -> None:
    readers = read_while_replacing(url, naive=True)

    assert sum(len(one.wrong) for one in readers) >= ENOUGH
