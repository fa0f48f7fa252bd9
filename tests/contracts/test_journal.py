"""What every journal promises: keys, jobs, the log of queries, feedback."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import apsw
import psycopg
import pytest

from helpers import new_database, shared_login
from pincite.engine.teams import team_journal
from pincite.errors import LibraryBusy, PinciteError, SettingsError, StoreDamaged, StoreTooNew
from pincite.records import LEVELS, Scope
from pincite.records.journal import Feedback, Job, Key, LoggedQuery, SavedAnswer
from pincite.stores.journal import MOST_QUERIES, Journal, new_id, open_journal
from pincite.stores.postgres import migrating
from pincite.stores.postgres.rights import JOURNAL
from pincite.stores.postgres.team import Team

DAY = 86_400.0


@pytest.fixture(params=["file", "team"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty journal is: a file, or a database that its owner has set up."""
    if request.param == "file":
        return str(tmp_path / "journal.sqlite")
    with closing(Team.at(shared_database(), make=False)) as team:
        for table in JOURNAL:
            team.journal_run(f"DELETE FROM {table}", ())
    return shared_database()


@cache
def shared_database() -> str:
    """As a login that owns nothing reaches it."""
    owner = new_database()
    shared_login("writer")
    Team.at(owner).close()
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("GRANT pincite_member TO writer")
    return owner.replace("postgres:@", "writer:@")


def opened(place: str) -> Journal:
    if not place.startswith("postgresql"):
        return open_journal(Path(place))
    team = Team.at(place, make=False)
    journal = team_journal(team)
    journal.close = team.close
    return journal


@pytest.fixture
def journal(place: str) -> Iterator[Journal]:
    with closing(opened(place)) as journal:
        yield journal


def asked(at: float, question: str = "who?", user: str = "", agent: str = "") -> LoggedQuery:
    return LoggedQuery(new_id(at), at, "search", "plans", question=question, user=user, agent=agent)


def test_a_secret_opens_what_its_key_was_made_for(journal: Journal) -> None:
    assert not journal.has_keys()
    wanted = Key("", "laptop", "ada", ("plans",), "internal", may_write=True, expires_at=9e9)
    made, secret = journal.add_key(wanted)
    other, another = journal.add_key(Key("", "phone"))

    assert journal.key_of(secret) == made
    assert replace(made, id="", made_at=0.0) == wanted
    assert journal.key_of(another) == other
    assert secret != another
    assert journal.has_keys()
    assert journal.keys() == [made, other]


def test_no_secret_can_be_read_from_what_is_kept(journal: Journal, place: str) -> None:
    _, secret = journal.add_key(Key("", "laptop"))
    random = secret[-43:]
    assert all(random not in str(row) for row in journal._run("SELECT * FROM journal_key", ()))
    if not place.startswith("postgresql"):
        files = Path(place).parent.iterdir()
        assert not any(random.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda secret: "",
        lambda secret: "pincite",
        lambda secret: "pincite__",
        lambda secret: secret[:-1],
        lambda secret: f"{secret}x",
        lambda secret: f" {secret}",
        lambda secret: f"{secret}\n",
        lambda secret: secret.replace("pincite", "pincit3"),
        lambda secret: secret.removeprefix("pincite_"),
        lambda secret: secret[:-1] + ("A" if secret[-1] != "A" else "B"),
        lambda secret: f"pincite_{'0' * 16}_{secret[-43:]}",
        lambda secret: secret.upper(),
        lambda secret: "pincite_\0_\ud800é",
        lambda secret: f"pincite_' OR 1=1 --_{secret[-43:]}",
        lambda secret: "x" * 1_000_000,
    ],
    ids=range(15),
)
def test_any_other_secret_opens_nothing(journal: Journal, spoil: Callable[[str], str]) -> None:
    _, secret = journal.add_key(Key("", "laptop"))
    assert journal.key_of(spoil(secret)) is None
    assert journal.key_of(secret) is not None


def test_a_key_ends_when_it_expires_or_is_revoked(journal: Journal) -> None:
    expired, old = journal.add_key(Key("", "old", expires_at=time.time() - 1))
    soon, fresh = journal.add_key(Key("", "fresh", expires_at=time.time() + DAY))
    assert journal.key_of(old) is None
    assert journal.key_of(fresh) == soon

    ended = journal.revoke("fresh")
    assert ended.id == soon.id
    assert ended.revoked_at is not None
    assert journal.key_of(fresh) is None
    assert journal.keys() == [expired, ended]
    with pytest.raises(SettingsError, match="there is no key 'fresh'"):
        journal.revoke("fresh")
    assert journal.has_keys(), "without any key, everybody would get in again"


