"""To forget is to forget: after `forget` no byte of a document is left below the index."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner

from forgetting import INDEX, traces
from pincite import Case, EvalWishes, Library, open_library
from pincite.engine.addresses import Address
from pincite.engine.homes import FolderHome
from pincite.engine.team_home import TeamHome
from pincite.entrypoints.cli.main import cli
from pincite.errors import CitationNotFound, LibraryBusy, SettingsError, StoreDamaged
from pincite.records import ChunkId, ForgetReport
from pincite.records.journal import LoggedQuery
from pincite.stores.journal import Journal
from pincite.stores.lines import sealed
from pincite.stores.sqlite.log import ChunkLog
from two_models import NEW, OLD, HashingModels, open_with_models

SECRET = "letters/offer.md"
WORDS = ("zebrafinch", "quokka", SECRET, "zebrafinch".title())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A library with a letter that was changed, moved here and deleted again."""
    root = tmp_path / "library"
    (root / "letters").mkdir(parents=True)
    for thing in ("valve", "pump", "boiler"):
        (root / f"{thing}.md").write_text(f"# The {thing}\n\nPetra looks after the {thing}.\n")
    letter = root / "draft of zebrafinch.md"
    letter.write_text("# Zebrafinch offer\n\nThe zebrafinch code is quokka77.\n")
    with open_with_models(root) as library:
        library.index(model=OLD)
        letter.write_text(letter.read_text() + "\nThe zebrafinch costs 12 euros (ZF).\n")
        library.index()
        letter.rename(root / SECRET)
        library.index()
    return root


@pytest.fixture
def library(root: Path) -> Iterator[Library]:
    with open_with_models(root) as library:
        yield library


def deleted(root: Path, library: Library) -> list[ChunkId]:
    """Delete the letter; gives the ids of what it said in its last version."""
    ids = [one.chunk.id for one in library.search("zebrafinch").results]
    (root / SECRET).unlink()
    library.index()
    return ids


def test_after_forgetting_a_byte_search_finds_nothing(root: Path, library: Library) -> None:
    vectors = traces_of_vectors(root, "zebrafinch")
    deleted(root, library)

    report = library.forget(SECRET)

    assert report == ForgetReport((("draft of zebrafinch.md"), SECRET), 3, queries=1)
    assert traces(root, *WORDS, *vectors) == []
    assert library.verify() == []
    assert {one.path for one in library.documents()} == {"valve.md", "pump.md", "boiler.md"}


