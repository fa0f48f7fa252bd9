"""Answers that are saved: an index update tells of those that no longer hold, and of no others."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner, Result

from pincite import Answer, Library, open_library
from pincite.answer.footnotes import outcome_as_markdown
from pincite.engine import saved_answers
from pincite.entrypoints.cli.main import cli
from pincite.entrypoints.cli.serve import follow
from pincite.errors import ReceiptInvalid, SettingsError
from pincite.records.journal import Key
from pincite.stores.journal import open_journal

END = "when does the lease end?"
TEXTS = {
    "lease.md": "# Lease\n\nPetra signs the lease.\n\nThe lease ends on 3 May 2027.\n",
    "pump.md": "# Pump\n\nThe pump is oiled in spring.\n",
    "gate.md": "# Gate\n\nThe gate is painted green.\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    with open_library(tmp_path) as library:
        library.index(model="hashing")
        yield library


def command(library: Library, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["answers", *arguments, "--library", str(library.root)])


def write(library: Library, name: str, text: str) -> None:
    (library.root / name).write_text(text)


def test_an_update_tells_that_a_saved_answer_no_longer_holds_and_what_stands_there(
    library: Library,
) -> None:
    saved = saved_answers.save_outcome(library, library.ask(END))
    assert not saved.broken
    write(library, "lease.md", TEXTS["lease.md"].replace("3 May 2027", "1 June 2028"))
    (told,) = library.index().answers
    assert (told.answer.id, told.held_before, told.holds) == (saved.id, True, False)
    assert "1 June 2028" in told.answer.broken[0]
    saved_answers.note_told(library, [told])
    assert library.index().answers == ()
    write(library, "lease.md", TEXTS["lease.md"])
    (again,) = library.index().answers
    assert again.holds


def test_only_answers_whose_sources_changed_are_checked_again(library: Library) -> None:
    first = saved_answers.save_outcome(library, library.ask(END))
    other = saved_answers.save_outcome(library, library.ask("when is the pump oiled?"))
    write(library, "gate.md", "# Gate\n\nThe gate is painted blue.\n")
    library.index()
    now = {one.id: one.checked_at for one in saved_answers.saved_answers(library)}
    assert now == {one.id: one.checked_at for one in (first, other)}
    write(library, "pump.md", f"{TEXTS['pump.md']}\nIt was made in 1991.\n")
    assert library.index().answers == ()  # checked, and it holds
    now = {one.id: one.checked_at for one in saved_answers.saved_answers(library)}
    assert now[first.id] == first.checked_at
    assert now[other.id] > other.checked_at


def test_a_moved_file_still_bears_an_answer_out_and_a_deleted_one_does_not(
    library: Library,
) -> None:
    saved_answers.save_outcome(library, library.ask(END))
    (library.root / "lease.md").rename(library.root / "old-lease.md")
    assert library.index().answers == ()
    (library.root / "old-lease.md").unlink()
    (told,) = library.index().answers
    assert not told.holds


def test_a_file_is_followed_wherever_it_is_moved_after_its_emphasis_was_edited(
    library: Library,
) -> None:
    around = "The garden behind the house is let with all of its trees and sheds.\n\n"
    text = TEXTS["lease.md"].replace("The", f"{around}The") + f"\n{around}"
    write(library, "lease.md", text)
    library.index()
    saved_answers.save_outcome(library, library.ask(END))
    write(library, "lease.md", text.replace("3 May 2027", "**3 May 2027**"))
    assert library.index().answers == ()
    for old, new in (("lease.md", "bus.md"), ("bus.md", "coach.md")):
        (library.root / old).rename(library.root / new)
        assert library.index().answers == ()
        write(library, new, (library.root / new).read_text() + "It is kept in the drawer.\n\n")
        assert library.index().answers == ()
    write(library, "coach.md", text.replace("3 May 2027", "1 June 2028"))
    (told,) = library.index().answers
    assert "coach.md" in told.answer.broken[0]


def test_nothing_is_kept_of_an_abstention_or_of_a_text_without_citations(
    library: Library, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="no answer to keep"):
        saved_answers.save_outcome(library, library.ask("who is the plumber?"))
    with pytest.raises(ReceiptInvalid):
        saved_answers.save_text(library, "note", "Nothing is cited here.")
    assert saved_answers.saved_answers(library) == []


def test_the_commands_save_list_show_recheck_and_forget(library: Library, tmp_path: Path) -> None:
    assert "Saved as" in command(library, "save", END).output
    file = tmp_path / "note.md"
    asked = ["ask", "--copy", "when is the pump oiled?", "--library", str(library.root)]
    file.write_text(CliRunner().invoke(cli, asked).output)
    assert command(library, "save", str(file)).exit_code == 0
    file.unlink()
    listed = json.loads(command(library, "list", "--json").output)["answers"]
    assert [one["question"] for one in listed] == [END, "when is the pump oiled?"]
    assert all(one["holds"] for one in listed)
    assert command(library, "recheck").exit_code == 0
    write(library, "pump.md", "# Pump\n\nThe pump is oiled in autumn.\n")
    updated = CliRunner().invoke(cli, ["index", "update", str(library.root)])
    assert "no longer holds: when is the pump oiled?" in updated.output
    assert "in autumn" in updated.output
    failed = command(library, "recheck")
    assert failed.exit_code == 12
    shown = command(library, "show", listed[1]["id"][-8:])
    assert "in autumn" in shown.output
    assert command(library, "forget", listed[1]["id"]).exit_code == 0
    assert command(library, "show", listed[1]["id"]).exit_code == 2
    left = json.loads(command(library, "list", "--json").output)["answers"]
    assert [one["question"] for one in left] == [END]


def saved_receipt(library: Library, file: Path, *options: str) -> None:
    asked = ["ask", END, "--receipt", str(file), *options, "--library", str(library.root)]
    assert CliRunner().invoke(cli, asked).exit_code == 0
    assert command(library, "save", str(file)).exit_code == 0
    file.unlink()


def test_a_question_is_asked_again_as_it_was_asked_then_and_not_logged(
    library: Library, tmp_path: Path
) -> None:
    write(library, "news.txt", "The lease ends soon, people say.\n")
    library.index()
    saved_receipt(library, tmp_path / "r.json", "--claims", "1", "--type", "md")
    asked = len(library.queries())
    told = command(library, "recheck", "--ask")
    assert (told.exit_code, len(told.output.splitlines())) == (0, 2), told.output
    assert "still holds" in told.output
    write(library, "lease.md", TEXTS["lease.md"].replace("3 May 2027", "1 June 2028"))
    library.index()
    told = command(library, "recheck", "--ask")
    assert told.exit_code == 12
    assert told.output.splitlines()[-3:] == [
        "    - The lease ends on 3 May 2027.",
        "    + The lease ends on 1 June 2028.",
        "0 of 1 hold.",
    ]
    (shown,) = json.loads(command(library, "recheck", "--ask", "--json").output)["answers"]
    assert shown["now"] == ["- The lease ends on 3 May 2027.", "+ The lease ends on 1 June 2028."]
    assert shown["outdated"] is False
    assert len(library.queries()) == asked


def test_the_same_words_in_another_order_and_file_are_no_difference(
    library: Library, tmp_path: Path
) -> None:
    write(library, "a.md", "# News\n\nThe lease ends soon.\n")
    library.index()
    saved_receipt(library, tmp_path / "r.json")
    (library.root / "lease.md").rename(library.root / "0.md")
    (library.root / "a.md").rename(library.root / "z.md")
    library.index()
    told = command(library, "recheck", "--ask")
    assert told.output.splitlines()[1:] == ["1 of 1 hold."]


def test_what_cannot_be_asked_again_says_so(library: Library, tmp_path: Path) -> None:
    at = ["--library", str(library.root)]
    write(library, "key.md", "# Key\n\nThe key is a piece of brass.\n")
    library.index()
    plan, note, receipt = tmp_path / "plan.json", tmp_path / "note.md", tmp_path / "r.json"
    make = ["make", "blueprint", "--about", "the key", "--receipt", str(plan), *at]
    assert CliRunner().invoke(cli, make).exit_code == 0
    note.write_text(CliRunner().invoke(cli, ["ask", "--copy", END, *at]).output)
    CliRunner().invoke(cli, ["ask", END, "--receipt", str(receipt), *at])
    proof = json.loads(receipt.read_text())
    strange: list[dict[str, object]] = [
        {},
        {"search": {"top_k": "many"}},
        {"search": {"rerank": "service:evil"}},
        {"search": {}, "filters": {"where": "no filter"}},
    ]
    for number, settings in enumerate(strange):
        file = tmp_path / f"strange{number}.json"
        file.write_text(json.dumps(proof | {"settings": settings}))
        assert command(library, "save", str(file)).exit_code == 0
    for file in (plan, note):
        assert command(library, "save", str(file)).exit_code == 0
    told = command(library, "recheck", "--ask")
    assert told.exit_code == 0
    assert told.output.count("still holds") == len(strange) + 2
    assert told.output.count("It cannot be asked again: ") == len(strange) + 2, told.output
    assert "an artifact is not asked again" in told.output


def test_of_a_further_claim_it_is_said_that_the_first_still_holds(library: Library) -> None:
    signs = TEXTS["lease.md"].replace("Petra signs", "Petra ends")
    write(library, "lease.md", signs)
    library.index()
    for claims in ("5", "1"):
        assert command(library, "save", END, "--claims", claims).exit_code == 0
    many, one = (json.loads(each.text)["claims"] for each in saved_answers.saved_answers(library))
    assert len(many) > len(one) == 1
    write(library, "lease.md", signs.replace("Petra ends", "Paul ends"))
    update = ["index", "update", str(library.root)]
    told = CliRunner().invoke(cli, update).output
    assert told.count("holds in its first claim, but a further claim changed") == 1
    assert "no longer" not in told
    write(library, "lease.md", signs.replace("Petra", "Paul").replace("3 May 2027", "1 June 2028"))
    told = CliRunner().invoke(cli, update).output
    assert told.count("no longer holds") == 2
    assert "no longer holds" not in CliRunner().invoke(cli, update).output


def test_what_only_comes_near_and_what_is_of_another_library_is_not_kept(
    library: Library, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "boat.md").write_text("# Boat\n\nThe boat ends in a stern.\n")
    near, plain = other / "near.txt", other / "plain.txt"
    with open_library(other) as elsewhere:
        elsewhere.index(model="hashing")
        foreign = outcome_as_markdown(elsewhere.ask("what is the end of the boat?"))
    claim = outcome_as_markdown(library.ask(END))
    near.write_text(re.sub(r"^(“)", r"Nearest: \1", claim, flags=re.MULTILINE))
    told = command(library, "save", str(near))
    assert (told.exit_code, "no answer to keep" in told.output) == (11, True)
    for text in (foreign, "Nothing is cited here."):
        plain.write_text(text)
        told = command(library, "save", str(plain))
        assert told.exit_code == 4
        assert "plain.txt: " in told.output
    assert saved_answers.saved_answers(library) == []


def test_an_id_is_named_by_at_least_six_of_its_letters(library: Library) -> None:
    saved = saved_answers.save_outcome(library, library.ask(END))
    assert command(library, "forget", saved.id[-1]).exit_code == 2
    assert "at least 6 letters" in command(library, "forget", saved.id[-5:]).output
    assert command(library, "forget", saved.id[-6:]).exit_code == 0


def test_a_saved_answer_records_the_settings_that_were_used(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINCITE_CAUTION", "0.1")
    assert command(library, "save", END).exit_code == 0
    (saved,) = saved_answers.saved_answers(library)
    assert json.loads(saved.text)["settings"]["ask"]["caution"] == 0.1


def test_a_journal_of_before_gets_the_table_and_keeps_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite"
    with closing(open_journal(file)) as journal:
        journal.add_key(Key("", name="laptop"))
    with closing(apsw.Connection(str(file))) as connection:
        connection.execute("DROP TABLE journal_answer")
    with closing(open_journal(file)) as journal:
        assert journal.revoke("laptop").revoked_at is not None
        assert journal.saved_answers(library="any") == []
        record = '{"id": "1", "library": "any", "question": "?", "text": "t", "filters": {"a": 1}}'
        journal._run("INSERT INTO journal_answer (id, record) VALUES ('1', ?)", (record,))
        assert [one.text for one in journal.saved_answers(library="any")] == ["t"]


def test_news_is_told_again_until_it_is_noted_that_people_know(library: Library) -> None:
    saved = saved_answers.save_outcome(library, library.ask(END))
    write(library, "lease.md", TEXTS["lease.md"].replace("3 May 2027", "1 June 2028"))
    news = library.index().answers
    (again,) = library.index().answers
    assert (again.answer.id, again.holds) == (saved.id, False)
    # It holds again before it was noted: a stale note does not take that back.
    write(library, "lease.md", TEXTS["lease.md"])
    assert library.index().answers == ()
    saved_answers.note_told(library, news)
    (now,) = saved_answers.saved_answers(library)
    assert (now.broken, now.told_broken) == ((), True)
    (better,) = library.index().answers
    assert better.holds


def test_what_a_command_printed_is_not_told_again(library: Library) -> None:
    saved_answers.save_outcome(library, library.ask(END))
    write(library, "lease.md", TEXTS["lease.md"].replace("3 May 2027", "1 June 2028"))
    update = ["index", "update", str(library.root)]
    assert "no longer holds" in CliRunner().invoke(cli, update).output
    assert "no longer holds" not in CliRunner().invoke(cli, update).output
    write(library, "lease.md", TEXTS["lease.md"])
    library.index()
    assert "holds again" in command(library, "recheck").output
    assert "holds again" not in CliRunner().invoke(cli, update).output


@pytest.mark.parametrize("is_terminal", [True, False])
def test_what_a_service_writes_into_a_log_is_news_until_somebody_reads_it(
    library: Library,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
) -> None:
    saved_answers.save_outcome(library, library.ask(END))
    write(library, "lease.md", TEXTS["lease.md"].replace("3 May 2027", "1 June 2028"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    stop, told = threading.Event(), ""
    following = threading.Thread(target=follow, args=(library, stop))
    following.start()
    while "no longer holds" not in told:
        told += capsys.readouterr().err
    stop.set()
    following.join()
    assert bool(library.index().answers) is not is_terminal


def test_an_answer_that_is_forgotten_while_it_is_checked_does_not_come_back(
    library: Library,
) -> None:
    saved = saved_answers.save_outcome(library, library.ask(END))
    library.journal.forget_answers([saved.id])
    library.journal.update_answer(saved)
    assert saved_answers.saved_answers(library) == []


def test_a_forgotten_document_takes_the_answers_that_cite_it_with_it(library: Library) -> None:
    saved_answers.save_outcome(library, library.ask(END))
    other = saved_answers.save_outcome(library, library.ask("when is the pump oiled?"))
    (library.root / "lease.md").unlink()
    library.index()
    report = library.forget("lease.md")
    assert report is not None
    assert report.answers == 1
    assert [one.id for one in saved_answers.saved_answers(library)] == [other.id]
    files = (file for file in (library.root / ".index").rglob("*") if file.is_file())
    assert not [file for file in files if b"3 May 2027" in file.read_bytes()]


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        ("The rate is 2.5 percent.", "The rate is 25 percent.", False),
        ("The fee is 500 $ a year.", "The fee is 500 € a year.", False),
        ("The frost is -5 degrees.", "The frost is 5 degrees.", False),
        ("The fee is 500 euros a year.", "The fee is\n500 *euros* a year.", True),
    ],
)
def test_a_mark_that_matters_is_news_and_layout_is_not(
    library: Library, before: str, after: str, holds: bool
) -> None:
    write(library, "fee.md", f"# Fee\n\n{before}\n")
    library.index()
    word = before.split()[1]
    answer = library.ask(f"what is the {word}?")
    assert isinstance(answer, Answer)
    saved_answers.save_outcome(library, replace(answer, claims=answer.claims[:1]))
    write(library, "fee.md", f"# Fee\n\n{after}\n")
    assert [one.holds for one in library.index().answers] == ([] if holds else [False])


def test_saved_answers_stay_when_the_folder_is_renamed(library: Library, tmp_path: Path) -> None:
    saved = saved_answers.save_outcome(library, library.ask(END))
    other = tmp_path.with_name(f"{tmp_path.name}-renamed")
    library.close()
    tmp_path.rename(other)
    with open_library(other) as renamed:
        assert [one.id for one in saved_answers.saved_answers(renamed)] == [saved.id]


def test_markdown_that_was_saved_still_holds_when_the_library_is_cut_otherwise(
    library: Library, tmp_path: Path
) -> None:
    at = ["--library", str(library.root)]
    library.index(policy="wiki")  # each section is a chunk of its own
    long = (
        "# Boiler\n\n## Fuel\n\nThe boiler is a wood stove.\n\n## Age\n\nThe boiler is of 1991.\n"
    )
    write(library, "boiler.md", long)
    library.index()
    plan, copy = tmp_path / "plan.txt", tmp_path / "copy.txt"
    make = ["make", "blueprint", "--about", "boiler", "--out", str(plan), *at]
    assert CliRunner().invoke(cli, make).exit_code == 0
    copy.write_text(
        CliRunner().invoke(cli, ["ask", "how old is the boiler?", "--copy", *at]).output
    )
    for file in (plan, copy):
        assert command(library, "save", str(file)).exit_code == 0
        file.unlink()
    library.reindex(policy="vault")
    assert command(library, "recheck").exit_code == 0
    write(library, "boiler.md", long.replace("1991", "1993"))
    library.index()
    told = command(library, "recheck")
    assert told.exit_code == 12
    assert "now says “The boiler is of 1993.”" in told.output


def test_what_is_saved_broken_says_so_and_a_refusal_is_not_kept(
    library: Library, tmp_path: Path
) -> None:
    at = ["--library", str(library.root)]
    receipt, no = tmp_path / "r.json", tmp_path / "no.json"
    CliRunner().invoke(cli, ["ask", END, "--receipt", str(receipt), *at])
    CliRunner().invoke(cli, ["ask", "who is the plumber?", "--receipt", str(no), *at])
    write(library, "lease.md", TEXTS["lease.md"].replace("3 May 2027", "1 June 2028"))
    library.index()
    told = command(library, "save", str(receipt))
    assert "No longer: " in told.output
    assert command(library, "save", str(no)).exit_code == 11
    assert command(library, "save", "who is the plumber?").exit_code == 11
    assert command(library, "save", "w" * 400).exit_code == 11  # no file, and no answer