def test_a_name_is_one_valid_key_s(journal: Journal) -> None:
    first, _ = journal.add_key(Key("", "laptop"))
    with pytest.raises(SettingsError, match="already"):
        journal.add_key(Key("", "laptop"))
    journal.revoke("laptop")
    second, secret = journal.add_key(Key("", "laptop"))
    called_like_another, _ = journal.add_key(Key("", second.id))
    assert journal.revoke(second.id).id == second.id
    assert journal.key_of(secret) is None
    assert journal.revoke(called_like_another.id).name == second.id
    assert first.id != second.id


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", "x" * 101])
def test_a_name_must_be_fit_to_be_shown(journal: Journal, name: str) -> None:
    with pytest.raises(SettingsError, match="printable"):
        journal.add_key(Key("", name))
    with pytest.raises(SettingsError, match="clearance"):
        journal.add_key(Key("", "laptop", clearance="secret"))
    assert not journal.has_keys()


def test_two_keys_of_one_name_are_told_apart_by_their_ids(journal: Journal) -> None:
    first, _ = journal.add_key(Key("", "one"))
    second, _ = journal.add_key(Key("", "two"))
    journal._keep("key", second.id, replace(second, name="one"))  # as two processes could
    with pytest.raises(SettingsError, match=f"{first.id}, {second.id}|{second.id}, {first.id}"):
        journal.revoke("one")


def test_a_job_is_kept_as_it_was_saved_last(journal: Journal) -> None:
    job = Job(new_id(1.0), "plans", "reindex", options={"model": "minilm"}, made_at=1.0)
    saved = journal.save_job(job)
    assert journal.job(job.id) == saved
    assert saved.changed_at > 1
    progress = {"documents": 3, "seconds_left": float("inf"), "path": "\ud800.md"}
    running = journal.save_job(replace(saved, state="running", progress=progress))
    held = journal.job(job.id)
    assert held is not None
    assert (held.state, held.progress["documents"]) == ("running", 3)
    assert held.progress["seconds_left"] == float("inf")
    assert [one.id for one in journal.jobs()] == [running.id]
    assert journal.jobs(left=True) == journal.jobs()
    sly = {"path": '"state": "waiting".md'}
    journal.save_job(replace(running, state="done", options=sly))
    assert journal.jobs(left=True) == []
    for unknown in ("", "x", "a\0b", "\ud800", "é"):
        assert journal.job(unknown) is None


def test_old_jobs_are_forgotten_when_they_are_over(journal: Journal) -> None:
    ids = {state: new_id(1.0) for state in ("waiting", "done", "failed")}
    for state, job_id in ids.items():
        journal.save_job(Job(job_id, "plans", "index", state=state))  # type: ignore[arg-type]
    journal.forget_jobs(before=time.time() - 10)
    assert len(journal.jobs()) == 3
    journal.forget_jobs(before=time.time() + 10)
    assert [one.id for one in journal.jobs()] == [ids["waiting"]]


def test_what_is_signed_with_a_key_ends_with_it(journal: Journal) -> None:
    made, secret = journal.add_key(Key("", "laptop"))
    signer = journal.signer(made.id)
    assert signer is not None
    assert signer[0] == made
    assert secret.encode() not in signer[1]
    assert journal.signer("0" * 16) is None
    journal.revoke("laptop")
    assert journal.signer(made.id) is None


def test_the_log_gives_back_what_was_asked_the_newest_first(journal: Journal) -> None:
    first = asked(1.0, "é\0\ud800\x1b \U0001f600" * 20, user="ada", agent="curl")
    second = replace(
        asked(2.0),
        filters={"types": ("pdf",), "since": "2024"},
        chunk_ids=("a" * 40, "b" * 40),
        retrieval_seconds=0.25,
        tokens=7,
        outcome="results",
    )
    journal.log(first)
    journal.log(second, asked(3.0, "third"))
    held = journal.queries()
    assert [one.at for one in held] == [3.0, 2.0, 1.0]
    assert held[1] == replace(second, filters={"types": ["pdf"], "since": "2024"})
    assert held[2] == replace(first, question=first.question.replace("\ud800", "?"))
    assert journal.query(second.id) == held[1]
    for unknown in ("", "last", "\0", "\ud800", second.id[:-1]):
        assert journal.query(unknown) is None


def test_the_log_is_asked_by_time_user_and_library(journal: Journal) -> None:
    whose = {0: "grace"}
    for start in range(1, 2_501, 100):
        journal.log(
            *(
                replace(
                    asked(float(at), user=whose.get(at % 100, "ada")),
                    library="plans" if at % 2 else "notes",
                )
                for at in range(start, start + 100)
            )
        )
    assert len(journal.queries()) == 2_500
    assert [one.at for one in journal.queries(limit=2)] == [2_500.0, 2_499.0]
    assert [one.at for one in journal.queries(since=2_499)] == [2_500.0, 2_499.0]
    assert [one.at for one in journal.queries(since=-5, before=3)] == [2.0, 1.0]
    of_grace = journal.queries(user="grace")
    assert [one.at for one in of_grace] == [at * 100.0 for at in range(25, 0, -1)]
    assert journal.queries(user="grace", library="plans") == []
    assert [one.at for one in journal.queries(user="grace", limit=15)][-1] == 1_100.0
    assert journal.queries(user="", limit=5) == []
    assert journal.queries(limit=0) == []