def test_a_question_that_is_still_being_written_to_the_log_is_forgotten_too(
    root: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, may_write = Journal.log, threading.Event()

    def held_up(journal: Journal, *queries: LoggedQuery) -> None:
        may_write.wait(10)
        log(journal, *queries)

    monkeypatch.setattr(Journal, "log", held_up)
    deleted(root, library)
    monkeypatch.setattr("pincite.engine.forgetting._PATIENCE", 0.1)
    with pytest.raises(LibraryBusy, match="still being written to the log; run it again"):
        library.forget(SECRET)

    monkeypatch.undo()
    threading.Timer(3.0, may_write.set).start()  # later than who reads the log waits for it
    report = library.forget(SECRET)

    assert report is not None
    assert report.queries == 1
    assert traces(root, *WORDS) == []


def test_a_reader_of_the_log_hinders_nothing_but_the_clearing_of_its_file(
    root: Path, library: Library
) -> None:
    deleted(root, library)
    library.journal.queries()  # all are written
    with closing(apsw.Connection(str(root / INDEX / "journal.sqlite"))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM journal_query").fetchall()
        with pytest.raises(LibraryBusy, match="it is forgotten, but another program reads"):
            library.forget(SECRET)
        assert {one.partition(":")[0] for one in traces(root, *WORDS)} <= {
            str(root / INDEX / f"journal.sqlite{end}") for end in ("", "-wal")
        }
    library.journal.purge([])
    assert traces(root, *WORDS) == []


def test_deleting_alone_does_not_pass_the_byte_search(root: Path, library: Library) -> None:
    deleted(root, library)

    assert traces(root, *WORDS)


def test_a_document_is_forgotten_before_an_update_saw_that_its_file_is_gone(
    root: Path, library: Library
) -> None:
    (root / SECRET).unlink()

    assert library.forget("offer.md")
    assert traces(root, *WORDS) == []
    assert library.search("zebrafinch quokka").results == ()


def test_a_file_that_still_stands_is_not_forgotten_but_an_ignored_one_is(
    root: Path, library: Library
) -> None:
    before = (root / INDEX / "chunks.jsonl").read_bytes()
    with pytest.raises(SettingsError, match=f"{SECRET} still stands in the folder"):
        library.forget(SECRET)
    assert (root / INDEX / "chunks.jsonl").read_bytes() == before

    (root / ".pinciteignore").write_text("letters/\n")
    library.forget(SECRET)
    library.index()

    assert traces(root, *WORDS) == []


def test_where_it_was_moved_counts_as_the_same_document(root: Path, library: Library) -> None:
    with pytest.raises(SettingsError, match=f"{SECRET} still stands"):
        library.forget("draft of zebrafinch.md")


def test_old_citations_say_that_it_was_forgotten(root: Path, library: Library) -> None:
    told = library.ask("what is the zebrafinch code?")
    receipt = library.receipt(told)
    (chunk, *_) = deleted(root, library)
    assert "quokka77" in "".join(library.show(chunk).lines)

    library.forget(SECRET)

    for citation in (chunk, chunk[:12], SECRET, f"{SECRET}:3"):
        with pytest.raises(CitationNotFound, match="was forgotten for good on 20"):
            library.show(citation)
    with pytest.raises(CitationNotFound, match="no chunk's id begins"):
        library.show("0" * 12)
    assert {one.state for one in library.check(receipt)} == {"forgotten"}


def test_a_file_that_comes_again_is_a_document_as_any_other(root: Path, library: Library) -> None:
    text = (root / SECRET).read_bytes()
    deleted(root, library)
    library.forget(SECRET)
    (root / SECRET).write_bytes(text)
    library.index()

    assert "quokka77" in "".join(library.show(f"{SECRET}:3").lines)
    (root / SECRET).unlink()
    library.forget(SECRET)
    assert traces(root, *WORDS) == []


def test_documents_are_named_by_path_by_its_end_or_by_an_id(root: Path, library: Library) -> None:
    entry = next(one for one in library.documents() if one.path == SECRET)
    (chunk, *_) = deleted(root, library)

    asked = Asked()
    for name in (SECRET, "offer.md", "OFFER.MD", entry.id, entry.id[:8], chunk[:10]):
        assert library.forget(name, confirmed=asked.refuse) is None
        assert asked.last is not None
        assert asked.last.paths[-1] == SECRET
    assert traces(root, *WORDS), "nothing is forgotten without a yes"
    for unknown in ("nobody.md", "00000000", ""):
        with pytest.raises(CitationNotFound, match="holds a document"):
            library.forget(SECRET, unknown)


def test_several_documents_are_forgotten_at_once(root: Path, library: Library) -> None:
    (root / SECRET).unlink()
    (root / "pump.md").unlink()

    report = library.forget(SECRET, "pump.md")

    assert report is not None
    assert report.paths == ("draft of zebrafinch.md", SECRET, "pump.md")
    assert traces(root, *WORDS, "pump") == []


def test_other_generations_do_not_keep_it(root: Path, library: Library) -> None:
    library.reindex(model=NEW)
    (root / SECRET).unlink()
    library.index()
    library.reindex(model=OLD, switch=False)
    assert traces(root, *WORDS)

    library.forget(SECRET)

    assert traces(root, *WORDS) == []
    assert [one.role for one in library.generations.stats()] == ["live"]


def test_what_only_the_generation_before_knows_is_forgotten_too(
    root: Path, library: Library
) -> None:
    (root / SECRET).unlink()
    library.reindex(model=NEW)  # made from the folder: its log never heard of the letter
    assert traces(root, *WORDS)

    library.forget(SECRET)

    assert traces(root, *WORDS) == []
    with pytest.raises(CitationNotFound, match="forgotten"):
        library.show(SECRET)


def test_a_damaged_log_that_was_kept_beside_the_mended_one_goes(
    root: Path, library: Library
) -> None:
    deleted(root, library)
    log = root / INDEX / "chunks.jsonl"
    data = log.read_bytes()
    log.write_bytes(data[:300] + b"?" + data[301:])
    with pytest.raises(StoreDamaged, match="verify --repair"):
        library.forget(SECRET)
    library.verify(repair=True)
    assert list((root / INDEX).glob("*.damaged-*"))

    library.forget(SECRET)

    assert traces(root, *WORDS) == []


def test_eval_runs_keep_their_figures_and_lose_what_they_quote(
    root: Path, library: Library
) -> None:
    cases = [
        Case(question="what is the code?", documents={SECRET: 1}),
        Case(question="who looks after the pump?", documents={"pump.md": 1}),
    ]
    run = library.evaluation.run(cases, EvalWishes(cases_name="cases"))
    other = library.evaluation.run(cases, EvalWishes(policy="wiki", cases_name="cases"))
    unfinished = root / INDEX / "evals" / "20200101-000000-000000.part"
    unfinished.write_text("zebrafinch")
    assert b"quokka" in (root / INDEX / "evals" / f"{run.id}.json").read_bytes()
    deleted(root, library)

    report = library.forget(SECRET)

    assert report is not None
    assert report.runs == 2
    assert traces(root, *WORDS) == []
    for one in (run, other):
        kept = library.evaluation.runs.load(one.id)
        assert (kept.figures, kept.setup) == (one.figures, one.setup)
        assert [result.case for result in kept.results] == [cases[1]]


def test_what_was_recognised_in_a_scan_goes_with_it(root: Path, library: Library) -> None:
    text = root / ".converted" / "scans" / "zebrafinch.png.md"
    text.parent.mkdir(parents=True)
    text.write_text("---\nsource: scans/zebrafinch.png\n---\n\nThe quokka is on the scan.\n")
    (root / "scans").mkdir()
    (root / "scans" / "zebrafinch.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    library.index()
    assert library.search("quokka scan").results
    with pytest.raises(SettingsError, match="still stands"):
        library.forget("scans/zebrafinch.png")
    (root / "scans" / "zebrafinch.png").unlink()

    report = library.forget("scans/zebrafinch.png")

    assert report is not None
    assert report.converted == ("scans/zebrafinch.png",)
    assert not text.exists()
    assert traces(root, "on the scan", "zebrafinch.png") == []


def test_while_another_process_writes_nothing_is_forgotten(root: Path, library: Library) -> None:
    deleted(root, library)
    home = FolderHome(root, root / INDEX)
    with home.held(home.generations().live), pytest.raises(LibraryBusy):
        library.forget(SECRET)
    assert library.search("who looks after the pump?").results


def test_a_run_that_could_not_clear_everything_is_done_by_the_next_one(
    root: Path, library: Library
) -> None:
    deleted(root, library)
    library.forget(SECRET)
    (root / INDEX / "chunks.jsonl.damaged-20200101").write_text("quokka")
    (root / INDEX / "checksums.part").write_text(SECRET)

    assert library.forget(SECRET) == ForgetReport((), 0)
    assert traces(root, *WORDS) == []


@pytest.mark.parametrize(
    "name",
    [
        *("segments/.DS_Store", "generations/007/notes", "generations/5/notes", "generations/6"),
        *("index.db.old/notes", "generations/1/notes", "generations/²/notes"),
    ],
)
def test_what_others_put_into_the_index_does_not_keep_it_from_forgetting(
    root: Path, library: Library, name: str
) -> None:
    deleted(root, library)
    (root / INDEX / name).parent.mkdir(parents=True, exist_ok=True)
    (root / INDEX / name).write_text("not ours")

    assert library.forget(SECRET)

    assert traces(root, *WORDS) == []
    assert (root / INDEX / name).read_text() == "not ours"


def test_what_lies_beside_the_index_goes_also_where_an_old_one_is_still_written(
    root: Path, library: Library
) -> None:
    deleted(root, library)
    old = root / INDEX / "generations" / "9"
    old.mkdir(parents=True)
    (old / "index.db").write_text("another process is busy here")
    (root / INDEX / "checksums.part").write_text(SECRET)
    with FolderHome(root, root / INDEX).held(9), pytest.raises(LibraryBusy, match="still writes"):
        library.forget(SECRET)
    assert traces(root, *WORDS) == []

    assert library.forget(SECRET) == ForgetReport((), 0)
    assert not old.exists()


def test_what_was_indexed_while_somebody_was_asked_is_not_overlooked(
    root: Path, library: Library
) -> None:
    deleted(root, library)

    def confirmed(_: ForgetReport) -> bool:
        (root / SECRET).write_text("# Zebrafinch offer\n\nAnother quokka.\n")
        with open_with_models(root) as other:
            other.index()
            (root / SECRET).unlink()
            other.index()
        return True

    with pytest.raises(LibraryBusy, match="run the same command again"):
        library.forget(SECRET, confirmed=confirmed)
    assert library.forget(SECRET)
    assert traces(root, *WORDS) == []


def test_the_name_of_a_file_that_could_never_be_read_is_forgotten(
    root: Path, library: Library
) -> None:
    (root / "zebrafinch.pdf").write_bytes(b"%PDF-1.4 broken")
    assert [one.path for one in library.index().failures] == ["zebrafinch.pdf"]
    with pytest.raises(SettingsError, match="still stands"):
        library.forget("zebrafinch.pdf")
    (root / "zebrafinch.pdf").unlink()
    library.index()
    assert traces(root, "zebrafinch.pdf")

    assert library.forget("zebrafinch.pdf") == ForgetReport(("zebrafinch.pdf",), 0)

    assert traces(root, "zebrafinch.pdf") == []
    assert library.forget("zebrafinch.pdf") == ForgetReport((), 0)


@pytest.mark.parametrize(
    "body",
    [
        *(b'{"event":"document"}', b'{"event":"forgotten"}', b"[1]", b"not JSON", b"{}"),
        b'{"event":"forgotten","documents":[1],"chunks":[],"paths":[],"time":""}',
        b'{"event":"finished","problems":[[]],"time":""}',
        b"[" * 200_000 + b"]" * 200_000,
    ],
    ids=lambda body: body[:40].decode(),
)
def test_a_line_that_says_nothing_we_know_is_a_broken_line(
    root: Path, library: Library, body: bytes
) -> None:
    deleted(root, library)
    (root / INDEX / "chunks.jsonl.damaged-1").write_bytes(sealed(body))
    library.forget(SECRET)
    assert traces(root, *WORDS) == []

    log = next((root / INDEX / "generations").glob("*/chunks.jsonl"))
    with log.open("ab") as file:
        file.write(sealed(body) * 2)
    with pytest.raises(StoreDamaged, match="verify --repair"), open_with_models(root) as other:
        other.show("0" * 12)
    with open_with_models(root) as other:
        other.verify(repair=True)
        assert other.search("who looks after the pump?").results


def test_a_teams_database_says_that_it_does_not_forget(tmp_path: Path) -> None:
    home = TeamHome(Address("postgresql://nobody@localhost:1/none", "mary", "plans"), tmp_path)
    with Library(tmp_path, HashingModels(), home) as library, pytest.raises(SettingsError) as told:
        library.forget(SECRET)
    assert "`forget` is not offered for a team's database" in str(told.value)


def test_the_command_asks_first_and_tells_what_went(root: Path) -> None:
    run = CliRunner().invoke
    (root / SECRET).unlink()
    with open_library(root) as library:  # the command knows the models that everybody has
        library.index(model="hashing")

    asked = run(cli, ["forget", SECRET, "--library", str(root)])
    assert asked.exit_code == 2
    assert "this forgets draft of zebrafinch.md, letters/offer.md (3 versions)" in asked.output
    assert "add --yes" in asked.output

    told = run(cli, ["forget", SECRET, "--yes", "--json", "--library", str(root)])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["versions"] == 3
    again = run(cli, ["forget", SECRET, "--yes", "--library", str(root)])
    assert "It was forgotten before" in again.output
    assert run(cli, ["forget", "nobody.md", "--library", str(root)]).exit_code == 3


class Asked:
    """Somebody who is asked, and says no."""

    last: ForgetReport | None = None

    def refuse(self, report: ForgetReport) -> bool:
        self.last = report
        return False


def traces_of_vectors(root: Path, word: str) -> list[bytes]:
    """The vectors of what holds the word, as the log and as the database write them."""
    found = [
        base64.b64decode(vector)
        for line in ChunkLog(root / INDEX / "chunks.jsonl").lines()
        if line.entry is not None and line.entry["event"] == "document"
        if word in line.entry["document"]["text"]
        for chunk in line.entry["document"]["chunks"]
        for *_, vector in chunk["windows"]
    ]
    assert found
    return [*found, *map(base64.b64encode, found)]


def test_another_file_of_an_old_name_does_not_keep_a_document_from_being_forgotten(
    tmp_path: Path,
) -> None:
    root = tmp_path / "library"
    (root / "old").mkdir(parents=True)
    with open_with_models(root) as library:
        (root / "journal.md").write_text("# January\n\nThe zebrafinch arrived.\n")
        library.index(model=OLD)
        (root / "journal.md").rename(root / "old" / "january.md")
        library.index()
        (root / "journal.md").write_text("# February\n\nThe heron arrived.\n")
        library.index()
        (root / "old" / "january.md").unlink()
        library.index()
        library.forget("old/january.md")
        assert traces(root, "zebrafinch", "January") == []
        assert library.index().unchanged == 1
        assert library.search("heron").results
