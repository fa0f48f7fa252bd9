"""The log of queries: what is noted of each, and that nobody who asks ever feels it."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from model_service import Reply, running_service
from pincite import AskSettings, Case, EvalWishes, Library, ModelAccess, Profile, open_library
from pincite.engine.queries import CALLER, UNLOGGED, Caller
from pincite.errors import LibraryClosed, PinciteError, SearchCancelled, SettingsError, StoreError
from pincite.records import Claim
from pincite.records.journal import LoggedQuery
from pincite.stores.journal import Journal, open_journal
from projects import NOTE, PLAN, Open, share

QUESTION = "when does the lease of the harbour office end?"
CANARY = "sk-canary-4711"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "lease.md").write_text(
        "# The lease\n\nThe lease of the harbour office ends on 30 June 2025.\n"
    )
    with open_library(root) as library:
        library.index(model="hashing")
    return root


@pytest.fixture
def library(folder: Path) -> Iterator[Library]:
    with open_library(folder) as library:
        yield library


@contextmanager
def asked_by(caller: Caller) -> Iterator[None]:
    before = CALLER.set(caller)
    try:
        yield
    finally:
        CALLER.reset(before)


def only(library: Library) -> LoggedQuery:
    (query,) = library.journal.queries()
    return query


def test_a_search_is_noted_with_all_that_there_is_to_know(library: Library) -> None:
    before = time.time()
    with asked_by(Caller("http", user="ada", key="k1", agent="curl/8")):
        found = library.search(QUESTION, filters={"type": "md"})
    query = only(library)
    assert query.id == found.query_id
    assert before <= query.at <= time.time()
    assert (query.verb, query.library, query.door) == ("search", "notes", "http")
    assert (query.user, query.agent, query.question) == ("ada", "curl/8", QUESTION)
    assert query.key == "k1"
    assert query.filters == {"types": ["md"]}
    assert query.chunk_ids == tuple(one.chunk.id for one in found.results) != ()
    assert query.retrieval_seconds == pytest.approx(sum(found.seconds.values()))
    assert query.tokens == sum(one.chunk.tokens for one in found.results)
    assert (query.model, query.outcome, query.error) == ("hashing", "results", "")
    library.search("???")
    assert library.journal.queries()[0].outcome == "empty_question"


def test_an_answer_is_noted_once_with_what_it_cites(library: Library) -> None:
    told = library.ask(QUESTION, asking=AskSettings(caution=0))
    assert told.outcome == "answer"
    query = only(library)
    assert (query.id, query.verb, query.outcome) == (told.query_id, "ask", "answer")
    assert query.chunk_ids == (told.claims[0].citations[0].chunk_id,)
    assert query.generation_seconds > 0
    assert query.retrieval_seconds + query.generation_seconds == pytest.approx(
        sum(told.seconds.values())
    )
    assert query.tokens > 0
    refused = library.ask("what is the capital of Mongolia?")
    assert refused.outcome == "abstention"
    assert library.journal.queries()[0].outcome == refused.reason


def test_other_shapes_of_a_search_carry_the_id_of_their_query(library: Library) -> None:
    ids = [
        library.search_documents(QUESTION).query_id,
        library.retrieve_chunks(QUESTION).query_id,
        library.get_relevant_context(QUESTION).query_id,
    ]
    assert [one.id for one in library.journal.queries()] == ids[::-1]


def test_facts_hold_nothing_that_the_asker_said_and_off_holds_nothing(folder: Path) -> None:
    with open_library(folder, log="facts") as library:
        found = library.search(QUESTION, filters={"name": "lease"})
        query = only(library)
        assert (query.question, query.filters) == ("", {})
        assert query.chunk_ids == tuple(one.chunk.id for one in found.results)
        assert "harbour" not in str(library.journal._run("SELECT * FROM journal_query", ()))
    with open_library(folder, log="off") as library:
        assert library.search(QUESTION).query_id == ""
        assert library.ask(QUESTION).query_id == ""
        assert len(library.journal.queries()) == 1
    with pytest.raises(SettingsError, match="log must be one of: full, facts, off"):
        open_library(folder, log="some")  # type: ignore[arg-type]


def test_long_and_strange_questions_are_kept_in_bounds(library: Library) -> None:
    for question in ("long " * 10_000, "half \ud800\0\x1b[31m \U0001f600"):
        library.search(question, filters={"path": question})
    strange, long = library.journal.queries()
    assert long.question == ("long " * 200)
    assert long.filters == {}
    assert strange.question == "half ?\0\x1b[31m \U0001f600"
    with asked_by(Caller("http", agent="x" * 10_000)):
        library.search(QUESTION)
    assert len(library.journal.queries()[0].agent) == 100


def _break(claim: Claim) -> None:
    raise ZeroDivisionError


def test_what_fails_is_noted_by_name_alone(folder: Path) -> None:
    """Messages may hold addresses, and whatever a service answers."""
    with running_service() as service:
        service.plays(Reply({"error": {"message": CANARY}}, status=401))
        secret = service.url.replace("http://", f"http://user:{CANARY}@")
        access = ModelAccess(
            profiles={"cheap": Profile(base_url=secret, model="m", api_key=CANARY)},
            base_url=secret,
            api_key=CANARY,
        )
        with open_library(folder, models=access) as library:
            with pytest.raises(PinciteError):
                library.search(QUESTION, top_k=-1)
            with pytest.raises(SearchCancelled):
                library.search(QUESTION, cancelled=lambda: True)
            with pytest.raises(PinciteError):
                library.ask(QUESTION, profile="premium")
            with pytest.raises(ZeroDivisionError):
                library.ask(
                    QUESTION,
                    asking=AskSettings(caution=0),
                    on_claim=_break,
                )
            library.ask(QUESTION, profile="cheap", asking=AskSettings(caution=0))
            noted = library.journal.queries()
    assert [(one.outcome, one.error) for one in reversed(noted)] == [
        ("error", "SettingsError"),
        ("cancelled", ""),
        ("error", "SettingsError"),
        ("error", "ZeroDivisionError"),
        ("answer", ""),
    ]
    assert (noted[0].profile, noted[0].writer) == ("cheap", "")
    assert CANARY not in repr(noted)
    assert not any(CANARY.encode() in one.read_bytes() for one in (folder / ".index").glob("jou*"))


def test_questions_of_an_evaluation_are_not_logged(library: Library) -> None:
    library.evaluation.run([Case(question=QUESTION, documents={"lease.md": 1})], EvalWishes())
    assert library.journal.queries() == []
    with asked_by(UNLOGGED):
        assert library.search(QUESTION).query_id == ""
    assert library.search(QUESTION).query_id


def test_a_folder_without_an_index_gets_no_log(tmp_path: Path) -> None:
    with open_library(tmp_path) as library, pytest.raises(PinciteError):
        library.search(QUESTION)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_library_has_its_log_written_and_opens_no_other(folder: Path) -> None:
    library = open_library(folder)
    library.search(QUESTION)
    library.close()
    with pytest.raises(LibraryClosed):
        library.search(QUESTION)
    with pytest.raises(LibraryClosed):
        _ = library.journal
    with open_library(folder) as again:
        journal = again.journal
        assert len(journal.queries()) == 1
        again.verify()
        again.search(QUESTION)
        assert len(journal.queries()) == 2, "a service holds on to it"


def test_a_log_that_is_written_too_slowly_is_closed_for_good(
    library: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    is_writing, may_go_on = threading.Event(), threading.Event()

    def slowly(journal: Journal, *queries: LoggedQuery) -> None:
        is_writing.set()
        may_go_on.wait(10)

    monkeypatch.setattr(Journal, "log", slowly)
    library.search(QUESTION)
    assert is_writing.wait(30)
    library.search(QUESTION)
    log, writer = library._queries, library._queries._writer
    assert writer is not None
    library.close()
    may_go_on.set()
    writer.join(30)
    assert log._journal is None, "nobody would close it"
    (told,) = [one.message for one in caplog.records if one.levelno >= logging.WARNING]
    assert "queries are not logged for now: it takes too long to write them" in told


def test_threads_that_ask_are_all_noted(library: Library) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: library.search(f"lease {number}"), range(60)))
    assert {one.query_id for one in found} == {one.id for one in library.journal.queries()}


_ASK = """
import sys
from pincite import open_library
library = open_library(sys.argv[1])
for number in range(int(sys.argv[2])):
    library.search(f"lease {number}")