def test_the_oldest_queries_go_when_there_are_too_many(journal: Journal) -> None:
    ids = [new_id(float(number)) for number in range(MOST_QUERIES + 10)]
    for start in range(0, len(ids), 5_000):
        values = ", ".join(f"('{one}', '{{}}')" for one in ids[start : start + 5_000])
        journal._run(f"INSERT INTO journal_query (id, record) VALUES {values}", ())
    journal._keep("feedback", ids[0], Feedback(ids[0], good=True))
    for number in range(2):
        journal.log(replace(asked(9e8 + number), id=f"{new_id(9e8 + number)[:-2]}00"))
    (count,), (oldest,) = (
        journal._run(f"SELECT {what} FROM journal_query", ())[0] for what in ("count(*)", "min(id)")
    )
    assert count == MOST_QUERIES
    assert oldest == ids[12]
    assert journal.feedback() == {}


def test_what_is_purged_is_gone_with_its_feedback(journal: Journal, place: str) -> None:
    old, new = asked(1.0, "where is the treasure?"), asked(2.0, user="grace")
    journal.log(old, new)
    journal.give_feedback(Feedback(old.id, good=True, note="treasure"))
    journal.give_feedback(Feedback(new.id, good=False))
    journal.purge(journal.queries(before=2.0))
    assert journal.queries() == [new]
    assert set(journal.feedback()) == {new.id}
    if not place.startswith("postgresql"):
        files = [one for one in Path(place).parent.iterdir() if one.is_file()]
        assert not any(b"treasure" in file.read_bytes() for file in files)
    journal.purge([])
    journal.purge(journal.queries())
    assert journal.queries() == []


def test_a_purge_tells_that_somebody_is_in_its_way_and_the_next_one_clears_the_file(
    tmp_path: Path,
) -> None:
    file = tmp_path / "journal.sqlite"

    def holds_treasure() -> bool:
        return any(b"treasure" in one.read_bytes() for one in tmp_path.iterdir())

    with closing(open_journal(file)) as journal, closing(apsw.Connection(str(file))) as reader:
        journal.log(asked(1.0, "where is the treasure?"))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM journal_query").fetchall()
        with pytest.raises(LibraryBusy, match=r"another program reads .* `pincite log purge`"):
            journal.purge(journal.queries())
        assert (journal.queries(), holds_treasure()) == ([], True)
        reader.execute("COMMIT")
        journal.purge([])
        assert not holds_treasure()


def test_what_is_deleted_leaves_no_bytes_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite"
    with closing(open_journal(file)) as journal:
        journal.save_job(Job(new_id(1.0), "plans", "index", state="done", message="treasure"))
        journal.forget_jobs(before=time.time() + 10)
    assert b"treasure" not in file.read_bytes()


def test_the_last_feedback_counts_and_needs_a_query(journal: Journal) -> None:
    query = asked(1.0)
    journal.log(query)
    journal.give_feedback(Feedback(query.id, good=True))
    journal.give_feedback(Feedback(query.id, good=False, note="the wrong year"))
    said = journal.feedback()[query.id]
    assert (said.good, said.note) == (False, "the wrong year")
    assert said.at > 1
    for unknown in (new_id(1.0), "a\0b"):
        with pytest.raises(SettingsError, match="is in the log"):
            journal.give_feedback(Feedback(unknown, good=True))


def test_a_journal_that_is_opened_again_holds_what_it_held(journal: Journal, place: str) -> None:
    query, (key, secret) = asked(1.0), journal.add_key(Key("", "laptop"))
    journal.log(query)
    journal.close()
    with closing(opened(place)) as again:
        assert again.queries() == [query]
        assert again.key_of(secret) == key
        again.log(asked(2.0))


def test_threads_share_a_journal(journal: Journal) -> None:
    def work(number: int) -> None:
        journal.log(asked(float(number)))
        journal.save_job(Job(f"{number:020x}", "plans", "index"))
        journal.queries(limit=3)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    assert len(journal.queries()) == len(journal.jobs()) == 200


def log_many(place: str, first: int) -> None:
    """In a process of its own, which also makes the tables if it is the first."""
    with closing(opened(place)) as journal:
        for number in range(first, first + 100):
            journal.log(asked(float(number)))


def test_processes_write_to_one_journal_at_once(place: str) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=log_many, args=(place, at)) for at in (0, 1_000)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    with closing(opened(place)) as journal:
        assert len(journal.queries()) == 200