"""


def test_processes_that_never_close_a_library_lose_nothing(folder: Path) -> None:
    ask = [sys.executable, "-c", _ASK, str(folder)]
    running = [subprocess.Popen([*ask, str(count)]) for count in (1, 40)]
    assert [one.wait() for one in running] == [0, 0]
    with closing(open_journal(folder / ".index" / "journal.sqlite")) as journal:
        assert len(journal.queries()) == 41


def test_a_journal_that_is_lost_begins_anew(library: Library, folder: Path) -> None:
    library.search(QUESTION)
    library.close()
    (folder / ".index" / "journal.sqlite").unlink()
    with open_library(folder) as again:
        again.search(QUESTION)
        assert len(again.journal.queries()) == 1


def test_a_damaged_journal_is_told_once_and_does_not_hinder_answers(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / ".index" / "journal.sqlite").write_bytes(b"no database" * 1_000)
    with open_library(folder) as library:
        for _ in range(5):
            assert library.search(QUESTION).results
        with pytest.raises(StoreError, match="remove it"):
            _ = library.journal
    (told,) = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert "queries are not logged for now: " in told.message
    assert "API keys have to be made again" in told.message


def test_a_locked_journal_delays_nobody(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = folder / ".index" / "journal.sqlite"
    open_journal(file).close()
    answered = threading.Event()
    with open_library(folder) as library, closing(apsw.Connection(str(file))) as other:
        other.execute("BEGIN EXCLUSIVE")

        def ask() -> None:
            for _ in range(20):
                library.search(QUESTION)
            answered.set()

        asking = threading.Thread(target=ask)
        asking.start()
        # The lock is only given back when all are answered.
        assert answered.wait(60)
        asking.join()
        library.close()
        other.execute("ROLLBACK")
    assert [one.message for one in caplog.records if "locked" in one.message]


def test_a_team_s_log_says_whose_question_of_which_project_it_was(opened: Open) -> None:
    ada = opened("ada")
    ada.index_document("plan.md", PLAN)
    ada.index_document("note.md", NOTE)
    share(ada, "grace", "reader")
    grace = opened("grace")
    name = ada._home.address.scope.full_name
    ids = {"ada": ada.search("pump").query_id, "grace": grace.search("valve").query_id}
    with asked_by(Caller("http", user="linus", agent="chat")):
        ids["linus"] = grace.search("mole").query_id
    grace.close()
    for user, query_id in ids.items():
        (query,) = ada.journal.queries(user=user, library=name)
        assert query.id == query_id
    assert {one.user for one in ada.journal.queries(library=name)} == set(ids)