def test_only_its_owner_can_read_a_file(tmp_path: Path) -> None:
    with closing(open_journal(tmp_path / "journal.sqlite")) as journal:
        journal.log(asked(1.0))
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW other AS WITH RECURSIVE e(n) AS (SELECT 1 UNION ALL SELECT n FROM e) "
        "SELECT * FROM e",
        "CREATE TRIGGER t AFTER INSERT ON journal_query BEGIN DELETE FROM journal_key; END",
        "DROP TABLE journal_key",
        "ALTER TABLE journal_key ADD COLUMN more TEXT",
    ],
)
def test_a_file_that_somebody_altered_is_not_used(tmp_path: Path, statement: str) -> None:
    file = tmp_path / "journal.sqlite"
    open_journal(file).close()
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute(statement)
    with pytest.raises(StoreDamaged, match="remove it"):
        open_journal(file)


def test_a_damaged_file_says_what_to_do_and_one_of_a_newer_pincite_is_left(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite"
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreDamaged, match="remove it: then the log begins anew, and API keys"):
        open_journal(file)
    file.unlink()
    with closing(open_journal(file)) as journal:
        journal._run("INSERT INTO journal_key (id, record) VALUES ('a', '{}'), ('b', '[')", ())
        with pytest.raises(StoreDamaged, match="cannot be read"):
            journal.keys()
        journal._run("PRAGMA user_version = 99", ())
    with pytest.raises(StoreTooNew):
        open_journal(file)


@pytest.mark.parametrize("name", ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"])
def test_a_link_is_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / name).symlink_to(tmp_path / "precious")
    with pytest.raises(PinciteError, match="is a link"):
        open_journal(tmp_path / "journal.sqlite")
    assert (tmp_path / "precious").read_text() == "precious"


def test_nobody_sees_a_team_s_journal_from_inside_of_a_project() -> None:
    with closing(Team.at(shared_database(), make=False)) as team:
        team.create(Scope("ada", "plans"))
        journal = team_journal(team)
        journal.add_key(Key("", "inside"))
        journal.log(asked(1.0))
        held = (journal.keys(), journal.queries())
        assert all(held)
        entry = team.store(Scope("ada", "plans"))._entry
        with team._server.within(entry) as connection:
            for table in JOURNAL:
                assert connection.execute(f"SELECT * FROM {table}").fetchall() == []
                assert connection.execute(f"DELETE FROM {table}").rowcount == 0
        for table in JOURNAL:
            with (
                pytest.raises(PinciteError, match="row-level security"),
                team._server.within(entry) as connection,
            ):
                connection.execute(f"INSERT INTO {table} VALUES ('x', '{{}}')")
        assert (journal.keys(), journal.queries()) == held


def test_saved_answers_of_a_team_are_seen_by_their_user_alone_and_go_with_the_project() -> None:
    with closing(Team.at(shared_database(), make=False)) as team:
        ada = Scope("ada", "quotes")
        for scope in (ada, Scope("ada", "other"), Scope("grace", "own")):
            team.create(scope)
        team.share(ada, "grace", role="admin", clearance=LEVELS[-1])
        journal = team_journal(team, ada)
        saved = SavedAnswer(
            "1" * 20, "ada/quotes", "when?", "its text quotes documents", user="ada"
        )
        journal.save_answer(saved)
        scopes = (Scope("grace", "ada/quotes"), Scope("grace", "own"), Scope("ada", "other"))
        others = [team_journal(team), *(team_journal(team, one) for one in scopes)]
        for other in others:
            assert other.saved_answers() == []
            other.forget_answers([saved.id])
            other.update_answer(replace(saved, text="another"))
        assert journal.saved_answers() == [saved]
        with pytest.raises(PinciteError):
            others[0].save_answer(replace(saved, id="2" * 20))
        team.drop(ada)
        team.create(ada)
        assert journal.saved_answers() == []
        with psycopg.connect(shared_database().replace("writer:@", "postgres:@")) as connection:
            held = connection.execute("SELECT count(*) FROM pincite.journal_answer").fetchone()
        assert held == (0,)


def test_answers_that_a_team_saved_before_go_to_their_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database, ada = new_database(), Scope("ada", "plans")
    with monkeypatch.context() as before:
        before.setattr(migrating, "MIGRATIONS", migrating.MIGRATIONS[:6])
        with closing(Team.at(database)) as team:
            team.create(ada)
            saved = SavedAnswer("1" * 20, "ada/plans", "when?", "text", user="ada")
            for one in (saved, replace(saved, id="2" * 20, library="ada/gone")):
                team_journal(team).save_answer(one)
    with closing(Team.at(database)) as team:
        assert team_journal(team, ada).saved_answers() == [saved]
